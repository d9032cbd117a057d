//! Measured times, and their form for people and programs.

use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

/// Measured times, sorted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times(Vec<Duration>);

impl FromIterator<Duration> for Times {
    fn from_iter<T: IntoIterator<Item = Duration>>(times: T) -> Self {
        let mut times: Vec<_> = times.into_iter().collect();
        times.sort();
        Self(times)
    }
}

impl Times {
    /// The number of times.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The time that this share of all times does not exceed; zero if there are none.
    pub(crate) fn at(&self, part: f64) -> Duration {
        let rank = (part * self.0.len() as f64).ceil() as usize;
        self.0.get(rank.saturating_sub(1)).or(self.0.last()).copied().unwrap_or_default()
    }

    /// The figures as JSON, in milliseconds.
    pub(crate) fn json(&self) -> Value {
        let ms = |part| self.at(part).as_secs_f64() * 1_000.0;
        json!({"count": self.len(), "p50Ms": ms(0.5), "p95Ms": ms(0.95), "p99Ms": ms(0.99), "maxMs": ms(1.0)})
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [p50, p95, p99, max] = [0.5, 0.95, 0.99, 1.0].map(|part| short(self.at(part)));
        write!(f, "p50 {p50}, p95 {p95}, p99 {p99}, max {max}")
    }
}

/// A time with three digits.
pub(crate) fn short(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1_000.0;
    match ms {
        ms if ms < 10.0 => format!("{ms:.2} ms"),
        ms if ms < 100.0 => format!("{ms:.1} ms"),
        ms if ms < 1_000.0 => format!("{ms:.0} ms"),
        ms => format!("{:.2} s", ms / 1_000.0),
    }
}

/// `1 start`, `2 starts`.
pub(crate) fn many(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_measured_values() {
        let times: Times = (1..=100).rev().map(Duration::from_millis).collect();
        assert_eq!(times.at(0.5), Duration::from_millis(50));
        assert_eq!(times.at(0.99), Duration::from_millis(99));
        assert_eq!(times.at(1.0), Duration::from_millis(100));
        assert_eq!(times.to_string(), "p50 50.0 ms, p95 95.0 ms, p99 99.0 ms, max 100 ms");
        assert_eq!(Times::default().at(1.0), Duration::ZERO);
        let two: Times = [1, 3].map(Duration::from_secs).into_iter().collect();
        assert_eq!((two.at(0.5), two.at(0.51)), (Duration::from_secs(1), Duration::from_secs(3)));
        assert_eq!(short(Duration::from_micros(1_234)), "1.23 ms");
        assert_eq!(short(Duration::from_millis(1_234)), "1.23 s");
    }
}
