//! How a process uses its database, for people who look after it.

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
