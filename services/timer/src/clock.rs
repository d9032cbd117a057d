//! The database's clock, as far as it is known here. Nothing fires before this clock says so,
//! whatever the clock of this machine says.

use std::sync::Arc;
use std::time::Duration;

use model::Timestamp;
use store::Store;
use tokio::time::Instant;

/// The longest wait for a reading.
const READING_TIME_MAX: Duration = Duration::from_secs(5);

/// A reading of the database's clock, and when it arrived.
pub(crate) struct DatabaseClock {
    store: Arc<dyn Store>,
    reading: Option<(Timestamp, Instant)>,
}

impl DatabaseClock {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, reading: None }
    }

    /// Reads the clock, unless the last reading is younger than `age_max`.
    pub(crate) async fn measure(&mut self, age_max: Duration) -> Result<(), store::Error> {
        if self.reading.is_some_and(|(_, at)| at.elapsed() < age_max) {
            return Ok(());
        }
        let reading = match tokio::time::timeout(READING_TIME_MAX, self.store.clock()).await {
            Ok(reading) => reading?,
            Err(_) => {
                return Err(store::Error::Unavailable("its clock cannot be read".to_owned()));
            }
        };
        self.reading = Some((reading, Instant::now()));
        Ok(())
    }

    /// Takes a reading that was made elsewhere, unless a later one is known.
    pub(crate) fn note(&mut self, reading: (Timestamp, Instant)) {
        if self.reading.is_none_or(|(_, known)| known < reading.1) {
            self.reading = Some(reading);
        }
    }

    /// A time that the database's clock has reached for certain: it was read before the answer
    /// arrived. None before the first reading.
    pub(crate) fn now(&self) -> Option<Timestamp> {
        let (reading, arrived) = self.reading?;
        Some(reading.after(arrived.elapsed()))
    }

    /// When [`Self::now`] will be past this time.
    pub(crate) fn instant_past(&self, time: Timestamp) -> Option<Instant> {
        let (reading, arrived) = self.reading?;
        let wait = time.since(reading) + Duration::from_millis(1);
        // An instant that does not fit is too far away to matter.
        Some(arrived.checked_add(wait).unwrap_or(arrived + Duration::from_secs(86_400)))
    }
}
