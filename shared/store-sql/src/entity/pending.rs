//! The table `pending_resumes`.

use model::Timestamp;
use sea_orm::entity::prelude::*;
use store::{Error, PendingCommand};

use crate::codec::{pack, unpack};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "pending_resumes")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub instance_id: Option<String>,
    pub bookmark_id: Option<String>,
    pub hash: Option<String>,
    pub correlation_id: Option<String>,
    pub accepted_at: i64,
    pub expires_at: Option<i64>,
    pub waiting: bool,
    pub command: Vec<u8>,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// Columns that the first row of a command sets once.
pub(crate) const ACCEPTED: [Column; 3] = [Column::Id, Column::AcceptedAt, Column::Command];

impl Model {
    pub(crate) fn of(command: &PendingCommand, waiting: bool) -> Result<Self, Error> {
        Ok(Self {
            id: command.id.to_string(),
            instance_id: command.instance_id.as_ref().map(ToString::to_string),
            bookmark_id: command.bookmark_id.as_ref().map(ToString::to_string),
            hash: command.hash.clone(),
            correlation_id: command.correlation_id.clone(),
            accepted_at: command.accepted_at.as_millis(),
            expires_at: command.expires_at.map(Timestamp::as_millis),
            waiting,
            command: pack(&command.command)?,
        })
    }

    pub(crate) fn pending(self) -> Result<PendingCommand, Error> {
        Ok(PendingCommand {
            command: unpack("a kept command", &self.command)?,
            id: self.id.into(),
            instance_id: self.instance_id.map(Into::into),
            bookmark_id: self.bookmark_id.map(Into::into),
            hash: self.hash,
            correlation_id: self.correlation_id,
            accepted_at: Timestamp::from_millis(self.accepted_at),
            expires_at: self.expires_at.map(Timestamp::from_millis),
            waiting: self.waiting,
        })
    }
}
