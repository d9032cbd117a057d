//! Due bookmarks and schedules.

use async_trait::async_trait;
use model::{BookmarkId, InstanceId, Schedule, ScheduleId, Timestamp};

use crate::{Error, NewInstance};

/// A bookmark that a timer resumes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DueTimer {
    /// When.
    pub due_at: Timestamp,
    /// Whose.
    pub instance_id: InstanceId,
    /// Which.
    pub bookmark_id: BookmarkId,
    /// Its shard.
    pub shard: i32,
}

/// One firing of a schedule: accepted starts and the next time, in one transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Firing {
    /// Which schedule.
    pub schedule_id: ScheduleId,
    /// The occurrence counter that was read: fires only if it is still the one.
    pub occurrence: i64,
    /// The counter afterwards.
    pub occurrence_next: i64,
    /// The next nominal time; none when it is over.
    pub next_at: Option<Timestamp>,
    /// The instances to start: none where missed occurrences are skipped.
    pub starts: Vec<NewInstance>,
}

/// What is due.
#[async_trait]
pub trait Timers: Send + Sync {
    /// The database's clock, by which nothing fires early.
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

    /// Schedules of these shards that are due before that time, earliest first.
    ///
    /// # Errors
    /// See [`Error`].
    async fn due_schedules(
        &self,
        shards: &[i32],
        before: Timestamp,
        limit: u64,
    ) -> Result<Vec<Schedule>, Error>;

    /// Advances a schedule and accepts its starts; false when someone else has, or it is gone.
    ///
    /// # Errors
    /// See [`Error`]; it may have happened: read again.
    async fn fire(&self, firing: Firing) -> Result<bool, Error>;
}
