//! The published version of each definition, and its compiled program.
//!
//! A version that was published once is immutable, so its program is cached by version id and
//! never becomes stale. Only the pointer "published version of X" changes: it comes from the
//! pointers bucket while the watch is complete, and from the database while it is not.

mod catalog;
mod error;
mod library;
mod position;
mod programs;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use model::ScriptLibrary;

pub use catalog::Catalog;
pub use error::Error;
pub use library::library;
pub use programs::run_apart;

/// The engine of a process: every built-in activity and every language. A script runs for at most
/// `script_time`, may read the values of `script_config`, and finds `script_libraries` under their
/// global names.
#[must_use]
pub fn engine(
    script_time: Duration,
    script_config: &BTreeMap<String, String>,
    script_libraries: &[ScriptLibrary],
) -> Arc<engine::Engine> {
    let languages = expressions::with(script_time, script_config, script_libraries);
    Arc::new(engine::Engine::new(activities::all(), languages))
}
