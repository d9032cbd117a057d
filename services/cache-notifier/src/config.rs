//! How the cache notifier works.

use std::time::Duration;

/// Settings of the cache notifier.
#[derive(Clone, Debug)]
pub struct Config {
    /// The longest wait for all nodes; the answer names those that are missing then.
    pub wait_max: Duration,
    /// Nodes that have not answered are asked again this often.
    pub ask_every: Duration,
    /// Pointers are compared with the database this often.
    pub reconcile_every: Duration,
    /// Announcements that may be under way; more are refused.
    pub waiting_max: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            wait_max: Duration::from_secs(5),
            ask_every: Duration::from_millis(500),
            reconcile_every: Duration::from_secs(5),
            waiting_max: 10_000,
        }
    }
}
