//! A whole Staunch cluster on this machine, as separate processes: brokers, a database, nodes. For
//! `staunch validate`, `staunch bench` and the tests that kill things.
//!
//! Everything it starts ends with its handle, and with this process however that ends; its files
//! are removed. It talks to nodes as an operator does: by arguments, signals and health.

mod brokers;
mod cluster;
mod node;
mod plan;

pub use brokers::Brokers;
pub use cluster::Cluster;
pub use node::{Exit, Node};
pub use plan::{Database, NodePlan, Plan};
