//! The closed loop: a fixed number of lanes; each sends its next request when it has a response.

use std::future::Future;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::samples::Samples;

/// A request that a lane repeats.
pub(crate) trait Lane: Send + 'static {
    /// Sends it once; returns its duration if that differs from the duration of the call.
    fn step(&mut self) -> impl Future<Output = anyhow::Result<Option<Duration>>> + Send;
}

/// Failures in a row after which a lane is given up.
const FAILURES_MAX: u32 = 20;

/// Runs all lanes for this time. Requests in flight at the end are finished, and count.
///
/// # Errors
/// The last failure of a lane that fails every time.
pub(crate) async fn run<L: Lane>(lanes: Vec<L>, length: Duration) -> anyhow::Result<Samples> {
    let started = Instant::now();
    let mut tasks = JoinSet::new();
    for mut lane in lanes {
        tasks.spawn(async move {
            let (mut samples, mut failures) = (Samples::default(), 0);
            while started.elapsed() < length {
                let asked = Instant::now();
                match lane.step().await {
                    Ok(took) => {
                        samples.add(took.unwrap_or_else(|| asked.elapsed()));
                        failures = 0;
                    }
                    Err(error) if failures >= FAILURES_MAX => return Err(error),
                    Err(_) => {
                        samples.fail();
                        failures += 1;
                    }
                }
            }
            Ok(samples)
        });
    }
    let mut all = Samples::default();
    while let Some(samples) = tasks.join_next().await {
        all.join(samples??);
    }
    Ok(all.lasted(started.elapsed()))
}
