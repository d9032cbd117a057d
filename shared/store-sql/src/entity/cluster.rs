//! The table `cluster`.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "cluster")]
pub struct Model {
    /// Always 1: there is one row.
    #[sea_orm(primary_key, auto_increment = false)]
    pub one: i32,
    pub id: String,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
