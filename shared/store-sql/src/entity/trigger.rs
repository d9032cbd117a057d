//! The table `triggers`.

use model::Trigger;
use sea_orm::entity::prelude::*;
use store::Error;

use crate::codec::{json, parse};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "triggers")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub definition_id: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub activity_id: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub hash: String,
    pub version_id: String,
    pub name: String,
    pub payload: String,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Model {
    pub(crate) fn of(trigger: &Trigger) -> Result<Self, Error> {
        Ok(Self {
            definition_id: trigger.definition_id.to_string(),
            activity_id: trigger.activity_id.to_string(),
            hash: trigger.hash.clone(),
            version_id: trigger.version_id.to_string(),
            name: trigger.name.clone(),
            payload: json(&trigger.payload)?,
        })
    }

    pub(crate) fn trigger(self) -> Result<Trigger, Error> {
        Ok(Trigger {
            payload: parse("a trigger's payload", &self.payload)?,
            definition_id: self.definition_id.into(),
            version_id: self.version_id.into(),
            activity_id: self.activity_id.into(),
            name: self.name,
            hash: self.hash,
        })
    }
}
