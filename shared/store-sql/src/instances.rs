//! Instances and their journals.

use async_trait::async_trait;
use model::{Entry, Instance, InstanceId, Parent, SubStatus, Timestamp};
use protocol::Message;
use sea_orm::sea_query::{Expr, ExprTrait as _, IntoCondition as _, LikeExpr, NullOrdering};
use sea_orm::{
    ColumnTrait, Condition, EntityTrait as _, FromQueryResult, Order, PaginatorTrait as _,
    QueryFilter as _, QueryOrder as _, QuerySelect as _, Select,
};
use store::{
    Accepted, Burst, Commit, Error, InstanceFilter, InstanceOrder, Instances, Listed, Loaded,
    NewInstance, Page, TimeColumn, TimeFilter, TimeOperator, check,
};

use crate::connect::{SqlStore, commit};
use crate::entity::instance::{Column, Entity};
use crate::entity::{bookmark, journal, pending, token};
use crate::failure::Failure;
use crate::pipeline::{Answer, Work};
use crate::row::{count, unpack};
use crate::sql::Fetched;

/// A start that loses against one that is deleted meanwhile is tried again this often.
const ACCEPTS_MAX: usize = 3;

#[async_trait]
impl Instances for SqlStore {
    async fn accept(&self, start: NewInstance) -> Result<Accepted, Error> {
        check::start(&start)?;
        for _ in 0..ACCEPTS_MAX {
            match self.run(Work::accept(&start)?).await? {
                Answer::NotAllowed(holder) => return Ok(Accepted::NotAllowed(holder)),
                Answer::Known => {
                    if let Some(known) = self.load(&start.instance.id).await? {
                        return Ok(Accepted::Exists(Box::new(known.instance)));
                    }
                }
                Answer::Done | Answer::Committed(_) => return Ok(Accepted::New),
            }
        }
        Err(Error::Unavailable(format!("instance {} comes and goes", start.instance.id)))
    }

    async fn load(&self, id: &InstanceId) -> Result<Option<Loaded>, Error> {
        self.loads.load(&self.database, id).await
    }

    async fn commit(&self, burst: Burst) -> Result<Commit, Error> {
        check::burst(&burst)?;
        match self.run(Work::commit(burst)?).await? {
            Answer::Committed(commit) => Ok(commit),
            Answer::NotAllowed(holder) => Ok(Commit::NotAllowed(holder)),
            Answer::Known => Ok(Commit::Conflict),
            Answer::Done => Ok(Commit::Done { waiting: Vec::new() }),
        }
    }

    async fn list(&self, filter: &InstanceFilter, page: Page) -> Result<Listed<Instance>, Error> {
        let database = &self.database.reader;
        let query = Entity::find().filter(condition(filter));
        let (total, heads) = self
            .tried(|| async {
                let total = query.clone().count(database).await?;
                let heads = ordered(query.clone(), filter.order)
                    .select_only()
                    .columns(Head::COLUMNS)
                    .offset(page.skip)
                    .limit(page.take)
                    .into_model::<Head>()
                    .all(database)
                    .await?;
                Ok((total, heads))
            })
            .await?;
        let items = heads.into_iter().map(|head| head.instance(Vec::new()));
        Ok(Listed { items: items.collect::<Result<_, _>>()?, total })
    }

    async fn journal(&self, id: &InstanceId, page: Page) -> Result<Listed<Entry>, Error> {
        use journal::Column::{EntryCount, FirstSequence, InstanceId};
        let database = &self.database.reader;
        let first = count(page.skip).saturating_add(1);
        let last = first.saturating_add(count(page.take)).saturating_sub(1);
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
            let entries: Vec<Entry> = unpack("a journal row", &row.entries)?;
            let wanted = |entry: &Entry| (first..=last).contains(&count(entry.sequence));
            items.extend(entries.into_iter().filter(wanted));
        }
        Ok(Listed { items, total: u64::try_from(total).unwrap_or_default() })
    }

    async fn delete(&self, id: &InstanceId) -> Result<bool, Error> {
        self.tried(|| self.delete_once(id.as_str())).await
    }

    async fn unstarted(&self, before: Timestamp, limit: u64) -> Result<Vec<Message>, Error> {
        let found: Vec<Option<Vec<u8>>> = self
            .tried(|| async {
                Ok(Entity::find()
                    .select_only()
                    .column(Column::StartCommand)
                    .filter(Column::Status.eq(SubStatus::Pending.as_str()))
                    .filter(Column::CreatedAt.lt(before.as_millis()))
                    .filter(Column::StartCommand.is_not_null())
                    .order_by_asc(Column::CreatedAt)
                    .order_by_asc(Column::Id)
                    .limit(limit)
                    .into_tuple()
                    .all(&self.database.reader)
                    .await?)
            })
            .await?;
        found.iter().flatten().map(|command| unpack("a start command", command)).collect()
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
                    .limit(limit)
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

/// An instance without its state.
#[derive(Clone, Debug, FromQueryResult)]
struct Head {
    id: String,
    definition_id: String,
    version_id: String,
    definition_version: i64,
    version: i64,
    status: String,
    correlation_id: Option<String>,
    name: Option<String>,
    parent_instance_id: Option<String>,
    parent_bookmark_id: Option<String>,
    incidents: i64,
    created_at: i64,
    updated_at: i64,
    finished_at: Option<i64>,
}

impl Head {
    const COLUMNS: [Column; 14] = [
        Column::Id,
        Column::DefinitionId,
        Column::VersionId,
        Column::DefinitionVersion,
        Column::Version,
        Column::Status,
        Column::CorrelationId,
        Column::Name,
        Column::ParentInstanceId,
        Column::ParentBookmarkId,
        Column::Incidents,
        Column::CreatedAt,
        Column::UpdatedAt,
        Column::FinishedAt,
    ];

    fn instance(self, state: Vec<u8>) -> Result<Instance, Error> {
        let id = InstanceId::new(self.id);
        let corrupt = |what: String| Error::Corrupt(format!("instance {id}: {what}"));
        let small = |number: i64| u32::try_from(number).map_err(|error| corrupt(error.to_string()));
        let bookmark_id = self.parent_bookmark_id.map(Into::into);
        let parent = self
            .parent_instance_id
            .map(|instance_id| Parent { instance_id: instance_id.into(), bookmark_id });
        Ok(Instance {
            definition_id: self.definition_id.into(),
            version_id: self.version_id.into(),
            definition_version: small(self.definition_version)?,
            version: self.version,
            status: self.status.parse().map_err(corrupt)?,
            correlation_id: self.correlation_id,
            name: self.name,
            parent,
            incidents: small(self.incidents)?,
            created_at: Timestamp::from_millis(self.created_at),
            updated_at: Timestamp::from_millis(self.updated_at),
            finished_at: self.finished_at.map(Timestamp::from_millis),
            state,
            id,
        })
    }
}

/// A row of [`SELECT_INSTANCE`].
pub(crate) fn loaded(row: &Fetched) -> Result<Loaded, Failure> {
    let text = |column| Ok::<_, Failure>(row.text(column)?.unwrap_or_default());
    let number = |column| Ok::<_, Failure>(row.number(column)?.unwrap_or_default());
    let head = Head {
        id: text(0)?,
        definition_id: text(1)?,
        version_id: text(2)?,
        definition_version: number(3)?,
        version: number(4)?,
        status: text(5)?,
        correlation_id: row.text(6)?,
        name: row.text(7)?,
        parent_instance_id: row.text(8)?,
        parent_bookmark_id: row.text(9)?,
        incidents: number(10)?,
        created_at: number(11)?,
        updated_at: number(12)?,
        finished_at: row.number(13)?,
    };
    let instance = head.instance(row.bytes(14)?.unwrap_or_default())?;
    let command = row.bytes(15)?;
    let command = command.map(|command| unpack("a start command", &command)).transpose()?;
    Ok(Loaded { instance, command })
}

fn condition(filter: &InstanceFilter) -> Condition {
    let ids = |ids: &[String]| (!ids.is_empty()).then(|| ids.to_vec());
    let instance_ids: Vec<String> = filter.ids.iter().map(ToString::to_string).collect();
    let definition_ids: Vec<String> =
        filter.definition_ids.iter().map(ToString::to_string).collect();
    let statuses: Vec<&str> = filter.sub_statuses.iter().map(|status| status.as_str()).collect();
    let version_id = filter.version_id.as_ref();
    let incidents = |some: bool| {
        if some { Column::Incidents.gt(0) } else { Column::Incidents.eq(0) }
    };
    let times = filter.times.iter().map(time_condition);
    Condition::all()
        .add_option(ids(&instance_ids).map(|ids| Column::Id.is_in(ids)))
        .add_option(ids(&definition_ids).map(|ids| Column::DefinitionId.is_in(ids)))
        .add_option(version_id.map(|id| Column::VersionId.eq(id.as_str())))
        .add_option(filter.definition_version.map(|v| Column::DefinitionVersion.eq(i64::from(v))))
        .add_option((!statuses.is_empty()).then(|| Column::Status.is_in(statuses)))
        .add_option(filter.correlation_id.as_ref().map(|id| Column::CorrelationId.eq(id)))
        .add_option(filter.name.as_ref().map(|name| Column::Name.eq(name)))
        .add_option(filter.has_incidents.map(incidents))
        .add_option(filter.search.as_ref().map(|text| contains(Column::Search, text)))
        .add(times.fold(Condition::all(), Condition::add))
}

/// Whether the lowercase column has this text in it.
pub(crate) fn contains(column: impl ColumnTrait, text: &str) -> Expr {
    let escaped = text.to_lowercase().replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    column.like(LikeExpr::new(format!("%{escaped}%")).escape('\\'))
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

/// What is absent is smallest; ties are broken by id, in the same direction.
fn ordered(query: Select<Entity>, order: Option<InstanceOrder>) -> Select<Entity> {
    let newest = InstanceOrder { by: Some(TimeColumn::CreatedAt), ascending: false };
    let InstanceOrder { by, ascending } = order.unwrap_or(newest);
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
