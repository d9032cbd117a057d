//! Open bookmarks.

use async_trait::async_trait;
use model::Timestamp;
use sea_orm::sea_query::Expr;
use sea_orm::{
    ColumnTrait as _, Condition, EntityTrait as _, QueryFilter as _, QueryOrder as _,
    QuerySelect as _,
};
use store::{Awaited, BookmarkFilter, Bookmarks, Error, LISTED, StoredBookmark};

use crate::codec::parse;
use crate::connect::SqlStore;
use crate::entity::bookmark::{Column, Entity, Model};
use crate::search::bounded;

/// The hash, the definition, one of the payloads, the oldest time and the number of bookmarks.
type AwaitedRow = (String, String, String, i64, i64);

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

    async fn listed(
        &self,
        name: &str,
        before: Timestamp,
        after: Option<&StoredBookmark>,
        limit: u64,
    ) -> Result<Vec<StoredBookmark>, Error> {
        let mut condition = named(name).add(Column::CreatedAt.lt(before.as_millis()));
        if let Some(after) = after {
            let (at, id) = (after.bookmark.created_at.as_millis(), after.bookmark.id.as_str());
            let instance = after.instance_id.as_str();
            // The first comparison alone is what the index begins with.
            condition = condition.add(Column::CreatedAt.gte(at)).add(
                Condition::any().add(Column::CreatedAt.gt(at)).add(Column::Id.gt(id)).add(
                    Condition::all().add(Column::Id.eq(id)).add(Column::InstanceId.gt(instance)),
                ),
            );
        }
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

    async fn awaited(
        &self,
        name: &str,
        after: Option<&Awaited>,
        limit: u64,
    ) -> Result<Vec<Awaited>, Error> {
        let mut condition = named(name);
        if let Some(after) = after {
            let (hash, definition) = (after.hash.as_str(), after.definition_id.as_str());
            condition = condition.add(Column::Hash.gte(hash)).add(
                Condition::any()
                    .add(Column::Hash.gt(hash))
                    .add(Column::DefinitionId.gt(definition)),
            );
        }
        let query = Entity::find()
            .select_only()
            .column(Column::Hash)
            .column(Column::DefinitionId)
            .expr(Column::Payload.min())
            .expr(Column::CreatedAt.min())
            .expr(Column::CreatedAt.count())
            .filter(condition)
            .group_by(Column::Hash)
            .group_by(Column::DefinitionId)
            .order_by_asc(Column::Hash)
            .order_by_asc(Column::DefinitionId)
            .limit(bounded(limit));
        let found: Vec<AwaitedRow> = self
            .tried(|| async { Ok(query.clone().into_tuple().all(&self.database.reader).await?) })
            .await?;
        let read = |(hash, definition_id, payload, since, waiting): AwaitedRow| {
            Ok(Awaited {
                hash,
                definition_id: definition_id.into(),
                payload: parse("a bookmark's payload", &payload)?,
                since: Timestamp::from_millis(since),
                waiting: u64::try_from(waiting).unwrap_or_default(),
            })
        };
        found.into_iter().map(read).collect()
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

/// Bookmarks of a name that is listed. A partial index is used only by a query that repeats its
/// condition.
fn named(name: &str) -> Condition {
    let listed: Vec<_> = LISTED.iter().map(|name| format!("'{name}'")).collect();
    let listed = Expr::cust(format!("name IN ({})", listed.join(", ")));
    Condition::all().add(Column::Name.eq(name)).add(listed)
}
