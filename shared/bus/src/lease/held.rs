//! A lease that this node holds, as its owner and the task that renews it share it.

use std::sync::{Arc, Mutex};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::Revision;
use crate::lock::lock;

/// A held lease.
pub(super) struct Held {
    pub(super) key: String,
    pub(super) nonce: String,
    pub(super) token: Revision,
    /// The revision of the last write. A task holds this lock while it writes.
    pub(super) revision: Arc<tokio::sync::Mutex<Revision>>,
    pub(super) times: Mutex<Times>,
    pub(super) lost: CancellationToken,
}

#[derive(Clone, Copy)]
pub(super) struct Times {
    pub(super) written: Instant,
    pub(super) deadline: Instant,
}

impl Held {
    pub(super) fn is_held(&self) -> bool {
        !self.lost.is_cancelled() && Instant::now() < lock(&self.times).deadline
    }

    pub(super) async fn wait_lost(&self) {
        while self.is_held() {
            let deadline = lock(&self.times).deadline;
            tokio::select! {
                biased;
                () = self.lost.cancelled() => {}
                () = tokio::time::sleep_until(deadline) => {}
            }
        }
        self.lost.cancel();
    }
}
