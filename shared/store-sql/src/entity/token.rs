//! The table `tokens`.

use model::{Timestamp, Token};
use sea_orm::entity::prelude::*;
use store::Error;

use crate::codec::{json, parse};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "tokens")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub hash: String,
    pub instance_id: String,
    pub target: String,
    pub created_at: i64,
    pub expires_at: i64,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Model {
    pub(crate) fn of(token: &Token) -> Result<Self, Error> {
        Ok(Self {
            hash: token.hash.clone(),
            instance_id: token.instance_id.to_string(),
            target: json(&token.target)?,
            created_at: token.created_at.as_millis(),
            expires_at: token.expires_at.as_millis(),
        })
    }

    pub(crate) fn token(self) -> Result<Token, Error> {
        Ok(Token {
            target: parse("a token's target", &self.target)?,
            hash: self.hash,
            instance_id: self.instance_id.into(),
            created_at: Timestamp::from_millis(self.created_at),
            expires_at: Timestamp::from_millis(self.expires_at),
        })
    }
}
