//! What was done lately and may have to be done again, with growing pauses in between.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_secs(600);

/// Remembers keys for as long as they keep coming up.
pub(crate) struct Memory<K> {
    entries: BTreeMap<K, Entry>,
    first_pause: Duration,
}

struct Entry {
    done_at: Instant,
    again_at: Instant,
    pause: Duration,
}

/// Whether it is time for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It has not been done lately.
    First,
    /// It has been done, and the pause is over.
    Again,
    /// It has been done a short while ago.
    NotYet,
}

impl<K: Ord> Memory<K> {
    pub(crate) fn new(first_pause: Duration) -> Self {
        Self { entries: BTreeMap::new(), first_pause }
    }

    /// Whether it is time for this key. Asking changes nothing.
    pub(crate) fn turn(&self, key: &K) -> Turn {
        match self.entries.get(key) {
            None => Turn::First,
            Some(entry) if entry.again_at <= Instant::now() => Turn::Again,
            Some(_) => Turn::NotYet,
        }
    }

    /// It has been done now. Each time the pause doubles.
    pub(crate) fn done(&mut self, key: K) {
        let first = self.first_pause;
        let pause = self.entries.get(&key).map_or(first, |entry| (entry.pause * 2).min(PAUSE_MAX));
        let done_at = Instant::now();
        self.entries.insert(key, Entry { done_at, again_at: done_at + pause, pause });
    }

    /// Forgets what has not come up for so long that it will not.
    pub(crate) fn prune(&mut self) {
        let now = Instant::now();
        self.entries.retain(|_, entry| entry.again_at + entry.pause + self.first_pause > now);
    }

    /// Forgets what was done before `since` and is not among what is `left` to do.
    pub(crate) fn forget(&mut self, since: Instant, left: impl Fn(&K) -> bool) {
        self.entries.retain(|key, entry| entry.done_at >= since || left(key));
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
}
