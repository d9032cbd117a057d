//! How many commands wait for an executor, and whether more may come.
//!
//! The stream is asked when somebody wants to know and the last answer is old, by one caller at a
//! time and without making anybody wait: what nobody asks about costs nothing. While the stream does
//! not answer, commands are accepted: they are kept in the database.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bus::Bus;
use tokio::time::Instant;

/// An answer that is older than this is asked for again.
const FRESH: Duration = Duration::from_millis(200);
/// One that is older than this says nothing about now.
const STALE: Duration = Duration::from_secs(2);
/// How long nothing is accepted after the stream was full.
const FULL_PAUSE: Duration = Duration::from_secs(1);

/// What is known of the stream of commands.
#[derive(Debug)]
pub(crate) struct Backlog {
    max: u64,
    waiting: AtomicU64,
    is_asking: AtomicBool,
    times: Mutex<Times>,
}

#[derive(Debug, Default)]
struct Times {
    asked_at: Option<Instant>,
    full_until: Option<Instant>,
}

impl Backlog {
    /// Nothing is known yet; more than `max` waiting commands are too many.
    pub(crate) fn new(max: u64) -> Self {
        let (waiting, is_asking) = (AtomicU64::new(0), AtomicBool::new(false));
        Self { max, waiting, is_asking, times: Mutex::default() }
    }

    /// The stream has refused a command: for a moment nothing more is accepted.
    pub(crate) fn is_full(&self) {
        self.times().full_until = Some(Instant::now() + FULL_PAUSE);
    }

    /// Whether what is accepted now could only pile up.
    pub(crate) fn is_too_long(&self) -> bool {
        let times = self.times();
        let is_full = times.full_until.is_some_and(|until| Instant::now() < until);
        let is_known = times.asked_at.is_some_and(|at| at.elapsed() < STALE);
        is_full || is_known && self.waiting.load(Ordering::Relaxed) > self.max
    }

    /// Whether it is time to ask again, and nobody does: then the caller is the one who does.
    pub(crate) fn is_to_be_asked(&self) -> bool {
        let is_old = self.times().asked_at.is_none_or(|at| at.elapsed() >= FRESH);
        is_old && !self.is_asking.swap(true, Ordering::Relaxed)
    }

    /// Asks the stream.
    pub(crate) async fn ask(&self, bus: &dyn Bus) {
        match bus.backlog().await {
            Ok(waiting) => {
                self.waiting.store(waiting, Ordering::Relaxed);
                self.times().asked_at = Some(Instant::now());
            }
            Err(error) => tracing::debug!(%error, "the backlog is not known"),
        }
        self.is_asking.store(false, Ordering::Relaxed);
    }

    fn times(&self) -> std::sync::MutexGuard<'_, Times> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
