//! How leases are held, and how an acquisition fails.

use std::time::Duration;

use crate::Error;

/// The times of leases: how long they last and how long a node waits for one.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// A lease that is not renewed for this long is free. The election of a JetStream leader takes
    /// 4 to 9 s: a shorter TTL (the setting `lease-ttl` is 4 s) may free the lease of a live
    /// holder, which costs work but never makes a result wrong; in return the work of a killed node
    /// goes on sooner.
    pub ttl: Duration,
    /// The holder stops using the lease this long before the server expires it.
    pub guard: Duration,
    /// The longest wait for a lease that another holds.
    pub wait_max: Duration,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            ttl: Duration::from_secs(15),
            guard: Duration::from_millis(1500),
            wait_max: Duration::from_secs(30),
        }
    }
}

/// The reasons why a lease could not be acquired.
#[derive(Debug, thiserror::Error)]
pub enum Busy {
    /// Another holds it.
    #[error("the lease is held by {by}")]
    Held {
        /// The node that holds it.
        by: String,
    },
    /// The bus does not answer.
    #[error("the lease cannot be asked for: {0}")]
    Unavailable(#[source] Error),
}
