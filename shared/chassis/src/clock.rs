//! The clocks. Only the edge reads them; it passes a [`Timestamp`] to the inner crates.

use std::time::{SystemTime, UNIX_EPOCH};

use model::{Clock, Timestamp};
use tokio::time::Instant;

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the edge that others take time from")]
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

/// A clock that starts at a chosen time and then follows tokio's clock, even while that is paused.
#[derive(Clone, Copy, Debug)]
pub struct TokioClock {
    origin: Timestamp,
    began: Instant,
}

impl TokioClock {
    /// A clock that shows `origin` now.
    #[must_use]
    pub fn starting_at(origin: Timestamp) -> Self {
        Self { origin, began: Instant::now() }
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Timestamp {
        self.origin.after(self.began.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_paused_clock_moves_only_when_it_is_moved() {
        let clock = TokioClock::starting_at(Timestamp::from_millis(1_000));
        assert_eq!(clock.now().as_millis(), 1_000);
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!(clock.now().as_millis(), 61_000);
    }

    #[test]
    fn the_system_clock_knows_this_century() {
        assert!(SystemClock.now() > Timestamp::parse("2026-01-01T00:00:00Z").unwrap());
    }
}
