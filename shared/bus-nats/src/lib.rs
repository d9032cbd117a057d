//! The NATS adapter: the port of `bus` on JetStream, key-value buckets and the Services API.
//!
//! The only crate that knows async-nats. It calls JetStream's API directly where the client library
//! would lose a header, an error number or a reconnect. It keeps two connections, so that the
//! renewal of a lease does not wait behind commands. It never decides anything: a lost answer is
//! `Error::Unknown`, and the caller repeats the request with the same id.

mod api;
mod bucket;
mod connection;
mod election;
mod ensure;
mod figures;
mod heal;
mod hub;
mod incarnation;
mod inspect;
mod kv;
mod login;
mod nats;
mod object;
mod options;
mod outside;
pub mod permissions;
mod placement;
mod pool;
mod provision;
mod publishes;
mod pull;
mod queue;
mod refusals;
mod repair;
mod select;
mod status;
mod task;
mod topology;
mod wire;

pub use inspect::{ConsumerSeen, Inspection, StreamSeen};
pub use login::{check_login, check_urls};
pub use nats::{NatsBus, connect};
pub use options::{MINIMUM_VERSION, Options, Tls};
pub use placement::Placement;
pub use repair::Repaired;
pub use status::{Lag, Status, StreamStatus};
pub use topology::Topology;
