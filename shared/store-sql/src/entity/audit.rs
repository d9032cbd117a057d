//! The table `audit`.

use model::Timestamp;
use sea_orm::ActiveValue::{NotSet, Set};
use sea_orm::entity::prelude::*;
use store::{Audit, Error};

use crate::codec::{json, parse};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "audit")]
pub struct Model {
    #[sea_orm(primary_key)]
    pub id: i64,
    pub at: i64,
    pub who: String,
    pub what: String,
    pub target: String,
    pub details: String,
    pub address: Option<String>,
    /// None in entries of earlier versions.
    pub is_refused: Option<bool>,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl ActiveModel {
    /// A new row; the database numbers it.
    pub(crate) fn of(entry: Audit) -> Result<Self, Error> {
        Ok(Self {
            id: NotSet,
            at: Set(entry.at.as_millis()),
            details: Set(json(&entry.details)?),
            address: Set(entry.address),
            is_refused: Set(Some(entry.is_refused)),
            who: Set(entry.who),
            what: Set(entry.what),
            target: Set(entry.target),
        })
    }
}

impl Model {
    pub(crate) fn audit(self) -> Result<Audit, Error> {
        Ok(Audit {
            at: Timestamp::from_millis(self.at),
            details: parse("an audit entry's details", &self.details)?,
            address: self.address,
            is_refused: self.is_refused.unwrap_or_default(),
            who: self.who,
            what: self.what,
            target: self.target,
        })
    }
}
