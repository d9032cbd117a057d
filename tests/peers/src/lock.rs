//! Locks under contention: our lease, a Redis lock that waits as Medallion.Threading does, and
//! PostgreSQL's advisory locks. Every contender has its own connections, as a node has.

#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]

pub(crate) mod lease;
pub(crate) mod postgres;
pub(crate) mod redis;

use std::future::Future;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::chance::between;
use crate::samples::Samples;

/// A contender for the lock.
pub(crate) trait Contender: Send + 'static {
    /// Waits for the lock and takes it.
    fn take(&mut self) -> impl Future<Output = anyhow::Result<()>> + Send;
    /// Releases it; returns when the release is confirmed.
    fn give(&mut self) -> impl Future<Output = anyhow::Result<()>> + Send;
}

/// How long the lock is held. It varies, so that the release falls anywhere between two tries of a
/// waiter.
const HELD: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(510));

/// From the beginning of a release until the only waiter has the lock.
pub(crate) async fn hand_over<C: Contender>(
    pairs: Vec<[C; 2]>,
    length: Duration,
) -> anyhow::Result<Samples> {
    let started = Instant::now();
    let mut tasks = JoinSet::new();
    for [mut one, mut two] in pairs {
        tasks.spawn(async move {
            let mut samples = Samples::default();
            one.take().await?;
            while started.elapsed() < length {
                let waiting = tokio::spawn(async move {
                    two.take().await?;
                    anyhow::Ok((two, Instant::now()))
                });
                tokio::time::sleep(between(HELD)).await;
                let released = Instant::now();
                one.give().await?;
                let (taker, taken) = waiting.await??;
                samples.add(taken.saturating_duration_since(released));
                (one, two) = (taker, one);
            }
            one.give().await?;
            anyhow::Ok(samples)
        });
    }
    collect(tasks, started).await
}

/// How evenly the lock was shared by the contenders.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fairness {
    /// The number of turns of the contenders that had the fewest and the most.
    pub(crate) turns: (usize, usize),
}

/// The waits of contenders that all want the lock all the time and hold it for `held`.
pub(crate) async fn contend<C: Contender>(
    contenders: Vec<C>,
    held: Duration,
    length: Duration,
) -> anyhow::Result<(Samples, Fairness)> {
    let started = Instant::now();
    let mut tasks = JoinSet::new();
    for mut contender in contenders {
        tasks.spawn(async move {
            let mut samples = Samples::default();
            while started.elapsed() < length {
                let asked = Instant::now();
                contender.take().await?;
                samples.add(asked.elapsed());
                tokio::time::sleep(held).await;
                contender.give().await?;
            }
            anyhow::Ok(samples)
        });
    }
    let (mut all, mut turns) = (Samples::default(), Vec::new());
    while let Some(samples) = tasks.join_next().await {
        let samples = samples??;
        turns.push(samples.figure().count);
        all.join(samples);
    }
    let turns = (turns.iter().copied().min(), turns.iter().copied().max());
    let turns = (turns.0.unwrap_or_default(), turns.1.unwrap_or_default());
    Ok((all.lasted(started.elapsed()), Fairness { turns }))
}

/// The time to take and release the lock while no other contender wants it.
pub(crate) async fn alone<C: Contender>(
    mut contender: C,
    length: Duration,
) -> anyhow::Result<Samples> {
    let started = Instant::now();
    let mut samples = Samples::default();
    while started.elapsed() < length {
        let asked = Instant::now();
        contender.take().await?;
        contender.give().await?;
        samples.add(asked.elapsed());
    }
    Ok(samples.lasted(started.elapsed()))
}

async fn collect(
    mut tasks: JoinSet<anyhow::Result<Samples>>,
    started: Instant,
) -> anyhow::Result<Samples> {
    let mut all = Samples::default();
    while let Some(samples) = tasks.join_next().await {
        all.join(samples??);
    }
    Ok(all.lasted(started.elapsed()))
}
