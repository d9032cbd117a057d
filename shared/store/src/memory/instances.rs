//! Instances in memory.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use async_trait::async_trait;
use model::{Entry, Instance, InstanceId, SearchKey, SubStatus, Timestamp};
use protocol::Message;

use super::tables::{InstanceRow, Tables};
use super::{Faults, MemoryStore, Operation, Written};
use crate::{
    Accepted, Burst, Commit, Error, Expected, InstanceFilter, InstanceOrder, InstancePlace,
    Instances, Listed, Loaded, LoadedWithin, NewInstance, Page, PlaceKey, TimeColumn, TimeFilter,
    TimeOperator, ValueChanges, ValueFilter, check,
};

#[async_trait]
impl Instances for MemoryStore {
    async fn accept(&self, start: NewInstance) -> Result<Accepted, Error> {
        self.run(Operation::Accept, |tables| {
            check::start(&start)?;
            if let Some(row) = tables.instances.get(&start.instance.id) {
                return Ok(Accepted::Exists(Box::new(row.instance.clone())));
            }
            let key = start.activation_key.as_deref();
            if let Some(holder) = tables.holder(key, &start.instance.id) {
                return Ok(Accepted::NotAllowed(holder));
            }
            if tables.deleted.contains(&start.instance.version_id) {
                return Ok(Accepted::Gone);
            }
            tables.insert_start(start);
            Ok(Accepted::New)
        })
        .await
    }

    async fn load_within(
        &self,
        id: &InstanceId,
        state_bytes_max: usize,
    ) -> Result<Option<LoadedWithin>, Error> {
        self.run(Operation::Load, |tables| {
            let Some(row) = tables.instances.get(id) else { return Ok(None) };
            let state_bytes = row.instance.state.len();
            if state_bytes > state_bytes_max {
                return Ok(Some(LoadedWithin::TooLarge { state_bytes }));
            }
            let (instance, command) = (row.instance.clone(), row.command.clone());
            Ok(Some(LoadedWithin::Whole(Box::new(Loaded { instance, command }))))
        })
        .await
    }

    async fn commit(&self, burst: Burst) -> Result<Commit, Error> {
        check::burst(&burst)?;
        let Some(late) = self.faults.late(Operation::Commit) else {
            let commit = |tables: &mut Tables| Ok(self.write(tables, burst));
            return self.run(Operation::Commit, commit).await;
        };
        self.faults.before(Operation::Commit).await?;
        let own = self.clone();
        #[expect(
            clippy::disallowed_methods,
            reason = "a fault that a test asked for, in the twin"
        )]
        tokio::spawn(async move {
            tokio::time::sleep(late).await;
            // The caller has its answer already.
            drop(own.write(&mut own.lock(), burst));
        });
        Err(Error::Unavailable("injected fault: the call is still in progress".to_owned()))
    }

    async fn list(&self, filter: &InstanceFilter, page: Page) -> Result<Listed<Instance>, Error> {
        self.run(Operation::List, |tables| {
            let mut found: Vec<&Instance> = tables
                .instances
                .values()
                .map(|row| &row.instance)
                .filter(|instance| fits(instance, filter))
                .filter(|instance| fits_values(tables.values.get(&instance.id), &filter.values))
                .collect();
            let order = filter.order.unwrap_or(InstanceOrder::NEWEST);
            found.sort_by(|a, b| compare(&order.place(a), &order.place(b), order));
            let total = found.len().try_into().unwrap_or(u64::MAX);
            let stateless =
                |instance: &Instance| Instance { state: Vec::new(), ..instance.clone() };
            let is_after = |instance: &&Instance| {
                let after = filter.after.as_ref();
                after.is_none_or(|after| compare(&order.place(instance), after, order).is_gt())
            };
            let found = page.of(found.into_iter().filter(is_after).map(stateless));
            Ok(Listed { total, ..found })
        })
        .await
    }

    async fn count(&self, filter: &InstanceFilter, at_most: u64) -> Result<u64, Error> {
        self.run(Operation::Count, |tables| {
            let rows = tables.instances.values().map(|row| &row.instance);
            let fits = |instance: &&Instance| {
                let values = tables.values.get(&instance.id);
                fits(instance, filter) && fits_values(values, &filter.values)
            };
            Ok(rows.filter(fits).take(size(at_most)).count().try_into().unwrap_or(u64::MAX))
        })
        .await
    }

    async fn journal(&self, id: &InstanceId, page: Page) -> Result<Listed<Entry>, Error> {
        self.run(Operation::Journal, |tables| {
            Ok(page.of(tables.journals.get(id).into_iter().flatten().cloned()))
        })
        .await
    }

    async fn values(&self, id: &InstanceId) -> Result<BTreeMap<String, SearchKey>, Error> {
        self.run(Operation::Values, |tables| Ok(tables.values.get(id).cloned().unwrap_or_default()))
            .await
    }

    async fn delete(&self, id: &InstanceId) -> Result<bool, Error> {
        self.run(Operation::DeleteInstance, |tables| {
            let is_there = tables.instances.contains_key(id);
            tables.remove_instance(id);
            Ok(is_there)
        })
        .await
    }

    async fn unstarted(&self, before: Timestamp, limit: u64) -> Result<Vec<Message>, Error> {
        self.run(Operation::Unstarted, |tables| {
            let mut found: Vec<_> = tables
                .instances
                .values()
                .filter(|row| row.instance.status == SubStatus::Pending)
                .filter(|row| row.instance.created_at < before)
                .filter_map(|row| {
                    Some((row.instance.created_at, &row.instance.id, row.command.as_ref()?))
                })
                .collect();
            found.sort_by_key(|(created_at, id, _)| (*created_at, *id));
            Ok(found.into_iter().take(size(limit)).map(|(_, _, command)| command.clone()).collect())
        })
        .await
    }

    async fn unfinished(&self, before: Timestamp, limit: u64) -> Result<Vec<InstanceId>, Error> {
        self.run(Operation::Unfinished, |tables| {
            let mut found: Vec<_> = tables
                .instances
                .values()
                .filter(|row| row.instance.status == SubStatus::Executing)
                .filter(|row| row.instance.updated_at < before)
                .map(|row| (row.instance.updated_at, &row.instance.id))
                .collect();
            found.sort();
            Ok(found.into_iter().take(size(limit)).map(|(_, id)| id.clone()).collect())
        })
        .await
    }
}

/// A limit as a length.
pub(super) fn size(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

impl MemoryStore {
    fn write(&self, tables: &mut Tables, burst: Burst) -> Commit {
        commit(tables, burst, &*self.faults, (self.clock)())
    }
}

fn commit(tables: &mut Tables, mut burst: Burst, faults: &dyn Faults, now: Timestamp) -> Commit {
    let id = burst.instance.id.clone();
    let version = tables.instances.get(&id).map(|row| row.instance.version);
    let is_expected = match burst.expected {
        Expected::Absent => version.is_none(),
        Expected::Unstarted => version.is_none_or(|version| version == 0),
        Expected::Version(expected) => version == Some(expected),
    };
    if !is_expected {
        return Commit::Conflict;
    }
    if let Some(holder) = tables.holder(burst.activation_key.as_deref(), &id) {
        return Commit::NotAllowed(holder);
    }
    let is_first = matches!(burst.expected, Expected::Absent | Expected::Unstarted);
    if is_first && tables.deleted.contains(&burst.instance.version_id) {
        return Commit::Gone(burst.instance.version_id);
    }
    faults.witness(&Written {
        before: tables.instances.get(&id).map(|row| &row.instance),
        burned: burst
            .burned
            .iter()
            .filter_map(|bookmark| tables.bookmarks.get(&(id.clone(), bookmark.clone())))
            .collect(),
        burst: &burst,
        now,
    });
    let updated_at = burst.instance.updated_at;
    let activation_key = burst.activation_key.filter(|_| !burst.instance.status.is_final());

    if let Some(row) = tables.instances.get(&id) {
        burst.instance.created_at = row.instance.created_at;
    }
    let pending = burst.instance.status == SubStatus::Pending;
    let command = tables.instances.remove(&id).and_then(|row| row.command).filter(|_| pending);
    let row = InstanceRow { instance: burst.instance, command, activation_key };
    tables.instances.insert(id.clone(), row);
    for bookmark in burst.burned {
        tables.bookmarks.remove(&(id.clone(), bookmark));
    }
    for bookmark in &burst.created {
        tables.create_bookmark(bookmark.clone());
    }
    if !burst.values.is_empty() {
        let ValueChanges { replaces, set, removed } = burst.values;
        let values = tables.values.entry(id.clone()).or_default();
        if replaces {
            values.clear();
        }
        values.retain(|name, _| !removed.contains(name));
        values.extend(set);
    }
    tables.refer(&id, &burst.payloads, updated_at);
    tables.journals.entry(id).or_default().extend(burst.journal);
    for start in burst.starts {
        tables.accept_quietly(start);
    }
    for command in burst.commands {
        tables.accept_command(command);
    }
    for row in burst.outbox {
        tables.outbox.entry(row.id.clone()).or_insert(row);
    }
    for token in burst.tokens {
        tables.tokens.entry(token.hash.clone()).or_insert(token);
    }
    for settled in &burst.settles {
        tables.pending.remove(settled);
    }
    let waiting = tables
        .waiting(|command| burst.created.iter().any(|bookmark| command.is_answered_by(bookmark)));
    Commit::Done { waiting: waiting.into_iter().map(|command| command.command.clone()).collect() }
}

fn fits(instance: &Instance, filter: &InstanceFilter) -> bool {
    fn any<T: PartialEq>(wanted: &[T], is: &T) -> bool {
        wanted.is_empty() || wanted.contains(is)
    }
    fn this<T: PartialEq>(wanted: Option<&T>, is: Option<&T>) -> bool {
        wanted.is_none() || wanted == is
    }
    let parent = instance.parent.as_ref().map(|parent| &parent.instance_id);
    any(&filter.ids, &instance.id)
        && any(&filter.definition_ids, &instance.definition_id)
        && !filter.excluded_definition_ids.contains(&instance.definition_id)
        && this(filter.version_id.as_ref(), Some(&instance.version_id))
        && this(filter.definition_version.as_ref(), Some(&instance.definition_version))
        && any(&filter.sub_statuses, &instance.status)
        && this(filter.correlation_id.as_ref(), instance.correlation_id.as_ref())
        && this(filter.name.as_ref(), instance.name.as_ref())
        && (filter.parent_id.is_none() || filter.parent_id.as_ref() == parent)
        && filter.has_incidents.is_none_or(|wanted| wanted == (instance.incidents > 0))
        && filter
            .search
            .as_ref()
            .is_none_or(|text| check::instance_search_text(instance).contains(&text.to_lowercase()))
        && filter.times.iter().all(|time| fits_time(instance, time))
}

fn fits_values(stored: Option<&BTreeMap<String, SearchKey>>, filters: &[ValueFilter]) -> bool {
    let fits = |filter: &ValueFilter| {
        let key = stored.and_then(|stored| stored.get(&filter.name));
        key.is_some_and(|key| filter.ranges().any(|range| range.contains(key)))
    };
    filters.iter().all(fits)
}

fn fits_time(instance: &Instance, filter: &TimeFilter) -> bool {
    let Some(time) = time(instance, filter.column) else {
        return filter.operator == TimeOperator::IsNot;
    };
    match filter.operator {
        TimeOperator::Is => time == filter.at,
        TimeOperator::IsNot => time != filter.at,
        TimeOperator::LessThan => time < filter.at,
        TimeOperator::GreaterThan => time > filter.at,
        TimeOperator::LessThanOrEqual => time <= filter.at,
        TimeOperator::GreaterThanOrEqual => time >= filter.at,
    }
}

fn time(instance: &Instance, column: TimeColumn) -> Option<Timestamp> {
    match column {
        TimeColumn::CreatedAt => Some(instance.created_at),
        TimeColumn::UpdatedAt => Some(instance.updated_at),
        TimeColumn::FinishedAt => instance.finished_at,
    }
}

/// Orders instances: an absent value is the smallest; the id breaks ties, in the same direction.
fn compare(a: &InstancePlace, b: &InstancePlace, order: InstanceOrder) -> Ordering {
    let ordering = match (&a.key, &b.key) {
        (PlaceKey::Time(a), PlaceKey::Time(b)) => a.cmp(b),
        (PlaceKey::Name(a), PlaceKey::Name(b)) => a.cmp(b),
        _ => Ordering::Equal,
    };
    let ordering = ordering.then_with(|| a.id.cmp(&b.id));
    if order.ascending { ordering } else { ordering.reverse() }
}
