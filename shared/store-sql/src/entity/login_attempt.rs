//! The table `login_attempts`.

use model::Timestamp;
use sea_orm::entity::prelude::*;
use store::{Attempts, LoginLimit};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "login_attempts")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub subject: String,
    pub attempts: i64,
    pub last_at: i64,
    pub expires_at: i64,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Model {
    pub(crate) fn of(subject: &str, attempts: Attempts, limit: &LoginLimit) -> Self {
        Self {
            subject: subject.to_owned(),
            attempts: i64::from(attempts.count),
            last_at: attempts.last_at.as_millis(),
            expires_at: limit.forgotten_at(attempts).as_millis(),
        }
    }

    pub(crate) fn attempts(&self) -> Attempts {
        Attempts {
            count: u32::try_from(self.attempts).unwrap_or(u32::MAX),
            last_at: Timestamp::from_millis(self.last_at),
        }
    }
}
