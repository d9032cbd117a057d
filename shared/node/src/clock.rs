//! The clock of this node: the database's, as near as this node knows it.
//!
//! Timers fire by the database's clock, so delays have to begin by it. Between two readings time goes
//! on by the machine's steady clock, which no change of its date moves.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use chassis::{Clock, SystemClock};
use model::Timestamp;
use store::Store;
use tokio::time::Instant;

/// The machine's clock may be this far from the database's without a warning.
const APART_MAX: Duration = Duration::from_secs(5);

/// The database's clock, from its readings.
pub(crate) struct ClusterClock(Mutex<Known>);

struct Known {
    /// The time of the database at that instant, or up to one round trip later.
    time: Timestamp,
    at: Instant,
    /// The machine's clock was too far from it at the last reading.
    is_apart: bool,
}

impl Known {
    fn now(&self, at: Instant) -> Timestamp {
        self.time.after(at.saturating_duration_since(self.at))
    }
}

impl ClusterClock {
    /// Reads the database's clock for the first time.
    ///
    /// # Errors
    /// When the database does not answer.
    pub(crate) async fn start(store: &dyn Store) -> Result<Self, store::Error> {
        let asked = Instant::now();
        let time = store.clock().await?;
        let known =
            Known { time: time.after(asked.elapsed()), at: Instant::now(), is_apart: false };
        let clock = Self(Mutex::new(known));
        clock.compare(time, SystemClock.now());
        Ok(clock)
    }

    /// Reads the database's clock again.
    ///
    /// # Errors
    /// When the database does not answer.
    pub(crate) async fn read(&self, store: &dyn Store) -> Result<(), store::Error> {
        let asked = Instant::now();
        let time = store.clock().await?;
        self.note(time, asked, Instant::now());
        self.compare(time, SystemClock.now());
        Ok(())
    }

    /// A reading shows a time between its request and its answer. The latest possible one counts, so
    /// that no delay is too short; an older reading that still fits is kept, for it was quicker.
    fn note(&self, time: Timestamp, asked: Instant, arrived: Instant) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let latest = time.after(arrived - asked);
        let expected = known.now(arrived);
        if expected < time || expected > latest {
            (known.time, known.at) = (latest, arrived);
        }
    }

    /// Shows how far the machine's clock is from the database's, and warns when that changes.
    fn compare(&self, time: Timestamp, machine: Timestamp) {
        let apart = machine.since(time).max(time.since(machine));
        meter::CLOCK_APART.set(&[], apart.as_secs());
        let is_apart = apart > APART_MAX;
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if is_apart == std::mem::replace(&mut known.is_apart, is_apart) {
            return;
        }
        let seconds = apart.as_secs();
        if is_apart {
            tracing::warn!(
                seconds,
                "the clock of this machine is apart from the database's, which timers follow: \
                 synchronise it (NTP)"
            );
        } else {
            tracing::info!(seconds, "the clock of this machine is near the database's again");
        }
    }
}

impl Clock for ClusterClock {
    fn now(&self) -> Timestamp {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).now(Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use async_trait::async_trait;
    use store::memory::{Faults, MemoryStore, Operation};

    use super::*;

    /// The database does not answer while this is true.
    struct Down(Arc<AtomicBool>);

    #[async_trait]
    impl Faults for Down {
        async fn before(&self, _operation: Operation) -> Result<(), store::Error> {
            match self.0.load(Ordering::Relaxed) {
                true => Err(store::Error::Unavailable("it is down".to_owned())),
                false => Ok(()),
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn without_the_database_time_goes_on_from_the_last_reading() {
        let is_down = Arc::new(AtomicBool::new(false));
        let began = Instant::now();
        let time = move || Timestamp::from_millis(10_000).after(began.elapsed());
        let store = MemoryStore::new(Arc::new(time));
        let store = store.with_faults(Arc::new(Down(Arc::clone(&is_down))));
        let clock = ClusterClock::start(&store).await.unwrap();
        is_down.store(true, Ordering::Relaxed);
        tokio::time::advance(Duration::from_secs(3_600)).await;
        assert!(clock.read(&store).await.is_err());
        assert_eq!(clock.now().as_millis(), 10_000 + 3_600_000);
    }

    fn millis(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    /// What the clock shows at once after a reading with this round trip.
    fn after(clock: &ClusterClock, time: i64, round_trip: u64) -> i64 {
        let arrived = Instant::now();
        clock.note(Timestamp::from_millis(time), arrived - millis(round_trip), arrived);
        clock.now().as_millis()
    }

    #[tokio::test(start_paused = true)]
    async fn a_delay_never_begins_before_the_time_of_the_database() {
        tokio::time::advance(Duration::from_secs(60)).await;
        let time = Timestamp::from_millis(10_000);
        let known = Known { time, at: Instant::now(), is_apart: false };
        let clock = ClusterClock(Mutex::new(known));
        tokio::time::advance(millis(500)).await;
        assert_eq!(clock.now().as_millis(), 10_500);
        assert_eq!(after(&clock, 10_490, 20), 10_500, "it fits: the reading adds nothing");
        assert_eq!(after(&clock, 10_505, 20), 10_525, "the clock was slow");
        assert_eq!(after(&clock, 10_400, 20), 10_420, "the clock was fast, or was set back");
        assert_eq!(after(&clock, 99_000, 20), 99_020, "the database's clock was set ahead");
    }
}
