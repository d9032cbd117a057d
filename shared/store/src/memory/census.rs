//! The number of things that are not done, in memory.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use async_trait::async_trait;
use model::{DefinitionId, Instance, SubStatus, Timestamp};

use super::tables::{InstanceRow, ScheduleRow};
use super::{MemoryStore, Operation};
use crate::{Census, Counts, Error, Unfinished};

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

    async fn unfinished_by_definition(&self, at_most: u64) -> Result<Vec<Unfinished>, Error> {
        self.run(Operation::List, |tables| {
            let at_most = usize::try_from(at_most).unwrap_or(usize::MAX);
            let newest = |status: SubStatus| {
                let all = tables.instances.values().map(|row| &row.instance);
                let mut found: Vec<&Instance> = all.filter(|one| one.status == status).collect();
                found.sort_by_key(|instance| Reverse(instance.updated_at));
                found.truncate(at_most);
                found
            };
            let mut counts = BTreeMap::new();
            for status in [SubStatus::Pending, SubStatus::Executing, SubStatus::Suspended] {
                for instance in newest(status) {
                    let id = &instance.definition_id;
                    let none = || Unfinished::none_of(id.clone());
                    let entry = counts.entry(id.clone()).or_insert_with(none);
                    match status {
                        SubStatus::Pending => entry.pending += 1,
                        SubStatus::Executing => entry.executing += 1,
                        _ => entry.suspended += 1,
                    }
                }
            }
            Ok(counts.into_values().collect())
        })
        .await
    }

    async fn faulted_by_definition(
        &self,
        since: Timestamp,
        at_most: u64,
    ) -> Result<Vec<(DefinitionId, u64)>, Error> {
        self.run(Operation::List, |tables| {
            let at_most = usize::try_from(at_most).unwrap_or(usize::MAX);
            let all = tables.instances.values().map(|row| &row.instance);
            let is_wanted =
                |one: &&Instance| one.status == SubStatus::Faulted && one.updated_at >= since;
            let mut found: Vec<_> = all.filter(is_wanted).collect();
            found.sort_by_key(|instance| Reverse(instance.updated_at));
            let mut counts = BTreeMap::new();
            for instance in found.into_iter().take(at_most) {
                *counts.entry(instance.definition_id.clone()).or_insert(0_u64) += 1;
            }
            Ok(counts.into_iter().collect())
        })
        .await
    }
}
