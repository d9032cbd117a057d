//! API keys and the audit log.

use async_trait::async_trait;
use sea_orm::sea_query::OnConflict;
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, IntoActiveModel as _, Iterable as _, PaginatorTrait as _,
    QueryFilter as _, QueryOrder as _, QuerySelect as _,
};
use store::{ApiKey, Audit, Error, Keys, Listed, Page, check};

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
        check::texts([Some(entry.who.as_str()), Some(&entry.what), Some(&entry.target)])?;
        let row = audit::ActiveModel::of(entry)?;
        self.tried(|| async {
            audit::Entity::insert(row.clone())
                .exec_without_returning(&self.database.writer)
                .await?;
            Ok(())
        })
        .await
    }

    async fn audits(&self, page: Page) -> Result<Listed<Audit>, Error> {
        let query = audit::Entity::find();
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
