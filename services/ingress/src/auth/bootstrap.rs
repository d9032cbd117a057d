//! The key of the configuration, which has all permissions. The database must not have the same key: its
//! owner would get them. A node with such a key does not start; here is the key of a file that has changed
//! since.

use std::sync::{Mutex, PoisonError};

use store::Store;

/// The configured key that was looked for in the database last.
#[derive(Default)]
pub(crate) struct Bootstrap(Mutex<Option<Looked>>);

struct Looked {
    hash: String,
    is_alone: bool,
}

impl Bootstrap {
    /// Looks for the configured key while the database answers: later the key may be needed to find out
    /// why the database does not.
    pub(crate) async fn at_start(&self, store: &dyn Store, key: Option<&str>) {
        let Some(key) = key else { return };
        if let Err(error) = self.is_alone(store, &store::key_hash(key)).await {
            tracing::warn!(%error, "the api-key was not looked for in the database yet");
        }
    }

    /// True if the database does not have the configured key with this hash. It is looked for once.
    ///
    /// # Errors
    /// When the database fails.
    pub(super) async fn is_alone(
        &self,
        store: &dyn Store,
        hash: &str,
    ) -> Result<bool, store::Error> {
        if let Some(is_alone) = self.known(hash) {
            return Ok(is_alone);
        }
        let owner = store::key_owner(store, hash).await?;
        if let Some(owner) = &owner {
            tracing::error!(
                "the setting api-key is now the key of {owner} in the database: it has the \
                 permissions of that key alone, and this node has no key with all permissions; give \
                 it one of its own"
            );
        }
        let looked = Looked { hash: hash.to_owned(), is_alone: owner.is_none() };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(looked);
        Ok(owner.is_none())
    }

    fn known(&self, hash: &str) -> Option<bool> {
        let looked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        looked.as_ref().filter(|looked| looked.hash == hash).map(|looked| looked.is_alone)
    }
}
