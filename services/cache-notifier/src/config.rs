//! Settings of the cache notifier.

use std::time::Duration;

/// Settings of the cache notifier.
#[derive(Clone, Debug)]
pub struct Config {
    /// The longest wait for all nodes. After it the answer names those that are missing.
    pub wait_max: Duration,
    /// The time between two questions to nodes that have not answered.
    pub ask_every: Duration,
    /// The time between two comparisons of the pointers with the database.
    pub reconcile_every: Duration,
    /// The greatest number of publishers that wait; more are refused.
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
