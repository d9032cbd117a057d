//! The handle of a held lease.

use std::sync::Arc;
use std::time::Duration;

use super::held::Held;
use super::inner::Inner;
use super::keeper;
use super::queue::Front;

/// One held lease: renewed in the background until it is released or dropped.
pub struct Lease {
    pub(super) inner: Arc<Inner>,
    pub(super) held: Arc<Held>,
    pub(super) waited: Duration,
    pub(super) contended: bool,
    pub(super) released: bool,
    pub(super) _front: Front,
}

impl Lease {
    /// Grows with every acquisition of any key, until the bucket is created anew.
    #[must_use]
    pub fn token(&self) -> u64 {
        self.held.token
    }

    /// How long the acquisition took.
    #[must_use]
    pub fn waited(&self) -> Duration {
        self.waited
    }

    /// Another acquisition, on this node or another, held the lease when it was asked for.
    #[must_use]
    pub fn contended(&self) -> bool {
        self.contended
    }

    /// This acquisition still holds the lease, by this node's monotonic clock and all changes that
    /// it has seen.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.held.is_held()
    }

    /// Completes when it is lost: its deadline passed, a renewal was refused, or the watch showed
    /// another holder.
    pub async fn lost(&self) {
        self.held.wait_lost().await;
    }

    /// Releases the lease, so that the next waiter gets it at once. Best effort, for 2 s at most:
    /// if that fails, the lease expires.
    pub async fn release(mut self) {
        self.released = true;
        self.inner.forget(&self.held);
        keeper::release(&self.inner, &self.held).await;
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if self.released {
            return;
        }
        self.inner.forget(&self.held);
        let revision = self.held.revision.try_lock().map_or(self.held.token, |revision| *revision);
        self.held.lost.cancel();
        self.inner.orphan(&self.held.key, revision, &self.held.nonce);
    }
}

impl std::fmt::Debug for Lease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Lease({} token {} held {})", self.held.key, self.held.token, self.is_held())
    }
}
