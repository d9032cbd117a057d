//! The memory twin: the whole port in one process, for tests and simulation.
//!
//! It means exactly what the SQL adapter means, and the conformance suite holds it to that. It is
//! deterministic: ordered maps, a clock that is handed in, and no waiting except where a
//! [`Faults`] hook waits. Nothing of it survives the process.

mod bookmarks;
mod definitions;
mod faults;
mod inbox;
mod instances;
mod keys;
mod outbox;
mod tables;
mod timers;
mod tokens;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use model::Timestamp;

pub use faults::{Bug, Faults, NoFaults, Operation, Written};
use tables::Tables;

use crate::{Error, Store};

/// Where the time comes from.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// A database in memory. Clones share it.
#[derive(Clone)]
pub struct MemoryStore {
    tables: Arc<Mutex<Tables>>,
    clock: Clock,
    faults: Arc<dyn Faults>,
}

/// How many rows there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Instances.
    pub instances: usize,
    /// Open bookmarks.
    pub bookmarks: usize,
    /// Accepted commands, waiting ones included.
    pub pending: usize,
    /// Messages that are not published yet.
    pub outbox: usize,
    /// Tokens that are not used.
    pub tokens: usize,
}

impl MemoryStore {
    /// An empty database with that clock.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self { tables: Arc::default(), clock, faults: Arc::new(NoFaults) }
    }

    /// The same database as seen by a client with these faults. Clones made before are not
    /// affected, so that each simulated node can have faults of its own.
    #[must_use]
    pub fn with_faults(&self, faults: Arc<dyn Faults>) -> Self {
        Self { tables: Arc::clone(&self.tables), clock: Arc::clone(&self.clock), faults }
    }

    /// How many rows there are now.
    #[must_use]
    pub fn sizes(&self) -> Sizes {
        self.lock().sizes()
    }

    /// Runs one operation between its two fault points; nothing else runs meanwhile.
    async fn run<T, F>(&self, operation: Operation, apply: F) -> Result<T, Error>
    where
        T: Send,
        F: FnOnce(&mut Tables) -> Result<T, Error> + Send,
    {
        self.faults.before(operation).await?;
        let answer = apply(&mut self.lock())?;
        self.faults.after(operation).await?;
        Ok(answer)
    }

    fn lock(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn ping(&self) -> Result<(), Error> {
        self.run(Operation::Ping, |_| Ok(())).await
    }

    async fn close(&self) {}
}

#[cfg(test)]
mod tests;
