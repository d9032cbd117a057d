//! A whole Staunch cluster on this machine, as separate processes: brokers, a database, nodes. For
//! `staunch validate`, `staunch bench` and the tests that kill processes.
//!
//! Every process that it starts ends with its handle, and with this process in whatever way that
//! ends; its files are removed. It controls nodes as an operator does: by arguments, signals and
//! health checks.

mod brokers;
mod cluster;
mod node;
mod plan;

pub use brokers::Brokers;
pub use cluster::Cluster;
pub use node::{Exit, Node};
pub use plan::{Database, NodePlan, Plan};
