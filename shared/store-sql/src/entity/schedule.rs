//! The table `schedules`; its columns are documented in `schema/migration`.

use sea_orm::entity::prelude::*;

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
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
