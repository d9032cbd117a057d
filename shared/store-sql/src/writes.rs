//! Whether the database accepts writes. Every write records its result; the health check reads it.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use store::Error;
use tokio::time::Instant;

/// The state of writing. It is good until a write fails because the database is unavailable, and
/// good again after the next write that succeeds.
#[derive(Debug, Default)]
pub(crate) struct Writes {
    /// True while `failing` has a value, so that a success costs one atomic read.
    is_failing: AtomicBool,
    failing: Mutex<Option<Failing>>,
}

#[derive(Debug)]
struct Failing {
    since: Instant,
    reason: String,
}

impl Writes {
    /// Records the result of a write. Only [`Error::Unavailable`] and [`Error::Denied`] are about the
    /// database; the other errors are about the value.
    pub(crate) fn record<T>(&self, result: Result<T, &Error>) {
        match result {
            Ok(_) if self.is_failing.load(Relaxed) => self.succeeded(),
            Err(Error::Unavailable(reason) | Error::Denied(reason)) => self.failed(reason),
            Ok(_) | Err(_) => {}
        }
    }

    /// The error, with time and reason, if writes fail now.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match &*self.lock() {
            None => Ok(()),
            Some(Failing { since, reason }) => {
                let seconds = since.elapsed().as_secs();
                Err(Error::Unavailable(format!("no write has succeeded for {seconds} s: {reason}")))
            }
        }
    }

    fn failed(&self, reason: &str) {
        let mut failing = self.lock();
        if let Some(failing) = &mut *failing {
            reason.clone_into(&mut failing.reason);
            return;
        }
        *failing = Some(Failing { since: Instant::now(), reason: reason.to_owned() });
        self.is_failing.store(true, Relaxed);
        tracing::error!(
            reason,
            "the database takes no writes; the node is not ready until a write succeeds"
        );
    }

    fn succeeded(&self) {
        let failing = self.lock().take();
        self.is_failing.store(false, Relaxed);
        if let Some(Failing { since, .. }) = failing {
            let seconds = since.elapsed().as_secs();
            tracing::info!(seconds, "the database takes writes again");
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Failing>> {
        self.failing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
