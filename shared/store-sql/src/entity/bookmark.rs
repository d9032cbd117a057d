//! The table `bookmarks`; its columns are documented in `schema/migration`.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "bookmarks")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub instance_id: String,
    pub definition_id: String,
    pub correlation_id: Option<String>,
    pub shard: i32,
    pub name: String,
    pub hash: String,
    pub activity_id: String,
    pub activity_node_id: String,
    pub activity_instance_id: String,
    pub payload: String,
    pub route_template: Option<String>,
    pub created_at: i64,
    pub due_at: Option<i64>,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
