//! The number of things that are not done, in memory.

use async_trait::async_trait;
use model::{SubStatus, Timestamp};

use super::tables::{InstanceRow, ScheduleRow};
use super::{MemoryStore, Operation};
use crate::{Census, Counts, Error};

#[async_trait]
impl Counts for MemoryStore {
    async fn census(&self, overdue: Timestamp, at_most: u64) -> Result<Census, Error> {
        self.run(Operation::List, |tables| {
            let limited = |found: usize| u64::try_from(found).unwrap_or(u64::MAX).min(at_most);
            let with = |status: SubStatus| {
                let has = |row: &&InstanceRow| row.instance.status == status;
                limited(tables.instances.values().filter(has).count())
            };
            let due = || tables.bookmarks.values().filter_map(|row| row.bookmark.due_at);
            let fires = |row: &&ScheduleRow| row.fires() && row.schedule.next_at.is_some();
            Ok(Census {
                pending: with(SubStatus::Pending),
                executing: with(SubStatus::Executing),
                suspended: with(SubStatus::Suspended),
                timers: limited(due().count()),
                timers_overdue: limited(due().filter(|due_at| *due_at < overdue).count()),
                schedules: limited(tables.schedules.values().filter(fires).count()),
                outbox: limited(tables.outbox.len()),
                commands: limited(tables.pending.len()),
            })
        })
        .await
    }
}
