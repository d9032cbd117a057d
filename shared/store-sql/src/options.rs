//! The settings of a database connection.

use std::path::PathBuf;
use std::time::Duration;

/// The settings of a database connection. The defaults suit a node in production.
#[derive(Clone, Debug)]
pub struct Options {
    /// The file that the URL was read from, if its password may change: [`store::Store::ping`] looks at
    /// it, and later connections log in with what it says.
    pub url_file: Option<PathBuf>,
    /// The largest number of connections that read. In addition SQLite has one that writes;
    /// PostgreSQL has one for each committer and four more.
    pub max_connections: u32,
    /// PostgreSQL is reached through a pooler that lends a connection for one transaction, such as
    /// PgBouncer in transaction mode. Nothing is kept on a connection then.
    pub pooled: bool,
    /// Brings the schema up to date first. Otherwise an old schema is refused.
    pub migrate: bool,
    /// Transactions that commit bursts at the same time; on SQLite always one.
    pub committers: usize,
    /// The largest number of bursts in one transaction.
    pub batch_max: usize,
    /// The largest number of bytes in one transaction; a larger burst has its own transaction.
    pub batch_bytes_max: usize,
    /// The largest number of bursts that wait for a transaction; a large burst counts once for each
    /// 64 KiB.
    pub queue_max: usize,
    /// How long a burst waits for room in the queue before it is refused as overload.
    pub queue_wait: Duration,
    /// How long a query waits for a connection to PostgreSQL.
    pub acquire_timeout: Duration,
    /// How long a transaction on SQLite waits for that of another process.
    pub busy_timeout: Duration,
    /// How long one statement may take; a transaction has three times as long.
    pub statement_timeout: Duration,
    /// The largest number of tries of a transaction that fails with a temporary error.
    pub tries_max: u32,
    /// On PostgreSQL no try begins later than this after the first: a server that does not answer is
    /// reported about as soon as readiness reports it.
    pub retry_max: Duration,
    /// The longest time that published outbox rows wait for a transaction that removes them.
    pub published_wait: Duration,
    /// The longest time that closing waits for queued work and for connections in use.
    pub close_max: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            url_file: None,
            max_connections: 8,
            pooled: false,
            migrate: false,
            committers: 2,
            batch_max: 64,
            batch_bytes_max: 4 * 1024 * 1024,
            queue_max: 4096,
            queue_wait: Duration::from_secs(2),
            acquire_timeout: Duration::from_secs(2),
            busy_timeout: Duration::from_secs(5),
            statement_timeout: Duration::from_secs(10),
            tries_max: 5,
            retry_max: Duration::from_secs(2),
            published_wait: Duration::from_millis(100),
            close_max: Duration::from_secs(10),
        }
    }
}
