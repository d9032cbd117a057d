//! Whether PostgreSQL answers this process. The health check asks. While it gets no answer, what
//! waits for the database is given up, and what comes later fails at once.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use sea_orm::ConnectionTrait as _;
use store::Error;
use tokio::sync::watch;
use tokio::time::{Instant, timeout, timeout_at};

use crate::access::Access;
use crate::database::Database;
use crate::failure::Failure;
use crate::pools::Pools;

/// An answer that takes longer counts as none, as in a check of readiness.
const ANSWER_MAX: Duration = Duration::from_secs(2);
/// After this time without an answer a connection that writes is asked as well: slow queries may have
/// taken all connections that read.
const SECOND_AFTER: Duration = Duration::from_secs(1);
/// How long a silence lasts that no later question confirms. An ingress asks at least
/// every 3 s, any other process every 4 s.
const SILENCE_MAX: Duration = Duration::from_secs(5);

/// The answers of the database, and its silence.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    /// The number of answers since the start.
    count: AtomicU64,
    silence: watch::Sender<Option<Silence>>,
}

#[derive(Clone, Copy, Debug)]
struct Silence {
    since: Instant,
    until: Instant,
}

fn lasts(silence: Option<Silence>) -> bool {
    silence.is_some_and(|silence| Instant::now() < silence.until)
}

impl Answers {
    /// Records an answer.
    pub(crate) fn heard(&self) {
        self.count.fetch_add(1, Relaxed);
        if self.silence.borrow().is_none() {
            return;
        }
        if let Some(Silence { since, .. }) = self.silence.send_replace(None) {
            let seconds = since.elapsed().as_secs();
            tracing::info!(seconds, "the database answers again");
        }
    }

    /// Records that a question got no answer.
    fn missed(&self) {
        let now = Instant::now();
        let since = self.silence.borrow().map(|silence| silence.since);
        if since.is_none() {
            tracing::error!(
                "the database does not answer: what waits for it is given up, and what comes later \
                 fails at once"
            );
        }
        let silence = Silence { since: since.unwrap_or(now), until: now + SILENCE_MAX };
        self.silence.send_replace(Some(silence));
    }

    /// True while the database does not answer.
    pub(crate) fn is_silent(&self) -> bool {
        lasts(*self.silence.borrow())
    }

    /// Completes when the database does not answer.
    pub(crate) async fn fallen_silent(&self) {
        let mut silence = self.silence.subscribe();
        let is_gone = silence.wait_for(|silence| lasts(*silence)).await.is_err();
        if is_gone {
            std::future::pending::<()>().await;
        }
    }
}

/// The health check. A PostgreSQL that gives no answer in time, while no other statement of this
/// process gets one, is silent from then on.
pub(crate) async fn ask(database: &Arc<Database>) -> Result<(), Error> {
    let asked = Arc::clone(database);
    // The question has its own task: it is asked to its end although its caller waits no longer.
    let asking = tasks::spawn("ask the database", async move { answer(&asked).await });
    match asking.await {
        Ok(Ok(answer)) => answer.map_err(Failure::into_error),
        Ok(Err(panicked)) => Err(Error::Unavailable(panicked.to_string())),
        Err(error) => Err(Error::Unavailable(error.to_string())),
    }
}

async fn answer(database: &Database) -> Result<(), Failure> {
    if let Pools::Sqlite { .. } = database.pools {
        // SQLite is a file: what holds it up is another process, which will be done.
        return database.repeated(|| one(&database.reader)).await;
    }
    let before = database.answers.count.load(Relaxed);
    let until = Instant::now() + ANSWER_MAX;
    let mut reading = pin!(timeout_at(until, database.repeated(|| one(&database.reader))));
    let writing = timeout_at(until, one(&database.writer));
    let (read, wrote) = match timeout(SECOND_AFTER, &mut reading).await {
        Ok(Ok(Ok(()))) => {
            database.answers.heard();
            return Ok(());
        }
        Ok(failed) => (failed, writing.await),
        Err(_elapsed) => tokio::join!(reading, writing),
    };
    let read = read.unwrap_or_else(|_elapsed| Err(Failure::timeout()));
    let is_away = |failure: &Failure| matches!(failure.error(), Error::Unavailable(_));
    let has_no_other = || database.answers.count.load(Relaxed) == before;
    if read.is_ok() || matches!(wrote, Ok(Ok(()))) {
        database.answers.heard();
    } else if read.as_ref().is_err_and(is_away) && has_no_other() && !database.is_closing() {
        database.answers.missed();
    }
    read
}

/// The smallest statement.
async fn one(access: &Access) -> Result<(), Failure> {
    access.execute_unprepared("SELECT 1").await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_silence_ends_with_an_answer_or_after_some_time_without_a_question() {
        let answers = Answers::default();
        let falls_silent = async || {
            let waited = timeout(Duration::from_secs(60), answers.fallen_silent()).await;
            waited.is_ok()
        };
        assert!(!answers.is_silent() && !falls_silent().await);
        answers.missed();
        assert!(answers.is_silent() && falls_silent().await);
        answers.heard();
        assert!(!answers.is_silent() && !falls_silent().await);
        answers.missed();
        tokio::time::sleep(SILENCE_MAX - Duration::from_secs(1)).await;
        answers.missed();
        tokio::time::sleep(SILENCE_MAX - Duration::from_secs(1)).await;
        assert!(answers.is_silent(), "the second question has confirmed it");
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(!answers.is_silent() && !falls_silent().await);
        // Who waits already hears of the next silence.
        let missed = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            answers.missed();
        };
        assert!(tokio::join!(falls_silent(), missed).0);
    }
}
