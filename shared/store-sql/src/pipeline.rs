//! The group-commit pipeline: whatever waits at the same moment shares a transaction.
//!
//! A bounded queue, a few committers. A committer takes what is waiting right now (never waits for
//! more), runs one statement per table, and answers each caller. The first statement decides who
//! is in: a burst whose version is not the one it loaded is thrown out alone, and nothing of it is
//! written. A transaction that fails as a whole is repeated one by one, so that only the bad one
//! fails. Two jobs of the same instance, command or activation key never run at the same time.

mod apply;
mod committer;
mod job;
mod queue;
mod whole;

use std::sync::{Arc, Mutex, PoisonError};

use model::BookmarkId;
use store::Error;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub(crate) use job::{Answer, Work};
pub(crate) use queue::Queue;
pub(crate) use whole::Texts;

use crate::connect::Database;

/// The queue and whoever works on it.
pub(crate) struct Pipeline {
    queue: Arc<Queue>,
    committers: Mutex<Vec<JoinHandle<()>>>,
}

impl Pipeline {
    /// Starts the committers.
    pub(crate) fn start(database: &Arc<Database>) -> Self {
        let queue = Arc::new(Queue::new(&database.options));
        let committers = (0..database.committers())
            .map(|_| tokio::spawn(committer::run(Arc::clone(database), Arc::clone(&queue))))
            .collect();
        Self { queue, committers: Mutex::new(committers) }
    }

    /// Has the work done, together with what else waits.
    pub(crate) async fn run(&self, database: &Database, work: Work) -> Result<Answer, Error> {
        let (answer, answered) = oneshot::channel();
        self.queue.push(&database.counters, work, answer).await?;
        match answered.await {
            Ok(result) => result,
            Err(error) => Err(Error::Unavailable(format!("the committer has stopped: {error}"))),
        }
    }

    /// Has these outbox rows removed with one of the next transactions.
    pub(crate) fn published(&self, ids: Vec<String>) {
        self.queue.published(ids);
    }

    /// How many wait.
    pub(crate) fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Takes nothing more, and waits until everything taken is done.
    pub(crate) async fn close(&self) {
        self.queue.close();
        let committers = {
            let mut committers = self.committers.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *committers)
        };
        for committer in committers {
            if let Err(error) = committer.await {
                tracing::error!(%error, "a committer ended badly");
            }
        }
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        self.queue.close();
    }
}

/// A bookmark's place among the cells of its row's key.
pub(crate) fn bookmark_key(id: &BookmarkId, instance_id: &str) -> crate::sql::Row {
    vec![crate::sql::Cell::text(id.as_str()), crate::sql::Cell::text(instance_id)]
}
