//! How leases are held, and how an acquisition fails.

use std::time::Duration;

use crate::Error;

/// How leases are held and waited for.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// A lease that is not renewed for this long is free. The election of a JetStream leader takes
    /// 4 to 9 s: a shorter TTL (the setting `lease-ttl` is 4 s) may free the lease of a live holder,
    /// which costs work and no truth, and lets the work of a killed node go on sooner.
    pub ttl: Duration,
    /// The holder gives up this much before the server does.
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

/// Why a lease could not be had.
#[derive(Debug, thiserror::Error)]
pub enum Busy {
    /// Another holds it.
    #[error("the lease is held by {by}")]
    Held {
        /// The node that holds it.
        by: String,
    },
    /// The bus cannot say.
    #[error("the lease cannot be asked for: {0}")]
    Unavailable(#[source] Error),
}
