//! The queue of each key within one node. Only the first acquisition of the queue contends with
//! other nodes. Nothing is kept for a key that nobody wants.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tokio::sync::{Notify, OwnedMutexGuard};

use crate::lock::lock;

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

/// A place in the queue of one key.
pub(super) struct Ticket {
    key: String,
    gate: Arc<Gate>,
    gates: Gates,
}

/// The front of the queue, kept for as long as the lease is held.
pub(super) struct Front {
    // Fields are dropped in this order: the next acquisition of the queue may go on before the
    // ticket is given up.
    _guard: OwnedMutexGuard<()>,
    ticket: Ticket,
}

impl Queue {
    pub(super) fn join(&self, key: &str) -> Ticket {
        let mut gates = lock(&self.gates);
        let gate = match gates.get(key) {
            Some(gate) => Arc::clone(gate),
            None => {
                let gate = Arc::new(Gate::default());
                gates.insert(key.to_owned(), Arc::clone(&gate));
                gate
            }
        };
        Ticket { key: key.to_owned(), gate, gates: Arc::clone(&self.gates) }
    }

    /// The key has changed: the acquisition that contends for it looks again.
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

impl Ticket {
    /// Nobody is before this ticket.
    pub(super) fn is_free(&self) -> bool {
        self.gate.turn.try_lock().is_ok()
    }

    pub(super) async fn turn(self) -> Front {
        let guard = Arc::clone(&self.gate.turn).lock_owned().await;
        Front { _guard: guard, ticket: self }
    }
}

impl Front {
    pub(super) fn changed(&self) -> &Notify {
        &self.ticket.gate.changed
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut gates = lock(&self.gates);
        // The references of the map and of this ticket: no other ticket waits.
        if Arc::strong_count(&self.gate) <= 2 {
            gates.remove(&self.key);
        }
    }
}
