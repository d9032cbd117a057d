//! Joins a process to the cluster: the database, the broker, and its place among the live nodes.
//!
//! The only crate that names the adapters. It knows which roles a process has, but not what they
//! do.

mod clock;
mod health;
mod join;
mod observe;
mod silence;

pub use bus_nats::{check_urls as check_nats_urls, permissions};
pub use health::health;
pub use join::{
    Node, check_nats_login, claim, connect, connect_worker, inspect_database, nonces, open_bus,
    open_store,
};

pub use bus_nats::{
    ConsumerSeen, Inspection as BrokerSeen, NatsBus, Placement, Repaired, StreamSeen,
};
pub use store_sql::Inspection as DatabaseSeen;
