//! Rows that cannot be read. A read leaves them out, so that one bad row stops nothing else; the
//! sweep moves them to the dead letters.

use std::fmt;

use async_trait::async_trait;

use crate::{Error, OutboxRow};

/// A table whose rows are read many at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Table {
    /// Accepted starts: the start command of an instance.
    Starts,
    /// Accepted commands.
    Commands,
    /// Messages to publish.
    Outbox,
    /// Schedules of published definitions.
    Schedules,
    /// Instances, as lists show them.
    Instances,
}

impl Table {
    /// The name of the table in metrics and dead letters.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Starts => "start",
            Self::Commands => "command",
            Self::Outbox => "outbox",
            Self::Schedules => "schedule",
            Self::Instances => "instance",
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A row that a read found and could not decode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Its table.
    pub table: Table,
    /// Its id.
    pub id: String,
    /// The reason why it cannot be read.
    pub reason: String,
    /// The value that cannot be read.
    pub bytes: Vec<u8>,
}

/// The handling of rows that cannot be read. The default is a store that has none.
#[async_trait]
pub trait Salvage: Send + Sync {
    /// The rows that reads could not read since the last call, each once, at most
    /// [`model::limits::UNREADABLE_ROWS_MAX`].
    fn unreadable(&self) -> Vec<Unreadable> {
        Vec::new()
    }

    /// Replaces a row that cannot be read by a dead letter in the outbox, in one transaction; false
    /// if the row is gone or has another value by now. An instance keeps its row, and a schedule is
    /// over until its definition is published again.
    ///
    /// # Errors
    /// See [`Error`].
    async fn bury_unreadable(&self, row: &Unreadable, dead: OutboxRow) -> Result<bool, Error> {
        let _none_here = (row, dead);
        Ok(false)
    }
}
