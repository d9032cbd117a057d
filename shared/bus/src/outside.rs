//! NATS as workflows use it: subjects, buckets and object stores that are not Staunch's own.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use model::Timestamp;
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

/// A durable place in a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The name of the place: those who name the same share its messages.
    pub name: String,
    /// The stream.
    pub stream: String,
    /// The messages whose subject fits this pattern.
    pub subject: String,
    /// Where it begins, if it has to be made. None: it must be there, and is not made.
    pub from: Option<From>,
    /// A message comes only when the one before is settled, whoever has it.
    pub one_by_one: bool,
}

/// The beginning of a place in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// Messages that are stored after this.
    New,
    /// All that the stream has.
    All,
    /// Those that were stored at this time or later.
    Time(Timestamp),
}

/// A durable place at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlaceFigures {
    /// The messages whose subject fits this pattern.
    pub subject: String,
    /// Messages that nobody has got yet: its lag.
    pub pending: u64,
    /// Messages that are handed out and not settled.
    pub in_hand: u64,
    /// Those of them that were handed out before.
    pub redelivered: u64,
    /// The number in the stream of the last message that was handed out, or after which it began.
    pub delivered: u64,
    /// When a message was last handed out; none if none was since the server knows of the place.
    pub delivered_at: Option<Timestamp>,
    /// When it was made; none where the server does not say.
    pub created_at: Option<Timestamp>,
}

/// A message from a stream. It comes again, here or to another, unless it is settled in time.
pub struct Taken {
    /// The message.
    pub message: Message,
    /// Its number in the stream.
    pub sequence: u64,
    /// When it was stored, in nanoseconds since 1970. A message keeps this time where the stream is
    /// backed up and restored; the message of this number in a stream made anew has another one.
    pub stored_nanos: i128,
    /// Settles it.
    pub settle: BoxFuture<'static, ()>,
}

/// The content of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// Its bytes.
    pub bytes: Bytes,
    /// Its media type, where its writer says it in the header `Content-Type`.
    pub content_type: Option<String>,
}

impl std::convert::From<Bytes> for Content {
    fn from(bytes: Bytes) -> Self {
        Self { bytes, content_type: None }
    }
}

impl std::convert::From<Vec<u8>> for Content {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes::from(bytes).into()
    }
}

/// An object that is being read.
pub struct Object {
    /// Its bytes, as its writer has counted them.
    pub size: u64,
    /// Its media type, where its writer has said it in the header `Content-Type`.
    pub content_type: Option<String>,
    /// Its bytes, a part in memory at a time. The end comes once they are those that were written; an
    /// error comes in its place otherwise, and for a part that does not come in time.
    pub parts: BoxStream<'static, Result<Bytes, OutsideError>>,
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

    /// An object, of at most so many bytes; none if there is none of this name, or it was removed while
    /// it was read.
    async fn object(
        &self,
        store: &str,
        name: &str,
        bytes_max: usize,
    ) -> Result<Option<Content>, OutsideError>;

    /// An object of any size; none if there is none of this name.
    async fn open_object(&self, store: &str, name: &str) -> Result<Option<Object>, OutsideError>;

    /// Writes an object, in the place of one of the same name.
    async fn set_object(
        &self,
        store: &str,
        name: &str,
        content: Content,
    ) -> Result<(), OutsideError>;

    /// Removes an object, and leaves no trace of it. It is no error if there is none of this name.
    async fn remove_object(&self, store: &str, name: &str) -> Result<(), OutsideError>;

    /// The messages on a subject as they come, from now on. Of those who listen under the same group,
    /// one gets each message.
    async fn listen(
        &self,
        subject: &str,
        group: &str,
    ) -> Result<BoxStream<'static, Message>, OutsideError>;

    /// The messages at a place, which is made if there is none of its name and it says where it begins.
    /// The stream of them ends with an error, after which it can be asked for again.
    ///
    /// # Errors
    /// [`OutsideError::Absent`] when there is no such stream, [`OutsideError::Unavailable`] when the
    /// place must be there and is not.
    async fn follow(
        &self,
        place: &Place,
    ) -> Result<BoxStream<'static, Result<Taken, OutsideError>>, OutsideError>;

    /// A place of this name in a stream as it is now; none if there is none. Nothing is made.
    ///
    /// # Errors
    /// [`OutsideError::Absent`] when there is no such stream.
    async fn place_figures(
        &self,
        stream: &str,
        name: &str,
    ) -> Result<Option<PlaceFigures>, OutsideError>;
}
