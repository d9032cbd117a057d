//! The number of things that are not done.

use async_trait::async_trait;
use model::Timestamp;

use crate::Error;

/// The number of things that are not done, each up to the limit of the question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Instances that were accepted and have not run.
    pub pending: u64,
    /// Instances with work to do.
    pub executing: u64,
    /// Instances that wait.
    pub suspended: u64,
    /// Open bookmarks with a due time.
    pub timers: u64,
    /// Those of them that were due before the time of the question.
    pub timers_overdue: u64,
    /// Schedules that will fire.
    pub schedules: u64,
    /// Messages that are committed and not known to be published.
    pub outbox: u64,
    /// Accepted commands that are not applied.
    pub commands: u64,
}

/// Counts.
#[async_trait]
pub trait Counts: Send + Sync {
    /// Counts by indexes, each figure up to `at_most`, so that the time is limited. `overdue` is
    /// the time before which a timer is late.
    ///
    /// # Errors
    /// See [`Error`].
    async fn census(&self, overdue: Timestamp, at_most: u64) -> Result<Census, Error>;
}
