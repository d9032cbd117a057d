//! Messages that travel with a commit and are published after it.

use async_trait::async_trait;
use model::{InstanceId, Timestamp};
use protocol::Message;

use crate::Error;

/// One message to publish.
#[derive(Clone, Debug, PartialEq)]
pub struct OutboxRow {
    /// Its message id: the same on every try.
    pub id: String,
    /// The instance it is about.
    pub instance_id: InstanceId,
    /// The message; its `Nats-Msg-Id` is `id`.
    pub message: Message,
    /// When it was committed.
    pub created_at: Timestamp,
}

/// Messages to publish.
#[async_trait]
pub trait Outbox: Send + Sync {
    /// Rows committed before that time and not yet published: their publisher has died.
    ///
    /// # Errors
    /// See [`Error`].
    async fn unpublished(&self, before: Timestamp, limit: u64) -> Result<Vec<OutboxRow>, Error>;

    /// These are stored in the stream: their rows go, soon, with the next transaction.
    ///
    /// # Errors
    /// See [`Error`]; they are published again then, which changes nothing.
    async fn published(&self, ids: Vec<String>) -> Result<(), Error>;
}
