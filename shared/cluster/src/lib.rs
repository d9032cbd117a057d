//! A whole Staunch cluster on this machine, as separate processes: brokers, a database, nodes. For
//! `staunch validate`, `staunch bench` and the tests that kill things.
//!
//! Everything it starts dies with its handle, and with this process however that ends; what it
//! wrote goes too. It speaks to nodes only as an operator does: by arguments, signals and health.

mod brokers;
mod cluster;
mod node;
mod plan;

pub use brokers::Brokers;
pub use cluster::Cluster;
pub use node::{Exit, Node};
pub use plan::{Database, NodePlan, Plan};
