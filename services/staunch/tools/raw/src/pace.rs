//! Lanes that do one operation after the other, and their rates.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// The number of operations in flight for a bound with many.
pub(crate) const MANY: usize = 256;

/// The measured rate of one bound.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Bound {
    /// A short name, which stays the same in all versions.
    pub name: &'static str,
    /// A description.
    pub what: String,
    /// Operations in flight.
    pub in_flight: usize,
    /// Operations per second.
    pub throughput: f64,
    /// The median, in milliseconds.
    pub p50: f64,
    /// The 99th percentile, in milliseconds.
    pub p99: f64,
}

/// The durations of one measurement. Clones share them.
#[derive(Clone)]
pub(crate) struct Stopwatch {
    times: Arc<Mutex<Histogram<u64>>>,
    began: Instant,
    until: Instant,
}

/// Repeats one operation.
pub(crate) trait Lane: Send + 'static {
    fn step(&mut self) -> impl Future<Output = anyhow::Result<()>> + Send;
}

impl Stopwatch {
    /// Starts now.
    pub(crate) fn start(length: Duration) -> anyhow::Result<Self> {
        let times = Arc::new(Mutex::new(Histogram::new_with_bounds(1, 600_000_000, 3)?));
        let began = Instant::now();
        Ok(Self { times, began, until: began + length })
    }

    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.until
    }

    pub(crate) fn until(&self) -> Instant {
        self.until
    }

    pub(crate) fn note(&self, began: Instant) {
        let micros = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        times.saturating_record(micros.max(1));
    }

    #[expect(clippy::cast_precision_loss, reason = "counts and microseconds fit")]
    pub(crate) fn bound(&self, name: &'static str, what: &str, in_flight: usize) -> Bound {
        let seconds = self.began.elapsed().as_secs_f64();
        let times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        let at = |quantile| times.value_at_quantile(quantile) as f64 / 1_000.0;
        Bound {
            name,
            what: what.to_owned(),
            in_flight,
            throughput: times.len() as f64 / seconds.max(0.001),
            p50: at(0.5),
            p99: at(0.99),
        }
    }
}

/// Runs all lanes until the time is over; returns them.
pub(crate) async fn race<L: Lane>(lanes: Vec<L>, clock: &Stopwatch) -> anyhow::Result<Vec<L>> {
    let mut running = JoinSet::new();
    for mut lane in lanes {
        let clock = clock.clone();
        running.spawn(async move {
            while !clock.is_over() {
                let began = Instant::now();
                lane.step().await?;
                clock.note(began);
            }
            anyhow::Ok(lane)
        });
    }
    let mut lanes = Vec::new();
    while let Some(lane) = running.join_next().await {
        lanes.push(lane??);
    }
    Ok(lanes)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nap;

    impl Lane for Nap {
        async fn step(&mut self) -> anyhow::Result<()> {
            tokio::time::sleep(Duration::from_millis(10)).await;
            Ok(())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn lanes_run_side_by_side_until_time_is_over() {
        let clock = Stopwatch::start(Duration::from_secs(1)).unwrap();
        let lanes = race(vec![Nap, Nap, Nap], &clock).await.unwrap();
        let bound = clock.bound("nap", "naps", 3);
        assert_eq!((lanes.len(), bound.in_flight), (3, 3));
        assert!((250.0..=310.0).contains(&bound.throughput), "{bound:?}");
        assert!((9.9..12.0).contains(&bound.p50) && bound.p99 < 20.0, "{bound:?}");
    }
}
