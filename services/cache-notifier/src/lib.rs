//! Cache notifier: informs every node which version of a definition is published, and answers the
//! publisher when all nodes have it.
//!
//! The database has the truth; the pointer in the key-value store repeats it a moment later, and
//! every node follows the pointers. This service writes pointers from what it reads in the
//! database, never from the content of a request, so a stale or repeated request does no harm.

mod config;
mod context;
mod error;
mod metrics;
mod pipeline;
mod pointer;
pub mod reconcile;
mod run;

pub use config::Config;
pub use context::{Context, ROLE};
pub use error::Error;
pub use pipeline::Notifier;
pub use run::run;
