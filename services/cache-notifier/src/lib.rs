//! Cache notifier: tells every node which version of a definition is published, and tells the
//! publisher when all of them know.
//!
//! The database has the truth; the pointer in the key-value store says the same a moment later;
//! every node follows the pointers. This service writes pointers from what it reads in the
//! database, never from what a request claims, so a stale or repeated request does no harm.

mod config;
mod context;
mod error;
mod metrics;
mod pipeline;
pub mod reconcile;
mod run;

pub use config::Config;
pub use context::{Context, ROLE};
pub use error::Error;
pub use pipeline::Notifier;
pub use run::run;
