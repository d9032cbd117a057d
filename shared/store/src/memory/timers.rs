//! Due bookmarks and schedules in memory.

use async_trait::async_trait;
use model::{Schedule, Timestamp};

use super::instances::size;
use super::{MemoryStore, Operation};
use crate::{DueTimer, Error, Firing, Timers, check};

#[async_trait]
impl Timers for MemoryStore {
    async fn clock(&self) -> Result<Timestamp, Error> {
        self.run(Operation::Clock, |_| Ok((self.clock)())).await
    }

    async fn due_timers(
        &self,
        shards: &[i32],
        before: Timestamp,
        limit: u64,
    ) -> Result<Vec<DueTimer>, Error> {
        self.run(Operation::DueTimers, |tables| {
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
            let mut due: Vec<&Schedule> = tables
                .schedules
                .values()
                .filter(|row| row.fires())
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
            let row = tables.schedules.get_mut(&firing.schedule_id).filter(|row| row.fires());
            let Some(row) = row.filter(|row| row.schedule.occurrence == firing.occurrence) else {
                return Ok(false);
            };
            row.schedule.occurrence = firing.occurrence_next;
            row.schedule.next_at = firing.next_at;
            row.last_at = firing.fired_at.or(row.last_at);
            row.missed = row.missed.saturating_add(firing.missed.into());
            for start in firing.starts {
                tables.accept_quietly(start);
            }
            Ok(true)
        })
        .await
    }
}
