//! The table `sessions`.

use model::Timestamp;
use sea_orm::entity::prelude::*;
use store::Session;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "sessions")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub user_id: String,
    pub generation: i64,
    pub token_id: String,
    pub previous_id: Option<String>,
    pub rotated_at: i64,
    pub expires_at: i64,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Model {
    pub(crate) fn of(session: &Session) -> Self {
        Self {
            id: session.id.clone(),
            user_id: session.user_id.clone(),
            generation: session.generation,
            token_id: session.token_id.clone(),
            previous_id: session.previous_id.clone(),
            rotated_at: session.rotated_at.as_millis(),
            expires_at: session.expires_at.as_millis(),
        }
    }

    pub(crate) fn session(self) -> Session {
        Session {
            id: self.id,
            user_id: self.user_id,
            generation: self.generation,
            token_id: self.token_id,
            previous_id: self.previous_id,
            rotated_at: Timestamp::from_millis(self.rotated_at),
            expires_at: Timestamp::from_millis(self.expires_at),
        }
    }
}
