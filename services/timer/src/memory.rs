//! Actions that were done lately and may have to be repeated, after growing pauses.

use std::collections::BTreeMap;
use std::time::Duration;

use model::Backoff;
use tokio::time::Instant;

/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_secs(600);

/// Remembers keys for as long as they keep coming back.
pub(crate) struct Memory<K> {
    entries: BTreeMap<K, Entry>,
    first_pause: Duration,
}

struct Entry {
    done_at: Instant,
    again_at: Instant,
    pause: Duration,
    backoff: Backoff,
}

/// The kind of a try now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Try {
    /// The first one lately.
    First,
    /// Another one, after the pause.
    Again,
    /// Another one, within the pause.
    TooSoon,
}

impl<K: Ord> Memory<K> {
    pub(crate) fn new(first_pause: Duration) -> Self {
        Self { entries: BTreeMap::new(), first_pause }
    }

    /// The kind of a try of this key now. This call changes nothing.
    pub(crate) fn try_of(&self, key: &K) -> Try {
        match self.entries.get(key) {
            None => Try::First,
            Some(entry) if entry.again_at <= Instant::now() => Try::Again,
            Some(_) => Try::TooSoon,
        }
    }

    /// Records that this key was done now. Each time the pause doubles.
    pub(crate) fn done(&mut self, key: K) {
        let first = Backoff::new(self.first_pause, PAUSE_MAX);
        let mut backoff = self.entries.get(&key).map_or(first, |entry| entry.backoff);
        let (done_at, pause) = (Instant::now(), backoff.next());
        self.entries.insert(key, Entry { done_at, again_at: done_at + pause, pause, backoff });
    }

    /// Forgets keys whose pause ended long ago: they no longer come up.
    pub(crate) fn prune(&mut self) {
        let now = Instant::now();
        self.entries.retain(|_, entry| entry.again_at + entry.pause + self.first_pause > now);
    }

    /// Forgets keys that were done before `since` and are not `left` to do.
    pub(crate) fn forget(&mut self, since: Instant, left: impl Fn(&K) -> bool) {
        self.entries.retain(|key, entry| entry.done_at >= since || left(key));
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
}
