//! Timer: fires what is due, once, across all replicas, and never early.
//!
//! The database holds the timers. A claim in the key-value store decides which replica fires; the
//! bookmark that burns decides which firing counts. Replicas divide the shards by rendezvous
//! hashing over the live nodes, without a leader: if two see different members, both try and one
//! wins. This service never changes an instance; it publishes commands.

mod advisories;
mod clock;
mod config;
mod context;
mod error;
mod lost;
mod memory;
mod metrics;
mod outbox;
mod pipeline;
pub mod recurrence;
mod replica;
mod retention;
mod run;
mod schedule;
mod shards;
mod spent;
mod sweep;
mod unreadable;
#[cfg(test)]
mod world;

pub use config::Config;
pub use context::Context;
pub use error::Error;
pub use replica::Timer;
pub use retention::{Group, Report, Retention, Rules};
pub use run::run;
pub use shards::ROLE;
pub use sweep::{Mended, Sweep};
