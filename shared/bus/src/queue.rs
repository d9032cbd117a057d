//! Durable messages: published once, delivered until acknowledged.

use std::time::Duration;

use async_trait::async_trait;
use model::Timestamp;
use protocol::Message;

use crate::{Error, Figures};

/// The streams of the topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stream {
    /// `STAUNCH_COMMANDS`: work queue.
    Commands,
    /// `STAUNCH_EVENTS`: replayable.
    Events,
    /// `STAUNCH_TASKS`: work queue for workers.
    Tasks,
    /// `STAUNCH_DEAD`: rejected and dead commands.
    Dead,
}

/// The server's answer when it has stored a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Its place in the stream.
    pub sequence: u64,
    /// The stream had a message of this id before the call. Not set where an earlier try of the same
    /// call may be the one that it had.
    pub duplicate: bool,
}

/// The tasks of one type and version, and their workers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// The type.
    pub task_type: String,
    /// Its version.
    pub version: u32,
    /// The consumer from which the workers pull.
    pub consumer: String,
    /// Tasks that the consumer has not handed out yet.
    pub waiting: u64,
    /// Tasks that workers have.
    pub in_progress: u64,
    /// Tasks in progress that were delivered more than once.
    pub redelivered: u64,
    /// Workers that ask for a task right now; one that is at work does not.
    pub asking: u64,
    /// The time since which the oldest task is there.
    pub oldest: Option<Timestamp>,
    /// When the first task was stored that the consumer has not handed out yet; none where it has handed
    /// out all of them. A task that comes back from a worker is not among those that wait.
    pub oldest_waiting: Option<Timestamp>,
    /// The sequence of the last task that was delivered; 0 before the first.
    pub delivered: u64,
    /// When the consumer was made: it knows nothing of what one before it has handed out.
    pub made_at: Option<Timestamp>,
    /// The time without a sign of life after which a task in progress is delivered again.
    pub ack_wait: Duration,
    /// A task that was delivered so often is delivered no more. Nobody has set it unless an operator has.
    pub deliveries_max: Option<u64>,
}

/// The messages that a stream has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The sequence of the oldest message; one more than `last` when there is none.
    pub first: u64,
    /// The sequence of the newest message that the stream ever had; 0 before the first.
    pub last: u64,
    /// The number of messages that it has now.
    pub messages: u64,
    /// For how long the stream has existed: what was stored before is lost. None where the server does
    /// not say (nats-server before 2.10).
    pub age: Option<Duration>,
}

/// How full a stream is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fill {
    /// Bytes that it holds.
    pub bytes: u64,
    /// The bytes that it may hold; `None` without a limit.
    pub bytes_max: Option<u64>,
    /// The number of messages with the subject that was asked for.
    pub own: u64,
}

/// Bytes after which [`Queue::select`] ends, so that a reader with large messages needs little
/// memory.
pub const SELECT_BYTES_MAX: usize = 512 * 1024;

/// Durable publish and pull.
#[async_trait]
pub trait Queue: Send + Sync {
    /// Publishes to the stream that has the subject, and waits until it is stored. A message id
    /// seen within the stream's duplicate window is not stored again.
    ///
    /// # Errors
    /// [`Error::Unavailable`] and [`Error::Unknown`] may be retried with the same message id.
    async fn publish(&self, message: Message) -> Result<Receipt, Error>;

    /// Waits up to `wait` for at least one command. Takes at most `max` commands, and at most
    /// [`PULL_BYTES_MAX`](model::limits::PULL_BYTES_MAX) bytes. An empty list means that none came.
    /// A command that is not settled within the consumer's ack wait is delivered again, to this node
    /// or another.
    ///
    /// # Errors
    /// When the server cannot be asked.
    async fn pull(&self, max: usize, wait: Duration) -> Result<Vec<Delivery>, Error>;

    /// Reads up to `max` messages of a stream from a sequence on (1 is the first), without
    /// consuming them.
    ///
    /// # Errors
    /// When the server cannot be asked.
    async fn read(
        &self,
        stream: Stream,
        from: u64,
        max: usize,
    ) -> Result<Vec<(u64, Timestamp, Message)>, Error>;

    /// Reads messages of a stream whose subjects match `filter` (with NATS wildcards), from a sequence
    /// on, without consuming them: up to `max`, and about [`SELECT_BYTES_MAX`] bytes. A message that
    /// was stored just now may be missing: the server that answers may be behind its leader.
    ///
    /// # Errors
    /// When the server cannot be asked.
    async fn select(
        &self,
        stream: Stream,
        filter: &str,
        from: u64,
        max: usize,
    ) -> Result<Vec<(u64, Timestamp, Message)>, Error>;

    /// The messages that a stream has.
    ///
    /// # Errors
    /// When the server cannot be asked.
    async fn span(&self, stream: Stream) -> Result<Span, Error>;

    /// How full a stream is, and how many messages with this subject it has.
    ///
    /// # Errors
    /// When the server cannot be asked.
    async fn fill(&self, stream: Stream, subject: &str) -> Result<Fill, Error>;

    /// Makes the durable consumer from which the workers for a type and version of tasks pull, unless
    /// it is there. One that is there stays as it is: an operator may have changed its limits.
    ///
    /// # Errors
    /// When the server cannot be asked, or another consumer has these tasks.
    async fn provide(&self, task_type: &str, version: u32) -> Result<(), Error>;

    /// What there is to do for the workers of each type and version of tasks, at most
    /// `limits::ACTIVITY_TYPES_MAX` of them.
    ///
    /// # Errors
    /// When the server cannot be asked.
    async fn task_pools(&self) -> Result<Vec<Pool>, Error>;

    /// Removes one message from a stream; true when it was there.
    ///
    /// # Errors
    /// When the server cannot be asked.
    async fn remove(&self, stream: Stream, sequence: u64) -> Result<bool, Error>;

    /// Commands stored and not yet acknowledged.
    ///
    /// # Errors
    /// When the server cannot be asked.
    async fn backlog(&self) -> Result<u64, Error>;

    /// What all streams, buckets and consumers hold. What is not answered is in the result.
    ///
    /// # Errors
    /// When the connection is closed.
    async fn figures(&self) -> Result<Figures, Error>;

    /// Whether the server answers, stores what is published, and, where this process pulls commands, has
    /// the consumer for it.
    ///
    /// # Errors
    /// When it does not.
    async fn ping(&self) -> Result<(), Error> {
        self.backlog().await.map(drop)
    }
}

/// One delivery of a command.
pub struct Delivery {
    /// The message.
    pub message: Message,
    /// Its place in the stream.
    pub sequence: u64,
    /// 1 for the first delivery.
    pub attempt: i64,
    /// When it was stored, by the server's clock.
    pub stored_at: Timestamp,
    /// How to answer it.
    pub settle: Box<dyn Settle>,
}

impl std::fmt::Debug for Delivery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { message, sequence, attempt, .. } = self;
        write!(f, "Delivery({} #{sequence} attempt {attempt})", message.subject)
    }
}

/// The answers to a delivery. A delivery that is dropped without an answer comes again.
#[async_trait]
pub trait Settle: Send + Sync {
    /// The command is done: it is never delivered again.
    ///
    /// # Errors
    /// When it could not be sent; the delivery will come again.
    async fn ack(&self) -> Result<(), Error>;

    /// The command cannot be done now: it is delivered again after `delay`.
    ///
    /// # Errors
    /// When it could not be sent; the delivery comes again all the same.
    async fn retry(&self, delay: Duration) -> Result<(), Error>;

    /// The work goes on: the ack wait starts again.
    ///
    /// # Errors
    /// When it could not be sent.
    async fn progress(&self) -> Result<(), Error>;
}
