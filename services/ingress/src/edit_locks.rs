//! Locks for changes of definitions: one change of a definition at a time within one node.
//!
//! They only save work: the store accepts one of several concurrent changes, and the others have to
//! compile again.

use std::array;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use model::DefinitionId;
use tokio::sync::{Mutex, MutexGuard};

const LOCKS: usize = 64;

/// A fixed number of locks; definitions whose ids have the same hash share one.
#[derive(Debug)]
pub(crate) struct EditLocks([Mutex<()>; LOCKS]);

impl Default for EditLocks {
    fn default() -> Self {
        Self(array::from_fn(|_| Mutex::default()))
    }
}

impl EditLocks {
    /// Waits for earlier changes. The lock lasts until the guard is dropped.
    pub(crate) async fn lock(&self, id: &DefinitionId) -> MutexGuard<'_, ()> {
        let mut hasher = DefaultHasher::new();
        id.hash(&mut hasher);
        let index = hasher.finish() % LOCKS as u64;
        self.0[usize::try_from(index).unwrap_or_default()].lock().await
    }
}
