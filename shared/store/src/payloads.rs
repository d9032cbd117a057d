//! Payloads: bytes that rest in parts beside the instances that refer to them.

use async_trait::async_trait;
use model::{InstanceId, PayloadHash, Timestamp};

use crate::Error;

/// A payload that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    /// The id of its parts.
    pub id: String,
    /// Its name.
    pub hash: PayloadHash,
    /// Its bytes.
    pub size: u64,
    /// When it was kept, used, sent, or seen in use.
    pub touched_at: Timestamp,
}

/// The payloads to which a burst refers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PayloadChanges {
    /// The state refers to them from now on.
    pub used: Vec<PayloadHash>,
    /// The state does not refer to them any more.
    pub unused: Vec<PayloadHash>,
    /// Messages of the burst refer to them: they are kept for a while, for those who get the
    /// messages.
    pub sent: Vec<PayloadHash>,
}

impl PayloadChanges {
    /// No changes.
    #[must_use]
    pub const fn none() -> Self {
        Self { used: Vec::new(), unused: Vec::new(), sent: Vec::new() }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.used.is_empty() && self.unused.is_empty() && self.sent.is_empty()
    }

    /// All that are kept for a while from now on.
    pub fn touched(&self) -> impl Iterator<Item = &PayloadHash> {
        self.used.iter().chain(&self.unused).chain(&self.sent)
    }
}

/// What a look at old payloads has found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleared {
    /// Payloads that it looked at.
    pub seen: u64,
    /// Those that were removed.
    pub removed: u64,
}

/// Payloads. One is written in parts, under an id of the writer, and can be read once it is complete.
/// It goes when it was not touched for a while and no instance uses it.
#[async_trait]
pub trait Payloads: Send + Sync {
    /// Begins a payload under an id that nobody else has.
    ///
    /// # Errors
    /// See [`Error`].
    async fn begin_payload(&self, id: &str, now: Timestamp) -> Result<(), Error>;

    /// Writes the part of this number: 0, 1, 2 … Writing it again changes nothing.
    ///
    /// # Errors
    /// See [`Error`].
    async fn write_payload(&self, id: &str, number: u32, bytes: Vec<u8>) -> Result<(), Error>;

    /// Completes a payload. If its bytes were kept before, under another id, that one stays, and what
    /// was written under this id goes.
    ///
    /// # Errors
    /// See [`Error`].
    async fn complete_payload(
        &self,
        id: &str,
        hash: &PayloadHash,
        size: u64,
        now: Timestamp,
    ) -> Result<(), Error>;

    /// The complete payload of this name.
    ///
    /// # Errors
    /// See [`Error`].
    async fn payload(&self, hash: &PayloadHash) -> Result<Option<Payload>, Error>;

    /// A part of a payload; none after the last one.
    ///
    /// # Errors
    /// See [`Error`].
    async fn payload_part(&self, id: &str, number: u32) -> Result<Option<Vec<u8>>, Error>;

    /// The instances that use a payload, in the order of their ids; at most `limit`.
    ///
    /// # Errors
    /// See [`Error`].
    async fn payload_users(&self, hash: &PayloadHash, limit: u64)
    -> Result<Vec<InstanceId>, Error>;

    /// Looks at no more than `limit` payloads that were not touched since `before`, the oldest first:
    /// removes those that no instance uses, and those that were never completed; the others count as
    /// touched `now`. Returns how many it looked at, and how many it removed.
    ///
    /// # Errors
    /// See [`Error`].
    async fn clear_payloads(
        &self,
        before: Timestamp,
        now: Timestamp,
        limit: u64,
    ) -> Result<Cleared, Error>;
}
