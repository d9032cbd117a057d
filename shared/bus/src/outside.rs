//! NATS as workflows use it: subjects, buckets and object stores that are not Staunch's own.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use protocol::Message;

use crate::{Put, Revision};

/// The reason why something outside could not be done. Each text names what was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutsideError {
    /// Nobody listens on the subject, or no stream takes it.
    #[error("{0}")]
    NoResponders(String),
    /// There is no such bucket or store.
    #[error("{0}")]
    Absent(String),
    /// There was no answer in time: it may have been done.
    #[error("{0}")]
    Late(String),
    /// The server does not answer. Trying again may help.
    #[error("{0}")]
    Unavailable(String),
    /// It is too large, or the user of this process may not do it: trying again does not help.
    #[error("{0}")]
    Refused(String),
}

/// Where a stream has a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The stream.
    pub stream: String,
    /// Its number there.
    pub sequence: u64,
}

/// The value of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyValue {
    /// The value.
    pub value: Bytes,
    /// Its revision.
    pub revision: Revision,
}

/// NATS outside of Staunch.
#[async_trait]
pub trait Outside: Send + Sync {
    /// Sends a message to those who subscribe at this moment.
    async fn tell(&self, message: Message) -> Result<(), OutsideError>;

    /// Sends a request, and waits for its answer.
    async fn ask(&self, message: Message, timeout: Duration) -> Result<Message, OutsideError>;

    /// Sends a message to the stream that has its subject, and waits until it is stored. One with an
    /// id that the stream had already, within its duplicate window, is not stored again.
    async fn store(&self, message: Message, timeout: Duration) -> Result<Stored, OutsideError>;

    /// The value of a key in a bucket; none if it was never written, or is deleted.
    async fn key(&self, bucket: &str, key: &str) -> Result<Option<KeyValue>, OutsideError>;

    /// Writes a key, or deletes it where the value is none; only if it is at the expected revision,
    /// where there is one (0: it does not exist). A repeat with the same nonce has no second effect
    /// within the duplicate window of the bucket.
    async fn set_key(
        &self,
        bucket: &str,
        key: &str,
        value: Option<Bytes>,
        expected: Option<Revision>,
        nonce: &str,
    ) -> Result<Put, OutsideError>;

    /// An object, of at most so many bytes; none if there is none of this name.
    async fn object(
        &self,
        store: &str,
        name: &str,
        bytes_max: usize,
    ) -> Result<Option<Bytes>, OutsideError>;

    /// Writes an object, in the place of one of the same name.
    async fn set_object(&self, store: &str, name: &str, bytes: Bytes) -> Result<(), OutsideError>;
}
