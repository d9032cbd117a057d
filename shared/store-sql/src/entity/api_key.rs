//! The table `api_keys`.

use model::Timestamp;
use sea_orm::entity::prelude::*;
use store::{ApiKey, Error};

use crate::codec::{json, parse};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "api_keys")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub name: String,
    pub hash: String,
    pub permissions: String,
    pub created_at: i64,
    pub expires_at: Option<i64>,
    pub user_id: Option<String>,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Model {
    pub(crate) fn of(key: ApiKey) -> Result<Self, Error> {
        Ok(Self {
            permissions: json(&key.permissions)?,
            id: key.id,
            name: key.name,
            hash: key.hash,
            created_at: key.created_at.as_millis(),
            expires_at: key.expires_at.map(Timestamp::as_millis),
            user_id: key.user_id,
        })
    }

    pub(crate) fn api_key(self) -> Result<ApiKey, Error> {
        Ok(ApiKey {
            permissions: parse("an API key's permissions", &self.permissions)?,
            id: self.id,
            name: self.name,
            hash: self.hash,
            created_at: Timestamp::from_millis(self.created_at),
            expires_at: self.expires_at.map(Timestamp::from_millis),
            user_id: self.user_id,
        })
    }
}
