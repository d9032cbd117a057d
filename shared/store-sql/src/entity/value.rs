//! The table `searchable_values`: one row for each searchable variable of an instance that has a
//! value.

use model::{Instance, SearchKey};
use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "searchable_values")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub instance_id: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub name: String,
    pub definition_id: String,
    pub sort_key: String,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Model {
    pub(crate) fn of(instance: &Instance, name: &str, key: &SearchKey) -> Self {
        Self {
            instance_id: instance.id.to_string(),
            name: name.to_owned(),
            definition_id: instance.definition_id.to_string(),
            sort_key: key.as_str().to_owned(),
        }
    }
}
