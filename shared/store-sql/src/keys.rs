//! API keys and the audit log.

use async_trait::async_trait;
use model::Timestamp;
use sea_orm::ActiveValue::{NotSet, Set};
use sea_orm::sea_query::OnConflict;
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, IntoActiveModel as _, PaginatorTrait as _,
    QueryFilter as _, QueryOrder as _, QuerySelect as _,
};
use store::{ApiKey, Audit, Error, Keys, Listed, Page, check};

use crate::connect::SqlStore;
use crate::entity::api_key::{Column, Entity, Model};
use crate::entity::audit;
use crate::row::{json, parse};

#[async_trait]
impl Keys for SqlStore {
    async fn save_key(&self, key: ApiKey) -> Result<(), Error> {
        check::texts([Some(key.id.as_str()), Some(&key.name), Some(&key.hash)])?;
        let row = Model {
            permissions: json(&key.permissions)?,
            id: key.id,
            name: key.name,
            hash: key.hash,
            created_at: key.created_at.as_millis(),
            expires_at: key.expires_at.map(Timestamp::as_millis),
        };
        let replace = OnConflict::column(Column::Id)
            .update_columns([
                Column::Name,
                Column::Hash,
                Column::Permissions,
                Column::CreatedAt,
                Column::ExpiresAt,
            ])
            .to_owned();
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
        found.map(api_key).transpose()
    }

    async fn keys(&self) -> Result<Vec<ApiKey>, Error> {
        let query = Entity::find().order_by_asc(Column::CreatedAt).order_by_asc(Column::Id);
        let found =
            self.tried(|| async { Ok(query.clone().all(&self.database.reader).await?) }).await?;
        found.into_iter().map(api_key).collect()
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
        let row = audit::ActiveModel {
            id: NotSet,
            at: Set(entry.at.as_millis()),
            details: Set(json(&entry.details)?),
            who: Set(entry.who),
            what: Set(entry.what),
            target: Set(entry.target),
        };
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
                    .offset(page.skip)
                    .limit(page.take)
                    .all(&self.database.reader)
                    .await?;
                Ok((total, found))
            })
            .await?;
        let items = found.into_iter().map(|row| {
            Ok(Audit {
                at: Timestamp::from_millis(row.at),
                details: parse("an audit entry's details", &row.details)?,
                who: row.who,
                what: row.what,
                target: row.target,
            })
        });
        Ok(Listed { items: items.collect::<Result<_, Error>>()?, total })
    }
}

fn api_key(row: Model) -> Result<ApiKey, Error> {
    Ok(ApiKey {
        permissions: parse("an API key's permissions", &row.permissions)?,
        id: row.id,
        name: row.name,
        hash: row.hash,
        created_at: Timestamp::from_millis(row.created_at),
        expires_at: row.expires_at.map(Timestamp::from_millis),
    })
}
