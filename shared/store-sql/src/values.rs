//! Searchable values: conditions on them, and what definitions say about them.

use std::collections::BTreeMap;
use std::ops::Bound;

use model::{InstanceId, SearchKey};
use sea_orm::sea_query::Expr;
use sea_orm::{
    ColumnTrait as _, Condition, EntityTrait as _, QueryFilter as _, QuerySelect as _,
    QueryTrait as _,
};
use store::{Error, InstanceFilter, KeyRange, SearchableFilter, SearchableNames, ValueFilter};

use crate::codec::{json, parse};
use crate::connect::SqlStore;
use crate::entity::value::{Column, Entity};
use crate::entity::{definition, instance};

/// The instances that fulfil all comparisons of the filter with searchable values.
pub(crate) fn condition(filter: &InstanceFilter) -> Condition {
    let definitions: Vec<&str> = filter.definition_ids.iter().map(AsRef::as_ref).collect();
    let found = |values: &ValueFilter| {
        let ranges = values.ranges().map(range).fold(Condition::any(), Condition::add);
        // A comparison without a key is fulfilled by no value. No parameter may stand beside the
        // ranges: SQLite would not use the index.
        let ranges = if ranges.is_empty() { ranges.add(Expr::cust("1 = 0")) } else { ranges };
        let rows = Entity::find()
            .select_only()
            .column(Column::InstanceId)
            .filter(Column::Name.eq(&values.name))
            .filter(ranges);
        let rows = match definitions.is_empty() {
            true => rows,
            false => rows.filter(Column::DefinitionId.is_in(definitions.iter().copied())),
        };
        instance::Column::Id.in_subquery(rows.into_query())
    };
    filter.values.iter().map(found).fold(Condition::all(), Condition::add)
}

fn range(range: KeyRange) -> Condition {
    let KeyRange { from, to, except } = range;
    let key = Column::SortKey;
    if from == to
        && let Bound::Included(only) = from
    {
        return Condition::all().add(key.eq(only));
    }
    let from = match from {
        Bound::Included(from) => Some(key.gte(from)),
        Bound::Excluded(from) => Some(key.gt(from)),
        Bound::Unbounded => None,
    };
    let to = match to {
        Bound::Included(to) => Some(key.lte(to)),
        Bound::Excluded(to) => Some(key.lt(to)),
        Bound::Unbounded => None,
    };
    let except = except.map(|except| key.ne(except));
    Condition::all().add_option(from).add_option(to).add_option(except)
}

/// The column `searchable` of a definition: JSON, or nothing.
pub(crate) fn declared(definition: &model::Definition) -> Result<Option<String>, Error> {
    let kinds = definition.searchable();
    if kinds.is_empty() { Ok(None) } else { json(&kinds).map(Some) }
}

impl SqlStore {
    pub(crate) async fn values_of(
        &self,
        id: &InstanceId,
    ) -> Result<BTreeMap<String, SearchKey>, Error> {
        let query = Entity::find().filter(Column::InstanceId.eq(id.as_str()));
        let found =
            self.tried(|| async { Ok(query.clone().all(&self.database.reader).await?) }).await?;
        Ok(found.into_iter().map(|row| (row.name, SearchKey::new(row.sort_key))).collect())
    }

    pub(crate) async fn searchable_names(
        &self,
        filter: &SearchableFilter,
    ) -> Result<SearchableNames, Error> {
        use definition::Column::{DefinitionId, Id, Searchable as Declared, Version};
        let ids = |ids: &[model::DefinitionId]| -> Option<Vec<String>> {
            (!ids.is_empty()).then(|| ids.iter().map(ToString::to_string).collect())
        };
        let condition = Condition::all()
            .add(Declared.is_not_null())
            .add_option(ids(&filter.definition_ids).map(|ids| DefinitionId.is_in(ids)))
            .add_option(ids(&filter.excluded_definition_ids).map(|ids| DefinitionId.is_not_in(ids)))
            .add_option(filter.version_id.as_ref().map(|id| Id.eq(id.as_str())))
            .add_option(filter.version.map(|version| Version.eq(i64::from(version))));
        let query =
            definition::Entity::find().select_only().column(Declared).distinct().filter(condition);
        let found: Vec<String> = self
            .tried(|| async { Ok(query.clone().into_tuple().all(&self.database.reader).await?) })
            .await?;
        let mut names = SearchableNames::new();
        for text in found {
            let kinds: BTreeMap<String, String> =
                parse("the searchable variables of a definition", &text)?;
            for (name, kind) in kinds {
                // A newer program may know more kinds.
                if let Ok(kind) = kind.parse() {
                    names.entry(name).or_default().insert(kind);
                }
            }
        }
        Ok(names)
    }
}

#[cfg(test)]
mod tests;
