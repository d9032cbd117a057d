//! Limits floods of log lines: the first line is written, then one per interval, with the number of
//! lines that were held back.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The time between two lines of one kind.
const EVERY: Duration = Duration::from_secs(10);

/// Decides which lines are written, by kind.
#[derive(Default)]
pub(crate) struct Sampler(Mutex<BTreeMap<&'static str, Kind>>);

struct Kind {
    next_at: Instant,
    held_back: u64,
}

impl Sampler {
    /// Whether a line of this kind is written now: with the number of lines that were held back
    /// since the last one.
    pub(crate) fn pass(&self, kind: &'static str) -> Option<u64> {
        let mut kinds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let kind = kinds.entry(kind).or_insert(Kind { next_at: now, held_back: 0 });
        if now < kind.next_at {
            kind.held_back += 1;
            return None;
        }
        kind.next_at = now + EVERY;
        Some(std::mem::take(&mut kind.held_back))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_flood_is_one_line_per_interval_and_all_are_counted() {
        let sampler = Sampler::default();
        assert_eq!(sampler.pass("garbled"), Some(0));
        for _ in 0..1_000 {
            assert_eq!(sampler.pass("garbled"), None);
        }
        assert_eq!(sampler.pass("dead"), Some(0), "each kind has its own lines");
        tokio::time::sleep(EVERY).await;
        assert_eq!(sampler.pass("garbled"), Some(1_000));
        assert_eq!(sampler.pass("garbled"), None);
    }
}
