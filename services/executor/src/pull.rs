//! The pull loop: takes as many commands as there are hands, and no more. What it does not take
//! stays in the stream, for others or for later.

use std::sync::Arc;
use std::time::Duration;

use bus::{Delivery, Error};
use model::limits;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::executor::Executor;
use crate::metrics::METRICS;

/// One hand, and the bytes of what it holds.
type Held = (Option<OwnedSemaphorePermit>, Option<OwnedSemaphorePermit>);

/// A pull that takes this much longer than it may has got stuck.
const PULL_GRACE: Duration = Duration::from_secs(5);
const PAUSE_FIRST: Duration = Duration::from_millis(100);
const PAUSE_LONGEST: Duration = Duration::from_secs(5);
const WATCH_EVERY: Duration = Duration::from_secs(10);

/// Pulls until `stop`, then finishes what is in hand.
pub(crate) async fn pull(executor: &Executor, stop: CancellationToken) {
    let config = &executor.cx().config;
    let in_hand_max = config.in_hand_max.max(1);
    let hands = Arc::new(Semaphore::new(in_hand_max));
    let bytes = Arc::new(Semaphore::new(config.in_hand_bytes_max.max(limits::PULL_BYTES_MAX)));
    let tasks = TaskTracker::new();
    let mut watchdog = Watchdog { heard: Instant::now(), looked: Instant::now() };
    let mut pause = PAUSE_FIRST;
    while !stop.is_cancelled() {
        let Some(mut room) = room(&hands, config.batch, &stop).await else { break };
        let Some(mut share) = share(&bytes, &stop).await else { break };
        match once(executor, room.num_permits()).await {
            Ok(deliveries) => {
                pause = PAUSE_FIRST;
                if !deliveries.is_empty() {
                    watchdog.heard = Instant::now();
                }
                for delivery in deliveries {
                    // A server that gives more than was asked for is not refused.
                    let held = (room.split(1), share.split(delivery.message.payload.len()));
                    tasks.spawn(work(executor.clone(), delivery, held));
                }
            }
            Err(error) => {
                tracing::warn!(%error, "commands cannot be pulled, trying again");
                stop.run_until_cancelled(tokio::time::sleep(pause)).await.unwrap_or_default();
                pause = (pause * 2).min(PAUSE_LONGEST);
            }
        }
        drop((room, share));
        let is_idle = hands.available_permits() == in_hand_max;
        watchdog.look(executor, is_idle).await;
    }
    tasks.close();
    tasks.wait().await;
}

/// Room for some commands; none when a stop came first.
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

/// Room for the bytes of one pull; none when a stop came first.
async fn share(bytes: &Arc<Semaphore>, stop: &CancellationToken) -> Option<OwnedSemaphorePermit> {
    let pull = u32::try_from(limits::PULL_BYTES_MAX).unwrap_or(u32::MAX);
    stop.run_until_cancelled(Arc::clone(bytes).acquire_many_owned(pull)).await?.ok()
}

/// One pull. It is never cancelled half-way, because what it took would come again only after the
/// ack wait; it is short instead.
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

/// Notices when nothing comes though something waits: consumers have been seen to stall.
struct Watchdog {
    heard: Instant,
    looked: Instant,
}

impl Watchdog {
    async fn look(&mut self, executor: &Executor, is_idle: bool) {
        if self.looked.elapsed() < WATCH_EVERY {
            return;
        }
        self.looked = Instant::now();
        let Ok(backlog) = executor.cx().bus.backlog().await else { return };
        METRICS.backlog(backlog);
        if backlog > 0 && is_idle && self.heard.elapsed() > WATCH_EVERY {
            METRICS.stalled();
            tracing::warn!(backlog, "commands wait in the stream, and none is delivered here");
        }
    }
}
