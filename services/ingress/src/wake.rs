//! Wakes the work on plans.

use tokio::sync::Notify;

/// Wakes the work on plans.
#[derive(Debug, Default)]
pub(crate) struct Wake(Notify);

impl Wake {
    /// A plan was submitted here.
    pub(crate) fn wake(&self) {
        self.0.notify_one();
    }

    /// Waits until a plan is submitted here.
    pub(crate) async fn woken(&self) {
        self.0.notified().await;
    }
}
