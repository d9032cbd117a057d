//! The database's clock, as this node knows it. Nothing fires before this clock reaches its time,
//! whatever the clock of this machine says.
//!
//! A reading is taken at some moment between the request and its answer. Counting on from the
//! arrival of the answer is late by at most the time of its way back, and never early. Of several
//! readings the one with the quickest answer counts (F. Cristian, "Probabilistic clock
//! synchronization", 1989).

use std::sync::Arc;
use std::time::Duration;

use model::Timestamp;
use store::Store;
use tokio::time::Instant;

/// The longest wait for a reading.
const READING_TIME_MAX: Duration = Duration::from_secs(5);
/// A slower reading cannot show whether the clock was set back, so it always replaces the one before.
const QUICK: Duration = Duration::from_millis(50);
/// The most by which this machine's clock runs faster than the database's: one part in this number.
/// Crystals are four times better; a clock that is being slewed may be worse.
const DRIFT: u32 = 5_000;
/// Two roundings to milliseconds.
const ROUNDING: Duration = Duration::from_millis(2);

/// A reading of the database's clock, with the round trip that it took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    asked: Instant,
    time: Timestamp,
    arrived: Instant,
}

impl Reading {
    pub(crate) async fn take(store: &dyn Store) -> Result<Self, store::Error> {
        let asked = Instant::now();
        let time = store.clock().await?;
        Ok(Self { asked, time, arrived: Instant::now() })
    }

    pub(crate) fn time(&self) -> Timestamp {
        self.time
    }

    /// The time that the clock has certainly reached at that instant.
    fn reached(&self, at: Instant) -> Timestamp {
        let elapsed = at.saturating_duration_since(self.arrived);
        self.time.after(elapsed - elapsed / DRIFT)
    }
}

/// The database's clock, computed from all readings.
pub(crate) struct DatabaseClock {
    store: Arc<dyn Store>,
    /// The reading that gives the latest time.
    best: Option<Reading>,
    /// When the last reading arrived.
    measured: Option<Instant>,
}

impl DatabaseClock {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, best: None, measured: None }
    }

    /// Reads the clock, unless the last reading is younger than `age_max`.
    pub(crate) async fn measure(&mut self, age_max: Duration) -> Result<(), store::Error> {
        if self.measured.is_some_and(|at| at.elapsed() < age_max) {
            return Ok(());
        }
        let reading = Reading::take(&*self.store);
        match tokio::time::timeout(READING_TIME_MAX, reading).await {
            Ok(reading) => self.note(reading?),
            Err(_) => {
                return Err(store::Error::Unavailable("its clock cannot be read".to_owned()));
            }
        }
        Ok(())
    }

    /// Uses a reading, unless a later one is known.
    pub(crate) fn note(&mut self, reading: Reading) {
        if self.measured.is_some_and(|at| at > reading.arrived) {
            return;
        }
        self.measured = Some(reading.arrived);
        let took = reading.arrived - reading.asked;
        let fits = |best: &Reading| {
            let known = best.reached(reading.arrived);
            // If `known` is later than this, the clock was set back.
            took <= QUICK && reading.time < known && known <= reading.time.after(took + ROUNDING)
        };
        if !self.best.as_ref().is_some_and(fits) {
            self.best = Some(reading);
        }
    }

    /// A time that the database's clock has certainly reached, unless it was set back by less than
    /// the duration of a reading. None before the first reading.
    pub(crate) fn now(&self) -> Option<Timestamp> {
        Some(self.best?.reached(Instant::now()))
    }

    /// When [`Self::now`] will have reached this time.
    pub(crate) fn instant_of(&self, time: Timestamp) -> Option<Instant> {
        let best = self.best?;
        let wait = time.since(best.time);
        // Adds the allowance for drift, and a little for rounding.
        let wait = wait + wait / (DRIFT - 1) + Duration::from_micros(1);
        // An instant that cannot be represented is too far away to matter.
        let far = Duration::from_secs(86_400);
        Some(best.arrived.checked_add(wait).unwrap_or(best.arrived + far))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock() -> DatabaseClock {
        let store = store::memory::MemoryStore::new(Arc::new(|| Timestamp::from_millis(0)));
        DatabaseClock::new(Arc::new(store))
    }

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// A reading of the database clock, with the round trip that it took.
    async fn read(clock: &mut DatabaseClock, took: u64, time: i64) {
        let asked = Instant::now();
        tokio::time::advance(millis(took)).await;
        let time = Timestamp::from_millis(time);
        clock.note(Reading { asked, time, arrived: Instant::now() });
    }

    fn now(clock: &DatabaseClock) -> i64 {
        clock.now().unwrap().as_millis()
    }

    #[tokio::test(start_paused = true)]
    async fn the_quickest_reading_counts() {
        let mut clock = clock();
        read(&mut clock, 1, 10_000).await;
        tokio::time::advance(millis(100)).await;
        // It was read at the beginning of its round trip; since then the first has gone on.
        read(&mut clock, 20, 10_101).await;
        assert_eq!(now(&clock), 10_119, "what the first says, less the drift");
        tokio::time::advance(millis(1_000)).await;
        read(&mut clock, 0, 11_121).await;
        assert_eq!(now(&clock), 11_121, "a quicker one says more");
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_was_set_back_is_believed() {
        let mut clock = clock();
        read(&mut clock, 1, 10_000).await;
        read(&mut clock, 10, 9_000).await;
        assert_eq!(now(&clock), 9_000);
        // A slow reading may give any time.
        read(&mut clock, 2_000, 9_500).await;
        assert_eq!(now(&clock), 9_500);
    }

    #[tokio::test(start_paused = true)]
    async fn an_older_reading_changes_nothing() {
        let mut clock = clock();
        let old = Reading {
            asked: Instant::now(),
            time: Timestamp::from_millis(5_000),
            arrived: Instant::now(),
        };
        read(&mut clock, 5, 10_000).await;
        clock.note(old);
        assert_eq!(now(&clock), 10_000);
    }

    #[tokio::test(start_paused = true)]
    async fn it_has_reached_a_time_when_it_was_said_to() {
        let mut clock = clock();
        read(&mut clock, 3, 10_000).await;
        for wait in [0, 1, 7, 1_000, 3_600_000] {
            let time = Timestamp::from_millis(10_000 + wait);
            tokio::time::sleep_until(clock.instant_of(time).unwrap()).await;
            assert!(clock.now().unwrap() >= time, "{wait} ms");
        }
    }
}
