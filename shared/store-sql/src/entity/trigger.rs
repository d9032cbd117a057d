//! The table `triggers`; its columns are documented in `schema/migration`.

use sea_orm::entity::prelude::*;

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
