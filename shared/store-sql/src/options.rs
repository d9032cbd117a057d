//! How a database is used.

use std::time::Duration;

/// How a database is used. The defaults suit a node in production.
#[derive(Clone, Debug)]
pub struct Options {
    /// Connections that read, at most. Beside them SQLite has one that writes, PostgreSQL one for
    /// each committer and four more.
    pub max_connections: u32,
    /// Brings the schema up to date first. Without it an old schema is refused.
    pub migrate: bool,
    /// Transactions that commit bursts at the same time; on SQLite always one.
    pub committers: usize,
    /// Bursts in one transaction, at most.
    pub batch_max: usize,
    /// Bytes in one transaction, at most; a larger burst has a transaction of its own.
    pub batch_bytes_max: usize,
    /// Bursts that wait for a transaction, at most; a large burst counts once for each 64 KiB.
    pub queue_max: usize,
    /// How long a burst waits for room in the queue before it is refused as overload.
    pub queue_wait: Duration,
    /// How long a query waits for a connection.
    pub acquire_timeout: Duration,
    /// How long one statement may take; a transaction has three times as long.
    pub statement_timeout: Duration,
    /// Tries of a transaction that fails for a passing reason, at most.
    pub tries_max: u32,
    /// How long published outbox rows wait for a transaction that removes them, at most.
    pub published_wait: Duration,
    /// How long closing waits for what is queued and for connections that are in use.
    pub close_max: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_connections: 8,
            migrate: false,
            committers: 2,
            batch_max: 64,
            batch_bytes_max: 4 * 1024 * 1024,
            queue_max: 4096,
            queue_wait: Duration::from_secs(2),
            acquire_timeout: Duration::from_secs(5),
            statement_timeout: Duration::from_secs(10),
            tries_max: 5,
            published_wait: Duration::from_millis(100),
            close_max: Duration::from_secs(10),
        }
    }
}
