//! A process's life: starting, ready, draining, gone.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

/// The life of this process, as every part of it sees it; clones share it.
///
/// A soft stop asks everyone to finish what is in hand; after the drain time it turns into a hard
/// stop, which drops whatever is left.
#[derive(Clone)]
pub struct Life(Arc<Inner>);

struct Inner {
    soft: CancellationToken,
    hard: CancellationToken,
    tasks: TaskTracker,
    ready: AtomicBool,
    drain: Duration,
    failed: Mutex<Option<String>>,
}

impl Life {
    /// A life that drains for at most this long.
    #[must_use]
    pub fn new(drain: Duration) -> Self {
        Self(Arc::new(Inner {
            soft: CancellationToken::new(),
            hard: CancellationToken::new(),
            tasks: TaskTracker::new(),
            ready: AtomicBool::new(false),
            drain,
            failed: Mutex::new(None),
        }))
    }

    /// Cancelled when everyone should finish what is in hand and begin nothing new.
    #[must_use]
    pub fn stop(&self) -> CancellationToken {
        self.0.soft.clone()
    }

    /// Cancelled when everyone has to let go at once.
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
        let span = tracing::debug_span!("task", name);
        self.0.tasks.spawn(async move {
            let mut running = tokio::spawn(task.instrument(span));
            let end = tokio::select! {
                biased;
                end = &mut running => end,
                () = life.0.hard.cancelled() => {
                    running.abort();
                    return;
                }
            };
            if let Err(error) = end
                && error.is_panic()
            {
                tracing::error!(task = name, %error, "a task panicked; stopping");
                life.fail(format!("the task {name} panicked"));
            }
        });
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

    /// Says that the process can do its work now.
    pub fn ready(&self) {
        self.0.ready.store(true, Ordering::Release);
    }

    /// True from [`Self::ready`] until draining begins.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.0.ready.load(Ordering::Acquire) && !self.is_draining()
    }

    /// True once a stop was asked for.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.0.soft.is_cancelled()
    }

    /// Asks for a soft stop.
    pub fn begin_stop(&self) {
        self.0.soft.cancel();
    }

    /// Stops hard, at once.
    pub fn begin_kill(&self) {
        self.0.soft.cancel();
        self.0.hard.cancel();
    }

    /// Records why the process cannot go on, and stops it softly. The first reason counts.
    pub fn fail(&self, reason: String) {
        self.0.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
        self.begin_stop();
    }

    /// Why the process could not go on.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.0.failed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How long draining may take.
    #[must_use]
    pub fn drain_time(&self) -> Duration {
        self.0.drain
    }

    /// Tasks that have not ended yet.
    #[must_use]
    pub fn tasks_left(&self) -> usize {
        self.0.tasks.len()
    }

    /// Waits until every task has ended; false when a hard stop came first.
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
                seconds = self.0.drain.as_secs_f64(),
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

    #[tokio::test]
    async fn a_task_that_panics_or_fails_stops_the_process() {
        let panics = life();
        panics.spawn("bad", async { panic!("bug") });
        panics.stop().cancelled().await;
        assert_eq!(panics.failure().as_deref(), Some("the task bad panicked"));

        let fails = life();
        fails.spawn_fallible("bad", async { Err(anyhow::anyhow!("inner").context("outer")) });
        fails.stop().cancelled().await;
        assert_eq!(fails.failure().as_deref(), Some("the task bad failed: outer: inner"));
    }
}
