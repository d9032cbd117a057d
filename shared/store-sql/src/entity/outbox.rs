//! The table `outbox`.

use model::Timestamp;
use sea_orm::entity::prelude::*;
use store::{Error, OutboxRow};

use crate::codec::{pack, unpack};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "outbox")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub instance_id: String,
    pub created_at: i64,
    pub message: Vec<u8>,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Model {
    pub(crate) fn of(row: &OutboxRow) -> Result<Self, Error> {
        Ok(Self {
            id: row.id.clone(),
            instance_id: row.instance_id.to_string(),
            created_at: row.created_at.as_millis(),
            message: pack(&row.message)?,
        })
    }

    pub(crate) fn outbox_row(self) -> Result<OutboxRow, Error> {
        Ok(OutboxRow {
            message: unpack("an outbox row", &self.message)?,
            id: self.id,
            instance_id: self.instance_id.into(),
            created_at: Timestamp::from_millis(self.created_at),
        })
    }
}
