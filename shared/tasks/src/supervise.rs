//! Runs a task again whenever it panics.

use std::time::Duration;

use model::Backoff;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{caught, table};

/// The pause before the first restart, and the longest pause.
const PAUSE_FIRST: Duration = Duration::from_millis(50);
const PAUSE_LONGEST: Duration = Duration::from_secs(1);
/// After a run of this length, the next pause is the first one again.
const SOUND_AFTER: Duration = Duration::from_secs(10);

/// Runs a task in the background, and runs it again after a pause whenever it panics. It is over
/// when a run ends without a panic. `run` makes the future of each run. Data that the runs share
/// belongs outside of that future, and must be consistent after a panic.
///
/// `stop` does not end a run: that is for the run to do. It ends the pause, so that the task runs
/// once more, finishes its work in progress and ends; a panic in that run is the last.
pub fn supervise<F, Fut>(task: &'static str, stop: CancellationToken, run: F) -> JoinHandle<()>
where
    F: FnMut() -> Fut + Send + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    #[expect(clippy::disallowed_methods, reason = "this is the means that others spawn with")]
    tokio::spawn(supervised(task, stop, run))
}

/// The body of [`supervise`] as a future: for a task of a `JoinSet`, a `TaskTracker` or a `Life`.
pub async fn supervised<F, Fut>(task: &'static str, stop: CancellationToken, mut run: F)
where
    F: FnMut() -> Fut,
    Fut: Future<Output = ()>,
{
    table::started(task);
    let mut backoff = Backoff::new(PAUSE_FIRST, PAUSE_LONGEST);
    loop {
        let began = Instant::now();
        let is_last = stop.is_cancelled();
        if caught(task, run()).await.is_ok() || is_last {
            return;
        }
        if began.elapsed() >= SOUND_AFTER {
            backoff.reset();
        }
        let _down = table::Down::begin(task);
        let pause = backoff.next();
        tracing::warn!(task, pause_ms = pause.as_millis(), "a task is down; it runs again soon");
        stop.run_until_cancelled(tokio::time::sleep(pause)).await;
        table::restarted(task);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::{down, figures};

    #[tokio::test(start_paused = true)]
    async fn a_task_runs_again_after_each_panic_until_it_ends_by_itself() {
        let runs = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&runs);
        let began = Instant::now();
        let task = supervise("supervise: bad", CancellationToken::new(), move || {
            let run = counted.fetch_add(1, Ordering::Relaxed);
            async move { assert!(run >= 3, "bug") }
        });
        task.await.unwrap();
        assert_eq!(runs.load(Ordering::Relaxed), 4);
        assert_eq!(began.elapsed(), Duration::from_millis(50 + 100 + 200));
        let figures = figures();
        let figure = figures.iter().find(|figure| figure.task == "supervise: bad").unwrap();
        assert_eq!((figure.panics, figure.restarts), (3, 3));
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_is_down_only_while_it_waits_for_its_next_run() {
        let name = "supervise: down";
        let mut runs = 0;
        let task = supervise(name, CancellationToken::new(), move || {
            runs += 1;
            let is_first = runs == 1;
            async move {
                assert!(!is_first, "bug");
                std::future::pending().await
            }
        });
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert!(down().contains(&name));
        tokio::time::sleep(PAUSE_FIRST).await;
        assert!(!down().contains(&name));
        task.abort();
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_is_aborted_while_it_is_down_is_down_no_more() {
        let never = CancellationToken::new();
        let task = supervise("supervise: aborted", never, || async { panic!("bug") });
        tokio::time::sleep(Duration::from_millis(1)).await;
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
        assert!(!down().contains(&"supervise: aborted"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_stop_ends_the_pause_and_the_task_runs_once_more() {
        let (runs, stop) = (Arc::new(AtomicU64::new(0)), CancellationToken::new());
        let counted = Arc::clone(&runs);
        let task = supervise("supervise: stopped", stop.clone(), move || {
            counted.fetch_add(1, Ordering::Relaxed);
            async { panic!("bug") }
        });
        tokio::time::sleep(Duration::from_millis(1)).await;
        stop.cancel();
        let began = Instant::now();
        task.await.unwrap();
        assert_eq!(runs.load(Ordering::Relaxed), 2);
        assert_eq!(began.elapsed(), Duration::ZERO);
    }
}
