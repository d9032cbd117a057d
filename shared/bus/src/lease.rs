//! The lease: a key that at most one node holds, by compare-and-swap, while it renews the key.
//!
//! A lease saves work and never decides what is true: a holder can be paused past its expiry, so
//! whoever writes under a lease checks a version as well. One watch per node wakes all waiters. The
//! waiters of one node queue behind each other, and only the first contends with other nodes. Where
//! nodes can send messages to each other ([`Leases::fair`]), the first waiters of all nodes queue
//! too: the holder hands the lease on, in one write, to the node that has waited longest.

mod acquire;
mod heir;
mod keeper;
mod queue;
mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use crate::{Chance, Error, Kv, Revision, Wire};

/// How leases are held and waited for.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// A lease that is not renewed for this long is free. The election of a JetStream leader takes
    /// 4 to 9 s: a shorter TTL (the setting `lease-ttl` is 4 s) may free the lease of a live holder,
    /// which costs work and no truth, and lets the work of a killed node go on sooner.
    pub ttl: Duration,
    /// The holder gives up this much before the server does.
    pub guard: Duration,
    /// The longest wait for a lease that another holds.
    pub wait_max: Duration,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            ttl: Duration::from_secs(15),
            guard: Duration::from_millis(1500),
            wait_max: Duration::from_secs(30),
        }
    }
}

/// Why a lease could not be had.
#[derive(Debug, thiserror::Error)]
pub enum Busy {
    /// Another holds it.
    #[error("the lease is held by {by}")]
    Held {
        /// The node that holds it.
        by: String,
    },
    /// The bus cannot say.
    #[error("the lease cannot be asked for: {0}")]
    Unavailable(#[source] Error),
}

/// The value of the key: the node that holds the lease, and its acquisition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Holder {
    owner: String,
    nonce: String,
    /// The holder before has written this entry; the new holder has not written yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    handed: bool,
    /// The nodes that wait behind it, as the holder before knew them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    next: Vec<heir::Waiter>,
}

/// The leases of one node. Cheap to clone; the tasks end with [`Leases::close`] or the last clone.
#[derive(Clone)]
pub struct Leases {
    inner: Arc<Inner>,
    running: Arc<DropGuard>,
}

struct Inner {
    kv: Arc<dyn Kv>,
    owner: String,
    terms: Terms,
    chance: Chance,
    view: Mutex<view::View>,
    queue: queue::Queue,
    presence: Mutex<Live>,
    /// Held leases by key (one at a time, by the queue), and nonces of acquisitions under way.
    held: Mutex<BTreeMap<String, Arc<Held>>>,
    trying: Mutex<BTreeSet<String>>,
    /// The nodes that wait for leases of this node, by the nonce of the lease.
    waiting: Mutex<heir::Waiting>,
    wire: OnceLock<Arc<dyn Wire>>,
    /// Nonces of acquisitions that were given up with an unknown outcome, until this instant.
    disowned: Mutex<BTreeMap<String, Instant>>,
    orphans: mpsc::UnboundedSender<Orphan>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

/// The live nodes, as presence shows them.
#[derive(Default)]
struct Live {
    now: Option<BTreeSet<String>>,
    departed: BTreeSet<String>,
}

/// A key of this node that no acquisition wants any more.
struct Orphan {
    key: String,
    revision: Revision,
    nonce: String,
}

/// A lease as the keeper sees it.
struct Held {
    key: String,
    nonce: String,
    token: Revision,
    /// The revision of the last write; whoever writes holds the lock.
    revision: Arc<tokio::sync::Mutex<Revision>>,
    times: Mutex<Times>,
    lost: CancellationToken,
}

#[derive(Clone, Copy)]
struct Times {
    written: Instant,
    deadline: Instant,
}

impl Leases {
    /// Starts the node's watch of the bucket and the task that renews.
    #[must_use]
    pub fn start(kv: Arc<dyn Kv>, owner: &str, terms: Terms, chance: Chance) -> Self {
        let (orphans, queue) = mpsc::unbounded_channel();
        let stop = CancellationToken::new();
        let inner = Arc::new(Inner {
            kv,
            owner: owner.to_owned(),
            terms,
            chance,
            view: Mutex::default(),
            queue: queue::Queue::default(),
            presence: Mutex::default(),
            held: Mutex::default(),
            trying: Mutex::default(),
            waiting: Mutex::default(),
            wire: OnceLock::new(),
            disowned: Mutex::default(),
            orphans,
            tasks: TaskTracker::new(),
            stop: stop.clone(),
        });
        inner.supervise("leases: watch", keeper::watch);
        let queue = Arc::new(tokio::sync::Mutex::new(queue));
        inner.supervise("leases: keep", move |inner| keeper::keep(inner, Arc::clone(&queue)));
        inner.tasks.close();
        Self { inner, running: Arc::new(stop.drop_guard()) }
    }

    /// Gives a lease to the nodes that wait for it in the order in which they came. A node that waits
    /// says so to the holder over `wire`, and a release hands the lease on. A lost message costs
    /// fairness only.
    #[must_use]
    pub fn fair(self, wire: Arc<dyn Wire>) -> Self {
        if self.inner.wire.set(wire).is_ok() {
            self.inner.supervise("leases: hear who waits", heir::listen);
        }
        self
    }

    /// Takes the lease on `key`. While another holds it, waits on the watch, at most
    /// `terms.wait_max`; those who wait on one node get it in the order they came.
    ///
    /// # Errors
    /// [`Busy`] when it could not be had in that time. An acquisition that is given up, or whose
    /// future is dropped, is released by itself if it turns out to have won.
    pub async fn acquire(&self, key: &str) -> Result<Lease, Busy> {
        acquire::acquire(&self.inner, key).await
    }

    /// Takes over the list of the live nodes. Waiters take the leases of nodes that have gone at once.
    /// A list without this node is ignored: this node is cut off then.
    pub fn presence_changed(&self, live: &[String]) {
        if !live.contains(&self.inner.owner) {
            return;
        }
        let live: BTreeSet<String> = live.iter().cloned().collect();
        {
            let mut presence = lock(&self.inner.presence);
            let before = presence.now.take().unwrap_or_default();
            presence.departed.extend(before.difference(&live).cloned());
            presence.departed.retain(|node| !live.contains(node));
            while presence.departed.len() > DEPARTED_MAX {
                presence.departed.pop_first();
            }
            presence.now = Some(live);
        }
        self.inner.queue.wake_all();
    }

    /// How many leases this node holds now.
    #[must_use]
    pub fn held(&self) -> usize {
        lock(&self.inner.held).len()
    }

    /// Stops the tasks and waits for them. Leases that are still held are renewed no more.
    pub async fn close(&self) {
        self.inner.stop.cancel();
        self.inner.tasks.wait().await;
    }
}

/// The owner of a lease that cannot be read.
const UNREADABLE: &str = "(unreadable)";

/// Departed nodes that are remembered.
const DEPARTED_MAX: usize = 1_000;

impl std::fmt::Debug for Leases {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Leases({}, {} held, {} handles)",
            self.inner.owner,
            self.held(),
            Arc::strong_count(&self.running)
        )
    }
}

/// One held lease: renewed in the background until it is released or dropped.
pub struct Lease {
    inner: Arc<Inner>,
    held: Arc<Held>,
    waited: Duration,
    contended: bool,
    released: bool,
    _front: queue::Front,
}

impl Lease {
    /// Grows with every acquisition of any key, until the bucket is made anew.
    #[must_use]
    pub fn token(&self) -> u64 {
        self.held.token
    }

    /// How long the acquisition took.
    #[must_use]
    pub fn waited(&self) -> Duration {
        self.waited
    }

    /// Another acquisition held it, on this node or another, when it was asked for.
    #[must_use]
    pub fn contended(&self) -> bool {
        self.contended
    }

    /// This acquisition still holds it, by this node's monotonic clock and all that it has seen.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.held.is_held()
    }

    /// Completes when it is lost: its deadline passed, a renewal was refused, or the watch showed
    /// another holder.
    pub async fn lost(&self) {
        self.held.wait_lost().await;
    }

    /// Gives it back, so that the next waiter has it at once. Best effort, for 2 s at most: where it
    /// fails, the lease expires.
    pub async fn release(mut self) {
        self.released = true;
        self.inner.forget(&self.held);
        keeper::release(&self.inner, &self.held).await;
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if self.released {
            return;
        }
        self.inner.forget(&self.held);
        let revision = self.held.revision.try_lock().map_or(self.held.token, |revision| *revision);
        self.held.lost.cancel();
        self.inner.orphan(&self.held.key, revision, &self.held.nonce);
    }
}

impl std::fmt::Debug for Lease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Lease({} token {} held {})", self.held.key, self.held.token, self.is_held())
    }
}

impl Held {
    fn is_held(&self) -> bool {
        !self.lost.is_cancelled() && Instant::now() < lock(&self.times).deadline
    }

    async fn wait_lost(&self) {
        while self.is_held() {
            let deadline = lock(&self.times).deadline;
            tokio::select! {
                biased;
                () = self.lost.cancelled() => {}
                () = tokio::time::sleep_until(deadline) => {}
            }
        }
        self.lost.cancel();
    }
}

impl Holder {
    fn is_unreadable(&self) -> bool {
        self.owner == UNREADABLE && self.nonce.is_empty()
    }

    fn bytes(&self) -> Bytes {
        serde_json::to_vec(self).unwrap_or_default().into()
    }
}

impl Inner {
    /// Runs a task until this node closes its leases, and again after a panic.
    fn supervise<F: Future<Output = ()> + Send + 'static>(
        self: &Arc<Self>,
        task: &'static str,
        run: impl Fn(Arc<Self>) -> F + Send + 'static,
    ) {
        let (inner, tracked) = (Arc::clone(self), self.tasks.token());
        let runs = tasks::supervise(task, self.stop.clone(), move || {
            let _until_it_ends = &tracked;
            run(Arc::clone(&inner))
        });
        // It ends with `stop`; the tracker knows when.
        drop(runs);
    }

    fn value(&self, nonce: &str) -> Bytes {
        self.holder(nonce).bytes()
    }

    /// This node, as the holder.
    fn holder(&self, nonce: &str) -> Holder {
        Holder { owner: self.owner.clone(), nonce: nonce.to_owned(), ..Holder::default() }
    }

    /// The nonce belongs to a lease that is held, or to an acquisition under way.
    fn is_active(&self, key: &str, nonce: &str) -> bool {
        lock(&self.held).get(key).is_some_and(|held| held.nonce == nonce)
            || lock(&self.trying).contains(nonce)
    }

    fn forget(&self, lease: &Held) {
        let mut held = lock(&self.held);
        if held.get(&lease.key).is_some_and(|held| held.nonce == lease.nonce) {
            held.remove(&lease.key);
        }
    }

    /// Releases the key as soon as it shows this nonce, now or in the next while.
    fn disown(&self, key: &str, nonce: &str) {
        let until = Instant::now() + self.terms.ttl * 2 + crate::retry::BUDGET;
        lock(&self.disowned).insert(nonce.to_owned(), until);
        let seen = lock(&self.view).get(key);
        if let Some(seen) = seen
            && seen.holder.is_some_and(|holder| holder.nonce == nonce)
        {
            self.orphan(key, seen.revision, nonce);
        }
    }

    fn orphan(&self, key: &str, revision: Revision, nonce: &str) {
        let orphan = Orphan { key: key.to_owned(), revision, nonce: nonce.to_owned() };
        if self.orphans.send(orphan).is_err() {
            tracing::debug!(key, "a lease is left to expire: the node is closing");
        }
    }

    /// Notes what a write or a read of this node has shown, before the watch shows it.
    fn note(&self, key: &str, revision: Revision, holder: Option<Holder>) {
        lock(&self.view).note(key, revision, holder, Instant::now());
    }
}

fn parse(value: Option<&Bytes>) -> Option<Holder> {
    value.map(|bytes| {
        serde_json::from_slice(bytes).unwrap_or_else(|error| {
            tracing::warn!(%error, "a lease cannot be read; it is removed");
            Holder { owner: UNREADABLE.to_owned(), ..Holder::default() }
        })
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
