//! The table `pending_resumes`; its columns are documented in `schema/migration`.

use sea_orm::entity::prelude::*;

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
