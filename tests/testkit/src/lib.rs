//! What tests share: real servers that die with the test, waiting for conditions with a bound, and
//! ids that never repeat. For `[dev-dependencies]` only: what cannot be had ends the test.

mod binary;
mod nats;
mod postgres;
mod proxy;
mod unique;
mod wait;

pub use binary::executable;
pub use nats::{TestNats, binary, nats, nats_cluster, nats_with, shared_nats};
pub use nats_server::{Guard, signal};
pub use postgres::{TestPostgres, own_postgres, postgres};
pub use proxy::Proxy;
pub use unique::{chance, free_port, now, sqlite_url, unique};
pub use wait::{eventually, skip, within};
