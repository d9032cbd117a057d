//! Labels of definitions.

use std::collections::BTreeMap;

use async_trait::async_trait;
use model::{Definition, VersionId, limits};
use sea_orm::sea_query::Expr;
use sea_orm::{
    ColumnTrait as _, ConnectionTrait as _, DatabaseTransaction, EntityTrait as _,
    IntoActiveModel as _, PaginatorTrait as _, QueryFilter as _, QueryOrder as _, Statement,
};
use store::{Error, Label, LabelKept, Labels, check_label, check_version_labels};

use crate::connect::{SqlStore, commit};
use crate::entity::label::{Column, Entity, Model};
use crate::entity::{definition, definition_label};
use crate::failure::Failure;

#[async_trait]
impl Labels for SqlStore {
    async fn create_label(&self, label: &Label) -> Result<LabelKept, Error> {
        check_label(label)?;
        self.tried(|| self.create_label_once(label)).await
    }

    async fn labels(&self) -> Result<Vec<Label>, Error> {
        let find = Entity::find().order_by_asc(Column::NormalizedName);
        let found =
            self.tried(|| async { Ok(find.clone().all(&self.database.reader).await?) }).await?;
        Ok(found.into_iter().map(Model::label).collect())
    }

    async fn label(&self, id: &str) -> Result<Option<Label>, Error> {
        let find = Entity::find_by_id(id);
        let found =
            self.tried(|| async { Ok(find.clone().one(&self.database.reader).await?) }).await?;
        Ok(found.map(Model::label))
    }

    async fn replace_label(&self, label: &Label) -> Result<LabelKept, Error> {
        check_label(label)?;
        self.tried(|| self.replace_label_once(label)).await
    }

    async fn delete_label(&self, id: &str) -> Result<bool, Error> {
        self.tried(|| async {
            let tx = self.change().await?;
            drop_of(&tx, definition_label::Column::LabelId, id).await?;
            let gone = Entity::delete_by_id(id).exec(&tx).await?;
            commit(tx).await?;
            Ok(gone.rows_affected > 0)
        })
        .await
    }

    async fn labels_of(
        &self,
        versions: &[VersionId],
    ) -> Result<BTreeMap<VersionId, Vec<String>>, Error> {
        let ids: Vec<&str> = versions.iter().map(AsRef::as_ref).collect();
        let find = definition_label::Entity::find()
            .filter(definition_label::Column::VersionId.is_in(ids))
            .order_by_asc(definition_label::Column::VersionId)
            .order_by_asc(definition_label::Column::LabelId);
        let rows =
            self.tried(|| async { Ok(find.clone().all(&self.database.reader).await?) }).await?;
        let mut found: BTreeMap<VersionId, Vec<String>> = BTreeMap::new();
        for row in rows {
            found.entry(row.version_id.into()).or_default().push(row.label_id);
        }
        Ok(found)
    }

    async fn set_labels(
        &self,
        version: &VersionId,
        labels: &[String],
    ) -> Result<Option<Vec<String>>, Error> {
        check_version_labels(labels)?;
        self.tried(|| self.set_labels_once(version, labels)).await
    }
}

impl SqlStore {
    async fn create_label_once(&self, label: &Label) -> Result<LabelKept, Failure> {
        let tx = self.change().await?;
        if has_other_of_its_name(&tx, label).await? {
            return Ok(LabelKept::NameTaken);
        }
        let count = Entity::find().count(&tx).await?;
        if count >= u64::try_from(limits::LABELS_MAX).unwrap_or(u64::MAX) {
            return Ok(LabelKept::TooMany);
        }
        let row = Model::of(label).into_active_model();
        Entity::insert(row).exec_without_returning(&tx).await?;
        commit(tx).await?;
        Ok(LabelKept::Done)
    }

    async fn replace_label_once(&self, label: &Label) -> Result<LabelKept, Failure> {
        let tx = self.change().await?;
        if Entity::find_by_id(label.id.as_str()).one(&tx).await?.is_none() {
            return Ok(LabelKept::Unknown);
        }
        if has_other_of_its_name(&tx, label).await? {
            return Ok(LabelKept::NameTaken);
        }
        let row = Model::of(label);
        Entity::update_many()
            .col_expr(Column::Name, Expr::value(row.name))
            .col_expr(Column::NormalizedName, Expr::value(row.normalized_name))
            .col_expr(Column::Description, Expr::value(row.description))
            .col_expr(Column::Color, Expr::value(row.color))
            .filter(Column::Id.eq(row.id))
            .exec(&tx)
            .await?;
        commit(tx).await?;
        Ok(LabelKept::Done)
    }

    async fn set_labels_once(
        &self,
        version: &VersionId,
        labels: &[String],
    ) -> Result<Option<Vec<String>>, Failure> {
        let tx = self.change().await?;
        let found = definition::Entity::find_by_id(version.as_str()).one(&tx).await?;
        let Some(found) = found else { return Ok(None) };
        let known = Entity::find().filter(Column::Id.is_in(labels)).order_by_asc(Column::Id);
        let known: Vec<String> = known.all(&tx).await?.into_iter().map(|label| label.id).collect();
        drop_of(&tx, definition_label::Column::VersionId, version.as_str()).await?;
        let rows = known.iter().map(|label| {
            let row = definition_label::Model {
                version_id: version.to_string(),
                label_id: label.clone(),
                definition_id: found.definition_id.clone(),
            };
            row.into_active_model()
        });
        if !known.is_empty() {
            definition_label::Entity::insert_many(rows).exec_without_returning(&tx).await?;
        }
        commit(tx).await?;
        Ok(Some(known))
    }
}

/// Gives a version that is new the labels of the latest one. A row that is there under its id is left
/// from an earlier version of the id.
pub(crate) async fn inherit(
    tx: &DatabaseTransaction,
    new: &Definition,
    latest: Option<&Definition>,
) -> Result<(), Failure> {
    drop_of(tx, definition_label::Column::VersionId, new.id.as_str()).await?;
    let Some(latest) = latest else { return Ok(()) };
    let text = "INSERT INTO definition_labels (version_id, label_id, definition_id)
         SELECT $1, label_id, definition_id FROM definition_labels WHERE version_id = $2";
    let values = [new.id.as_str().into(), latest.id.as_str().into()];
    tx.execute_raw(Statement::from_sql_and_values(tx.get_database_backend(), text, values)).await?;
    Ok(())
}

/// Removes the rows with this value in the column.
pub(crate) async fn drop_of(
    tx: &DatabaseTransaction,
    column: definition_label::Column,
    value: &str,
) -> Result<(), Failure> {
    definition_label::Entity::delete_many().filter(column.eq(value)).exec(tx).await?;
    Ok(())
}

async fn has_other_of_its_name(tx: &DatabaseTransaction, label: &Label) -> Result<bool, Failure> {
    let others = Entity::find()
        .filter(Column::NormalizedName.eq(label.normalized_name()))
        .filter(Column::Id.ne(label.id.as_str()));
    Ok(others.count(tx).await? > 0)
}
