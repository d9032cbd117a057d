//! Measured durations. All of them are kept, so percentiles are exact.

use std::time::Duration;

/// The durations of one run, and the length of the run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples {
    micros: Vec<u32>,
    elapsed: Duration,
    failed: u64,
}

/// The figures of a row.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Figure {
    pub(crate) count: usize,
    pub(crate) per_second: f64,
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) max: f64,
    pub(crate) failed: u64,
}

impl Samples {
    pub(crate) fn add(&mut self, took: Duration) {
        self.micros.push(u32::try_from(took.as_micros()).unwrap_or(u32::MAX));
    }

    pub(crate) fn fail(&mut self) {
        self.failed += 1;
    }

    /// Adds the durations of another lane of the same run.
    pub(crate) fn join(&mut self, other: Self) {
        self.micros.extend(other.micros);
        self.failed += other.failed;
    }

    /// The duration of the whole run.
    pub(crate) fn lasted(mut self, elapsed: Duration) -> Self {
        self.elapsed = elapsed;
        self
    }

    /// Adds a later run of the same work.
    pub(crate) fn then(&mut self, later: Self) {
        self.elapsed += later.elapsed;
        self.join(later);
    }

    pub(crate) fn figure(&self) -> Figure {
        let mut sorted = self.micros.clone();
        sorted.sort_unstable();
        let at = |part: f64| {
            let index = (sorted.len() as f64 * part).ceil() as usize;
            sorted.get(index.saturating_sub(1)).map_or(0.0, |micros| f64::from(*micros) / 1e3)
        };
        let seconds = self.elapsed.as_secs_f64().max(1e-9);
        Figure {
            count: sorted.len(),
            per_second: sorted.len() as f64 / seconds,
            p50: at(0.5),
            p99: at(0.99),
            max: at(1.0),
            failed: self.failed,
        }
    }
}

impl Figure {
    /// Of several rounds: the means, and the largest maximum.
    pub(crate) fn mean(rounds: &[Self]) -> Option<Self> {
        let mean = |of: fn(&Self) -> f64| rounds.iter().map(of).sum::<f64>() / rounds.len() as f64;
        (!rounds.is_empty()).then(|| Self {
            count: rounds.iter().map(|round| round.count).sum(),
            per_second: mean(|round| round.per_second),
            p50: mean(|round| round.p50),
            p99: mean(|round| round.p99),
            max: rounds.iter().map(|round| round.max).fold(0.0, f64::max),
            failed: rounds.iter().map(|round| round.failed).sum(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_sorted_list() {
        let mut samples = Samples::default();
        for millis in (1..=100).rev() {
            samples.add(Duration::from_millis(millis));
        }
        let mut all = Samples::default();
        all.then(samples.lasted(Duration::from_secs(2)));
        let figure = all.figure();
        assert_eq!((figure.p50, figure.p99, figure.max), (50.0, 99.0, 100.0));
        assert!((figure.per_second - 50.0).abs() < 1e-9);
        assert!(Samples::default().figure().p99.abs() < 1e-9);
    }
}
