//! The memory twin: the whole port in one process, for tests and simulation.
//!
//! It does exactly what the SQL adapter does; the conformance suite proves that. It is
//! deterministic: its maps are ordered, its clock is an argument, and it waits only where a
//! [`Faults`] hook waits. Its contents end with the process.

mod bookmarks;
mod census;
mod definitions;
mod faults;
mod identity;
mod inbox;
mod instances;
mod keys;
mod labels;
mod leftovers;
mod outbox;
mod payloads;
mod plans;
mod requests;
mod schedules;
mod secrets;
mod sessions;
mod tables;
mod timers;
mod tokens;
mod upkeep;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use model::Timestamp;

pub use faults::{Faults, NoFaults, Operation, Written};
use tables::Tables;

use crate::{Error, PendingCommand, Store};

/// A function that returns the time.
pub type Now = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// A database in memory. Clones share it.
#[derive(Clone)]
pub struct MemoryStore {
    tables: Arc<Mutex<Tables>>,
    clock: Now,
    faults: Arc<dyn Faults>,
}

/// The number of rows in each table.
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
    pub fn new(clock: Now) -> Self {
        Self { tables: Arc::default(), clock, faults: Arc::new(NoFaults) }
    }

    /// The same database as seen by a client with these faults. Clones made before are not
    /// affected, so that each simulated node can have its own faults.
    #[must_use]
    pub fn with_faults(&self, faults: Arc<dyn Faults>) -> Self {
        Self { tables: Arc::clone(&self.tables), clock: Arc::clone(&self.clock), faults }
    }

    /// The number of rows in each table now.
    #[must_use]
    pub fn sizes(&self) -> Sizes {
        self.lock().sizes()
    }

    /// The accepted commands that are not applied.
    #[must_use]
    pub fn pending(&self) -> Vec<PendingCommand> {
        self.lock().pending.values().cloned().collect()
    }

    /// Runs one operation between its two fault points; no other operation runs meanwhile.
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

/// The twin keeps values, not bytes: all of them can be read.
impl crate::Salvage for MemoryStore {}

#[async_trait]
impl Store for MemoryStore {
    async fn ping(&self) -> Result<(), Error> {
        self.run(Operation::Ping, |_| Ok(())).await
    }

    fn figures(&self) -> crate::Figures {
        crate::Figures { backend: "memory", ..crate::Figures::default() }
    }

    /// None: the twin has no statements.
    fn statements(&self) -> Vec<crate::StatementFigures> {
        Vec::new()
    }

    async fn close(&self) {}
}

#[cfg(test)]
mod tests;
