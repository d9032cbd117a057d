//! Messages to publish.

use async_trait::async_trait;
use model::Timestamp;
use sea_orm::{
    ColumnTrait as _, Condition, EntityTrait as _, QueryFilter as _, QueryOrder as _,
    QuerySelect as _,
};
use store::{Error, Outbox, OutboxPlace, OutboxRow, Table};

use crate::connect::SqlStore;
use crate::entity::outbox::{Column, Entity, Model};
use crate::search::bounded;

#[async_trait]
impl Outbox for SqlStore {
    async fn unpublished(&self, before: Timestamp, limit: u64) -> Result<Vec<OutboxRow>, Error> {
        let found = self
            .tried(|| async {
                Ok(Entity::find()
                    .filter(Column::CreatedAt.lt(before.as_millis()))
                    .order_by_asc(Column::CreatedAt)
                    .order_by_asc(Column::Id)
                    .limit(bounded(limit))
                    .all(&self.database.reader)
                    .await?)
            })
            .await?;
        Ok(self.outbox_of(found))
    }

    async fn unpublished_places(
        &self,
        before: Timestamp,
        after: Option<&OutboxPlace>,
        limit: u64,
    ) -> Result<Vec<OutboxPlace>, Error> {
        let mut condition = Condition::all().add(Column::CreatedAt.lt(before.as_millis()));
        if let Some(OutboxPlace { created_at, id }) = after {
            let at = created_at.as_millis();
            // The first comparison alone is what the index has.
            condition = condition.add(Column::CreatedAt.gte(at)).add(
                Condition::any().add(Column::CreatedAt.gt(at)).add(Column::Id.gt(id.as_str())),
            );
        }
        let query = Entity::find()
            .select_only()
            .column(Column::CreatedAt)
            .column(Column::Id)
            .filter(condition)
            .order_by_asc(Column::CreatedAt)
            .order_by_asc(Column::Id)
            .limit(bounded(limit));
        let found: Vec<(i64, String)> = self
            .tried(|| async { Ok(query.clone().into_tuple().all(&self.database.reader).await?) })
            .await?;
        let place = |(at, id)| OutboxPlace { created_at: Timestamp::from_millis(at), id };
        Ok(found.into_iter().map(place).collect())
    }

    async fn outbox_rows(&self, ids: &[String]) -> Result<Vec<OutboxRow>, Error> {
        let query = Entity::find()
            .filter(Column::Id.is_in(ids))
            .order_by_asc(Column::CreatedAt)
            .order_by_asc(Column::Id);
        let found =
            self.tried(|| async { Ok(query.clone().all(&self.database.reader).await?) }).await?;
        Ok(self.outbox_of(found))
    }

    async fn published(&self, ids: Vec<String>) -> Result<(), Error> {
        self.remove_published(ids);
        Ok(())
    }
}

impl SqlStore {
    /// The rows that can be read; the others are noted.
    fn outbox_of(&self, found: Vec<Model>) -> Vec<OutboxRow> {
        let name = |row: &Model| (row.id.clone(), row.message.clone());
        self.readable(Table::Outbox, found, name, Model::outbox_row)
    }
}
