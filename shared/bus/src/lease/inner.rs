//! The state that the handles, acquisitions and tasks of one node's leases share.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock};

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::held::Held;
use super::holder::{Holder, Waiter};
use super::queue::Queue;
use super::terms::Terms;
use super::view::View;
use crate::lock::lock;
use crate::{Kv, Nonces, Revision, Wire};

/// Departed nodes that are remembered.
const DEPARTED_MAX: usize = 1_000;

/// The leases of one node.
pub(super) struct Inner {
    pub(super) kv: Arc<dyn Kv>,
    pub(super) owner: String,
    pub(super) terms: Terms,
    pub(super) nonces: Nonces,
    pub(super) view: Mutex<View>,
    pub(super) queue: Queue,
    pub(super) presence: Mutex<Live>,
    /// Held leases by key (one at a time, by the queue), and nonces of acquisitions in progress.
    pub(super) held: Mutex<BTreeMap<String, Arc<Held>>>,
    pub(super) trying: Mutex<BTreeSet<String>>,
    /// The nodes that wait for leases of this node, by the nonce of the lease.
    pub(super) waiting: Mutex<BTreeMap<String, Vec<Waiter>>>,
    pub(super) wire: OnceLock<Arc<dyn Wire>>,
    /// Nonces of acquisitions that were given up with an unknown outcome, until this instant.
    pub(super) disowned: Mutex<BTreeMap<String, Instant>>,
    pub(super) orphans: mpsc::UnboundedSender<Orphan>,
    pub(super) tasks: TaskTracker,
    pub(super) stop: CancellationToken,
}

/// The live nodes, as presence shows them.
#[derive(Default)]
pub(super) struct Live {
    pub(super) now: Option<BTreeSet<String>>,
    pub(super) departed: BTreeSet<String>,
}

/// A key that names this node as holder although none of its acquisitions wants it.
pub(super) struct Orphan {
    pub(super) key: String,
    pub(super) revision: Revision,
    pub(super) nonce: String,
}

impl Live {
    /// Takes over the list of the live nodes.
    pub(super) fn change(&mut self, live: BTreeSet<String>) {
        let before = self.now.take().unwrap_or_default();
        self.departed.extend(before.difference(&live).cloned());
        self.departed.retain(|node| !live.contains(node));
        while self.departed.len() > DEPARTED_MAX {
            self.departed.pop_first();
        }
        self.now = Some(live);
    }
}

impl Inner {
    /// Runs a task until this node closes its leases, and again after a panic.
    pub(super) fn supervise<F: Future<Output = ()> + Send + 'static>(
        self: &Arc<Self>,
        task: &'static str,
        run: impl Fn(Arc<Self>) -> F + Send + 'static,
    ) {
        let (inner, tracked) = (Arc::clone(self), self.tasks.token());
        let runs = tasks::supervise(task, self.stop.clone(), move || {
            let _until_it_ends = &tracked;
            run(Arc::clone(&inner))
        });
        // The task ends with `stop`, and the tracker waits for it.
        drop(runs);
    }

    pub(super) fn value(&self, nonce: &str) -> Bytes {
        self.holder(nonce).bytes()
    }

    /// This node, as the holder.
    pub(super) fn holder(&self, nonce: &str) -> Holder {
        Holder { owner: self.owner.clone(), nonce: nonce.to_owned(), ..Holder::default() }
    }

    /// The nonce belongs to a lease that is held, or to an acquisition in progress.
    pub(super) fn is_active(&self, key: &str, nonce: &str) -> bool {
        lock(&self.held).get(key).is_some_and(|held| held.nonce == nonce)
            || lock(&self.trying).contains(nonce)
    }

    pub(super) fn forget(&self, lease: &Held) {
        let mut held = lock(&self.held);
        if held.get(&lease.key).is_some_and(|held| held.nonce == lease.nonce) {
            held.remove(&lease.key);
        }
    }

    /// Releases the key as soon as it shows this nonce, now or within a limited time.
    pub(super) fn disown(&self, key: &str, nonce: &str) {
        let until = Instant::now() + self.terms.ttl * 2 + crate::retry::BUDGET;
        lock(&self.disowned).insert(nonce.to_owned(), until);
        let seen = lock(&self.view).get(key);
        if let Some(seen) = seen
            && seen.holder.is_some_and(|holder| holder.nonce == nonce)
        {
            self.orphan(key, seen.revision, nonce);
        }
    }

    pub(super) fn orphan(&self, key: &str, revision: Revision, nonce: &str) {
        let orphan = Orphan { key: key.to_owned(), revision, nonce: nonce.to_owned() };
        if self.orphans.send(orphan).is_err() {
            tracing::debug!(key, "a lease is left to expire: the node is closing");
        }
    }

    /// Enters into the view the result of a write or read of this node, before the watch shows it.
    pub(super) fn note(&self, key: &str, revision: Revision, holder: Option<Holder>) {
        lock(&self.view).note(key, revision, holder, Instant::now());
    }
}
