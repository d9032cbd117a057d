//! The table `signing_keys`.

use model::Timestamp;
use sea_orm::entity::prelude::*;
use store::SigningKey;

#[derive(Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "signing_keys")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub secret: Vec<u8>,
    pub created_at: i64,
    pub retired_at: Option<i64>,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Model {
    pub(crate) fn of(key: &SigningKey) -> Self {
        Self {
            id: key.id.clone(),
            secret: key.secret.clone(),
            created_at: key.created_at.as_millis(),
            retired_at: key.retired_at.map(Timestamp::as_millis),
        }
    }

    pub(crate) fn signing_key(self) -> SigningKey {
        SigningKey {
            id: self.id,
            secret: self.secret,
            created_at: Timestamp::from_millis(self.created_at),
            retired_at: self.retired_at.map(Timestamp::from_millis),
        }
    }
}
