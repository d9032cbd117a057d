//! Open bookmarks.

use async_trait::async_trait;
use sea_orm::{
    ColumnTrait as _, Condition, EntityTrait as _, QueryFilter as _, QueryOrder as _,
    QuerySelect as _,
};
use store::{BookmarkFilter, Bookmarks, Error, StoredBookmark};

use crate::connect::SqlStore;
use crate::entity::bookmark::{Column, Entity, Model};
use crate::search::bounded;

#[async_trait]
impl Bookmarks for SqlStore {
    async fn find(
        &self,
        filter: &BookmarkFilter,
        limit: u64,
    ) -> Result<Vec<StoredBookmark>, Error> {
        if *filter == BookmarkFilter::default() {
            return Ok(Vec::new());
        }
        let id = filter.id.as_ref();
        let instance_id = filter.instance_id.as_ref();
        let condition = Condition::all()
            .add_option(id.map(|id| Column::Id.eq(id.as_str())))
            .add_option(instance_id.map(|id| Column::InstanceId.eq(id.as_str())))
            .add_option(filter.hash.as_ref().map(|hash| Column::Hash.eq(hash)))
            .add_option((!filter.hashes.is_empty()).then(|| Column::Hash.is_in(&filter.hashes)))
            .add_option(filter.correlation_id.as_ref().map(|id| Column::CorrelationId.eq(id)))
            .add_option(filter.name.as_ref().map(|name| Column::Name.eq(name)));
        let query = Entity::find()
            .filter(condition)
            .order_by_asc(Column::CreatedAt)
            .order_by_asc(Column::Id)
            .order_by_asc(Column::InstanceId)
            .limit(bounded(limit));
        let found =
            self.tried(|| async { Ok(query.clone().all(&self.database.reader).await?) }).await?;
        found.into_iter().map(Model::stored).collect()
    }

    async fn route_templates(&self, limit: u64) -> Result<Vec<String>, Error> {
        self.tried(|| async {
            Ok(Entity::find()
                .select_only()
                .column(Column::RouteTemplate)
                .distinct()
                .filter(Column::RouteTemplate.is_not_null())
                .order_by_asc(Column::RouteTemplate)
                .limit(bounded(limit))
                .into_tuple()
                .all(&self.database.reader)
                .await?)
        })
        .await
    }
}
