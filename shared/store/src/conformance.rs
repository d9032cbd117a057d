//! The behaviour that every implementation of the port must have. Each case has a fresh store, made
//! by the implementation's tests:
//!
//! ```ignore
//! store::conformance::exercise(async || Arc::new(connect().await) as Arc<dyn Store>).await;
//! ```
#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a case that cannot go on has failed")]

mod bookmarks;
mod case;
mod census;
mod commits;
mod definitions;
mod deletions;
mod identity;
mod inbox;
mod instances;
mod keys;
mod labels;
mod leftovers;
mod outbox;
mod payloads;
mod plans;
mod requests;
mod sample;
mod schedules;
mod secrets;
mod sessions;
mod timers;
mod tokens;
mod upkeep;
mod values;

use std::sync::Arc;

pub use sample::{bookmark, command, first, next, start};

use crate::Store;

/// Runs every case.
///
/// # Panics
/// When a case fails.
pub async fn exercise(make: impl AsyncFn() -> Arc<dyn Store>) {
    instances::exercise(&make).await;
    commits::exercise(&make).await;
    definitions::exercise(&make).await;
    deletions::exercise(&make).await;
    labels::exercise(&make).await;
    schedules::exercise(&make).await;
    bookmarks::exercise(&make).await;
    inbox::exercise(&make).await;
    timers::exercise(&make).await;
    outbox::exercise(&make).await;
    tokens::exercise(&make).await;
    leftovers::exercise(&make).await;
    keys::exercise(&make).await;
    identity::exercise(&make).await;
    sessions::exercise(&make).await;
    secrets::exercise(&make).await;
    requests::exercise(&make).await;
    plans::exercise(&make).await;
    census::exercise(&make).await;
    values::exercise(&make).await;
    upkeep::exercise(&make).await;
    payloads::exercise(&make).await;
}
