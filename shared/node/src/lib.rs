//! Joins a process to the cluster: the database, the broker, and its place among the live nodes.
//!
//! The only crate that names the adapters. It knows which roles a process has, but not what they
//! do.

mod health;
mod join;

pub use health::health;
pub use join::{Node, connect, nonces, open_bus, open_store};
