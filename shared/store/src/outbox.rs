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

/// Messages to publish.
#[async_trait]
pub trait Outbox: Send + Sync {
    /// At most `limit` rows that were committed before that time and are not published: the node
    /// that should publish them has died.
    ///
    /// # Errors
    /// See [`Error`].
    async fn unpublished(&self, before: Timestamp, limit: u64) -> Result<Vec<OutboxRow>, Error>;

    /// Removes the rows of messages that the stream has stored. That happens soon, in one of the
    /// next transactions.
    ///
    /// # Errors
    /// See [`Error`]. The messages are published again then, and the stream drops the duplicates.
    async fn published(&self, ids: Vec<String>) -> Result<(), Error>;
}
