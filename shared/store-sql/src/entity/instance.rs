//! The table `instances`; its columns are documented in `schema/migration`.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "instances")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub definition_id: String,
    pub version_id: String,
    pub definition_version: i64,
    pub version: i64,
    pub status: String,
    pub correlation_id: Option<String>,
    pub name: Option<String>,
    pub parent_instance_id: Option<String>,
    pub parent_bookmark_id: Option<String>,
    pub incidents: i64,
    pub created_at: i64,
    pub updated_at: i64,
    pub finished_at: Option<i64>,
    pub activation_key: Option<String>,
    pub search: String,
    pub start_command: Option<Vec<u8>>,
    pub state: Vec<u8>,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
