//! Secrets.

use async_trait::async_trait;
use sea_orm::sea_query::{Expr, OnConflict};
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, IntoActiveModel as _, QueryFilter as _, QueryOrder as _,
};
use store::{Error, Rewrapped, Secret, Secrets, check_secret};

use crate::connect::{SqlStore, commit};
use crate::entity::secret::{Column, Entity, Model};

#[async_trait]
impl Secrets for SqlStore {
    async fn create_secret(&self, secret: &Secret) -> Result<bool, Error> {
        check_secret(secret)?;
        let row = Model::of(secret)?;
        self.tried(|| async {
            let insert = Entity::insert(row.clone().into_active_model());
            let insert = insert.on_conflict(OnConflict::new().do_nothing().to_owned());
            Ok(insert.exec_without_returning(&self.database.writer).await? > 0)
        })
        .await
    }

    async fn secrets(&self) -> Result<Vec<Secret>, Error> {
        let find = Entity::find().order_by_asc(Column::Name);
        let found =
            self.tried(|| async { Ok(find.clone().all(&self.database.reader).await?) }).await?;
        found.into_iter().map(Model::secret).collect()
    }

    async fn secret(&self, name: &str) -> Result<Option<Secret>, Error> {
        let find = Entity::find_by_id(name);
        let found =
            self.tried(|| async { Ok(find.clone().one(&self.database.reader).await?) }).await?;
        found.map(Model::secret).transpose()
    }

    async fn replace_secret(&self, before: &Secret, after: &Secret) -> Result<bool, Error> {
        check_secret(after)?;
        let row = Model::of(after)?;
        let update = Entity::update_many()
            .col_expr(Column::DisplayName, Expr::value(row.display_name))
            .col_expr(Column::Description, Expr::value(row.description))
            .col_expr(Column::TypeName, Expr::value(row.type_name))
            .col_expr(Column::Scope, Expr::value(row.scope))
            .col_expr(Column::Tags, Expr::value(row.tags))
            .col_expr(Column::IsRevoked, Expr::value(row.is_revoked))
            .col_expr(Column::Version, Expr::value(row.version))
            .col_expr(Column::UpdatedAt, Expr::value(row.updated_at))
            .col_expr(Column::ExpiresAt, Expr::value(row.expires_at))
            .col_expr(Column::WrappedKey, Expr::value(row.wrapped_key))
            .col_expr(Column::Ciphertext, Expr::value(row.ciphertext))
            .filter(Column::Name.eq(row.name));
        let update = update
            .filter(Column::Version.eq(before.version))
            .filter(Column::WrappedKey.eq(before.wrapped_key.as_str()));
        self.tried(|| async {
            let changed = update.clone().exec(&self.database.writer).await?;
            Ok(changed.rows_affected > 0)
        })
        .await
    }

    async fn delete_secret(&self, name: &str) -> Result<bool, Error> {
        self.tried(|| async {
            let gone = Entity::delete_by_id(name).exec(&self.database.writer).await?;
            Ok(gone.rows_affected > 0)
        })
        .await
    }

    async fn rewrap_secrets(&self, changes: &[Rewrapped]) -> Result<bool, Error> {
        self.tried(|| async {
            let tx = self.begin().await?;
            for change in changes {
                let update = Entity::update_many()
                    .col_expr(Column::WrappedKey, Expr::value(change.to.as_str()))
                    .filter(Column::Name.eq(change.name.as_str()))
                    .filter(Column::WrappedKey.eq(change.from.as_str()));
                if update.exec(&tx).await?.rows_affected == 0 {
                    tx.rollback().await?;
                    return Ok(false);
                }
            }
            commit(tx).await?;
            Ok(true)
        })
        .await
    }
}
