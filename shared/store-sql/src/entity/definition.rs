//! The table `definitions`; its columns are documented in `schema/migration`.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "definitions")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub definition_id: String,
    pub version: i64,
    pub name: Option<String>,
    pub search: String,
    pub is_latest: bool,
    pub is_published: bool,
    pub is_system: bool,
    pub created_at: Option<i64>,
    pub document: String,
    pub searchable: Option<String>,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
