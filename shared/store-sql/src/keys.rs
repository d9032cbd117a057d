//! API keys and the audit log.

use async_trait::async_trait;
use sea_orm::sea_query::{ExprTrait as _, OnConflict};
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, IntoActiveModel as _, Iterable as _, PaginatorTrait as _,
    QueryFilter as _, QueryOrder as _, QuerySelect as _, Select,
};
use store::{ApiKey, Audit, AuditFilter, AuditOutcome, Error, Keys, Listed, Page, check};

use crate::connect::SqlStore;
use crate::entity::api_key::{Column, Entity, Model};
use crate::entity::audit;

#[async_trait]
impl Keys for SqlStore {
    async fn save_key(&self, key: ApiKey) -> Result<(), Error> {
        check::texts([Some(key.id.as_str()), Some(&key.name), Some(&key.hash)])?;
        let row = Model::of(key)?;
        let others = Column::iter().filter(|column| !matches!(column, Column::Id));
        let replace = OnConflict::column(Column::Id).update_columns(others).to_owned();
        self.tried(|| async {
            Entity::insert(row.clone().into_active_model())
                .on_conflict(replace.clone())
                .exec_without_returning(&self.database.writer)
                .await?;
            Ok(())
        })
        .await
    }

    async fn key(&self, hash: &str) -> Result<Option<ApiKey>, Error> {
        let query = Entity::find().filter(Column::Hash.eq(hash)).order_by_asc(Column::Id);
        let found =
            self.tried(|| async { Ok(query.clone().one(&self.database.reader).await?) }).await?;
        found.map(Model::api_key).transpose()
    }

    async fn keys(&self) -> Result<Vec<ApiKey>, Error> {
        let query = Entity::find().order_by_asc(Column::CreatedAt).order_by_asc(Column::Id);
        let found =
            self.tried(|| async { Ok(query.clone().all(&self.database.reader).await?) }).await?;
        found.into_iter().map(Model::api_key).collect()
    }

    async fn delete_key(&self, id: &str) -> Result<bool, Error> {
        self.tried(|| async {
            let gone = Entity::delete_by_id(id).exec(&self.database.writer).await?;
            Ok(gone.rows_affected > 0)
        })
        .await
    }

    async fn audit(&self, entry: Audit) -> Result<(), Error> {
        check::audit(&entry)?;
        let row = audit::ActiveModel::of(entry)?;
        self.tried(|| async {
            audit::Entity::insert(row.clone())
                .exec_without_returning(&self.database.writer)
                .await?;
            Ok(())
        })
        .await
    }

    async fn audit_all(&self, entries: Vec<Audit>) -> Result<(), Error> {
        entries.iter().try_for_each(check::audit)?;
        let rows = entries.into_iter().map(audit::ActiveModel::of);
        let rows = rows.collect::<Result<Vec<_>, Error>>()?;
        if rows.is_empty() {
            return Ok(());
        }
        self.tried(|| async {
            let insert = audit::Entity::insert_many(rows.clone());
            insert.exec_without_returning(&self.database.writer).await?;
            Ok(())
        })
        .await
    }

    async fn audits(&self, filter: &AuditFilter, page: Page) -> Result<Listed<Audit>, Error> {
        let query = wanted(filter);
        let (total, found) = self
            .tried(|| async {
                let total = query.clone().count(&self.database.reader).await?;
                let found = query
                    .clone()
                    .order_by_desc(audit::Column::At)
                    .order_by_desc(audit::Column::Id)
                    .offset(page.skip())
                    .limit(page.take())
                    .all(&self.database.reader)
                    .await?;
                Ok((total, found))
            })
            .await?;
        let items = found.into_iter().map(audit::Model::audit);
        Ok(Listed { items: items.collect::<Result<_, Error>>()?, total })
    }
}

fn wanted(filter: &AuditFilter) -> Select<audit::Entity> {
    let mut query = audit::Entity::find();
    let texts = [
        (audit::Column::Who, &filter.who),
        (audit::Column::What, &filter.what),
        (audit::Column::Target, &filter.target),
    ];
    for (column, text) in texts {
        if let Some(text) = text {
            query = query.filter(column.eq(text.as_str()));
        }
    }
    if let Some(from) = filter.from {
        query = query.filter(audit::Column::At.gte(from.as_millis()));
    }
    if let Some(until) = filter.until {
        query = query.filter(audit::Column::At.lt(until.as_millis()));
    }
    if let Some(outcome) = filter.outcome {
        query = only(query, audit::Column::IsRefused, outcome == AuditOutcome::Refused);
        query = only(query, audit::Column::IsAccepted, outcome == AuditOutcome::Accepted);
    }
    query
}

/// The entries with this value; those of earlier versions have none, and were done.
fn only(
    query: Select<audit::Entity>,
    column: audit::Column,
    wanted: bool,
) -> Select<audit::Entity> {
    match wanted {
        true => query.filter(column.eq(true)),
        false => query.filter(column.is_null().or(column.eq(false))),
    }
}
