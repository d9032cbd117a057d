//! The table `roles`.

use model::Timestamp;
use sea_orm::entity::prelude::*;
use store::{Error, Role};

use crate::codec::{json, parse};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "roles")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub name: String,
    pub permissions: String,
    pub created_at: i64,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Model {
    pub(crate) fn of(role: &Role) -> Result<Self, Error> {
        Ok(Self {
            permissions: json(&role.permissions)?,
            id: role.id.clone(),
            name: role.name.clone(),
            created_at: role.created_at.as_millis(),
        })
    }

    pub(crate) fn role(self) -> Result<Role, Error> {
        Ok(Role {
            permissions: parse("a role's permissions", &self.permissions)?,
            id: self.id,
            name: self.name,
            created_at: Timestamp::from_millis(self.created_at),
        })
    }
}
