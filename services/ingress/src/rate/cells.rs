//! The counts of one limit, in bounded memory.
//!
//! A count that was not used for the time of its rate is as good as new, so it is removed when room
//! is needed. If all room is taken by counts in use, further keys share one count: whoever invents
//! keys slows down others that are new, and nobody who is known.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use governor::nanos::Nanos;
use governor::state::StateStore;
use tokio::time::Instant;

/// The counts by key.
#[derive(Debug)]
pub(super) struct Cells {
    max: usize,
    /// A count that was not used for this time is as good as new.
    idle: Duration,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    by_key: HashMap<String, Cell>,
    /// The count of all keys for which there was no room.
    shared: Option<Nanos>,
    /// No count is idle before this time.
    sweep_at: Instant,
}

#[derive(Debug)]
struct Cell {
    state: Nanos,
    used_at: Instant,
}

impl Cells {
    pub(super) fn new(max: usize, idle: Duration) -> Self {
        let sweep_at = Instant::now();
        let inner = Inner { by_key: HashMap::new(), shared: None, sweep_at };
        Self { max, idle, inner: Mutex::new(inner) }
    }

    #[cfg(test)]
    fn count(&self) -> usize {
        self.inner.lock().unwrap().by_key.len()
    }
}

impl Inner {
    /// Removes idle counts, unless a look a moment ago found which will be idle next.
    fn sweep(&mut self, idle: Duration, now: Instant) {
        if now < self.sweep_at {
            return;
        }
        self.by_key.retain(|_, cell| now.duration_since(cell.used_at) < idle);
        let oldest = self.by_key.values().map(|cell| cell.used_at).min().unwrap_or(now);
        // Not before the oldest is idle, nor for each request that finds no room.
        self.sweep_at = (oldest + idle).max(now + idle / 64);
    }
}

impl StateStore for Cells {
    type Key = String;

    fn measure_and_replace<T, F, E>(&self, key: &String, decide: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if let Some(cell) = inner.by_key.get_mut(key) {
            let (answer, state) = decide(Some(cell.state))?;
            *cell = Cell { state, used_at: now };
            return Ok(answer);
        }
        if inner.by_key.len() >= self.max {
            inner.sweep(self.idle, now);
        }
        if inner.by_key.len() >= self.max {
            let (answer, state) = decide(inner.shared)?;
            inner.shared = Some(state);
            return Ok(answer);
        }
        let (answer, state) = decide(None)?;
        inner.by_key.insert(key.clone(), Cell { state, used_at: now });
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uses a key, and gives the number of earlier uses of its count.
    fn uses(cells: &Cells, key: &str) -> u64 {
        let used = cells.measure_and_replace(&key.to_owned(), |state| {
            let before = state.map_or(0, u64::from);
            Ok::<_, ()>((before, Nanos::from(Duration::from_nanos(before + 1))))
        });
        used.unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn memory_is_bounded_and_known_keys_keep_their_counts() {
        let cells = Cells::new(3, Duration::from_secs(10));
        for key in ["a", "b", "c"] {
            assert_eq!(uses(&cells, key), 0);
        }
        assert_eq!(uses(&cells, "d"), 0);
        assert_eq!(uses(&cells, "e"), 1, "there is no room: it shares the count of d");
        assert_eq!(uses(&cells, "a"), 1, "it has its own");
        assert_eq!(cells.count(), 3);
        tokio::time::advance(Duration::from_secs(9)).await;
        assert_eq!(uses(&cells, "b"), 1);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(uses(&cells, "f"), 0, "a and c are idle and make room");
        assert_eq!(cells.count(), 2);
        assert_eq!(uses(&cells, "b"), 2);
        assert_eq!(uses(&cells, "a"), 0, "as good as new");
    }
}
