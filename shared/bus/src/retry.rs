//! The repetition of a write with an unknown outcome. The pauses grow, and the nonce varies them,
//! so that two nodes do not repeat at the same moments.

use std::time::Duration;

use model::Backoff;
use tokio::time::Instant;

/// Longer than the election of a leader in JetStream (4 to 9 s).
pub(crate) const BUDGET: Duration = Duration::from_secs(12);
const FIRST: Duration = Duration::from_millis(30);
const LONGEST: Duration = Duration::from_millis(750);

/// The tries of one write.
pub(crate) struct Pace {
    give_up: Instant,
    tries: u32,
    number: u64,
}

impl Pace {
    /// Tries until `give_up`.
    pub(crate) fn until(give_up: Instant, nonce: &str) -> Self {
        let mix = |hash: u64, byte: u8| hash.wrapping_mul(31).wrapping_add(u64::from(byte));
        Self { give_up, tries: 0, number: nonce.bytes().fold(7, mix) }
    }

    /// Waits before the next try; false when there is no time left for one.
    pub(crate) async fn wait(&mut self) -> bool {
        self.tries = self.tries.saturating_add(1);
        self.number = self.number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let pause = Backoff::new(FIRST, LONGEST).after(self.tries, self.number >> 33);
        let wake = Instant::now() + pause;
        if wake >= self.give_up {
            return false;
        }
        tokio::time::sleep_until(wake).await;
        true
    }
}
