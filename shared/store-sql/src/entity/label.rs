//! The table `labels`.

use sea_orm::entity::prelude::*;
use store::Label;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "labels")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub name: String,
    pub normalized_name: String,
    pub description: Option<String>,
    pub color: Option<String>,
}

#[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Model {
    pub(crate) fn of(label: &Label) -> Self {
        let normalized_name = label.normalized_name();
        let Label { id, name, description, color } = label.clone();
        Self { id, name, normalized_name, description, color }
    }

    pub(crate) fn label(self) -> Label {
        let Self { id, name, description, color, .. } = self;
        Label { id, name, description, color }
    }
}
