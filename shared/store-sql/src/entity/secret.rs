//! The table `secrets`.

use model::Timestamp;
use sea_orm::entity::prelude::*;
use store::{Error, Secret};

use crate::codec::{json, parse};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "secrets")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub name: String,
    pub id: String,
    pub display_name: String,
    pub description: Option<String>,
    pub type_name: String,
    pub scope: Option<String>,
    pub tags: String,
    pub is_revoked: bool,
    pub version: i64,
    pub created_at: i64,
    pub updated_at: Option<i64>,
    pub expires_at: Option<i64>,
    pub wrapped_key: String,
    pub ciphertext: String,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Model {
    pub(crate) fn of(secret: &Secret) -> Result<Self, Error> {
        let Secret { name, id, display_name, description, type_name, scope, .. } = secret.clone();
        Ok(Self {
            name,
            id,
            display_name,
            description,
            type_name,
            scope,
            tags: json(&secret.tags)?,
            is_revoked: secret.is_revoked,
            version: secret.version,
            created_at: secret.created_at.as_millis(),
            updated_at: secret.updated_at.map(Timestamp::as_millis),
            expires_at: secret.expires_at.map(Timestamp::as_millis),
            wrapped_key: secret.wrapped_key.clone(),
            ciphertext: secret.ciphertext.clone(),
        })
    }

    pub(crate) fn secret(self) -> Result<Secret, Error> {
        Ok(Secret {
            tags: parse("a secret's tags", &self.tags)?,
            name: self.name,
            id: self.id,
            display_name: self.display_name,
            description: self.description,
            type_name: self.type_name,
            scope: self.scope,
            is_revoked: self.is_revoked,
            version: self.version,
            created_at: Timestamp::from_millis(self.created_at),
            updated_at: self.updated_at.map(Timestamp::from_millis),
            expires_at: self.expires_at.map(Timestamp::from_millis),
            wrapped_key: self.wrapped_key,
            ciphertext: self.ciphertext,
        })
    }
}
