//! URL tokens.

use async_trait::async_trait;
use model::{Timestamp, Token};
use sea_orm::{ColumnTrait as _, EntityTrait as _, IntoActiveModel as _, QueryFilter as _};
use store::{Error, PendingCommand, Tokens, check};

use crate::connect::SqlStore;
use crate::entity::token::{Column, Entity, Model};
use crate::pipeline::{Work, WorkEnd};

#[async_trait]
impl Tokens for SqlStore {
    async fn grant(&self, token: Token) -> Result<(), Error> {
        check::token(&token)?;
        let row = Model::of(&token)?;
        self.tried(|| async {
            Entity::insert(row.clone().into_active_model())
                .on_conflict_do_nothing_on([Column::Hash])
                .exec_without_returning(&self.database.writer)
                .await?;
            Ok(())
        })
        .await
    }

    async fn token(&self, hash: &str, now: Timestamp) -> Result<Option<Token>, Error> {
        let found = self
            .tried(|| async {
                Ok(Entity::find_by_id(hash)
                    .filter(Column::ExpiresAt.gt(now.as_millis()))
                    .one(&self.database.reader)
                    .await?)
            })
            .await?;
        found.map(Model::token).transpose()
    }

    async fn redeem(
        &self,
        hash: &str,
        now: Timestamp,
        command: PendingCommand,
    ) -> Result<bool, Error> {
        check::command(&command)?;
        Ok(self.run(Work::redeem(hash, now, &command)?).await? == WorkEnd::Done)
    }
}
