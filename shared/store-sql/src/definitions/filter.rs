//! The conditions and the order of a query for definitions.

use sea_orm::sea_query::{Expr, NullOrdering};
use sea_orm::{
    ColumnTrait as _, Condition, EntityTrait as _, Order, QueryFilter as _, QueryOrder as _,
    QuerySelect as _, QueryTrait as _, Select,
};
use store::{DefinitionColumn, DefinitionFilter, DefinitionOrder, VersionOption};

use crate::entity::definition::{Column, Entity};
use crate::entity::definition_label;
use crate::search::contains;

pub(super) fn is(version: VersionOption) -> Condition {
    let latest = Column::IsLatest.eq(true);
    let published = Column::IsPublished.eq(true);
    match version {
        VersionOption::Latest => Condition::all().add(latest),
        VersionOption::Published => Condition::all().add(published),
        VersionOption::Draft => Condition::all().add(latest).add(Column::IsPublished.eq(false)),
        VersionOption::LatestOrPublished => Condition::any().add(latest).add(published),
        VersionOption::LatestAndPublished => Condition::all().add(latest).add(published),
        VersionOption::All => Condition::all(),
        VersionOption::Number(number) => {
            Condition::all().add(Column::Version.eq(i64::from(number)))
        }
    }
}

pub(super) fn condition(filter: &DefinitionFilter) -> Condition {
    let ids: Vec<&str> = filter.definition_ids.iter().map(AsRef::as_ref).collect();
    let version_ids: Vec<&str> = filter.version_ids.iter().map(AsRef::as_ref).collect();
    Condition::all()
        .add_option((!ids.is_empty()).then(|| Column::DefinitionId.is_in(ids)))
        .add_option((!version_ids.is_empty()).then(|| Column::Id.is_in(version_ids)))
        .add(is(filter.version))
        .add_option(filter.search.as_ref().map(|text| contains(Column::Search, text)))
        .add_option(filter.name.as_ref().map(|name| Column::Name.eq(name)))
        .add_option(filter.is_system.map(|wanted| Column::IsSystem.eq(wanted)))
        .add_option((!filter.labels.is_empty()).then(|| has_label_of(&filter.labels)))
}

fn has_label_of(labels: &[String]) -> Expr {
    let rows = definition_label::Entity::find()
        .select_only()
        .column(definition_label::Column::VersionId)
        .filter(definition_label::Column::LabelId.is_in(labels));
    Column::Id.in_subquery(rows.into_query())
}

pub(super) fn ordered(query: Select<Entity>, order: DefinitionOrder) -> Select<Entity> {
    let direction = if order.ascending { Order::Asc } else { Order::Desc };
    let least = if order.ascending { NullOrdering::First } else { NullOrdering::Last };
    let query = match order.by {
        DefinitionColumn::CreatedAt => {
            query.order_by_with_nulls(Column::CreatedAt, direction, least)
        }
        DefinitionColumn::Name => query.order_by_with_nulls(Column::Name, direction, least),
        DefinitionColumn::Version => query.order_by(Column::Version, direction),
    };
    query.order_by_desc(Column::Version).order_by_asc(Column::DefinitionId)
}
