//! Callers that each run one execution after the other while the cluster is disturbed. A caller
//! whose node fails asks the next node, with the same idempotency key.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use api_client::{Failure, Kind};
use tokio::task::JoinSet;
use tokio::time::{Instant, Interval, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use crate::figure::Times;
use crate::site::{SOON, Site};

/// A slow caller begins one execution in this time.
pub(crate) const STEADY: Duration = Duration::from_millis(100);
/// A fast caller begins the next execution at once.
pub(crate) const HURRIED: Duration = Duration::from_millis(1);
/// Refusals whose reason is kept.
const REFUSALS_KEPT: usize = 3;
const ASK_AGAIN: Duration = Duration::from_millis(50);

/// The observations of the callers.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// The executions that began.
    pub(crate) ids: Vec<String>,
    /// The time from the first request to the end, for executions that succeeded.
    pub(crate) times: Vec<Duration>,
    /// The reasons why executions failed.
    pub(crate) failures: Vec<String>,
    /// The number of times that a caller asked another node, because one was gone or stopping.
    pub(crate) moved: usize,
    /// Why, a few times.
    pub(crate) refusals: Vec<String>,
}

impl Tally {
    pub(crate) fn times(&self) -> Times {
        self.times.iter().copied().collect()
    }
}

/// Running callers, until they are ended or dropped.
#[derive(Debug)]
pub(crate) struct Load {
    stop: CancellationToken,
    ended: Arc<AtomicUsize>,
    callers: JoinSet<Tally>,
}

impl Load {
    /// Starts this many callers of this pace, on a published definition.
    pub(crate) fn begin(
        site: &Arc<Site>,
        definition: &str,
        callers: usize,
        pace: Duration,
    ) -> Self {
        let (stop, ended) = (CancellationToken::new(), Arc::new(AtomicUsize::new(0)));
        let mut all = JoinSet::new();
        for caller in 0..callers {
            let (site, definition) = (Arc::clone(site), definition.to_owned());
            let (stop, ended) = (stop.clone(), Arc::clone(&ended));
            let pace = tokio::time::interval(pace);
            all.spawn(call(site, definition, (caller, pace), stop, ended));
        }
        Self { stop, ended, callers: all }
    }

    /// Waits until this many more executions have ended.
    ///
    /// # Errors
    /// When they do not, within a minute.
    pub(crate) async fn more(&self, count: usize) -> Result<(), Failure> {
        let wanted = self.ended.load(Ordering::Relaxed) + count;
        let give_up = Instant::now() + SOON;
        while self.ended.load(Ordering::Relaxed) < wanted {
            if Instant::now() >= give_up {
                return Err(Failure::failed(format!(
                    "the load does not get on: {count} executions take longer than {} s",
                    SOON.as_secs()
                )));
            }
            tokio::time::sleep(ASK_AGAIN).await;
        }
        Ok(())
    }

    /// Lets every caller finish its execution, and stops.
    pub(crate) async fn end(mut self) -> Tally {
        self.stop.cancel();
        let mut all = Tally::default();
        while let Some(tally) = self.callers.join_next().await {
            let Ok(tally) = tally else {
                all.failures.push("a caller was dropped".to_owned());
                continue;
            };
            all.ids.extend(tally.ids);
            all.times.extend(tally.times);
            all.failures.extend(tally.failures);
            all.moved += tally.moved;
            let room = REFUSALS_KEPT.saturating_sub(all.refusals.len());
            all.refusals.extend(tally.refusals.into_iter().take(room));
        }
        all
    }
}

async fn call(
    site: Arc<Site>,
    definition: String,
    (caller, mut pace): (usize, Interval),
    stop: CancellationToken,
    ended: Arc<AtomicUsize>,
) -> Tally {
    let mut tally = Tally::default();
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for number in caller.. {
        tokio::select! {
            biased;
            () = stop.cancelled() => break,
            _ = pace.tick() => {}
        }
        let id = format!("{definition}-{caller}-{number}");
        tally.ids.push(id.clone());
        let began = Instant::now();
        match to_the_end(&site, &definition, &id, number, &mut tally).await {
            Ok(()) => tally.times.push(began.elapsed()),
            Err(why) => tally.failures.push(format!("{id}: {why}")),
        }
        ended.fetch_add(1, Ordering::Relaxed);
    }
    tally
}

/// Runs one execution; asks the next node if one is gone or stopping.
async fn to_the_end(
    site: &Site,
    definition: &str,
    id: &str,
    first: usize,
    tally: &mut Tally,
) -> Result<(), String> {
    let give_up = Instant::now() + SOON;
    for number in first.. {
        match site.execute(site.any(number), definition, id).await {
            Ok(ended) if ended.status == "Finished" => return Ok(()),
            Ok(ended) => return Err(format!("it is {}", ended.status)),
            Err(failure) if is_passing(&failure) && Instant::now() < give_up => {
                tally.moved += 1;
                if tally.refusals.len() < REFUSALS_KEPT {
                    tally.refusals.push(failure.to_string());
                }
            }
            Err(failure) => return Err(failure.to_string()),
        }
        tokio::time::sleep(ASK_AGAIN).await;
    }
    Ok(())
}

/// Whether another try, or another node, may succeed.
fn is_passing(failure: &Failure) -> bool {
    failure.kind == Kind::Unavailable
}
