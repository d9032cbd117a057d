//! The table `alteration_jobs`; its columns are documented in `schema/migration`.

use model::Timestamp;
use sea_orm::entity::prelude::*;
use store::{AlterationJob, Error};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "alteration_jobs")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub plan_id: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub instance_id: String,
    pub status: String,
    pub message: Option<String>,
    pub created_at: i64,
    pub started_at: Option<i64>,
    pub completed_at: Option<i64>,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Model {
    pub(crate) fn job(self) -> Result<AlterationJob, Error> {
        Ok(AlterationJob {
            instance_id: self.instance_id.into(),
            status: self.status.parse().map_err(Error::Corrupt)?,
            message: self.message,
            created_at: Timestamp::from_millis(self.created_at),
            started_at: self.started_at.map(Timestamp::from_millis),
            completed_at: self.completed_at.map(Timestamp::from_millis),
        })
    }
}
