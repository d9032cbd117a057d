//! Whether the streams store messages. A nats-server whose disk is full does not answer a publish,
//! but answers everything else, so only the publishes themselves show it.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bus::Error;
use tasks::Trouble;
use tokio::time::Instant;

use crate::api::ApiError;

/// A publish without an answer for this long counts as failed, also when its caller gives it up.
const SLOW: Duration = Duration::from_secs(2);
/// A failure counts for this long. Then the node is ready again, so that its next publish shows
/// whether messages are stored: a node that is not ready gets nothing to publish.
const FAILING_MAX: Duration = Duration::from_secs(30);

/// A failure that lasts this long is no election of a leader.
const LASTS: Duration = Duration::from_secs(30);

/// The state of publishing: it fails from the first publish without an answer to the next message
/// that is stored.
#[derive(Debug, Default)]
pub(crate) struct Publishes {
    /// True while `failing` has a value, so that a success costs one atomic read.
    is_failing: AtomicBool,
    failing: Mutex<Option<Failing>>,
}

#[derive(Debug)]
struct Failing {
    since: Instant,
    last: Instant,
    /// Which of the failures are logged once it lasts.
    trouble: Trouble,
}

/// One try of a publish. It failed if it is dropped, after a while, without an answer.
pub(crate) struct Attempt<'a> {
    publishes: &'a Publishes,
    began: Instant,
    is_answered: bool,
}

impl Publishes {
    pub(crate) fn attempt(&self) -> Attempt<'_> {
        Attempt { publishes: self, began: Instant::now(), is_answered: false }
    }

    /// The error, with the time, while messages are not stored.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let Some((since, last)) = self.lock().as_ref().map(|it| (it.since, it.last)) else {
            return Ok(());
        };
        if last.elapsed() > FAILING_MAX {
            return Ok(());
        }
        let seconds = since.elapsed().as_secs();
        Err(Error::Unavailable(format!(
            "no message has been stored for {seconds} s, although the server answers: if its disk \
             is or was full, make room and restart nats-server"
        )))
    }

    /// A publish has waited for its answer for this long.
    fn failed(&self, waited: Duration) {
        let (mut failing, now) = (self.lock(), Instant::now());
        if let Some(Failing { since, last, trouble }) = &mut *failing {
            *last = now;
            let lasts = now - *since;
            if lasts >= LASTS && trouble.is_news("") {
                let seconds = lasts.as_secs();
                tracing::error!(seconds, "NATS stores no messages: no publish has an answer");
            }
            return;
        }
        *failing = Some(Failing { since: now, last: now, trouble: Trouble::default() });
        self.is_failing.store(true, Relaxed);
        let seconds = waited.as_secs();
        tracing::warn!(
            seconds,
            "a publish has no answer: NATS elects a leader, or stores no messages"
        );
    }

    fn succeeded(&self) {
        let failing = self.lock().take();
        self.is_failing.store(false, Relaxed);
        if let Some(Failing { since, .. }) = failing {
            let seconds = since.elapsed().as_secs();
            tracing::info!(seconds, "NATS stores messages again");
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Failing>> {
        self.failing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Attempt<'_> {
    /// Records the result. A refusal, and a subject that nobody hears, say nothing about the disk.
    pub(crate) fn end<T>(mut self, result: &Result<T, ApiError>) {
        self.is_answered = !matches!(result, Err(ApiError::Timeout));
        if result.is_ok() && self.publishes.is_failing.load(Relaxed) {
            self.publishes.succeeded();
        }
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let waited = self.began.elapsed();
        if !self.is_answered && waited >= SLOW {
            self.publishes.failed(waited);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_publish_without_an_answer_counts_until_the_next_one_is_stored() {
        let publishes = Publishes::default();
        drop(publishes.attempt());
        assert!(publishes.check().is_ok(), "given up at once");
        for _ in 0..2 {
            let attempt = publishes.attempt();
            tokio::time::advance(SLOW).await;
            attempt.end::<()>(&Err(ApiError::Timeout));
        }
        let error = publishes.check().unwrap_err().to_string();
        assert!(error.contains("stored for 2 s"), "{error}");
        let refused = publishes.attempt();
        tokio::time::advance(SLOW).await;
        refused.end::<()>(&Err(ApiError::NoResponders));
        assert!(publishes.check().is_err());
        publishes.attempt().end(&Ok(()));
        assert!(publishes.check().is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_failure_that_is_long_ago_no_longer_counts() {
        let publishes = Publishes::default();
        let attempt = publishes.attempt();
        tokio::time::advance(SLOW).await;
        drop(attempt);
        tokio::time::advance(FAILING_MAX).await;
        assert!(publishes.check().is_err());
        tokio::time::advance(Duration::from_millis(1)).await;
        assert!(publishes.check().is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_failure_is_an_error_of_the_log_once_it_lasts() {
        let (log, _logging) = testkit::Log::begin(tracing::Level::INFO);
        let publishes = Publishes::default();
        let fail = async |count: u32| {
            for _ in 0..count {
                let attempt = publishes.attempt();
                tokio::time::advance(SLOW).await;
                attempt.end::<()>(&Err(ApiError::Timeout));
            }
        };
        fail(10).await;
        publishes.attempt().end(&Ok(()));
        let said = log.text();
        assert!(!said.contains("ERROR"), "an election takes some seconds: {said}");
        assert_eq!(said.matches("a publish has no answer").count(), 1, "{said}");
        assert!(said.contains("WARN") && said.contains("seconds=2"), "{said}");
        assert!(said.contains("seconds=18"), "the end says how long: {said}");
        fail(100).await;
        let said = log.text();
        assert_eq!(said.matches("NATS stores no messages").count(), 1, "{said}");
        assert!(said.contains("ERROR") && said.contains("seconds=30"), "{said}");
    }
}
