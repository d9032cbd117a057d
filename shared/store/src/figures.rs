//! How a process uses its database, for people who look after it.

use std::time::Duration;

/// How a process uses its database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// `PostgreSQL`, `SQLite` or `memory`.
    pub backend: &'static str,
    /// Bursts, starts and commands that wait for a transaction.
    pub queued: u64,
    /// The pools of connections.
    pub pools: Vec<PoolFigures>,
}

/// The connections of one pool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PoolFigures {
    /// Its name.
    pub name: &'static str,
    /// Open connections.
    pub open: u64,
    /// Those of them that nobody uses.
    pub idle: u64,
    /// The most that there may be.
    pub max: u64,
}

/// What one statement of the database took in this process, since its start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatementFigures {
    /// The statement without its parameters and without constants in quotes. It is cut where it is
    /// long.
    pub text: String,
    /// How often it ran, failures included.
    pub count: u64,
    /// The time of all its runs together.
    pub total: Duration,
    /// The time of its longest run.
    pub max: Duration,
    /// The rows that it read or wrote; none where the driver does not say.
    pub rows: Option<u64>,
}
