//! Code that tests share: real servers that end with the test, waiting for conditions with a limit,
//! and ids that never repeat. For `[dev-dependencies]` only: if something is not available, the
//! test ends.

mod binary;
mod faketime;
mod log;
mod mariadb;
mod nats;
mod npm;
mod pgbouncer;
mod pip;
mod postgres;
mod program;
mod prometheus;
mod proxy;
mod smtp;
mod unique;
mod wait;

pub use binary::executable;
pub use faketime::FalseClock;
pub use log::{Log, Logging};
pub use mariadb::mariadb;
pub use nats::{TestNats, binary, nats, nats_cluster, nats_with, shared_nats};
pub use nats_server::{Guard, signal};
pub use npm::npm;
pub use pgbouncer::{TestPgBouncer, pgbouncer, pgbouncer_ignoring};
pub use pip::pip;
pub use postgres::{TestPostgres, own_postgres, postgres, postgres_with_tls};
pub use program::find_program;
pub use prometheus::{TestPrometheus, prometheus, promtool};
pub use proxy::Proxy;
pub use smtp::{SmtpTls, TestSmtp, smtp};
pub use unique::{free_port, nonces, now, sqlite_url, unique};
pub use wait::{eventually, skip, within};
