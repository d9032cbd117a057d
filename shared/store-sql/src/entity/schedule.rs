//! The table `schedules`.

use model::{Schedule, Timestamp};
use sea_orm::entity::prelude::*;
use store::{Error, SchedulePause, ScheduleStatus};

use crate::codec::{json, parse};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "schedules")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub definition_id: String,
    pub version_id: String,
    pub activity_id: String,
    pub recurrence: String,
    pub misfire: String,
    pub next_at: Option<i64>,
    pub occurrence: i64,
    pub shard: i32,
    pub retired: bool,
    pub paused_at: Option<i64>,
    pub paused_by: Option<String>,
    pub last_at: Option<i64>,
    pub missed: i64,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Model {
    /// The row of an active schedule.
    pub(crate) fn of(schedule: &Schedule) -> Result<Self, Error> {
        Ok(Self {
            id: schedule.id.to_string(),
            definition_id: schedule.definition_id.to_string(),
            version_id: schedule.version_id.to_string(),
            activity_id: schedule.activity_id.to_string(),
            recurrence: json(&schedule.recurrence)?,
            misfire: json(&schedule.misfire)?,
            next_at: schedule.next_at.map(Timestamp::as_millis),
            occurrence: schedule.occurrence,
            shard: schedule.shard,
            retired: false,
            paused_at: None,
            paused_by: None,
            last_at: None,
            missed: 0,
        })
    }

    pub(crate) fn status(self) -> Result<ScheduleStatus, Error> {
        let pause = self.paused_at.map(|since| SchedulePause {
            since: Timestamp::from_millis(since),
            by: self.paused_by.clone().unwrap_or_default(),
        });
        Ok(ScheduleStatus {
            pause,
            last_at: self.last_at.map(Timestamp::from_millis),
            missed: self.missed.try_into().unwrap_or_default(),
            schedule: self.schedule()?,
        })
    }

    pub(crate) fn schedule(self) -> Result<Schedule, Error> {
        Ok(Schedule {
            recurrence: parse("a schedule's recurrence", &self.recurrence)?,
            misfire: parse("a schedule's misfire policy", &self.misfire)?,
            id: self.id.into(),
            definition_id: self.definition_id.into(),
            version_id: self.version_id.into(),
            activity_id: self.activity_id.into(),
            next_at: self.next_at.map(Timestamp::from_millis),
            occurrence: self.occurrence,
            shard: self.shard,
        })
    }
}
