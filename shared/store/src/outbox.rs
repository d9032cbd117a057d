//! Messages that are committed with a burst and published after it.

use async_trait::async_trait;
use model::{InstanceId, Timestamp};
use protocol::Message;

use crate::Error;

/// One message to publish.
#[derive(Clone, Debug, PartialEq)]
pub struct OutboxRow {
    /// Its message id, the same for every publish of it.
    pub id: String,
    /// The instance that sends it.
    pub instance_id: InstanceId,
    /// The message; its `Nats-Msg-Id` is `id`.
    pub message: Message,
    /// The time of the commit.
    pub created_at: Timestamp,
}

/// The place of a row among those that are not published: oldest first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OutboxPlace {
    /// The time of the commit.
    pub created_at: Timestamp,
    /// The id of the row.
    pub id: String,
}

/// Messages to publish.
#[async_trait]
pub trait Outbox: Send + Sync {
    /// At most `limit` rows that were committed before that time and are not published: the node
    /// that should publish them has died.
    ///
    /// # Errors
    /// See [`Error`].
    async fn unpublished(&self, before: Timestamp, limit: u64) -> Result<Vec<OutboxRow>, Error>;

    /// The places of such rows, without their messages, which may be large: at most `limit`, those
    /// that come after `after`.
    ///
    /// # Errors
    /// See [`Error`].
    async fn unpublished_places(
        &self,
        before: Timestamp,
        after: Option<&OutboxPlace>,
        limit: u64,
    ) -> Result<Vec<OutboxPlace>, Error>;

    /// The rows with these ids that are not published, oldest first.
    ///
    /// # Errors
    /// See [`Error`].
    async fn outbox_rows(&self, ids: &[String]) -> Result<Vec<OutboxRow>, Error>;

    /// Removes the rows of messages that the stream has stored. That happens soon, in one of the
    /// next transactions.
    ///
    /// # Errors
    /// See [`Error`]. The messages are published again then, and the stream drops the duplicates.
    async fn published(&self, ids: Vec<String>) -> Result<(), Error>;
}
