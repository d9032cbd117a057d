//! Messages to publish.

use async_trait::async_trait;
use model::Timestamp;
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _,
};
use store::{Error, Outbox, OutboxRow, Table};

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
        let name = |row: &Model| (row.id.clone(), row.message.clone());
        Ok(self.readable(Table::Outbox, found, name, Model::outbox_row))
    }

    async fn published(&self, ids: Vec<String>) -> Result<(), Error> {
        self.remove_published(ids);
        Ok(())
    }
}
