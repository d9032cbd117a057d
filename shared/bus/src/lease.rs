//! The lease: a key that at most one node holds, by compare-and-swap, while it renews the key.
//!
//! A lease saves work and never decides what is true: a holder can be paused past its expiry, so
//! every write under a lease checks a version as well. One watch per node wakes all waiters. The
//! waiters of one node queue behind each other, and only the first contends with other nodes. Where
//! nodes can send messages to each other ([`Leases::fair`]), the first waiters of all nodes queue
//! too: the holder hands the lease on, in one write, to the node that has waited longest.

mod acquire;
mod handle;
mod heir;
mod held;
mod holder;
mod inner;
mod keeper;
mod queue;
mod terms;
mod view;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

pub use handle::Lease;
pub use holder::{Holding, look, look_at_all, take_away};
pub use terms::{Busy, Terms};

use crate::lock::lock;
use crate::{Kv, Nonces, Wire};
use inner::Inner;
use queue::Queue;

/// The leases of one node. Cheap to clone; the tasks end with [`Leases::close`] or the last clone.
#[derive(Clone)]
pub struct Leases {
    inner: Arc<Inner>,
    running: Arc<DropGuard>,
}

impl Leases {
    /// Starts the node's watch of the bucket and the task that renews.
    #[must_use]
    pub fn start(kv: Arc<dyn Kv>, owner: &str, terms: Terms, nonces: Nonces) -> Self {
        let (orphans, queue) = mpsc::unbounded_channel();
        let stop = CancellationToken::new();
        let inner = Arc::new(Inner {
            kv,
            owner: owner.to_owned(),
            terms,
            nonces,
            view: Mutex::default(),
            queue: Queue::default(),
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

    /// Gives a lease to the waiting nodes in the order in which they asked. A waiting node sends a
    /// message to the holder over `wire`, and a release hands the lease on. A lost message costs
    /// fairness only.
    #[must_use]
    pub fn fair(self, wire: Arc<dyn Wire>) -> Self {
        if self.inner.wire.set(wire).is_ok() {
            self.inner.supervise("leases: hear who waits", heir::listen);
        }
        self
    }

    /// Takes the lease on `key`. While another holds it, waits on the watch, at most
    /// `terms.wait_max`; the acquisitions of one node get it in the order in which they asked.
    ///
    /// # Errors
    /// [`Busy`] when it could not be acquired in that time. An acquisition that is given up, or
    /// whose future is dropped, is released by itself if it turns out to have won.
    pub async fn acquire(&self, key: &str) -> Result<Lease, Busy> {
        acquire::acquire(&self.inner, key).await
    }

    /// Takes over the list of the live nodes. Waiters take the leases of nodes that have gone at
    /// once. A list without this node is ignored: it means that this node is cut off.
    pub fn presence_changed(&self, live: &[String]) {
        if !live.contains(&self.inner.owner) {
            return;
        }
        let live = live.iter().cloned().collect();
        lock(&self.inner.presence).change(live);
        self.inner.queue.wake_all();
    }

    /// The keys of leases that this node holds and other nodes wait for, with the names of these nodes, the
    /// next one first: at most `keys_max` keys.
    #[must_use]
    pub fn wanted(&self, keys_max: usize) -> BTreeMap<String, Vec<String>> {
        let waiting = lock(&self.inner.waiting).clone();
        let held = lock(&self.inner.held);
        let wanted = held.iter().filter_map(|(key, held)| {
            let mut nodes = Vec::new();
            for waiter in waiting.get(&held.nonce)? {
                if !nodes.contains(&waiter.owner) {
                    nodes.push(waiter.owner.clone());
                }
            }
            Some((key.clone(), nodes))
        });
        wanted.take(keys_max).collect()
    }

    /// The number of leases that this node holds now.
    #[must_use]
    pub fn held(&self) -> usize {
        lock(&self.inner.held).len()
    }

    /// Stops the tasks and waits for them. Leases that are still held are no longer renewed.
    pub async fn close(&self) {
        self.inner.stop.cancel();
        self.inner.tasks.wait().await;
    }
}

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

#[cfg(test)]
mod tests;
