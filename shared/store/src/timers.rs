//! Due bookmarks and schedules.

use async_trait::async_trait;
use model::{BookmarkId, InstanceId, Schedule, ScheduleId, Timestamp};

use crate::{Error, NewInstance};

/// A bookmark that a timer resumes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DueTimer {
    /// The time when it is due.
    pub due_at: Timestamp,
    /// The instance that waits.
    pub instance_id: InstanceId,
    /// The bookmark.
    pub bookmark_id: BookmarkId,
    /// Its shard.
    pub shard: i32,
}

/// One firing of a schedule: its starts and its next time, in one transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Firing {
    /// The schedule.
    pub schedule_id: ScheduleId,
    /// The occurrence counter that the caller has read. The schedule fires only when its counter is
    /// still the same.
    pub occurrence: i64,
    /// The counter after the firing.
    pub occurrence_next: i64,
    /// The next time to fire; `None` when it fires no more.
    pub next_at: Option<Timestamp>,
    /// The instances to start; empty when missed occurrences are skipped.
    pub starts: Vec<NewInstance>,
    /// The newest nominal time that is started for; `None` when nothing is started.
    pub fired_at: Option<Timestamp>,
    /// The occurrences that were due and are not started.
    pub missed: u32,
}

/// Timers and schedules that are due.
#[async_trait]
pub trait Timers: Send + Sync {
    /// The database's clock. Timers compare with it, so that none fires early.
    ///
    /// # Errors
    /// See [`Error`].
    async fn clock(&self) -> Result<Timestamp, Error>;

    /// Open bookmarks of these shards that are due before that time, earliest first.
    ///
    /// # Errors
    /// See [`Error`].
    async fn due_timers(
        &self,
        shards: &[i32],
        before: Timestamp,
        limit: u64,
    ) -> Result<Vec<DueTimer>, Error>;

    /// Schedules of these shards that are due before that time and not paused, earliest first.
    ///
    /// # Errors
    /// See [`Error`].
    async fn due_schedules(
        &self,
        shards: &[i32],
        before: Timestamp,
        limit: u64,
    ) -> Result<Vec<Schedule>, Error>;

    /// Advances a schedule and accepts its starts; false when another node has done so, or the
    /// schedule is paused or gone.
    ///
    /// # Errors
    /// See [`Error`]. It may have happened: read the schedule again.
    async fn fire(&self, firing: Firing) -> Result<bool, Error>;
}
