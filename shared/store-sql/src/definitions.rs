//! Definitions, their triggers and schedules.

use std::collections::BTreeMap;

use async_trait::async_trait;
use model::{Definition, DefinitionId, Schedule, Timestamp, Trigger, VersionId};
use sea_orm::sea_query::{Expr, NullOrdering, OnConflict};
use sea_orm::{
    ColumnTrait as _, Condition, ConnectionTrait as _, DatabaseBackend, DatabaseTransaction,
    EntityTrait as _, IntoActiveModel as _, Order, PaginatorTrait as _, QueryFilter as _,
    QueryOrder as _, QuerySelect as _, Select,
};
use store::{
    DefinitionFilter, Definitions, Error, Listed, Page, Publication, Published, VersionOption,
    check,
};

use crate::connect::{SqlStore, commit};
use crate::entity::definition::{Column, Entity, Model};
use crate::entity::{schedule, trigger};
use crate::failure::Failure;
use crate::instances::contains;
use crate::row::{json, parse};
use crate::timers;

/// Whoever changes definitions on PostgreSQL holds this advisory lock, so that two of them never
/// take the same route.
const LOCK: &str = "SELECT pg_advisory_xact_lock(7815629411)";

#[async_trait]
impl Definitions for SqlStore {
    async fn save(&self, definition: &Definition) -> Result<(), Error> {
        check::definition(definition)?;
        self.tried(|| self.save_once(definition)).await
    }

    async fn publish(&self, publication: Publication) -> Result<Published, Error> {
        check::publication(&publication)?;
        self.tried(|| self.publish_once(&publication)).await
    }

    async fn retract(&self, id: &DefinitionId) -> Result<Option<Definition>, Error> {
        self.tried(|| self.retract_once(id)).await
    }

    async fn delete_definition(&self, id: &DefinitionId) -> Result<u64, Error> {
        self.tried(|| self.delete_definition_once(id)).await
    }

    async fn delete_version(&self, id: &VersionId) -> Result<bool, Error> {
        self.tried(|| self.delete_version_once(id)).await
    }

    async fn version(&self, id: &VersionId) -> Result<Option<Definition>, Error> {
        let found = self
            .tried(|| async {
                Ok(Entity::find_by_id(id.as_str()).one(&self.database.reader).await?)
            })
            .await?;
        found.map(definition).transpose()
    }

    async fn definition(
        &self,
        id: &DefinitionId,
        version: VersionOption,
    ) -> Result<Option<Definition>, Error> {
        let query = Entity::find()
            .filter(Column::DefinitionId.eq(id.as_str()))
            .filter(is(version))
            .order_by_desc(Column::Version);
        let found =
            self.tried(|| async { Ok(query.clone().one(&self.database.reader).await?) }).await?;
        found.map(definition).transpose()
    }

    async fn definitions(
        &self,
        filter: &DefinitionFilter,
        page: Page,
    ) -> Result<Listed<Definition>, Error> {
        let query = Entity::find().filter(condition(filter));
        let (total, found) = self
            .tried(|| async {
                let total = query.clone().count(&self.database.reader).await?;
                let found = ordered(query.clone(), filter.by_name)
                    .offset(page.skip)
                    .limit(page.take)
                    .all(&self.database.reader)
                    .await?;
                Ok((total, found))
            })
            .await?;
        let items = found.into_iter().map(definition).collect::<Result<_, _>>()?;
        Ok(Listed { items, total })
    }

    async fn triggers(&self, hash: &str) -> Result<Vec<Trigger>, Error> {
        self.triggers_where(trigger::Column::Hash.eq(hash)).await
    }

    async fn triggers_named(&self, name: &str) -> Result<Vec<Trigger>, Error> {
        self.triggers_where(trigger::Column::Name.eq(name)).await
    }

    async fn schedules(&self) -> Result<Vec<Schedule>, Error> {
        let query = schedule::Entity::find()
            .filter(schedule::Column::Retired.eq(false))
            .order_by_asc(schedule::Column::Id);
        let found =
            self.tried(|| async { Ok(query.clone().all(&self.database.reader).await?) }).await?;
        found.into_iter().map(timers::read).collect()
    }
}

impl SqlStore {
    async fn triggers_where(&self, condition: Expr) -> Result<Vec<Trigger>, Error> {
        let query = trigger::Entity::find()
            .filter(condition)
            .order_by_asc(trigger::Column::DefinitionId)
            .order_by_asc(trigger::Column::ActivityId)
            .order_by_asc(trigger::Column::Hash);
        let found =
            self.tried(|| async { Ok(query.clone().all(&self.database.reader).await?) }).await?;
        found.into_iter().map(read_trigger).collect()
    }

    async fn change(&self) -> Result<DatabaseTransaction, Failure> {
        let tx = self.begin().await?;
        if tx.get_database_backend() == DatabaseBackend::Postgres {
            tx.execute_unprepared(LOCK).await?;
        }
        Ok(tx)
    }

    async fn save_once(&self, definition: &Definition) -> Result<(), Failure> {
        let tx = self.change().await?;
        let known = Entity::find_by_id(definition.id.as_str()).one(&tx).await?;
        if known.as_ref().is_some_and(|known| known.is_published) {
            return Err(check::published_version(definition).into());
        }
        check_place(&tx, definition, known.as_ref()).await?;
        if definition.is_latest {
            clear(&tx, definition, Column::IsLatest).await?;
        }
        put(&tx, &Definition { is_published: false, ..definition.clone() }).await?;
        commit(tx).await
    }

    async fn publish_once(&self, publication: &Publication) -> Result<Published, Failure> {
        let Publication { definition, triggers, schedules } = publication;
        let tx = self.change().await?;
        let known = Entity::find_by_id(definition.id.as_str()).one(&tx).await?;
        check_place(&tx, definition, known.as_ref()).await?;
        if let Some(by) = clash(&tx, &definition.definition_id, triggers).await? {
            return Ok(Published::RouteTaken { by: Box::new(by) });
        }
        clear(&tx, definition, Column::IsLatest).await?;
        clear(&tx, definition, Column::IsPublished).await?;
        put(&tx, &Definition { is_latest: true, is_published: true, ..definition.clone() }).await?;
        put_triggers(&tx, &definition.definition_id, triggers).await?;
        put_schedules(&tx, &definition.definition_id, schedules).await?;
        commit(tx).await?;
        Ok(Published::Done)
    }

    async fn retract_once(&self, id: &DefinitionId) -> Result<Option<Definition>, Failure> {
        let tx = self.change().await?;
        let published = Entity::find()
            .filter(Column::DefinitionId.eq(id.as_str()))
            .filter(Column::IsPublished.eq(true))
            .one(&tx)
            .await?;
        let Some(published) = published else { return Ok(None) };
        let retracted = Model { is_published: false, ..published };
        Entity::update_many()
            .col_expr(Column::IsPublished, Expr::value(false))
            .filter(Column::Id.eq(&retracted.id))
            .exec(&tx)
            .await?;
        unregister(&tx, trigger::Column::DefinitionId, schedule::Column::DefinitionId, id.as_str())
            .await?;
        commit(tx).await?;
        Ok(Some(definition(retracted)?))
    }

    async fn delete_definition_once(&self, id: &DefinitionId) -> Result<u64, Failure> {
        let tx = self.change().await?;
        let gone =
            Entity::delete_many().filter(Column::DefinitionId.eq(id.as_str())).exec(&tx).await?;
        unregister(&tx, trigger::Column::DefinitionId, schedule::Column::DefinitionId, id.as_str())
            .await?;
        commit(tx).await?;
        Ok(gone.rows_affected)
    }

    async fn delete_version_once(&self, id: &VersionId) -> Result<bool, Failure> {
        let tx = self.change().await?;
        let gone = Entity::find_by_id(id.as_str()).one(&tx).await?;
        let Some(gone) = gone else { return Ok(false) };
        Entity::delete_by_id(id.as_str()).exec(&tx).await?;
        unregister(&tx, trigger::Column::VersionId, schedule::Column::VersionId, id.as_str())
            .await?;
        if gone.is_latest {
            let newest = Entity::find()
                .filter(Column::DefinitionId.eq(&gone.definition_id))
                .order_by_desc(Column::Version)
                .one(&tx)
                .await?;
            if let Some(newest) = newest {
                Entity::update_many()
                    .col_expr(Column::IsLatest, Expr::value(true))
                    .filter(Column::Id.eq(newest.id))
                    .exec(&tx)
                    .await?;
            }
        }
        commit(tx).await?;
        Ok(true)
    }
}

/// A version keeps its definition, and a number belongs to one version.
async fn check_place(
    tx: &DatabaseTransaction,
    definition: &Definition,
    known: Option<&Model>,
) -> Result<(), Failure> {
    if known.is_some_and(|known| known.definition_id != definition.definition_id.as_str()) {
        return Err(check::foreign_version(definition).into());
    }
    let same_number = Entity::find()
        .filter(Column::DefinitionId.eq(definition.definition_id.as_str()))
        .filter(Column::Version.eq(i64::from(definition.version)))
        .filter(Column::Id.ne(definition.id.as_str()))
        .count(tx)
        .await?;
    if same_number > 0 {
        return Err(check::taken_number(definition).into());
    }
    Ok(())
}

/// The trigger of another definition that one of these HTTP triggers would collide with.
async fn clash(
    tx: &DatabaseTransaction,
    id: &DefinitionId,
    triggers: &[Trigger],
) -> Result<Option<Trigger>, Failure> {
    let hashes: Vec<&str> = check::routes(triggers).collect();
    if hashes.is_empty() {
        return Ok(None);
    }
    let other = trigger::Entity::find()
        .filter(trigger::Column::Hash.is_in(hashes))
        .filter(trigger::Column::DefinitionId.ne(id.as_str()))
        .order_by_asc(trigger::Column::DefinitionId)
        .one(tx)
        .await?;
    Ok(other.map(read_trigger).transpose()?)
}

/// Takes a flag from all other versions.
async fn clear(
    tx: &DatabaseTransaction,
    definition: &Definition,
    flag: Column,
) -> Result<(), Failure> {
    Entity::update_many()
        .col_expr(flag, Expr::value(false))
        .filter(Column::DefinitionId.eq(definition.definition_id.as_str()))
        .filter(Column::Id.ne(definition.id.as_str()))
        .exec(tx)
        .await?;
    Ok(())
}

async fn put(tx: &DatabaseTransaction, definition: &Definition) -> Result<(), Failure> {
    let row = Model {
        id: definition.id.to_string(),
        definition_id: definition.definition_id.to_string(),
        version: i64::from(definition.version),
        name: definition.name.clone(),
        search: check::definition_search_text(definition),
        is_latest: definition.is_latest,
        is_published: definition.is_published,
        is_system: definition.is_system,
        created_at: definition.created_at.map(Timestamp::as_millis),
        document: json(definition)?,
    };
    let replace = OnConflict::column(Column::Id)
        .update_columns([
            Column::Version,
            Column::Name,
            Column::Search,
            Column::IsLatest,
            Column::IsPublished,
            Column::IsSystem,
            Column::CreatedAt,
            Column::Document,
        ])
        .to_owned();
    Entity::insert(row.into_active_model()).on_conflict(replace).exec_without_returning(tx).await?;
    Ok(())
}

async fn put_triggers(
    tx: &DatabaseTransaction,
    id: &DefinitionId,
    triggers: &[Trigger],
) -> Result<(), Failure> {
    trigger::Entity::delete_many()
        .filter(trigger::Column::DefinitionId.eq(id.as_str()))
        .exec(tx)
        .await?;
    for trigger in triggers {
        let row = trigger::Model {
            definition_id: trigger.definition_id.to_string(),
            activity_id: trigger.activity_id.to_string(),
            hash: trigger.hash.clone(),
            version_id: trigger.version_id.to_string(),
            name: trigger.name.clone(),
            payload: json(&trigger.payload)?,
        };
        trigger::Entity::insert(row.into_active_model())
            .on_conflict_do_nothing()
            .exec_without_returning(tx)
            .await?;
    }
    Ok(())
}

/// Puts these schedules in the place of the definition's earlier ones. One that was there keeps
/// its counter; if its recurrence is the same, it goes on where it was.
async fn put_schedules(
    tx: &DatabaseTransaction,
    id: &DefinitionId,
    schedules: &[Schedule],
) -> Result<(), Failure> {
    let ids: Vec<&str> = schedules.iter().map(|schedule| schedule.id.as_str()).collect();
    let known: BTreeMap<String, schedule::Model> = schedule::Entity::find()
        .filter(schedule::Column::Id.is_in(ids))
        .all(tx)
        .await?
        .into_iter()
        .map(|row| (row.id.clone(), row))
        .collect();
    retire(tx, schedule::Column::DefinitionId, id.as_str()).await?;
    for schedule in schedules {
        let mut row = schedule::Model {
            id: schedule.id.to_string(),
            definition_id: schedule.definition_id.to_string(),
            version_id: schedule.version_id.to_string(),
            activity_id: schedule.activity_id.to_string(),
            recurrence: json(&schedule.recurrence)?,
            misfire: json(&schedule.misfire)?,
            next_at: schedule.next_at.map(Timestamp::as_millis),
            occurrence: schedule.occurrence,
            shard: schedule.shard,
            retired: false,
        };
        if let Some(known) = known.get(&row.id) {
            row.occurrence = row.occurrence.max(known.occurrence);
            let goes_on = !known.retired && known.definition_id == id.as_str();
            if goes_on && known.recurrence == row.recurrence {
                row.next_at = known.next_at;
            }
            schedule::Entity::delete_by_id(&known.id).exec(tx).await?;
        }
        schedule::Entity::insert(row.into_active_model()).exec_without_returning(tx).await?;
    }
    Ok(())
}

/// Nothing starts it any more: neither its triggers nor its schedules.
async fn unregister(
    tx: &DatabaseTransaction,
    triggers: trigger::Column,
    schedules: schedule::Column,
    id: &str,
) -> Result<(), Failure> {
    trigger::Entity::delete_many().filter(triggers.eq(id)).exec(tx).await?;
    retire(tx, schedules, id).await
}

async fn retire(
    tx: &DatabaseTransaction,
    column: schedule::Column,
    id: &str,
) -> Result<(), Failure> {
    schedule::Entity::update_many()
        .col_expr(schedule::Column::Retired, Expr::value(true))
        .filter(column.eq(id))
        .exec(tx)
        .await?;
    Ok(())
}

fn is(version: VersionOption) -> Condition {
    let latest = Column::IsLatest.eq(true);
    let published = Column::IsPublished.eq(true);
    match version {
        VersionOption::Latest => Condition::all().add(latest),
        VersionOption::Published => Condition::all().add(published),
        VersionOption::Draft => Condition::all().add(latest).add(Column::IsPublished.eq(false)),
        VersionOption::LatestOrPublished => Condition::any().add(latest).add(published),
        VersionOption::LatestAndPublished => Condition::all().add(latest).add(published),
        VersionOption::All => Condition::all(),
        VersionOption::Number(number) => {
            Condition::all().add(Column::Version.eq(i64::from(number)))
        }
    }
}

fn condition(filter: &DefinitionFilter) -> Condition {
    let ids: Vec<&str> = filter.definition_ids.iter().map(AsRef::as_ref).collect();
    let version_ids: Vec<&str> = filter.version_ids.iter().map(AsRef::as_ref).collect();
    Condition::all()
        .add_option((!ids.is_empty()).then(|| Column::DefinitionId.is_in(ids)))
        .add_option((!version_ids.is_empty()).then(|| Column::Id.is_in(version_ids)))
        .add(is(filter.version))
        .add_option(filter.search.as_ref().map(|text| contains(Column::Search, text)))
        .add_option(filter.name.as_ref().map(|name| Column::Name.eq(name)))
        .add_option(filter.is_system.map(|wanted| Column::IsSystem.eq(wanted)))
}

fn ordered(query: Select<Entity>, by_name: bool) -> Select<Entity> {
    if by_name {
        return query
            .order_by_with_nulls(Column::Name, Order::Asc, NullOrdering::First)
            .order_by_asc(Column::DefinitionId)
            .order_by_desc(Column::Version);
    }
    query
        .order_by_with_nulls(Column::CreatedAt, Order::Desc, NullOrdering::Last)
        .order_by_desc(Column::Version)
        .order_by_asc(Column::Id)
}

/// The flags in force are those of the columns.
fn definition(row: Model) -> Result<Definition, Error> {
    let document: Definition = parse("a definition", &row.document)?;
    Ok(Definition { is_latest: row.is_latest, is_published: row.is_published, ..document })
}

fn read_trigger(row: trigger::Model) -> Result<Trigger, Error> {
    Ok(Trigger {
        payload: parse("a trigger's payload", &row.payload)?,
        definition_id: row.definition_id.into(),
        version_id: row.version_id.into(),
        activity_id: row.activity_id.into(),
        name: row.name,
        hash: row.hash,
    })
}
