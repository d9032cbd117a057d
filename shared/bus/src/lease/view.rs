//! The lease bucket as this node knows it, from the watch and from its own reads and writes. It is a
//! hint for the compare-and-swap, never a decision.

use std::collections::{BTreeMap, VecDeque};

use tokio::time::Instant;

use super::holder::Holder;
use crate::{Revision, TOMBSTONE_TTL};

#[derive(Default)]
pub(super) struct View {
    entries: BTreeMap<String, Seen>,
    generation: u64,
    tombstones: VecDeque<(Instant, String, Revision)>,
}

/// One key as it was last seen.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) revision: Revision,
    /// `None` on a tombstone.
    pub(super) holder: Option<Holder>,
    /// When this node first saw this revision. A live holder writes a new one within `ttl`.
    pub(super) since: Instant,
    generation: u64,
}

impl View {
    pub(super) fn get(&self, key: &str) -> Option<Seen> {
        self.entries.get(key).cloned()
    }

    /// Takes over an entry if it is newer than the known one; true if it was.
    pub(super) fn note(
        &mut self,
        key: &str,
        revision: Revision,
        holder: Option<Holder>,
        now: Instant,
    ) -> bool {
        if let Some(known) = self.entries.get(key)
            && known.generation == self.generation
            && known.revision >= revision
        {
            return false;
        }
        self.force(key, revision, holder, now);
        true
    }

    /// Takes over an entry that looks older, because the server has just reported it as current.
    pub(super) fn force(
        &mut self,
        key: &str,
        revision: Revision,
        holder: Option<Holder>,
        now: Instant,
    ) {
        if holder.is_none() {
            self.tombstones.push_back((now + TOMBSTONE_TTL, key.to_owned(), revision));
        }
        let since = match self.entries.get(key) {
            Some(known) if known.revision == revision => known.since,
            _ => now,
        };
        let seen = Seen { revision, holder, since, generation: self.generation };
        self.entries.insert(key.to_owned(), seen);
    }

    /// The server has no such key.
    pub(super) fn forget(&mut self, key: &str) {
        self.entries.remove(key);
    }

    /// From now on, only entries that are shown again count.
    pub(super) fn reset(&mut self) {
        self.generation += 1;
    }

    /// The snapshot is complete: keys that it did not name are gone.
    pub(super) fn synced(&mut self) {
        let generation = self.generation;
        self.entries.retain(|_, seen| seen.generation == generation);
    }

    /// Forgets tombstones that have vanished on the server, too.
    pub(super) fn sweep(&mut self, now: Instant) {
        while self.tombstones.front().is_some_and(|(until, ..)| *until <= now) {
            let Some((_, key, revision)) = self.tombstones.pop_front() else { return };
            let is_same = |seen: &Seen| seen.revision == revision && seen.holder.is_none();
            if self.entries.get(&key).is_some_and(is_same) {
                self.entries.remove(&key);
            }
        }
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.tombstones.is_empty()
    }

    /// Keys held by this owner.
    pub(super) fn of_owner(&self, owner: &str) -> Vec<(String, Seen)> {
        let is_owner = |seen: &Seen| seen.holder.as_ref().is_some_and(|held| held.owner == owner);
        let owned = self.entries.iter().filter(|(_, seen)| is_owner(seen));
        owned.map(|(key, seen)| (key.clone(), seen.clone())).collect()
    }
}
