//! Instances and their journals.

use std::collections::BTreeMap;

use async_trait::async_trait;
use model::{Entry, Instance, InstanceId, SearchKey, SubStatus, Timestamp, limits};
use protocol::Message;
use sea_orm::sea_query::{Expr, ExprTrait as _, IntoCondition as _, NullOrdering, SelectStatement};
use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait as _, DbErr, EntityTrait as _, IdenStatic as _,
    Iterable as _, Order, QueryFilter as _, QueryOrder as _, QuerySelect as _, QueryTrait as _,
    Select, Value,
};
use store::{
    Accepted, Burst, Commit, Error, InstanceFilter, InstanceOrder, InstancePlace, Instances,
    Listed, LoadedWithin, NewInstance, Page, PlaceKey, Table, TimeColumn, TimeFilter, TimeOperator,
    check,
};

use crate::access::Access;
use crate::codec::{count, unpack};
use crate::connect::{SqlStore, commit};
use crate::entity::instance::{Column, Entity, Model};
use crate::entity::{bookmark, journal, pending, token};
use crate::failure::Failure;
use crate::pipeline::{Work, WorkEnd};
use crate::search::{bounded, contains};
use crate::unreadable::Named;
use crate::values;

/// Tries of a start whose id exists at the insert but is deleted before the load.
const ACCEPTS_MAX: usize = 3;

#[async_trait]
impl Instances for SqlStore {
    async fn accept(&self, start: NewInstance) -> Result<Accepted, Error> {
        check::start(&start)?;
        for _ in 0..ACCEPTS_MAX {
            match self.run(Work::accept(&start)?).await? {
                WorkEnd::NotAllowed(holder) => return Ok(Accepted::NotAllowed(holder)),
                WorkEnd::Known => {
                    if let Some(known) = self.load(&start.instance.id).await? {
                        return Ok(Accepted::Exists(Box::new(known.instance)));
                    }
                }
                WorkEnd::Gone => return Ok(Accepted::Gone),
                WorkEnd::Done | WorkEnd::Committed(_) => return Ok(Accepted::New),
            }
        }
        Err(Error::Unavailable(format!(
            "instance {} was deleted at each try to start it; try again",
            start.instance.id
        )))
    }

    async fn load_within(
        &self,
        id: &InstanceId,
        state_bytes_max: usize,
    ) -> Result<Option<LoadedWithin>, Error> {
        self.loads.load(&self.database, id, state_bytes_max).await
    }

    async fn commit(&self, burst: Burst) -> Result<Commit, Error> {
        check::burst(&burst)?;
        match self.run(Work::commit(burst)?).await? {
            WorkEnd::Committed(commit) => Ok(commit),
            WorkEnd::NotAllowed(holder) => Ok(Commit::NotAllowed(holder)),
            WorkEnd::Known | WorkEnd::Gone => Ok(Commit::Conflict),
            WorkEnd::Done => Ok(Commit::Done { waiting: Vec::new() }),
        }
    }

    async fn list(&self, filter: &InstanceFilter, page: Page) -> Result<Listed<Instance>, Error> {
        let database = &self.database.reader;
        let query = Entity::find().filter(condition(filter));
        let part = match &filter.after {
            Some(after) => query.clone().filter(beyond(after, filter.order)),
            None => query.clone(),
        };
        let (total, rows) = self
            .tried(|| async {
                let total = counted(database, &query, limits::LIST_COUNT_MAX).await?;
                let rows = without_documents(ordered(part.clone(), filter.order))
                    .offset(page.skip())
                    .limit(page.take())
                    .all(database)
                    .await?;
                Ok((total, rows))
            })
            .await?;
        let name = |row: &Model| (row.id.clone(), row.status.clone().into_bytes());
        Ok(Listed { items: self.readable(Table::Instances, rows, name, Model::instance), total })
    }

    async fn count(&self, filter: &InstanceFilter, at_most: u64) -> Result<u64, Error> {
        let query = Entity::find().filter(condition(filter));
        self.tried(|| async { Ok(counted(&self.database.reader, &query, bounded(at_most)).await?) })
            .await
    }

    async fn journal(&self, id: &InstanceId, page: Page) -> Result<Listed<Entry>, Error> {
        use journal::Column::{EntryCount, FirstSequence, InstanceId};
        let database = &self.database.reader;
        let first = count(page.skip()).saturating_add(1);
        let last = first.saturating_add(count(page.take())).saturating_sub(1);
        let rows = journal::Entity::find().filter(InstanceId.eq(id.as_str()));
        let (newest, found) = self
            .tried(|| async {
                let newest =
                    rows.clone().order_by_desc(FirstSequence).limit(1).one(database).await?;
                let found = rows
                    .clone()
                    .filter(FirstSequence.lte(last))
                    .filter(Expr::col(FirstSequence).add(Expr::col(EntryCount)).gt(first))
                    .order_by_asc(FirstSequence)
                    .all(database)
                    .await?;
                Ok((newest, found))
            })
            .await?;
        let total = newest.map_or(0, |row| row.first_sequence + row.entry_count - 1);
        let mut items = Vec::new();
        for row in found {
            let wanted = |entry: &Entry| (first..=last).contains(&count(entry.sequence));
            items.extend(row.entries()?.into_iter().filter(wanted));
        }
        Ok(Listed { items, total: u64::try_from(total).unwrap_or_default() })
    }

    async fn values(&self, id: &InstanceId) -> Result<BTreeMap<String, SearchKey>, Error> {
        self.values_of(id).await
    }

    async fn delete(&self, id: &InstanceId) -> Result<bool, Error> {
        self.tried(|| self.delete_once(id.as_str())).await
    }

    async fn unstarted(&self, before: Timestamp, limit: u64) -> Result<Vec<Message>, Error> {
        let found: Vec<(String, Vec<u8>)> = self
            .tried(|| async {
                Ok(Entity::find()
                    .select_only()
                    .columns([Column::Id, Column::StartCommand])
                    .filter(Column::Status.eq(SubStatus::Pending.as_str()))
                    .filter(Column::CreatedAt.lt(before.as_millis()))
                    .filter(Column::StartCommand.is_not_null())
                    .order_by_asc(Column::CreatedAt)
                    .order_by_asc(Column::Id)
                    .limit(bounded(limit))
                    .into_tuple()
                    .all(&self.database.reader)
                    .await?)
            })
            .await?;
        let read = |(_, command): Named| unpack("a start command", &command);
        Ok(self.readable(Table::Starts, found, Named::clone, read))
    }

    async fn unfinished(&self, before: Timestamp, limit: u64) -> Result<Vec<InstanceId>, Error> {
        let found: Vec<String> = self
            .tried(|| async {
                Ok(Entity::find()
                    .select_only()
                    .column(Column::Id)
                    .filter(Column::Status.eq(SubStatus::Executing.as_str()))
                    .filter(Column::UpdatedAt.lt(before.as_millis()))
                    .order_by_asc(Column::UpdatedAt)
                    .order_by_asc(Column::Id)
                    .limit(bounded(limit))
                    .into_tuple()
                    .all(&self.database.reader)
                    .await?)
            })
            .await?;
        Ok(found.into_iter().map(InstanceId::new).collect())
    }
}

impl SqlStore {
    async fn delete_once(&self, id: &str) -> Result<bool, Failure> {
        let tx = self.begin().await?;
        let gone = Entity::delete_by_id(id).exec(&tx).await?;
        let own = |column: bookmark::Column| column.eq(id);
        bookmark::Entity::delete_many().filter(own(bookmark::Column::InstanceId)).exec(&tx).await?;
        journal::Entity::delete_many().filter(journal::Column::InstanceId.eq(id)).exec(&tx).await?;
        token::Entity::delete_many().filter(token::Column::InstanceId.eq(id)).exec(&tx).await?;
        pending::Entity::delete_many().filter(pending::Column::InstanceId.eq(id)).exec(&tx).await?;
        commit(tx).await?;
        Ok(gone.rows_affected > 0)
    }
}

/// The number of instances, counted up to `at_most`.
async fn counted(database: &Access, query: &Select<Entity>, at_most: u64) -> Result<u64, DbErr> {
    let mut found = query.clone().into_query();
    found.clear_selects().expr(Expr::cust("1")).limit(at_most);
    let mut count = SelectStatement::new();
    count.expr(Expr::cust("COUNT(*)")).from_subquery(found, "found");
    let row = database.query_one(&count).await?;
    let total: Option<i64> = row.map(|row| row.try_get_by_index(0)).transpose()?;
    Ok(total.unwrap_or_default().unsigned_abs())
}

/// The columns of the instances without those that only bursts need: these are read as empty.
fn without_documents(query: Select<Entity>) -> Select<Entity> {
    let light =
        Column::iter().filter(|column| !matches!(column, Column::State | Column::StartCommand));
    query
        .select_only()
        .columns(light)
        .expr_as(Expr::value(Vec::<u8>::new()), Column::State.as_str())
        .expr_as(Expr::value(None::<Vec<u8>>), Column::StartCommand.as_str())
}

pub(crate) fn condition(filter: &InstanceFilter) -> Condition {
    let ids = |ids: &[String]| (!ids.is_empty()).then(|| ids.to_vec());
    let instance_ids: Vec<String> = filter.ids.iter().map(ToString::to_string).collect();
    let definition_ids: Vec<String> =
        filter.definition_ids.iter().map(ToString::to_string).collect();
    let excluded: Vec<String> =
        filter.excluded_definition_ids.iter().map(ToString::to_string).collect();
    let statuses: Vec<&str> = filter.sub_statuses.iter().map(|status| status.as_str()).collect();
    let version_id = filter.version_id.as_ref();
    let incidents = |some: bool| {
        // As the predicate of its index has it: PostgreSQL does not see through a parameter.
        if some { Expr::cust("incidents > 0") } else { Column::Incidents.eq(0) }
    };
    let times = filter.times.iter().map(time_condition);
    Condition::all()
        .add_option(ids(&instance_ids).map(|ids| Column::Id.is_in(ids)))
        .add_option(ids(&definition_ids).map(|ids| Column::DefinitionId.is_in(ids)))
        .add_option(ids(&excluded).map(|ids| Column::DefinitionId.is_not_in(ids)))
        .add_option(version_id.map(|id| Column::VersionId.eq(id.as_str())))
        .add_option(filter.definition_version.map(|v| Column::DefinitionVersion.eq(i64::from(v))))
        .add_option((!statuses.is_empty()).then(|| Column::Status.is_in(statuses)))
        .add_option(filter.correlation_id.as_ref().map(|id| Column::CorrelationId.eq(id)))
        .add_option(filter.name.as_ref().map(|name| Column::Name.eq(name)))
        .add_option(filter.parent_id.as_ref().map(|id| Column::ParentInstanceId.eq(id.as_str())))
        .add_option(filter.has_incidents.map(incidents))
        .add_option(filter.search.as_ref().map(|text| contains(Column::Search, text)))
        .add(times.fold(Condition::all(), Condition::add))
        .add(values::condition(filter))
}

fn time_condition(filter: &TimeFilter) -> Condition {
    let column = column(filter.column);
    let at = filter.at.as_millis();
    match filter.operator {
        TimeOperator::Is => column.eq(at).into_condition(),
        TimeOperator::IsNot => Condition::any().add(column.ne(at)).add(column.is_null()),
        TimeOperator::LessThan => column.lt(at).into_condition(),
        TimeOperator::GreaterThan => column.gt(at).into_condition(),
        TimeOperator::LessThanOrEqual => column.lte(at).into_condition(),
        TimeOperator::GreaterThanOrEqual => column.gte(at).into_condition(),
    }
}

fn column(column: TimeColumn) -> Column {
    match column {
        TimeColumn::CreatedAt => Column::CreatedAt,
        TimeColumn::UpdatedAt => Column::UpdatedAt,
        TimeColumn::FinishedAt => Column::FinishedAt,
    }
}

/// The instances after a place in this order. The first comparison alone lets an index begin there.
fn beyond(after: &InstancePlace, order: Option<InstanceOrder>) -> Condition {
    let InstanceOrder { by, ascending } = order.unwrap_or(InstanceOrder::NEWEST);
    let column = by.map_or(Column::Name, column);
    let key: Option<Value> = match &after.key {
        PlaceKey::Time(at) => at.map(|at| at.as_millis().into()),
        PlaceKey::Name(name) => name.clone().map(Into::into),
    };
    let id = after.id.as_str();
    let id = if ascending { Column::Id.gt(id) } else { Column::Id.lt(id) };
    match (key, ascending) {
        (Some(key), true) => Condition::all()
            .add(column.gte(key.clone()))
            .add(Condition::any().add(column.gt(key)).add(id)),
        (Some(key), false) => {
            let nulls = matches!(column, Column::Name | Column::FinishedAt);
            let smaller = Condition::all()
                .add(column.lte(key.clone()))
                .add(Condition::any().add(column.lt(key)).add(id));
            Condition::any().add(smaller).add_option(nulls.then(|| column.is_null()))
        }
        (None, true) => Condition::any().add(column.is_not_null()).add(id),
        (None, false) => Condition::all().add(column.is_null()).add(id),
    }
}

/// Orders instances: an absent value is the smallest; the id breaks ties, in the same direction.
fn ordered(query: Select<Entity>, order: Option<InstanceOrder>) -> Select<Entity> {
    let InstanceOrder { by, ascending } = order.unwrap_or(InstanceOrder::NEWEST);
    let (direction, nulls) = if ascending {
        (Order::Asc, NullOrdering::First)
    } else {
        (Order::Desc, NullOrdering::Last)
    };
    let query = match by {
        None => query.order_by_with_nulls(Column::Name, direction.clone(), nulls),
        Some(TimeColumn::FinishedAt) => {
            query.order_by_with_nulls(Column::FinishedAt, direction.clone(), nulls)
        }
        Some(by) => query.order_by(column(by), direction.clone()),
    };
    query.order_by(Column::Id, direction)
}
