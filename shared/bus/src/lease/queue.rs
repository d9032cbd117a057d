//! The local queue of each key: those who want a lease on one node wait in a row, and only the
//! first contends with other nodes. Nothing is kept for a key that nobody wants.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tokio::sync::{Notify, OwnedMutexGuard};

use super::lock;

type Gates = Arc<Mutex<BTreeMap<String, Arc<Gate>>>>;

#[derive(Default)]
pub(super) struct Queue {
    gates: Gates,
}

#[derive(Default)]
struct Gate {
    turn: Arc<tokio::sync::Mutex<()>>,
    changed: Notify,
}

/// A place in the row of one key.
pub(super) struct Place {
    key: String,
    gate: Arc<Gate>,
    gates: Gates,
}

/// The front of the row, kept for as long as the lease is held.
pub(super) struct Turn {
    // Fields drop in this order: the next in the row is let in before the place is given up.
    _guard: OwnedMutexGuard<()>,
    place: Place,
}

impl Queue {
    pub(super) fn join(&self, key: &str) -> Place {
        let mut gates = lock(&self.gates);
        let gate = match gates.get(key) {
            Some(gate) => Arc::clone(gate),
            None => {
                let gate = Arc::new(Gate::default());
                gates.insert(key.to_owned(), Arc::clone(&gate));
                gate
            }
        };
        Place { key: key.to_owned(), gate, gates: Arc::clone(&self.gates) }
    }

    /// The key has changed: whoever contends for it looks again.
    pub(super) fn wake(&self, key: &str) {
        if let Some(gate) = lock(&self.gates).get(key) {
            gate.changed.notify_waiters();
        }
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        lock(&self.gates).is_empty()
    }

    pub(super) fn wake_all(&self) {
        for gate in lock(&self.gates).values() {
            gate.changed.notify_waiters();
        }
    }
}

impl Place {
    /// Nobody is before us.
    pub(super) fn is_free(&self) -> bool {
        self.gate.turn.try_lock().is_ok()
    }

    pub(super) async fn turn(self) -> Turn {
        let guard = Arc::clone(&self.gate.turn).lock_owned().await;
        Turn { _guard: guard, place: self }
    }
}

impl Turn {
    pub(super) fn changed(&self) -> &Notify {
        &self.place.gate.changed
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut gates = lock(&self.gates);
        // The map's own and this one: nobody else waits.
        if Arc::strong_count(&self.gate) <= 2 {
            gates.remove(&self.key);
        }
    }
}
