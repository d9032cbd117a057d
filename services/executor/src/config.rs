//! What an operator may set, and the bounds that follow from it.

use std::time::Duration;

use model::limits;

/// How long a command waits here for a lease that another node holds. That node may hold it for as
/// long as an outgoing call takes, and goes on taking commands meanwhile: one that comes again has
/// its chance to come to that node.
const LEASE_WAIT: Duration = Duration::from_secs(2);

/// Settings of an executor.
#[derive(Clone, Debug)]
pub struct Config {
    /// Bursts that run at the same time.
    pub concurrency: usize,
    /// Commands in hand at the same time: those that run, wait for a lease, or for a call.
    pub in_hand_max: usize,
    /// Bytes of those commands; at least those of one pull.
    pub in_hand_bytes_max: usize,
    /// Commands taken in one pull.
    pub batch: usize,
    /// How long a pull waits for the first command; what a graceful stop waits for.
    pub pull_wait: Duration,
    /// Commands of one instance that queue here; more are delivered again later.
    pub mailbox: usize,
    /// An unanswered delivery comes again after this, as the consumer has it.
    pub ack_wait: Duration,
    /// How leases are held and waited for.
    pub terms: bus::Terms,
    /// What a graceful stop leaves to outgoing calls; those that take longer are made again
    /// elsewhere, with the same key.
    pub call_grace: Duration,
    /// How long a command may wait for an instance that does not exist yet.
    pub unknown_grace: Duration,
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
            in_hand_bytes_max: limits::IN_HAND_BYTES_MAX,
            batch: 128,
            pull_wait: Duration::from_millis(500),
            mailbox: 64,
            ack_wait: Duration::from_secs(3),
            terms: bus::Terms { wait_max: LEASE_WAIT, ..bus::Terms::default() },
            call_grace: Duration::from_millis(500),
            unknown_grace: Duration::from_secs(2),
            allow_private_addresses: false,
            offload_scripts: true,
            base_url: "http://127.0.0.1:5001".to_owned(),
        }
    }
}

impl From<&chassis::Settings> for Config {
    fn from(settings: &chassis::Settings) -> Self {
        let default = Self::default();
        let ttl = settings.lease_ttl;
        let guard = default.terms.guard.min(ttl / 5);
        Self {
            concurrency: settings.executor_concurrency,
            in_hand_max: settings.executor_concurrency.saturating_mul(4),
            ack_wait: settings.ack_wait,
            terms: bus::Terms { ttl, guard, ..default.terms },
            allow_private_addresses: settings.allow_private_addresses,
            base_url: settings.public_url(),
            ..default
        }
    }
}

impl Config {
    /// How often a held delivery says that it is still being worked on.
    #[must_use]
    pub fn progress_every(&self) -> Duration {
        (self.ack_wait / 3).max(Duration::from_millis(1))
    }
}
