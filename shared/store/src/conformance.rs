//! The behaviour that every implementation of the port must have. Each case has a fresh store, made
//! by the implementation's tests:
//!
//! ```ignore
//! store::conformance::exercise(async || Arc::new(connect().await) as Arc<dyn Store>).await;
//! ```
#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a case that cannot go on has failed")]

mod bookmarks;
mod commits;
mod definitions;
mod deletions;
mod inbox;
mod instances;
mod keys;
mod outbox;
mod requests;
mod sample;
mod schedules;
mod timers;
mod tokens;

use std::sync::Arc;
use std::time::Duration;

pub use sample::{bookmark, command, first, next, start};

use crate::Store;

/// The store under test.
type Subject = Arc<dyn Store>;

/// Runs every case.
///
/// # Panics
/// When a case fails.
pub async fn exercise(make: impl AsyncFn() -> Arc<dyn Store>) {
    instances::exercise(&make).await;
    commits::exercise(&make).await;
    definitions::exercise(&make).await;
    deletions::exercise(&make).await;
    schedules::exercise(&make).await;
    bookmarks::exercise(&make).await;
    inbox::exercise(&make).await;
    timers::exercise(&make).await;
    outbox::exercise(&make).await;
    tokens::exercise(&make).await;
    keys::exercise(&make).await;
    requests::exercise(&make).await;
}

/// Runs cases one after the other, each with a fresh store.
macro_rules! cases {
    ($($case:ident),+ $(,)?) => {
        pub(super) async fn exercise(make: &impl AsyncFn() -> super::Subject) {
            $(
                let store = make().await;
                $case(std::sync::Arc::clone(&store)).await;
                store.close().await;
            )+
        }
    };
}
use cases;

/// Runs this many tasks at the same time; returns their results in order.
async fn at_once<T, F>(tasks: usize, task: impl Fn(usize) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let running: Vec<_> = (0..tasks).map(|number| tokio::spawn(task(number))).collect();
    let mut results = Vec::new();
    for task in running {
        results.push(task.await.unwrap());
    }
    results
}

/// Waits until the condition holds; a promise of "soon" has a few seconds.
async fn soon(condition: impl AsyncFn() -> bool) {
    for _ in 0..1_000 {
        if condition().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("it does not come to hold");
}
