//! Definitions, their triggers and schedules.

mod deletion;
mod filter;
mod registration;

use async_trait::async_trait;
use model::{Definition, DefinitionId, Schedule, Timestamp, Trigger, VersionId};
use sea_orm::sea_query::{Expr, ExprTrait as _, OnConflict};
use sea_orm::{
    ColumnTrait as _, ConnectionTrait as _, DatabaseBackend, DatabaseTransaction, EntityTrait as _,
    IntoActiveModel as _, PaginatorTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _,
    Statement,
};
use store::{
    Base, DefinitionFilter, Definitions, Deleted, Error, Listed, Page, Publication, Published,
    PublishedVersion, Retracted, Saved, SearchableFilter, SearchableNames, VersionOption, check,
};

use crate::codec::{json, parse};
use crate::connect::{SqlStore, commit};
use crate::entity::definition::{Column, Entity, Model};
use crate::entity::{definition_label, instance, schedule, trigger};
use crate::failure::Failure;
use crate::{labels, values};
use deletion::{Made, hold_starts, mark_deleted, unfinished};
use filter::{condition, is, ordered};
use registration::{end_pauses, put_schedules, put_triggers, unregister};

/// Every change of definitions on PostgreSQL takes this advisory lock first: changes happen one
/// after the other, so the rows that one reads stay the same until it commits.
const LOCK: &str = "SELECT pg_advisory_xact_lock(7815629411)";

#[async_trait]
impl Definitions for SqlStore {
    async fn save(&self, definition: &Definition, base: &Base) -> Result<Saved, Error> {
        check::definition(definition)?;
        self.tried(|| self.save_once(definition, base)).await
    }

    async fn publish_all(&self, publications: Vec<Publication>) -> Result<Published, Error> {
        publications.iter().try_for_each(check::publication)?;
        self.tried(|| self.publish_once(&publications)).await
    }

    async fn retract(&self, id: &DefinitionId, base: &Base) -> Result<Retracted, Error> {
        self.tried(|| self.retract_once(id, base)).await
    }

    async fn delete_definition(&self, id: &DefinitionId, base: &Base) -> Result<Deleted, Error> {
        self.tried(|| self.delete_definition_once(id, base)).await
    }

    async fn delete_version(&self, id: &VersionId) -> Result<Deleted, Error> {
        self.tried(|| self.delete_version_once(id)).await
    }

    async fn version(&self, id: &VersionId) -> Result<Option<Definition>, Error> {
        let found = self
            .tried(|| async {
                Ok(Entity::find_by_id(id.as_str()).one(&self.database.reader).await?)
            })
            .await?;
        found.map(read).transpose()
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
        found.map(read).transpose()
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
                let found = ordered(query.clone(), filter.order)
                    .offset(page.skip())
                    .limit(page.take())
                    .all(&self.database.reader)
                    .await?;
                Ok((total, found))
            })
            .await?;
        let items = found.into_iter().map(read).collect::<Result<_, _>>()?;
        Ok(Listed { items, total })
    }

    async fn published_versions(&self) -> Result<Vec<PublishedVersion>, Error> {
        // Without the graphs: one that cannot be read does not hide the others.
        let query = Entity::find()
            .select_only()
            .columns([Column::DefinitionId, Column::Id, Column::Version])
            .filter(is(VersionOption::Published));
        let found = self
            .tried(|| async {
                let rows = query.clone().into_tuple::<(String, String, i64)>();
                Ok(rows.all(&self.database.reader).await?)
            })
            .await?;
        let published = found.into_iter().map(|(definition_id, version_id, version)| {
            let version = u32::try_from(version).map_err(|error| {
                Error::Corrupt(format!("version {version} of {definition_id}: {error}"))
            })?;
            Ok(PublishedVersion {
                definition_id: definition_id.into(),
                version_id: version_id.into(),
                version,
            })
        });
        published.collect()
    }

    async fn searchable(&self, filter: &SearchableFilter) -> Result<SearchableNames, Error> {
        self.searchable_names(filter).await
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
        found.into_iter().map(schedule::Model::schedule).collect()
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
        found.into_iter().map(trigger::Model::trigger).collect()
    }

    /// Begins a change of definitions or their labels.
    pub(crate) async fn change(&self) -> Result<DatabaseTransaction, Failure> {
        let tx = self.begin().await?;
        if tx.get_database_backend() == DatabaseBackend::Postgres {
            tx.execute_unprepared(LOCK).await?;
        }
        Ok(tx)
    }

    async fn save_once(&self, definition: &Definition, base: &Base) -> Result<Saved, Failure> {
        let tx = self.change().await?;
        let latest = latest(&tx, &definition.definition_id).await?;
        if !base.holds(latest.as_ref()) {
            return Ok(Saved::Overtaken { by: latest.map(Box::new) });
        }
        let known = known(&tx, definition).await?;
        if known.as_ref().is_some_and(Definition::is_immutable) {
            return Err(check::immutable_version(definition).into());
        }
        if known.is_none() {
            labels::inherit(&tx, definition, latest.as_ref()).await?;
        }
        if definition.is_latest {
            clear(&tx, definition, Column::IsLatest).await?;
        }
        let draft = Definition { is_published: false, ..definition.clone() };
        put(&tx, &draft).await?;
        commit(tx).await?;
        Ok(Saved::Done)
    }

    async fn publish_once(&self, publications: &[Publication]) -> Result<Published, Failure> {
        let tx = self.change().await?;
        for publication in publications {
            let published = publish_in(&tx, publication).await?;
            if published != Published::Done {
                return Ok(published);
            }
        }
        commit(tx).await?;
        Ok(Published::Done)
    }

    async fn retract_once(&self, id: &DefinitionId, base: &Base) -> Result<Retracted, Failure> {
        let tx = self.change().await?;
        if !base.holds(latest(&tx, id).await?.as_ref()) {
            return Ok(Retracted::Overtaken);
        }
        let published = Entity::find()
            .filter(Column::DefinitionId.eq(id.as_str()))
            .filter(Column::IsPublished.eq(true))
            .one(&tx)
            .await?;
        let Some(published) = published else { return Ok(Retracted::NotPublished) };
        let retracted = Model { is_published: false, ..published };
        Entity::update_many()
            .col_expr(Column::IsPublished, Expr::value(false))
            .filter(Column::Id.eq(&retracted.id))
            .exec(&tx)
            .await?;
        unregister(&tx, trigger::Column::DefinitionId, schedule::Column::DefinitionId, id.as_str())
            .await?;
        commit(tx).await?;
        Ok(Retracted::Done(Box::new(read(retracted)?)))
    }

    async fn delete_definition_once(
        &self,
        id: &DefinitionId,
        base: &Base,
    ) -> Result<Deleted, Failure> {
        let used = instance::Column::DefinitionId.eq(id.as_str());
        if let Some(used) = unfinished(&self.database.reader, used.clone(), Made::Ever).await? {
            return Ok(used);
        }
        let tx = self.change().await?;
        if !base.holds(latest(&tx, id).await?.as_ref()) {
            return Ok(Deleted::Overtaken);
        }
        if let Some(used) = hold_starts(&tx, used).await? {
            return Ok(used);
        }
        mark_deleted(&tx, "definition_id", id.as_str()).await?;
        let gone =
            Entity::delete_many().filter(Column::DefinitionId.eq(id.as_str())).exec(&tx).await?;
        labels::drop_of(&tx, definition_label::Column::DefinitionId, id.as_str()).await?;
        end_pauses(&tx, id).await?;
        unregister(&tx, trigger::Column::DefinitionId, schedule::Column::DefinitionId, id.as_str())
            .await?;
        commit(tx).await?;
        Ok(Deleted::Done { versions: gone.rows_affected })
    }

    async fn delete_version_once(&self, id: &VersionId) -> Result<Deleted, Failure> {
        let found = Entity::find_by_id(id.as_str()).one(&self.database.reader).await?;
        let Some(found) = found else { return Ok(Deleted::Done { versions: 0 }) };
        let used = instance::Column::DefinitionId
            .eq(&found.definition_id)
            .and(instance::Column::VersionId.eq(id.as_str()));
        if let Some(used) = unfinished(&self.database.reader, used.clone(), Made::Ever).await? {
            return Ok(used);
        }
        let tx = self.change().await?;
        let gone = Entity::find_by_id(id.as_str()).one(&tx).await?;
        let Some(gone) = gone else { return Ok(Deleted::Done { versions: 0 }) };
        if let Some(used) = hold_starts(&tx, used).await? {
            return Ok(used);
        }
        mark_deleted(&tx, "id", id.as_str()).await?;
        Entity::delete_by_id(id.as_str()).exec(&tx).await?;
        labels::drop_of(&tx, definition_label::Column::VersionId, id.as_str()).await?;
        unregister(&tx, trigger::Column::VersionId, schedule::Column::VersionId, id.as_str())
            .await?;
        if gone.is_latest {
            promote(&tx, &gone.definition_id).await?;
        }
        commit(tx).await?;
        Ok(Deleted::Done { versions: 1 })
    }
}

async fn publish_in(
    tx: &DatabaseTransaction,
    publication: &Publication,
) -> Result<Published, Failure> {
    let Publication { definition, base, triggers, schedules } = publication;
    let id = &definition.definition_id;
    let latest = latest(tx, id).await?;
    if !base.holds(latest.as_ref()) {
        return Ok(Published::Overtaken { by: latest.map(Box::new) });
    }
    let known = known(tx, definition).await?;
    if let Some(newer) = newer_published(tx, definition).await? {
        return Ok(Published::Overtaken { by: Some(Box::new(newer)) });
    }
    let stored = check::published_over(known.as_ref(), definition.clone())?;
    if let Some(by) = clash(tx, id, triggers).await? {
        return Ok(Published::RouteTaken { by: Box::new(by) });
    }
    if known.is_none() {
        labels::inherit(tx, &stored, latest.as_ref()).await?;
    }
    clear(tx, &stored, Column::IsLatest).await?;
    clear(tx, &stored, Column::IsPublished).await?;
    put(tx, &stored).await?;
    put_triggers(tx, id, triggers).await?;
    put_schedules(tx, id, schedules).await?;
    Ok(Published::Done)
}

/// The version with the highest number becomes the latest.
async fn promote(tx: &DatabaseTransaction, definition_id: &str) -> Result<(), Failure> {
    let newest = Entity::find()
        .filter(Column::DefinitionId.eq(definition_id))
        .order_by_desc(Column::Version)
        .one(tx)
        .await?;
    if let Some(newest) = newest {
        Entity::update_many()
            .col_expr(Column::IsLatest, Expr::value(true))
            .filter(Column::Id.eq(newest.id))
            .exec(tx)
            .await?;
    }
    Ok(())
}

async fn latest(
    tx: &DatabaseTransaction,
    id: &DefinitionId,
) -> Result<Option<Definition>, Failure> {
    let found = Entity::find()
        .filter(Column::DefinitionId.eq(id.as_str()))
        .filter(Column::IsLatest.eq(true))
        .one(tx)
        .await?;
    Ok(found.map(read).transpose()?)
}

/// The stored row of this version. Checks that a version keeps its definition, and that a number
/// belongs to one version.
async fn known(
    tx: &DatabaseTransaction,
    definition: &Definition,
) -> Result<Option<Definition>, Failure> {
    let known = Entity::find_by_id(definition.id.as_str()).one(tx).await?;
    let known = known.map(read).transpose()?;
    if known.as_ref().is_some_and(|known| known.definition_id != definition.definition_id) {
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
    Ok(known)
}

/// The published version, if its number is higher.
async fn newer_published(
    tx: &DatabaseTransaction,
    definition: &Definition,
) -> Result<Option<Definition>, Failure> {
    let found = Entity::find()
        .filter(Column::DefinitionId.eq(definition.definition_id.as_str()))
        .filter(Column::IsPublished.eq(true))
        .filter(Column::Version.gt(i64::from(definition.version)))
        .one(tx)
        .await?;
    Ok(found.map(read).transpose()?)
}

/// The trigger of another definition that collides with one of these HTTP triggers.
async fn clash(
    tx: &DatabaseTransaction,
    id: &DefinitionId,
    triggers: &[Trigger],
) -> Result<Option<Trigger>, Failure> {
    if triggers.iter().all(|trigger| check::route(trigger).is_none()) {
        return Ok(None);
    }
    let others = trigger::Entity::find()
        .filter(trigger::Column::Name.eq(check::HTTP_ENDPOINT))
        .filter(trigger::Column::DefinitionId.ne(id.as_str()))
        .order_by_asc(trigger::Column::DefinitionId)
        .all(tx)
        .await?;
    let others = others.into_iter().map(trigger::Model::trigger);
    Ok(check::clash(triggers, others.collect::<Result<Vec<_>, _>>()?))
}

/// Clears a flag of all other versions.
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
        searchable: values::declared(definition)?,
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
            Column::Searchable,
        ])
        .to_owned();
    Entity::insert(row.into_active_model()).on_conflict(replace).exec_without_returning(tx).await?;
    let text = "DELETE FROM deleted_versions WHERE version_id = $1";
    let id = definition.id.as_str().into();
    tx.execute_raw(Statement::from_sql_and_values(tx.get_database_backend(), text, [id])).await?;
    Ok(())
}

/// The flags come from the columns, the rest from the document.
fn read(row: Model) -> Result<Definition, Error> {
    let document: Definition = parse("a definition", &row.document)?;
    Ok(Definition { is_latest: row.is_latest, is_published: row.is_published, ..document })
}
