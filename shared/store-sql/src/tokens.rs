//! URL tokens.

use async_trait::async_trait;
use model::{Timestamp, Token};
use sea_orm::{ColumnTrait as _, EntityTrait as _, IntoActiveModel as _, QueryFilter as _};
use store::{Error, PendingCommand, Tokens, check};

use crate::connect::SqlStore;
use crate::entity::token::{Column, Entity, Model};
use crate::pipeline::{Answer, Work};
use crate::row::{json, parse};

#[async_trait]
impl Tokens for SqlStore {
    async fn grant(&self, token: Token) -> Result<(), Error> {
        check::token(&token)?;
        let row = Model {
            target: json(&token.target)?,
            hash: token.hash,
            instance_id: token.instance_id.to_string(),
            created_at: token.created_at.as_millis(),
            expires_at: token.expires_at.as_millis(),
        };
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
        found.map(token).transpose()
    }

    async fn redeem(
        &self,
        hash: &str,
        now: Timestamp,
        command: PendingCommand,
    ) -> Result<bool, Error> {
        check::command(&command)?;
        Ok(self.run(Work::redeem(hash, now, &command)?).await? == Answer::Done)
    }
}

fn token(row: Model) -> Result<Token, Error> {
    Ok(Token {
        target: parse("a token's target", &row.target)?,
        hash: row.hash,
        instance_id: row.instance_id.into(),
        created_at: Timestamp::from_millis(row.created_at),
        expires_at: Timestamp::from_millis(row.expires_at),
    })
}
