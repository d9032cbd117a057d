//! How long and how often a write with an unknown outcome is repeated. Small waits that grow, with
//! a jitter taken from the nonce, so that two nodes do not repeat in step.

use std::time::Duration;

use tokio::time::Instant;

/// Longer than the election of a leader in JetStream (4 to 9 s).
pub(crate) const BUDGET: Duration = Duration::from_secs(12);
const FIRST: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_millis(500);

/// Counts the tries of one write.
pub(crate) struct Pace {
    give_up: Instant,
    next: Duration,
    jitter: u64,
}

impl Pace {
    /// Tries until `give_up`.
    pub(crate) fn until(give_up: Instant, nonce: &str) -> Self {
        let mix = |hash: u64, byte: u8| hash.wrapping_mul(31).wrapping_add(u64::from(byte));
        Self { give_up, next: FIRST, jitter: nonce.bytes().fold(7, mix) }
    }

    /// Waits before the next try; false when there is no time left for one.
    pub(crate) async fn wait(&mut self) -> bool {
        let spread = u64::try_from(self.next.as_millis()).unwrap_or(u64::MAX).max(1);
        self.jitter = self.jitter.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let pause = self.next / 2 + Duration::from_millis((self.jitter >> 33) % spread);
        let wake = Instant::now() + pause;
        if wake >= self.give_up {
            return false;
        }
        self.next = (self.next * 2).min(LONGEST);
        tokio::time::sleep_until(wake).await;
        true
    }
}
