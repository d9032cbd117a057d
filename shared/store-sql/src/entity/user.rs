//! The table `users`.

use model::Timestamp;
use sea_orm::entity::prelude::*;
use store::{Error, User};

use crate::codec::{json, parse};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "users")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub name: String,
    pub password_hash: String,
    pub roles: String,
    pub is_disabled: bool,
    pub generation: i64,
    pub created_at: i64,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Model {
    pub(crate) fn of(user: &User) -> Result<Self, Error> {
        Ok(Self {
            roles: json(&user.roles)?,
            id: user.id.clone(),
            name: user.name.clone(),
            password_hash: user.password_hash.clone(),
            is_disabled: user.is_disabled,
            generation: user.generation,
            created_at: user.created_at.as_millis(),
        })
    }

    pub(crate) fn user(self) -> Result<User, Error> {
        Ok(User {
            roles: parse("a user's roles", &self.roles)?,
            id: self.id,
            name: self.name,
            password_hash: self.password_hash,
            is_disabled: self.is_disabled,
            generation: self.generation,
            created_at: Timestamp::from_millis(self.created_at),
        })
    }
}
