//! The table `audit`.

use model::Timestamp;
use sea_orm::ActiveValue::{NotSet, Set};
use sea_orm::entity::prelude::*;
use store::{Audit, AuditOutcome, Error};

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
    /// None in entries of earlier versions.
    pub is_accepted: Option<bool>,
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
            is_refused: Set(Some(entry.outcome == AuditOutcome::Refused)),
            is_accepted: Set(Some(entry.outcome == AuditOutcome::Accepted)),
            who: Set(entry.who),
            what: Set(entry.what),
            target: Set(entry.target),
        })
    }
}

impl Model {
    pub(crate) fn audit(self) -> Result<Audit, Error> {
        let outcome = match (self.is_refused, self.is_accepted) {
            (Some(true), _) => AuditOutcome::Refused,
            (_, Some(true)) => AuditOutcome::Accepted,
            _ => AuditOutcome::Done,
        };
        Ok(Audit {
            at: Timestamp::from_millis(self.at),
            details: parse("an audit entry's details", &self.details)?,
            address: self.address,
            outcome,
            who: self.who,
            what: self.what,
            target: self.target,
        })
    }
}
