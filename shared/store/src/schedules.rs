//! Schedules of published definitions: what they have done, and their pauses.

use async_trait::async_trait;
use model::{DefinitionId, Schedule, ScheduleId, Timestamp};

use crate::{Error, Listed, Page};

/// A pause of a schedule. It belongs to the definition and the activity: it holds for versions that
/// are published later, and ends when someone resumes the schedule or deletes the definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchedulePause {
    /// When it began.
    pub since: Timestamp,
    /// Who asked for it.
    pub by: String,
}

/// A schedule, and what it has done so far.
#[derive(Clone, Debug, PartialEq)]
pub struct ScheduleStatus {
    /// The schedule.
    pub schedule: Schedule,
    /// Its pause, if it is paused: it does not fire then.
    pub pause: Option<SchedulePause>,
    /// The newest nominal time for which it has started something.
    pub last_at: Option<Timestamp>,
    /// Occurrences that were due and started nothing, over all versions. Those of a pause are not
    /// among them.
    pub missed: u64,
}

/// Which schedules; all of them by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScheduleFilter {
    /// Only those of this definition.
    pub definition_id: Option<DefinitionId>,
    /// Only those that are paused, or only those that are not.
    pub is_paused: Option<bool>,
}

/// Schedules of published definitions, for people.
#[async_trait]
pub trait Schedules: Send + Sync {
    /// One page of schedules: those that fire next first, then those that fire no more. One that is
    /// paused stays at the time that it had next.
    ///
    /// # Errors
    /// See [`Error`].
    async fn schedule_page(
        &self,
        filter: &ScheduleFilter,
        page: Page,
    ) -> Result<Listed<ScheduleStatus>, Error>;

    /// One schedule of a published definition.
    ///
    /// # Errors
    /// See [`Error`].
    async fn schedule(&self, id: &ScheduleId) -> Result<Option<ScheduleStatus>, Error>;

    /// Pauses a schedule: from then on it does not fire. False when it is paused already, or there
    /// is none.
    ///
    /// # Errors
    /// See [`Error`]. It may have happened: read the schedule again.
    async fn pause_schedule(&self, id: &ScheduleId, pause: &SchedulePause) -> Result<bool, Error>;

    /// Ends the pause of a schedule, which fires next at `next_at`. False when it is not paused any
    /// more, or is not the one that the caller has read: its counter or its version is another.
    ///
    /// # Errors
    /// See [`Error`]. It may have happened: read the schedule again.
    async fn resume_schedule(
        &self,
        read: &Schedule,
        next_at: Option<Timestamp>,
    ) -> Result<bool, Error>;
}
