//! One bucket of the twin: keys with revisions that grow over the whole bucket, expiry as a
//! tombstone that watches see, and a memory of nonces.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::{Change, Entry, Put, Revision, TOMBSTONE_TTL, Watch};

/// How long a nonce is remembered.
const DUPLICATE_WINDOW: Duration = Duration::from_secs(120);

#[derive(Default)]
pub(super) struct State {
    last: Revision,
    keys: BTreeMap<String, Kept>,
    deadlines: BTreeSet<(Instant, String)>,
    nonces: BTreeMap<String, Revision>,
    nonces_by_age: VecDeque<(Instant, String)>,
    watches: Vec<Watcher>,
}

struct Watcher {
    node: Arc<str>,
    sender: mpsc::UnboundedSender<Change>,
    is_severed: bool,
}

struct Kept {
    value: Option<Bytes>,
    revision: Revision,
    written: Instant,
    until: Option<Instant>,
    /// The entry that the key had before.
    before: Option<Entry>,
}

impl State {
    /// Writes a value, or a tombstone, if the key is where it is expected.
    pub(super) fn write(
        &mut self,
        key: &str,
        value: Option<Bytes>,
        expected: Revision,
        until: Option<Instant>,
        nonce: &str,
        now: Instant,
    ) -> Put {
        while self.nonces_by_age.front().is_some_and(|(at, _)| *at + DUPLICATE_WINDOW <= now) {
            if let Some((_, nonce)) = self.nonces_by_age.pop_front() {
                self.nonces.remove(&nonce);
            }
        }
        // As in JetStream, a repeated nonce is recognised before revisions are compared.
        if let Some(revision) = self.nonces.get(nonce) {
            return Put::Won(*revision);
        }
        let current = self.keys.get(key).map_or(0, |kept| kept.revision);
        if current != expected {
            return Put::Lost(Some(current));
        }
        let revision = self.set(key, value, until, now);
        self.nonces.insert(nonce.to_owned(), revision);
        self.nonces_by_age.push_back((now, nonce.to_owned()));
        Put::Won(revision)
    }

    pub(super) fn get(&self, key: &str, stale: bool) -> Option<Entry> {
        let kept = self.keys.get(key)?;
        if stale {
            return kept.before.clone();
        }
        Some(Entry { value: kept.value.clone(), revision: kept.revision })
    }

    /// When the key was removed; none if it has a value, or is not there.
    pub(super) fn removed(&self, key: &str) -> Option<Instant> {
        self.keys.get(key).filter(|kept| kept.value.is_none()).map(|kept| kept.written)
    }

    /// The revision of the last write.
    pub(super) fn revision(&self) -> Revision {
        self.last
    }

    pub(super) fn entries(&self) -> Vec<(String, Entry)> {
        let entries = self.keys.keys().filter_map(|key| Some((key.clone(), self.get(key, false)?)));
        entries.filter(|(_, entry)| entry.value.is_some()).collect()
    }

    pub(super) fn watch(&mut self, node: &Arc<str>) -> Watch {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.snapshot(&sender);
        self.watches.push(Watcher { node: Arc::clone(node), sender, is_severed: false });
        Box::pin(futures::stream::unfold(receiver, |mut receiver| async {
            receiver.recv().await.map(|change| (change, receiver))
        }))
    }

    pub(super) fn reset_watches(&mut self) {
        let watches = std::mem::take(&mut self.watches);
        for watch in watches.iter().filter(|watch| !watch.is_severed) {
            self.snapshot(&watch.sender);
        }
        self.watches = watches;
    }

    pub(super) fn sever(&mut self, node: &str) {
        let own = self.watches.iter_mut().filter(|watch| *watch.node == *node);
        own.for_each(|watch| watch.is_severed = true);
    }

    pub(super) fn mend(&mut self, node: &str) {
        let mut watches = std::mem::take(&mut self.watches);
        let own = watches.iter_mut().filter(|watch| *watch.node == *node);
        for watch in own.filter(|watch| watch.is_severed) {
            watch.is_severed = false;
            self.snapshot(&watch.sender);
        }
        self.watches = watches;
    }

    /// Loses everything, revisions too; watches start again.
    pub(super) fn wipe(&mut self) {
        let watches = std::mem::take(&mut self.watches);
        *self = Self { watches, ..Self::default() };
        self.reset_watches();
    }

    /// The number of keys that have a value, and the bytes of the values.
    pub(super) fn held(&self) -> (u64, u64) {
        let values = self.keys.values().filter_map(|kept| kept.value.as_ref());
        values.fold((0, 0), |(keys, bytes), value| {
            (keys + 1, bytes + u64::try_from(value.len()).unwrap_or(u64::MAX))
        })
    }

    /// Expires the keys that are due; returns when the next key is.
    pub(super) fn expire(&mut self, now: Instant) -> Option<Instant> {
        while let Some((at, key)) = self.deadlines.first().cloned() {
            if at > now {
                return Some(at);
            }
            self.expire_key(&key, now);
        }
        None
    }

    /// Replaces a value by a tombstone, and removes a tombstone.
    pub(super) fn expire_key(&mut self, key: &str, now: Instant) -> bool {
        let Some(kept) = self.keys.get(key) else { return false };
        if kept.value.is_some() {
            self.set(key, None, Some(now + TOMBSTONE_TTL), now);
            return true;
        }
        if let Some(until) = kept.until {
            self.deadlines.remove(&(until, key.to_owned()));
        }
        self.keys.remove(key);
        false
    }

    fn set(
        &mut self,
        key: &str,
        value: Option<Bytes>,
        until: Option<Instant>,
        written: Instant,
    ) -> Revision {
        self.last += 1;
        let revision = self.last;
        let before = self.keys.remove(key);
        let seen = before
            .as_ref()
            .map(|kept| Entry { value: kept.value.clone(), revision: kept.revision });
        let kept = Kept { value: value.clone(), revision, written, until, before: seen };
        self.keys.insert(key.to_owned(), kept);
        if let Some(until) = before.and_then(|before| before.until) {
            self.deadlines.remove(&(until, key.to_owned()));
        }
        if let Some(until) = until {
            self.deadlines.insert((until, key.to_owned()));
        }
        let change = Change::Set { key: key.to_owned(), value, revision };
        self.watches.retain(|watch| match watch.is_severed {
            true => !watch.sender.is_closed(),
            false => watch.sender.send(change.clone()).is_ok(),
        });
        revision
    }

    fn snapshot(&self, watch: &mpsc::UnboundedSender<Change>) {
        let live = self.keys.iter().filter(|(_, kept)| kept.value.is_some());
        let mut live: Vec<_> = live.collect();
        live.sort_by_key(|(_, kept)| kept.revision);
        let sets = live.into_iter().map(|(key, kept)| Change::Set {
            key: key.clone(),
            value: kept.value.clone(),
            revision: kept.revision,
        });
        for change in std::iter::once(Change::Reset).chain(sets).chain([Change::Synced]) {
            // A watch without a reader is dropped at the next change.
            if watch.send(change).is_err() {
                return;
            }
        }
    }
}
