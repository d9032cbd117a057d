//! The number of commands that wait for an executor, and whether more are accepted.
//!
//! The stream is asked if a request needs the number and the last answer is old. One task at a time
//! asks, and no request waits for it. While the stream does not answer, commands are accepted: the
//! database keeps them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bus::Bus;
use tokio::time::Instant;

/// The stream is asked again when its last answer is older than this.
const FRESH: Duration = Duration::from_millis(200);
/// An answer that is older than this is ignored.
const STALE: Duration = Duration::from_secs(2);
/// Time in which no command is accepted after the stream was full.
const FULL_PAUSE: Duration = Duration::from_secs(1);

/// The last known state of the stream of commands.
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
    /// A backlog of unknown length. More than `max` waiting commands are too many.
    pub(crate) fn new(max: u64) -> Self {
        let (waiting, is_asking) = (AtomicU64::new(0), AtomicBool::new(false));
        Self { max, waiting, is_asking, times: Mutex::default() }
    }

    /// Records that the stream has refused a command: none is accepted for a moment.
    pub(crate) fn is_full(&self) {
        self.times().full_until = Some(Instant::now() + FULL_PAUSE);
    }

    /// True if no command may be accepted now.
    pub(crate) fn is_too_long(&self) -> bool {
        let times = self.times();
        let is_full = times.full_until.is_some_and(|until| Instant::now() < until);
        let is_known = times.asked_at.is_some_and(|at| at.elapsed() < STALE);
        is_full || is_known && self.waiting.load(Ordering::Relaxed) > self.max
    }

    /// True if the stream has to be asked and no task is asking; then the caller has to ask.
    pub(crate) fn is_to_be_asked(&self) -> bool {
        let is_old = self.times().asked_at.is_none_or(|at| at.elapsed() >= FRESH);
        is_old && !self.is_asking.swap(true, Ordering::Relaxed)
    }

    /// Asks the stream for the number of waiting commands.
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
