//! What an operator may set.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Settings of an executor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Bursts that run at the same time.
    pub concurrency: usize,
    /// Commands in hand at the same time: those that run, wait for a lease, or for a call.
    pub in_hand_max: usize,
    /// Commands taken in one pull.
    pub batch: usize,
    /// Milliseconds that a pull waits for the first command; what a graceful stop waits for.
    pub pull_wait_ms: u64,
    /// Commands of one instance that queue here; more are delivered again later.
    pub mailbox: usize,
    /// Milliseconds after which an unanswered delivery comes again, as the consumer has it.
    pub ack_wait_ms: u64,
    /// Milliseconds a lease lasts without renewal.
    pub lease_ttl_ms: u64,
    /// Milliseconds that a command waits for a lease that another node holds.
    pub lease_wait_ms: u64,
    /// Milliseconds that a graceful stop leaves to outgoing calls; they are repeated elsewhere,
    /// with the same key, when they take longer.
    pub call_grace_ms: u64,
    /// Milliseconds that a command waits for an instance that does not exist yet.
    pub unknown_grace_ms: u64,
    /// Outgoing calls may go to private and local addresses.
    pub allow_private_addresses: bool,
    /// Turns of definitions with scripts run on threads of their own, off the event loop.
    pub offload_scripts: bool,
    /// Where this installation is reached, without a slash at the end: what URLs in workflows
    /// begin with.
    pub base_url: String,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            concurrency: 256,
            in_hand_max: 1_024,
            batch: 128,
            pull_wait_ms: 500,
            mailbox: 64,
            ack_wait_ms: 5_000,
            lease_ttl_ms: 15_000,
            lease_wait_ms: 30_000,
            call_grace_ms: 500,
            unknown_grace_ms: 2_000,
            allow_private_addresses: false,
            offload_scripts: true,
            base_url: "http://127.0.0.1:5001".to_owned(),
        }
    }
}

impl Config {
    /// How long a pull waits.
    #[must_use]
    pub fn pull_wait(&self) -> Duration {
        Duration::from_millis(self.pull_wait_ms)
    }

    /// How often a held delivery says that it is still being worked on.
    #[must_use]
    pub fn progress_every(&self) -> Duration {
        Duration::from_millis((self.ack_wait_ms / 3).max(1))
    }

    /// How leases are held and waited for.
    #[must_use]
    pub fn terms(&self) -> bus::Terms {
        bus::Terms {
            ttl: Duration::from_millis(self.lease_ttl_ms),
            guard: Duration::from_millis((self.lease_ttl_ms / 10).max(1)),
            wait_max: Duration::from_millis(self.lease_wait_ms),
        }
    }

    /// How long a stop waits for calls.
    #[must_use]
    pub fn call_grace(&self) -> Duration {
        Duration::from_millis(self.call_grace_ms)
    }

    /// How long an instance may be unknown.
    #[must_use]
    pub fn unknown_grace(&self) -> Duration {
        Duration::from_millis(self.unknown_grace_ms)
    }
}
