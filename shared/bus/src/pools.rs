//! The pools of workers: the durable consumer of each type and version of tasks.
//!
//! Whoever publishes a task makes its consumer first, so that a worker needs no right to make one,
//! and a task that comes before the first worker waits for it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use protocol::{Message, subject};
use tokio::time::Instant;

use crate::lock::lock;
use crate::shares::Shares;
use crate::{Bus, Error, Passed};

/// A consumer is asked for again after this time: the server may have lost it.
const CHECKED_EVERY: Duration = Duration::from_secs(15);
/// The number of types that are remembered. With more of them, all are asked for again.
const KNOWN_MAX: usize = 10_000;

/// The pools that one process knows.
pub struct Pools {
    bus: Arc<dyn Bus>,
    known: Mutex<BTreeMap<(String, u32), Instant>>,
    shares: Shares,
}

impl Pools {
    /// A process that knows none yet.
    #[must_use]
    pub fn new(bus: Arc<dyn Bus>) -> Self {
        Self { bus, known: Mutex::default(), shares: Shares::default() }
    }

    /// Whether this message may be published now: a task may not while the stream of tasks is more than
    /// half full and those of its type have more than their share of what is free. Keep what is
    /// returned until the message is published, so that it counts meanwhile.
    ///
    /// # Errors
    /// [`Error::Full`]: the task waits until workers have taken others of its type.
    pub async fn admit(&self, message: &Message) -> Result<Passed, Error> {
        self.shares.admit(&*self.bus, message).await
    }

    /// Makes the consumer for this message, if it is a task and the consumer was not there lately.
    ///
    /// A server that refuses the consumer does not keep the task back: its workers may have one of
    /// their own. The log names the reason.
    ///
    /// # Errors
    /// Failures that pass: try again, and publish the task then.
    pub async fn prepare(&self, message: &Message) -> Result<(), Error> {
        let Some(kind) = subject::task_of(&message.subject) else { return Ok(()) };
        let now = Instant::now();
        let is_known = lock(&self.known).get(&kind).is_some_and(|at| now < *at + CHECKED_EVERY);
        if is_known {
            return Ok(());
        }
        match self.bus.provide(&kind.0, kind.1).await {
            Err(error) if error.is_passing() => return Err(error),
            Err(error) => {
                let (task_type, version) = &kind;
                tracing::warn!(%error, task_type, version, "tasks have no consumer of ours");
            }
            Ok(()) => {}
        }
        let mut known = lock(&self.known);
        if known.len() >= KNOWN_MAX {
            known.clear();
        }
        known.insert(kind, now);
        Ok(())
    }
}

impl std::fmt::Debug for Pools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pools({} known)", lock(&self.known).len())
    }
}

#[cfg(test)]
mod tests {
    use model::Timestamp;

    use super::*;
    use crate::MemoryBus;

    fn task(name: &str, version: u32) -> Message {
        Message { subject: subject::task(name, version), ..Message::default() }
    }

    #[tokio::test(start_paused = true)]
    async fn a_pool_is_made_before_its_first_task_and_again_after_a_loss() {
        let bus = MemoryBus::starting_at(Timestamp::from_millis(0));
        let pools = Pools::new(Arc::new(bus.clone()));
        pools.prepare(&task("Ship It", 1)).await.unwrap();
        pools.prepare(&task("Ship It", 2)).await.unwrap();
        let other = Message { subject: "staunch.cmd.task.x".to_owned(), ..Message::default() };
        pools.prepare(&other).await.unwrap();
        let made = [
            ("task-Ship=20It-1", "staunch.task.Ship=20It.1"),
            ("task-Ship=20It-2", "staunch.task.Ship=20It.2"),
        ]
        .map(|(name, filter)| (name.to_owned(), filter.to_owned()));
        assert_eq!(bus.pools(), BTreeMap::from(made));
        bus.wipe();
        pools.prepare(&task("Ship It", 1)).await.unwrap();
        assert!(bus.pools().is_empty(), "it is not asked for with each task");
        tokio::time::advance(CHECKED_EVERY).await;
        pools.prepare(&task("Ship It", 1)).await.unwrap();
        assert_eq!(bus.pools().len(), 1);
    }
}
