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
    /// Where its parts are; in the database if none.
    pub place: Option<String>,
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

/// A payload that has lost its name: nobody finds it any more, and its parts are still there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nameless {
    /// The id of its parts.
    pub id: String,
    /// Where they are.
    pub place: String,
}

/// What a look at old payloads has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleared {
    /// Payloads that it looked at.
    pub seen: u64,
    /// Those that were removed.
    pub removed: u64,
    /// Those whose parts are outside of the database, and have to be removed there.
    pub nameless: Vec<Nameless>,
}

/// Payloads. One is written in parts, under an id of the writer, and can be read once it is complete.
/// It goes when it was not touched for a while and no instance uses it.
///
/// Where the parts are outside of the database, the row alone is here. It goes after them: it loses its
/// name, the caller removes the parts, and then forgets the row. After a crash in between, a later look
/// finds it again.
#[async_trait]
pub trait Payloads: Send + Sync {
    /// Begins a payload under an id that nobody else has. `place` is where the caller keeps its parts;
    /// none: here.
    ///
    /// # Errors
    /// See [`Error`].
    async fn begin_payload(
        &self,
        id: &str,
        place: Option<&str>,
        now: Timestamp,
    ) -> Result<(), Error>;

    /// Writes the part of this number: 0, 1, 2 … Writing it again changes nothing.
    ///
    /// # Errors
    /// See [`Error`].
    async fn write_payload(&self, id: &str, number: u32, bytes: Vec<u8>) -> Result<(), Error>;

    /// Completes a payload. Returns whether its name means the parts of this id from now on. If its
    /// bytes were kept before, under another id, that one stays, and what was written under this id
    /// goes; parts that are outside of the database the caller removes.
    ///
    /// # Errors
    /// See [`Error`].
    async fn complete_payload(
        &self,
        id: &str,
        hash: &PayloadHash,
        size: u64,
        now: Timestamp,
    ) -> Result<bool, Error>;

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
    /// touched `now`. Returns how many it looked at, and how many it removed. Of those whose parts are
    /// outside of the database, it removes the name alone, returns them, and looks at them after all
    /// others the next time.
    ///
    /// # Errors
    /// See [`Error`].
    async fn clear_payloads(
        &self,
        before: Timestamp,
        now: Timestamp,
        limit: u64,
    ) -> Result<Cleared, Error>;

    /// Takes the name from the payload with this id, if it has it and its parts are outside of the
    /// database: they cannot be read, and the same bytes are about to be kept again. Its row stays until
    /// the parts are removed. Instances that use the name use what gets it next.
    ///
    /// # Errors
    /// See [`Error`].
    async fn unname_payload(&self, id: &str, hash: &PayloadHash) -> Result<(), Error>;

    /// Forgets a payload that has no name, once its parts are removed. It is no error if it is gone, or
    /// has a name.
    ///
    /// # Errors
    /// See [`Error`].
    async fn forget_payload(&self, id: &str) -> Result<(), Error>;
}
