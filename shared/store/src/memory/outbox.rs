//! The outbox in memory.

use async_trait::async_trait;
use model::Timestamp;

use super::instances::size;
use super::{MemoryStore, Operation};
use crate::{Error, Outbox, OutboxPlace, OutboxRow};

#[async_trait]
impl Outbox for MemoryStore {
    async fn unpublished(&self, before: Timestamp, limit: u64) -> Result<Vec<OutboxRow>, Error> {
        self.run(Operation::Unpublished, |tables| {
            let mut found: Vec<_> =
                tables.outbox.values().filter(|row| row.created_at < before).collect();
            found.sort_by_key(|row| (row.created_at, &row.id));
            Ok(found.into_iter().take(size(limit)).cloned().collect())
        })
        .await
    }

    async fn unpublished_places(
        &self,
        before: Timestamp,
        after: Option<&OutboxPlace>,
        limit: u64,
    ) -> Result<Vec<OutboxPlace>, Error> {
        self.run(Operation::Unpublished, |tables| {
            let rows = tables.outbox.values().filter(|row| row.created_at < before);
            let mut found: Vec<_> = rows
                .map(|row| OutboxPlace { created_at: row.created_at, id: row.id.clone() })
                .filter(|place| after.is_none_or(|after| place > after))
                .collect();
            found.sort_unstable();
            found.truncate(size(limit));
            Ok(found)
        })
        .await
    }

    async fn outbox_rows(&self, ids: &[String]) -> Result<Vec<OutboxRow>, Error> {
        self.run(Operation::Unpublished, |tables| {
            let mut found: Vec<_> = ids.iter().filter_map(|id| tables.outbox.get(id)).collect();
            found.sort_by_key(|row| (row.created_at, &row.id));
            Ok(found.into_iter().cloned().collect())
        })
        .await
    }

    async fn published(&self, ids: Vec<String>) -> Result<(), Error> {
        self.run(Operation::Published, |tables| {
            for id in &ids {
                tables.outbox.remove(id);
            }
            Ok(())
        })
        .await
    }
}
