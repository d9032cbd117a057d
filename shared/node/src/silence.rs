//! Says in the log that NATS does not answer for what work needs, where that lasts.
//!
//! Without a majority of its servers NATS keeps the connections and answers some requests, so no lost
//! connection shows it.

use std::time::Duration;

use tasks::Trouble;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The pause between an answer and the next question.
const EVERY: Duration = Duration::from_secs(10);
/// The pause after a question without one.
const AGAIN: Duration = Duration::from_secs(2);
/// A silence that lasts this long is no election of a leader.
const LASTS: Duration = Duration::from_secs(30);

/// From the first question without an answer to the next one with an answer.
#[derive(Debug, Default)]
struct Silence {
    since: Option<Instant>,
    /// Which of the failures are logged once it lasts.
    trouble: Trouble,
}

impl Silence {
    /// Notes what became of a question that was asked at `asked`. A refusal is an answer.
    fn note(&mut self, asked: Instant, answer: &Result<(), bus::Error>) {
        match answer {
            Err(error) if error.is_passing() => {
                let lasts = self.since.get_or_insert(asked).elapsed();
                if lasts >= LASTS && self.trouble.is_news("") {
                    tracing::error!(
                        seconds = lasts.as_secs(),
                        reason = %error,
                        "NATS does not answer: this node takes no work, and what was accepted waits; \
                         `staunch doctor` says which nats-servers are down, and what to do"
                    );
                }
            }
            _ => {
                let since = self.since.take();
                if let Some(since) = since.filter(|_| self.trouble.ends()) {
                    tracing::info!(seconds = since.elapsed().as_secs(), "NATS answers again");
                }
            }
        }
    }
}

/// Asks again and again until `stop`.
pub(crate) async fn watch<F>(question: impl Fn() -> F, stop: &CancellationToken)
where
    F: Future<Output = Result<(), bus::Error>>,
{
    let mut silence = Silence::default();
    while !stop.is_cancelled() {
        let asked = async {
            let began = Instant::now();
            silence.note(began, &question().await);
            let pause = if silence.since.is_some() { AGAIN } else { EVERY };
            tokio::time::sleep(pause).await;
        };
        stop.run_until_cancelled(asked).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    use super::*;

    const ANSWER_MAX: Duration = Duration::from_secs(3);

    /// Runs the watch while a test changes whether NATS answers.
    async fn watched(answers: &AtomicBool, test: impl Future<Output = ()>) {
        let stop = CancellationToken::new();
        let question = || async {
            if answers.load(Relaxed) {
                return Ok(());
            }
            tokio::time::sleep(ANSWER_MAX).await;
            Err(bus::Error::Unavailable("no leader".to_owned()))
        };
        let ended = async {
            test.await;
            stop.cancel();
        };
        tokio::join!(watch(question, &stop), ended);
    }

    #[tokio::test(start_paused = true)]
    async fn a_silence_is_an_error_of_the_log_once_it_lasts_and_its_end_is_said() {
        let (log, _logging) = testkit::Log::begin(tracing::Level::INFO);
        let (answers, wait) = (AtomicBool::new(true), tokio::time::sleep);
        let test = async {
            wait(Duration::from_secs(60)).await;
            answers.store(false, Relaxed);
            wait(Duration::from_secs(25)).await;
            answers.store(true, Relaxed);
            wait(Duration::from_secs(60)).await;
            assert_eq!(log.text(), "", "an election takes some seconds");

            answers.store(false, Relaxed);
            wait(Duration::from_secs(60)).await;
            let said = log.text();
            assert_eq!(log.count("ERROR"), 1, "{said}");
            for part in ["NATS does not answer", "no leader", "`staunch doctor`", "seconds=3"] {
                assert!(said.contains(part), "{part}: {said}");
            }
            wait(Duration::from_secs(500)).await;
            assert_eq!(log.count("ERROR"), 1, "{}", log.text());
            wait(Duration::from_secs(120)).await;
            assert_eq!(log.count("ERROR"), 2, "ten minutes later: {}", log.text());
            answers.store(true, Relaxed);
            wait(Duration::from_secs(60)).await;
            assert_eq!(log.count("NATS answers again"), 1, "{}", log.text());
            assert_eq!(log.count("ERROR"), 2, "{}", log.text());
        };
        watched(&answers, test).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_is_an_answer() {
        let (log, _logging) = testkit::Log::begin(tracing::Level::INFO);
        let stop = CancellationToken::new();
        let question =
            || std::future::ready(Err(bus::Error::NotProvisioned("executor".to_owned())));
        let ended = async {
            tokio::time::sleep(Duration::from_secs(120)).await;
            stop.cancel();
        };
        tokio::join!(watch(question, &stop), ended);
        assert_eq!(log.text(), "");
    }
}
