//! Due bookmarks and schedules in memory.

use async_trait::async_trait;
use model::{Schedule, Timestamp};

use super::instances::size;
use super::{Bug, MemoryStore, Operation};
use crate::{DueTimer, Error, Firing, Timers, check};

/// How wrong a wrong clock is.
const AHEAD: std::time::Duration = std::time::Duration::from_secs(2);

#[async_trait]
impl Timers for MemoryStore {
    async fn clock(&self) -> Result<Timestamp, Error> {
        let now = || {
            let now = (self.clock)();
            if self.faults.has(Bug::ClockAhead) { now.after(AHEAD) } else { now }
        };
        self.run(Operation::Clock, |_| Ok(now())).await
    }

    async fn due_timers(
        &self,
        shards: &[i32],
        before: Timestamp,
        limit: u64,
    ) -> Result<Vec<DueTimer>, Error> {
        self.run(Operation::DueTimers, |tables| {
            if self.faults.has(Bug::TimersUnseen) {
                return Ok(Vec::new());
            }
            let mut due: Vec<DueTimer> = tables
                .bookmarks
                .values()
                .filter(|row| shards.contains(&row.shard))
                .filter_map(|row| {
                    Some(DueTimer {
                        due_at: row.bookmark.due_at.filter(|due_at| *due_at < before)?,
                        instance_id: row.instance_id.clone(),
                        bookmark_id: row.bookmark.id.clone(),
                        shard: row.shard,
                    })
                })
                .collect();
            due.sort();
            due.truncate(size(limit));
            Ok(due)
        })
        .await
    }

    async fn due_schedules(
        &self,
        shards: &[i32],
        before: Timestamp,
        limit: u64,
    ) -> Result<Vec<Schedule>, Error> {
        self.run(Operation::DueSchedules, |tables| {
            if self.faults.has(Bug::SchedulesUnseen) {
                return Ok(Vec::new());
            }
            let mut due: Vec<&Schedule> = tables
                .schedules
                .values()
                .filter(|row| !row.retired)
                .map(|row| &row.schedule)
                .filter(|schedule| shards.contains(&schedule.shard))
                .filter(|schedule| schedule.next_at.is_some_and(|next_at| next_at < before))
                .collect();
            due.sort_by_key(|schedule| (schedule.next_at, &schedule.id));
            Ok(due.into_iter().take(size(limit)).cloned().collect())
        })
        .await
    }

    async fn fire(&self, firing: Firing) -> Result<bool, Error> {
        self.run(Operation::Fire, |tables| {
            firing.starts.iter().try_for_each(check::start)?;
            let row = tables.schedules.get_mut(&firing.schedule_id).filter(|row| !row.retired);
            let Some(row) = row.filter(|row| row.schedule.occurrence == firing.occurrence) else {
                return Ok(false);
            };
            row.schedule.occurrence = firing.occurrence_next;
            row.schedule.next_at = firing.next_at;
            let is_kept = !self.faults.has(Bug::OccurrenceForgotten);
            for start in firing.starts.into_iter().filter(|_| is_kept) {
                tables.accept_quietly(start);
            }
            Ok(true)
        })
        .await
    }
}
