//! The group-commit pipeline: jobs that wait at the same time share a transaction.
//!
//! There is one bounded queue and a few committers. A committer takes the jobs that wait right now
//! (it never waits for more), runs one statement per table, and answers each caller. The first
//! statement decides which jobs are written: a burst whose instance no longer has the version it
//! loaded is rejected alone, and nothing of it is written. A transaction that fails as a whole is
//! repeated job by job, so that only the failing job gets an error. Two jobs of the same instance,
//! command or activation key never run at the same time. A committer that panics is started again;
//! its callers get an unknown outcome, and the keys of its batch are released.

mod apply;
mod committer;
mod job;
mod queue;
mod whole;

use std::sync::{Arc, Mutex, PoisonError};

use store::Error;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

pub(crate) use job::{Work, WorkEnd};
pub(crate) use queue::Queue;

use crate::database::Database;
use crate::shown;

/// The queue and its committers.
pub(crate) struct Pipeline {
    queue: Arc<Queue>,
    /// Cancelled at close: a committer that panicked then runs once more at once, to finish the
    /// queue.
    stop: CancellationToken,
    committers: Mutex<Vec<JoinHandle<()>>>,
}

impl Pipeline {
    /// Starts the committers.
    pub(crate) fn start(database: &Arc<Database>) -> Self {
        let queue = Arc::new(Queue::new(&database.options));
        shown::connections(database, &queue);
        let stop = CancellationToken::new();
        let committers = (0..database.committers())
            .map(|_| {
                let (of, queue) = (Arc::clone(database), Arc::clone(&queue));
                let run = move || committer::run(Arc::clone(&of), Arc::clone(&queue));
                tasks::supervise("committer", stop.clone(), run)
            })
            .collect();
        Self { queue, stop, committers: Mutex::new(committers) }
    }

    /// Waits until the work is done, together with other work that waits.
    pub(crate) async fn run(&self, database: &Database, work: Work) -> Result<WorkEnd, Error> {
        let (answer, answered) = oneshot::channel();
        self.queue.push(&database.counters, work, answer).await?;
        match answered.await {
            Ok(result) => result,
            Err(_dropped) => Err(Error::Unavailable(
                "the committer stopped before it answered; load again to see what was written"
                    .to_owned(),
            )),
        }
    }

    /// Removes these outbox rows with one of the next transactions.
    pub(crate) fn published(&self, ids: Vec<String>) {
        self.queue.published(ids);
    }

    /// The number of jobs that wait.
    pub(crate) fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Accepts no more work, and waits until all accepted work is done or the deadline has passed.
    pub(crate) async fn close(&self, deadline: Instant) {
        self.queue.close();
        self.stop.cancel();
        let committers = {
            let mut committers = self.committers.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *committers)
        };
        for mut committer in committers {
            match timeout_at(deadline, &mut committer).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::error!(%error, "a committer ended badly"),
                Err(_elapsed) => {
                    committer.abort();
                    tracing::warn!("a committer did not end in time; its batch is given up");
                }
            }
        }
        self.queue.give_up();
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        self.queue.close();
    }
}
