//! The table `applications`.

use model::Timestamp;
use sea_orm::entity::prelude::*;
use store::{Application, Error};

use crate::codec::{json, parse};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "applications")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub name: String,
    pub client_id: String,
    pub secret_hash: String,
    pub key_hash: String,
    pub roles: String,
    pub created_at: i64,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Model {
    pub(crate) fn of(application: &Application) -> Result<Self, Error> {
        Ok(Self {
            roles: json(&application.roles)?,
            id: application.id.clone(),
            name: application.name.clone(),
            client_id: application.client_id.clone(),
            // Nothing takes a client secret: there is none (decision 049).
            secret_hash: String::new(),
            key_hash: application.key_hash.clone(),
            created_at: application.created_at.as_millis(),
        })
    }

    pub(crate) fn application(self) -> Result<Application, Error> {
        Ok(Application {
            roles: parse("an application's roles", &self.roles)?,
            id: self.id,
            name: self.name,
            client_id: self.client_id,
            key_hash: self.key_hash,
            created_at: Timestamp::from_millis(self.created_at),
        })
    }
}
