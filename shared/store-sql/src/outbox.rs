//! Messages to publish.

use async_trait::async_trait;
use model::Timestamp;
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _,
};
use store::{Error, Outbox, OutboxRow};

use crate::connect::SqlStore;
use crate::entity::outbox::{Column, Entity};
use crate::row::unpack;

#[async_trait]
impl Outbox for SqlStore {
    async fn unpublished(&self, before: Timestamp, limit: u64) -> Result<Vec<OutboxRow>, Error> {
        let found = self
            .tried(|| async {
                Ok(Entity::find()
                    .filter(Column::CreatedAt.lt(before.as_millis()))
                    .order_by_asc(Column::CreatedAt)
                    .order_by_asc(Column::Id)
                    .limit(limit)
                    .all(&self.database.reader)
                    .await?)
            })
            .await?;
        let rows = found.into_iter().map(|row| {
            Ok(OutboxRow {
                message: unpack("an outbox row", &row.message)?,
                id: row.id,
                instance_id: row.instance_id.into(),
                created_at: Timestamp::from_millis(row.created_at),
            })
        });
        rows.collect()
    }

    async fn published(&self, ids: Vec<String>) -> Result<(), Error> {
        self.remove_published(ids);
        Ok(())
    }
}
