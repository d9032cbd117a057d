//! Tasks for workers that speak no NATS: another process takes them for the worker, and any process
//! answers them for it.

use std::time::Duration;

use async_trait::async_trait;
use model::Timestamp;
use protocol::Message;

use crate::Error;

/// A task that was taken. It comes again, here or to another, unless it is answered within
/// [`Handed::ack_wait`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handed {
    /// The task.
    pub message: Message,
    /// The number of deliveries, this one included. It is no attempt: those are in the message.
    pub deliveries: i64,
    /// The time when it was stored, by the server's clock.
    pub stored_at: Timestamp,
    /// Where it is answered, from any process.
    pub address: String,
    /// The time within which it has to be answered.
    pub ack_wait: Duration,
}

/// The answer to a task that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskAnswer {
    /// Its result is stored: it never comes again.
    Done,
    /// The work goes on: the time begins again.
    Working,
    /// It is given back, and comes again after this time.
    Back(Duration),
}

/// Takes tasks for workers, and answers them.
#[async_trait]
pub trait Tasks: Send + Sync {
    /// Takes at most `max` tasks of these types and versions (at most
    /// `limits::TASK_KINDS_PER_POLL_MAX`), and at most `limits::PULL_BYTES_MAX` bytes of each: those that wait now, or, where
    /// none does, the first that come within `wait`. A type without a consumer has no tasks yet: none
    /// is made for it.
    ///
    /// # Errors
    /// When the server cannot be asked.
    async fn take_tasks(
        &self,
        kinds: &[(String, u32)],
        max: usize,
        wait: Duration,
    ) -> Result<Vec<Handed>, Error>;

    /// Answers a task, and waits until the server has the answer. That the task waited for it is not
    /// known: the server takes an answer to a task that is gone, too.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for an address that is none of a task; otherwise when the server cannot be
    /// asked.
    async fn answer_task(&self, address: &str, answer: TaskAnswer) -> Result<(), Error>;
}
