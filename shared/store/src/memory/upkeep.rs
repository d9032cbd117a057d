//! Upkeep in memory.

use std::collections::BTreeSet;

use async_trait::async_trait;
use model::{DefinitionId, Instance, InstanceId, Timestamp};

use super::instances::size;
use super::tables::Tables;
use super::{MemoryStore, Operation};
use crate::{Ended, EndedFilter, Error, Owned, Upkeep, Walked};

#[async_trait]
impl Upkeep for MemoryStore {
    async fn ended_definition(
        &self,
        after: Option<&DefinitionId>,
    ) -> Result<Option<DefinitionId>, Error> {
        self.run(Operation::EndedDefinition, |tables| {
            let rows = tables.instances.values().map(|row| &row.instance);
            let ended = rows.filter(|instance| instance.finished_at.is_some());
            let ids = ended.map(|instance| &instance.definition_id);
            Ok(ids.filter(|id| after.is_none_or(|after| *id > after)).min().cloned())
        })
        .await
    }

    async fn ended(
        &self,
        filter: &EndedFilter,
        after: Option<&Ended>,
        limit: u64,
    ) -> Result<Vec<Ended>, Error> {
        self.run(Operation::Ended, |tables| {
            let rows = tables.instances.values().map(|row| &row.instance);
            let mut found: Vec<_> = rows
                .filter(|instance| instance.finished_at.is_some())
                .filter(|instance| instance.definition_id == filter.definition_id)
                .filter(|instance| instance.status == filter.status)
                .filter(|instance| instance.updated_at < filter.before)
                .map(|instance| Ended {
                    id: instance.id.clone(),
                    updated_at: instance.updated_at,
                    journal_rows: 1,
                    is_held: is_held(tables, instance),
                })
                .collect();
            let place = |ended: &Ended| (ended.updated_at, ended.id.clone());
            found.sort_by_key(place);
            found.retain(|ended| after.is_none_or(|after| place(ended) > place(after)));
            found.truncate(size(limit));
            Ok(found)
        })
        .await
    }

    async fn remove_ended(
        &self,
        ids: &[InstanceId],
        before: Timestamp,
    ) -> Result<Vec<InstanceId>, Error> {
        self.run(Operation::RemoveEnded, |tables| {
            let goes = |id: &&InstanceId| {
                tables.instances.get(*id).is_some_and(|row| {
                    row.instance.finished_at.is_some()
                        && row.instance.updated_at < before
                        && !is_held(tables, &row.instance)
                })
            };
            let gone: Vec<InstanceId> = ids.iter().filter(goes).cloned().collect();
            gone.iter().for_each(|id| tables.remove_instance(id));
            Ok(gone)
        })
        .await
    }

    async fn orphans(
        &self,
        table: Owned,
        after: Option<&InstanceId>,
        limit: u64,
    ) -> Result<Walked, Error> {
        self.run(Operation::Orphans, |tables| {
            let owners = owners(tables, table).into_iter();
            let seen: Vec<_> = owners
                .filter(|id| after.is_none_or(|after| id > after))
                .take(size(limit))
                .collect();
            let last = seen.last().filter(|_| seen.len() == size(limit)).cloned();
            let is_missing = |id: &InstanceId| !tables.instances.contains_key(id);
            Ok(Walked { orphans: seen.into_iter().filter(is_missing).collect(), last })
        })
        .await
    }

    async fn remove_orphans(&self, table: Owned, ids: &[InstanceId]) -> Result<u64, Error> {
        self.run(Operation::RemoveOrphans, |tables| {
            let missing: BTreeSet<_> =
                ids.iter().filter(|id| !tables.instances.contains_key(*id)).collect();
            let before = rows(tables, table);
            match table {
                Owned::Bookmarks => tables.bookmarks.retain(|(id, _), _| !missing.contains(id)),
                Owned::Journal => tables.journals.retain(|id, _| !missing.contains(id)),
                Owned::Tokens => {
                    tables.tokens.retain(|_, token| !missing.contains(&token.instance_id));
                }
            }
            Ok(u64::try_from(before - rows(tables, table)).unwrap_or(u64::MAX))
        })
        .await
    }

    async fn forget_audit(&self, before: Timestamp, limit: u64) -> Result<u64, Error> {
        self.run(Operation::ForgetAudit, |tables| {
            let mut left = limit;
            tables.audits.sort_by_key(|entry| entry.at);
            tables.audits.retain(|entry| {
                let goes = entry.at < before && left > 0;
                left -= u64::from(goes);
                !goes
            });
            Ok(limit - left)
        })
        .await
    }
}

/// Its parent or one of its children has not ended.
fn is_held(tables: &Tables, instance: &Instance) -> bool {
    let runs = |other: &Instance| other.finished_at.is_none();
    let parent = instance.parent.as_ref().and_then(|of| tables.instances.get(&of.instance_id));
    let is_child = |other: &Instance| {
        other.parent.as_ref().is_some_and(|parent| parent.instance_id == instance.id)
    };
    let mut others = tables.instances.values().map(|row| &row.instance);
    parent.is_some_and(|row| runs(&row.instance))
        || others.any(|other| is_child(other) && runs(other))
}

fn owners(tables: &Tables, table: Owned) -> BTreeSet<InstanceId> {
    match table {
        Owned::Bookmarks => tables.bookmarks.keys().map(|(id, _)| id.clone()).collect(),
        Owned::Journal => tables.journals.keys().cloned().collect(),
        Owned::Tokens => tables.tokens.values().map(|token| token.instance_id.clone()).collect(),
    }
}

fn rows(tables: &Tables, table: Owned) -> usize {
    match table {
        Owned::Bookmarks => tables.bookmarks.len(),
        Owned::Journal => tables.journals.len(),
        Owned::Tokens => tables.tokens.len(),
    }
}
