//! Histograms of durations. Outliers are not lost.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

/// Three digits from a microsecond to ten minutes.
const MICROS_MAX: u64 = 600_000_000;
const DIGITS: u8 = 3;

/// Durations by name, in the order of the first use of each name. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Times(Arc<Mutex<Vec<Named>>>);

#[derive(Debug)]
struct Named {
    name: &'static str,
    histogram: Histogram<u64>,
}

/// The figures of one name, in milliseconds.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Figures {
    /// The name.
    pub name: &'static str,
    /// The number of durations.
    pub count: u64,
    /// The mean.
    pub mean: f64,
    /// The median.
    pub p50: f64,
    /// The 90th percentile.
    pub p90: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The 99.9th percentile.
    pub p999: f64,
    /// The longest.
    pub max: f64,
}

impl Times {
    /// Records one duration.
    pub fn note(&self, name: &'static str, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(MICROS_MAX);
        let mut all = self.lock();
        let index = match all.iter().position(|named| named.name == name) {
            Some(index) => index,
            None => {
                // These limits are valid, so this never fails.
                let Ok(histogram) = Histogram::new_with_bounds(1, MICROS_MAX, DIGITS) else {
                    return;
                };
                all.push(Named { name, histogram });
                all.len() - 1
            }
        };
        all[index].histogram.saturating_record(micros.clamp(1, MICROS_MAX));
    }

    /// The figures, name by name.
    #[must_use]
    pub fn figures(&self) -> Vec<Figures> {
        self.lock().iter().map(Named::figures).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Named>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Named {
    fn figures(&self) -> Figures {
        let at = |quantile| millis(self.histogram.value_at_quantile(quantile));
        Figures {
            name: self.name,
            count: self.histogram.len(),
            mean: self.histogram.mean() / 1_000.0,
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: millis(self.histogram.max()),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "ten minutes in microseconds fit")]
fn millis(micros: u64) -> f64 {
    micros as f64 / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_exact_to_three_digits_and_the_worst_is_kept() {
        let times = Times::default();
        for millis in 1..=1_000 {
            times.note("whole", Duration::from_millis(millis));
        }
        times.note("other", Duration::ZERO);
        times.note("other", Duration::MAX);
        let figures = times.figures();
        let near = |value: f64, expected: f64| (value - expected).abs() <= expected / 500.0;
        assert_eq!((figures[0].name, figures[0].count), ("whole", 1_000));
        assert!(near(figures[0].p50, 500.0) && near(figures[0].p99, 990.0), "{figures:?}");
        assert!(near(figures[0].max, 1_000.0) && near(figures[0].mean, 500.5), "{figures:?}");
        assert_eq!((figures[1].name, figures[1].count), ("other", 2));
        assert!(near(figures[1].max, 600_000.0) && figures[1].p50 <= 0.001, "{figures:?}");
    }
}
