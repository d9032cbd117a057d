//! The table `alteration_plans`; its columns are documented in `schema/migration`.

use model::Timestamp;
use sea_orm::entity::prelude::*;
use store::{AlterationPlan, Error};

use crate::codec::{json, parse};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "alteration_plans")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub alterations: String,
    pub filter: String,
    pub submitted_by: String,
    pub status: String,
    pub place: Option<String>,
    pub owner: Option<String>,
    pub held_until: i64,
    pub created_at: i64,
    pub started_at: Option<i64>,
    pub completed_at: Option<i64>,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Model {
    pub(crate) fn of(plan: &AlterationPlan) -> Result<Self, Error> {
        Ok(Self {
            id: plan.id.clone(),
            alterations: json(&plan.alterations)?,
            filter: json(&plan.filter)?,
            submitted_by: plan.submitted_by.clone(),
            status: plan.status.as_str().to_owned(),
            place: plan.cursor.clone(),
            owner: None,
            held_until: 0,
            created_at: plan.created_at.as_millis(),
            started_at: plan.started_at.map(Timestamp::as_millis),
            completed_at: plan.completed_at.map(Timestamp::as_millis),
        })
    }

    pub(crate) fn plan(self) -> Result<AlterationPlan, Error> {
        Ok(AlterationPlan {
            alterations: parse("the alterations of a plan", &self.alterations)?,
            filter: parse("the filter of a plan", &self.filter)?,
            submitted_by: self.submitted_by,
            status: self.status.parse().map_err(Error::Corrupt)?,
            cursor: self.place,
            created_at: Timestamp::from_millis(self.created_at),
            started_at: self.started_at.map(Timestamp::from_millis),
            completed_at: self.completed_at.map(Timestamp::from_millis),
            id: self.id,
        })
    }
}
