//! Figures of the pipeline, for metrics.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Upper bounds of the buckets of [`Stats::transaction_time`], in microseconds; one more bucket
/// counts all higher values.
pub(crate) const BOUNDS_US: [u64; 12] =
    [250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000, 5_000_000];

/// Figures since the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stats {
    /// Transactions committed by the pipeline.
    pub batches: u64,
    /// Bursts, starts and commands in them.
    pub bursts: u64,
    /// The largest number of them that shared one transaction.
    pub batch_max: u64,
    /// Bursts rejected because another burst of the same instance was first.
    pub conflicts: u64,
    /// Repeated attempts, each after a temporary error.
    pub retries: u64,
    /// Batches that failed as a whole and were repeated job by job.
    pub splits: u64,
    /// Bursts that found no place in the queue.
    pub overloaded: u64,
    /// Jobs that wait for a transaction now.
    pub queued: u64,
    /// Connections that are open now.
    pub connections: u64,
    /// Open connections that are idle.
    pub connections_idle: u64,
    /// The duration of transactions.
    pub transaction_time: Buckets,
}

/// A histogram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buckets {
    /// Each bucket's upper bound, and the number of values in this bucket alone.
    pub buckets: Vec<(Duration, u64)>,
    /// The number of values above all bounds.
    pub above: u64,
    /// The sum of all values.
    pub sum: Duration,
    /// The number of all values.
    pub count: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) batches: AtomicU64,
    pub(crate) bursts: AtomicU64,
    pub(crate) batch_max: AtomicU64,
    pub(crate) conflicts: AtomicU64,
    pub(crate) retries: AtomicU64,
    pub(crate) splits: AtomicU64,
    pub(crate) overloaded: AtomicU64,
    times: [AtomicU64; BOUNDS_US.len()],
    above: AtomicU64,
    sum_us: AtomicU64,
}

impl Counters {
    pub(crate) fn add(counter: &AtomicU64, number: usize) {
        counter.fetch_add(u64::try_from(number).unwrap_or(u64::MAX), Relaxed);
    }

    pub(crate) fn committed(&self, bursts: usize, took: Duration) {
        meter::DATABASE_TRANSACTION_DURATION.record(&[], took);
        let size = u32::try_from(bursts).unwrap_or(u32::MAX);
        meter::DATABASE_BATCH_SIZE.record_value(&[], f64::from(size));
        let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        Self::add(&self.batches, 1);
        Self::add(&self.bursts, bursts);
        self.batch_max.fetch_max(u64::try_from(bursts).unwrap_or(u64::MAX), Relaxed);
        self.sum_us.fetch_add(us, Relaxed);
        let bucket = BOUNDS_US.iter().position(|bound| us <= *bound);
        let counter = bucket.and_then(|index| self.times.get(index)).unwrap_or(&self.above);
        counter.fetch_add(1, Relaxed);
    }

    pub(crate) fn snapshot(&self, queued: usize, connections: u32, idle: usize) -> Stats {
        let buckets: Vec<(Duration, u64)> = BOUNDS_US
            .iter()
            .zip(&self.times)
            .map(|(bound, count)| (Duration::from_micros(*bound), count.load(Relaxed)))
            .collect();
        let above = self.above.load(Relaxed);
        let count = buckets.iter().map(|(_, count)| count).sum::<u64>() + above;
        let sum = Duration::from_micros(self.sum_us.load(Relaxed));
        Stats {
            batches: self.batches.load(Relaxed),
            bursts: self.bursts.load(Relaxed),
            batch_max: self.batch_max.load(Relaxed),
            conflicts: self.conflicts.load(Relaxed),
            retries: self.retries.load(Relaxed),
            splits: self.splits.load(Relaxed),
            overloaded: self.overloaded.load(Relaxed),
            queued: u64::try_from(queued).unwrap_or(u64::MAX),
            connections: u64::from(connections),
            connections_idle: u64::try_from(idle).unwrap_or(u64::MAX),
            transaction_time: Buckets { buckets, above, sum, count },
        }
    }
}
