//! The life cycle of a process: starting, ready, leaving, draining, ended.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

/// The life of this process. All parts of the process share it through clones.
///
/// A process that leaves is not ready any more, and works as before: whoever sends it requests has
/// time to learn of it. A soft stop asks all tasks to finish their work in progress. After the drain
/// time it becomes a hard stop, which drops the remaining tasks.
#[derive(Clone)]
pub struct Life(Arc<Inner>);

struct Inner {
    leaving: CancellationToken,
    soft: CancellationToken,
    hard: CancellationToken,
    tasks: TaskTracker,
    ready: AtomicBool,
    drain: Duration,
    failed: Mutex<Option<String>>,
}

impl Life {
    /// A life cycle that drains for at most this long.
    #[must_use]
    pub fn new(drain: Duration) -> Self {
        Self::leaving_with(CancellationToken::new(), drain)
    }

    /// The life of a part of this process: it leaves when the process leaves, and stops by itself.
    #[must_use]
    pub fn of_part(&self) -> Self {
        Self::leaving_with(self.0.leaving.child_token(), self.0.drain)
    }

    fn leaving_with(leaving: CancellationToken, drain: Duration) -> Self {
        Self(Arc::new(Inner {
            leaving,
            soft: CancellationToken::new(),
            hard: CancellationToken::new(),
            tasks: TaskTracker::new(),
            ready: AtomicBool::new(false),
            drain,
            failed: Mutex::new(None),
        }))
    }

    /// Cancelled when the process leaves, or else by a soft stop: requests are still answered, and
    /// their connections end.
    #[must_use]
    pub fn leaving(&self) -> CancellationToken {
        self.0.leaving.clone()
    }

    /// Cancelled by a soft stop: finish the work in progress and begin nothing new.
    #[must_use]
    pub fn stop(&self) -> CancellationToken {
        self.0.soft.clone()
    }

    /// Cancelled by a hard stop: stop at once.
    #[must_use]
    pub fn kill(&self) -> CancellationToken {
        self.0.hard.clone()
    }

    /// Runs a task that the end of the process waits for. A hard stop drops it; a panic in it
    /// stops the process softly.
    pub fn spawn<F>(&self, name: &'static str, task: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let life = self.clone();
        self.keep(name, async move {
            if let Err(panicked) = tasks::caught(name, task).await {
                tracing::error!(task = name, "a task panicked; stopping");
                life.fail(panicked.to_string());
            }
        });
    }

    /// Runs a task that the end of the process waits for, and runs it again after a pause whenever
    /// it panics. A soft stop ends the pause; a hard stop drops the task.
    pub fn supervise<F, Fut>(&self, name: &'static str, run: F)
    where
        F: FnMut() -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let stop = self.stop();
        self.keep(name, tasks::supervised(name, stop, run));
    }

    /// Runs a task that does not panic, until its end or a hard stop.
    fn keep<F>(&self, name: &'static str, task: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let hard = self.0.hard.clone();
        let kept = async move {
            hard.run_until_cancelled(task).await;
        };
        let span = tracing::debug_span!("task", name);
        #[expect(clippy::disallowed_methods, reason = "this is the means that others spawn with")]
        self.0.tasks.spawn(kept.instrument(span));
    }

    /// Runs a task as [`Self::spawn`] does; an error from it stops the process softly.
    pub fn spawn_fallible<F, E>(&self, name: &'static str, task: F)
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<anyhow::Error>,
    {
        let life = self.clone();
        self.spawn(name, async move {
            if let Err(error) = task.await {
                let error: anyhow::Error = error.into();
                tracing::error!(
                    task = name,
                    error = format!("{error:#}"),
                    "a task failed; stopping"
                );
                life.fail(format!("the task {name} failed: {error:#}"));
            }
        });
    }

    /// Marks the process as ready.
    pub fn ready(&self) {
        self.0.ready.store(true, Ordering::Release);
    }

    /// True from [`Self::ready`] until the process leaves.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.0.ready.load(Ordering::Acquire) && !self.is_leaving()
    }

    /// True after the process has begun to leave, or to stop.
    #[must_use]
    pub fn is_leaving(&self) -> bool {
        self.0.leaving.is_cancelled()
    }

    /// True after a soft stop has begun.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.0.soft.is_cancelled()
    }

    /// Makes the process not ready; it works as before until [`Self::begin_stop`].
    pub fn begin_leaving(&self) {
        self.0.leaving.cancel();
    }

    /// Asks for a soft stop.
    pub fn begin_stop(&self) {
        self.begin_leaving();
        self.0.soft.cancel();
    }

    /// Stops hard, at once.
    pub fn begin_kill(&self) {
        self.begin_leaving();
        self.0.soft.cancel();
        self.0.hard.cancel();
    }

    /// Records why the process cannot continue, and stops it softly. The first reason counts.
    pub fn fail(&self, reason: String) {
        self.0.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
        self.begin_stop();
    }

    /// The reason why the process could not continue.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.0.failed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How long draining may take.
    #[must_use]
    pub fn drain_time(&self) -> Duration {
        self.0.drain
    }

    /// The number of tasks that have not ended.
    #[must_use]
    pub fn tasks_left(&self) -> usize {
        self.0.tasks.len()
    }

    /// Waits until every task has ended; false if a hard stop came first.
    pub async fn finished(&self) -> bool {
        self.0.tasks.close();
        tokio::select! {
            biased;
            () = self.0.hard.cancelled() => false,
            () = self.0.tasks.wait() => true,
        }
    }

    /// Turns a soft stop into a hard one when the drain time is over. Runs until then.
    pub(crate) async fn watch_drain(&self) {
        self.0.soft.cancelled().await;
        tokio::time::sleep(self.0.drain).await;
        if !self.0.hard.is_cancelled() {
            tracing::error!(
                seconds = self.0.drain.as_secs(),
                tasks = self.tasks_left(),
                "draining took too long; what is left is dropped"
            );
            self.fail(format!("draining took longer than {} s", self.0.drain.as_secs_f64()));
            self.begin_kill();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn life() -> Life {
        Life::new(Duration::from_secs(30))
    }

    #[tokio::test]
    async fn a_soft_stop_waits_for_the_tasks() {
        let life = life();
        let (send, receive) = tokio::sync::oneshot::channel::<()>();
        let stop = life.stop();
        life.spawn("work", async move {
            stop.cancelled().await;
            receive.await.unwrap();
        });
        life.ready();
        assert!(life.is_ready());
        life.begin_stop();
        assert!(!life.is_ready() && life.is_draining());
        assert_eq!(life.tasks_left(), 1);
        send.send(()).unwrap();
        assert!(life.finished().await);
        assert_eq!(life.failure(), None);
    }

    #[tokio::test]
    async fn a_life_that_leaves_is_not_ready_and_goes_on() {
        let life = life();
        let part = life.of_part();
        life.ready();
        part.ready();
        life.begin_leaving();
        assert!(!life.is_ready() && !part.is_ready(), "readiness says so first");
        assert!(!life.is_draining() && !part.is_draining(), "the work goes on");
        let other = Life::new(Duration::from_secs(1));
        other.of_part().begin_stop();
        assert!(!other.is_leaving(), "a part that ends by itself takes nothing with it");
    }

    #[tokio::test(start_paused = true)]
    async fn draining_is_bounded() {
        let life = life();
        life.spawn("stuck", std::future::pending());
        life.begin_stop();
        let began = tokio::time::Instant::now();
        tokio::join!(life.watch_drain(), async { assert!(!life.finished().await) });
        assert_eq!(began.elapsed().as_secs(), 30);
        assert!(life.failure().unwrap().contains("30 s"));
    }

    #[tokio::test]
    async fn a_hard_stop_drops_what_runs() {
        struct Dropped(tokio::sync::mpsc::UnboundedSender<()>);
        impl Drop for Dropped {
            fn drop(&mut self) {
                self.0.send(()).unwrap();
            }
        }
        let (send, mut receive) = tokio::sync::mpsc::unbounded_channel();
        let life = life();
        let held = Dropped(send);
        life.spawn("stuck", async move {
            let _held = held;
            std::future::pending::<()>().await;
        });
        tokio::task::yield_now().await;
        life.begin_kill();
        receive.recv().await.unwrap();
        assert!(life.kill().is_cancelled() && life.stop().is_cancelled());
    }

    #[tokio::test(start_paused = true)]
    async fn a_supervised_task_runs_again_and_the_process_goes_on() {
        let life = life();
        let (stop, mut runs) = (life.stop(), 0);
        life.supervise("lifecycle: supervised", move || {
            runs += 1;
            let (stop, is_first) = (stop.clone(), runs == 1);
            async move {
                assert!(!is_first, "bug");
                stop.cancelled().await;
            }
        });
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(!life.is_draining());
        assert_eq!(life.tasks_left(), 1);
        life.begin_stop();
        assert!(life.finished().await);
        assert_eq!(life.failure(), None);
    }

    #[tokio::test]
    async fn a_task_that_panics_or_fails_stops_the_process() {
        let panics = life();
        panics.spawn("bad", async { panic!("bug") });
        panics.stop().cancelled().await;
        assert_eq!(panics.failure().as_deref(), Some("the task bad panicked: bug"));

        let fails = life();
        fails.spawn_fallible("bad", async { Err(anyhow::anyhow!("inner").context("outer")) });
        fails.stop().cancelled().await;
        assert_eq!(fails.failure().as_deref(), Some("the task bad failed: outer: inner"));
    }
}
