//! The pull loop. It takes only commands for which there is a permit; the others stay in the stream,
//! for other nodes or for later.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bus::{Delivery, Error};
use model::{Backoff, limits};
use tasks::Trouble;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::executor::Executor;
use crate::gate::Gate;
use crate::metrics::METRICS;

/// The permits of one command in progress: one for the command, and one for each of its bytes.
type Held = (Option<OwnedSemaphorePermit>, Option<OwnedSemaphorePermit>);

/// A pull that takes this much longer than its wait is stuck.
const PULL_GRACE: Duration = Duration::from_secs(5);
const PAUSE_FIRST: Duration = Duration::from_millis(100);
const PAUSE_LONGEST: Duration = Duration::from_secs(5);
const WATCH_EVERY: Duration = Duration::from_secs(10);

/// The state that the pulls of one executor share.
struct Pulls<'a> {
    executor: &'a Executor,
    gate: &'a Gate,
    /// Permits for commands in progress.
    hands: Arc<Semaphore>,
    hands_max: usize,
    /// Permits for their bytes.
    bytes: Arc<Semaphore>,
    stop: CancellationToken,
}

/// Pulls until `stop`, then finishes the work in progress. After a panic the pulls go on.
pub(crate) async fn pull(executor: &Executor, gate: &Gate, stop: CancellationToken) {
    let config = &executor.cx().config;
    let hands_max = config.in_hand_max.max(1);
    let bytes_max = config.in_hand_bytes_max.max(limits::PULL_BYTES_MAX);
    let pulls = Pulls {
        executor,
        gate,
        hands: Arc::new(Semaphore::new(hands_max)),
        hands_max,
        bytes: Arc::new(Semaphore::new(bytes_max)),
        stop: stop.clone(),
    };
    tasks::supervised("executor: pull", stop, || pulls.run()).await;
    gate.in_hand.close();
    gate.in_hand.wait().await;
}

impl Pulls<'_> {
    async fn run(&self) {
        let mut watchdog = Watchdog::new();
        let mut backoff = Backoff::new(PAUSE_FIRST, PAUSE_LONGEST);
        let mut trouble = Trouble::default();
        let batch = self.executor.cx().config.batch;
        while !self.stop.is_cancelled() {
            self.gate.pass(&self.stop).await;
            if self.has_waited_for_store().await || self.has_waited_for_means().await {
                watchdog.heard = Instant::now();
            }
            let Some(mut room) = room(&self.hands, batch, &self.stop).await else { break };
            let Some(mut share) = share(&self.bytes, &self.stop).await else { break };
            match once(self.executor, room.num_permits()).await {
                Ok(deliveries) => {
                    backoff.reset();
                    if trouble.ends() {
                        tracing::info!("commands are pulled again");
                    }
                    if !deliveries.is_empty() {
                        watchdog.heard = Instant::now();
                    }
                    for delivery in deliveries {
                        // Commands that the server sends beyond the request run without permits.
                        let held = (room.split(1), share.split(delivery.message.payload.len()));
                        let work = work(self.executor.clone(), delivery, held);
                        drop(tasks::spawn("executor: hand", self.gate.in_hand.track_future(work)));
                    }
                }
                Err(error) => {
                    if trouble.is_news(&error) {
                        tracing::warn!(%error, "commands cannot be pulled, trying again");
                    }
                    let pause = tokio::time::sleep(backoff.next());
                    self.stop.run_until_cancelled(pause).await.unwrap_or_default();
                }
            }
            drop((room, share));
            let is_idle = self.hands.available_permits() == self.hands_max;
            watchdog.look(self.executor, is_idle).await;
        }
    }
}

impl Pulls<'_> {
    /// Waits until the database answers this node, if it did not for a command: the commands are for
    /// other nodes meanwhile, which it may answer. True if there was a wait.
    async fn has_waited_for_store(&self) -> bool {
        let cx = self.executor.cx();
        if !cx.has_no_store.swap(false, Ordering::Relaxed) {
            return false;
        }
        let (mut backoff, mut is_said) = (Backoff::new(PAUSE_FIRST, PAUSE_LONGEST), false);
        while let Some(Err(error)) = self.stop.run_until_cancelled(cx.store.ping()).await {
            if !std::mem::replace(&mut is_said, true) {
                tracing::warn!(%error, "no commands are taken until the database answers");
            }
            let pause = tokio::time::sleep(backoff.next());
            self.stop.run_until_cancelled(pause).await.unwrap_or_default();
        }
        true
    }

    /// Waits for a while if this process could open no file or connection for a call: the commands are
    /// for other nodes meanwhile. True if there was a wait.
    async fn has_waited_for_means(&self) -> bool {
        let was_exhausted = self.executor.cx().is_exhausted.swap(false, Ordering::Relaxed);
        if was_exhausted {
            self.stop.run_until_cancelled(tokio::time::sleep(PAUSE_LONGEST)).await;
        }
        was_exhausted
    }
}

/// Permits for some commands; none if a stop came first.
async fn room(
    hands: &Arc<Semaphore>,
    batch: usize,
    stop: &CancellationToken,
) -> Option<OwnedSemaphorePermit> {
    let first = Arc::clone(hands).acquire_owned();
    let mut room = stop.run_until_cancelled(first).await?.ok()?;
    let more = hands.available_permits().min(batch.max(1) - 1);
    let more = u32::try_from(more).unwrap_or(u32::MAX);
    if let Ok(more) = Arc::clone(hands).try_acquire_many_owned(more) {
        room.merge(more);
    }
    Some(room)
}

/// Permits for the bytes of one pull; none if a stop came first.
async fn share(bytes: &Arc<Semaphore>, stop: &CancellationToken) -> Option<OwnedSemaphorePermit> {
    let pull = u32::try_from(limits::PULL_BYTES_MAX).unwrap_or(u32::MAX);
    stop.run_until_cancelled(Arc::clone(bytes).acquire_many_owned(pull)).await?.ok()
}

/// One pull. It is short and never cancelled: commands of a cancelled pull would come again only after
/// the ack wait.
async fn once(executor: &Executor, max: usize) -> Result<Vec<Delivery>, Error> {
    let cx = executor.cx();
    let wait = cx.config.pull_wait;
    let pulled = cx.bus.pull(max, wait);
    match tokio::time::timeout(wait + PULL_GRACE, pulled).await {
        Ok(pulled) => pulled,
        Err(_) => {
            METRICS.stalled();
            Err(Error::Unknown("a pull does not end".to_owned()))
        }
    }
}

async fn work(executor: Executor, delivery: Delivery, held: Held) {
    METRICS.in_hand(1);
    executor.handle(delivery).await;
    METRICS.in_hand(-1);
    drop(held);
}

/// Notices when commands wait in the stream and none is delivered here: consumers can stall.
struct Watchdog {
    heard: Instant,
    looked: Instant,
    trouble: Trouble,
}

impl Watchdog {
    fn new() -> Self {
        Self { heard: Instant::now(), looked: Instant::now(), trouble: Trouble::default() }
    }

    async fn look(&mut self, executor: &Executor, is_idle: bool) {
        if self.looked.elapsed() < WATCH_EVERY {
            return;
        }
        self.looked = Instant::now();
        let Ok(backlog) = executor.cx().bus.backlog().await else { return };
        METRICS.backlog(backlog);
        if backlog > 0 && is_idle && self.heard.elapsed() > WATCH_EVERY {
            METRICS.stalled();
            let what = "commands wait in the stream, and none is delivered here";
            if self.trouble.is_news(what) {
                tracing::warn!(backlog, "{what}");
            }
        } else if self.trouble.ends() {
            tracing::info!(backlog, "no command waits in the stream undelivered any more");
        }
    }
}
