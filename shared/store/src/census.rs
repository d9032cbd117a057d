//! The number of things that are not done.

use async_trait::async_trait;
use model::{DefinitionId, Timestamp};

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

/// The instances of one definition that have not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// The definition.
    pub definition_id: DefinitionId,
    /// Those that were accepted and have not run.
    pub pending: u64,
    /// Those with work to do.
    pub executing: u64,
    /// Those that wait.
    pub suspended: u64,
}

impl Unfinished {
    /// A definition without such instances.
    #[must_use]
    pub const fn none_of(definition_id: DefinitionId) -> Self {
        Self { definition_id, pending: 0, executing: 0, suspended: 0 }
    }

    /// All of them.
    #[must_use]
    pub const fn sum(&self) -> u64 {
        self.pending.saturating_add(self.executing).saturating_add(self.suspended)
    }
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

    /// Counts the instances that have not ended by their definitions, in the order of the ids. Of each
    /// state, the `at_most` instances that changed last are counted, so that the time is limited: a
    /// state with that sum has more, or may have.
    ///
    /// # Errors
    /// See [`Error`].
    async fn unfinished_by_definition(&self, at_most: u64) -> Result<Vec<Unfinished>, Error>;

    /// Counts the instances that are faulted and changed at this time or later by their definitions, in
    /// the order of the ids. The `at_most` of them that changed last are counted.
    ///
    /// # Errors
    /// See [`Error`].
    async fn faulted_by_definition(
        &self,
        since: Timestamp,
        at_most: u64,
    ) -> Result<Vec<(DefinitionId, u64)>, Error>;
}
