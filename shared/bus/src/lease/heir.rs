//! The queue of the nodes that wait for a lease. They send a message to its holder, and the holder
//! hands the lease on in that order, with the rest of the queue. All of it is advice: when a message
//! is lost, or the holder ends, the first acquisition that tries takes the free key.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use protocol::{Message, subject};
use serde::{Deserialize, Serialize};

use super::holder::{Holder, Waiter};
use super::inner::Inner;
use crate::lock::lock;
use crate::{Incoming, Revision};

/// Nodes that are remembered as waiting for one lease; the others contend for it without a queue.
const WAITING_MAX: usize = 256;
/// The longest time that a waiter tries to send its message.
const TELL_MAX: Duration = Duration::from_millis(250);
const PAUSE: Duration = Duration::from_secs(1);

/// The message of a waiter to the holder.
#[derive(Debug, Serialize, Deserialize)]
struct Want {
    key: String,
    /// The nonce of the lease that is waited for.
    holder: String,
    waiter: Waiter,
}

/// Receives the messages of waiters, until this node closes.
pub(super) async fn listen(inner: Arc<Inner>) {
    let Some(wire) = inner.wire.get() else { return };
    let subject = subject::lease_wanted(&inner.owner);
    while !inner.stop.is_cancelled() {
        let heard = async {
            match wire.subscribe(&subject).await {
                Ok(mut wants) => {
                    while let Some(Incoming { message, .. }) = wants.next().await {
                        inner.hear(&message);
                    }
                }
                Err(error) => tracing::debug!(%error, "cannot hear who waits for leases"),
            }
            tokio::time::sleep(PAUSE).await;
        };
        tokio::select! {
            biased;
            () = inner.stop.cancelled() => {}
            () = heard => {}
        }
    }
}

impl Inner {
    fn hear(&self, message: &Message) {
        let want: Want = match serde_json::from_slice(&message.payload) {
            Ok(want) => want,
            Err(error) => return tracing::debug!(%error, "something unreadable about a lease"),
        };
        // The lock is held during the check whether the node still holds the lease: a release takes
        // the queue away after it has given up the lease.
        let mut waiting = lock(&self.waiting);
        if self.is_active(&want.key, &want.holder) {
            add(waiting.entry(want.holder).or_default(), want.waiter);
        }
    }

    /// Sends the holder the message that this acquisition waits.
    pub(super) async fn tell(&self, key: &str, holder: &Holder, nonce: &str) {
        let Some(wire) = self.wire.get() else { return };
        let want = Want {
            key: key.to_owned(),
            holder: holder.nonce.clone(),
            waiter: Waiter { owner: self.owner.clone(), nonce: nonce.to_owned() },
        };
        let message = Message {
            subject: subject::lease_wanted(&holder.owner),
            payload: serde_json::to_vec(&want).unwrap_or_default(),
            ..Message::default()
        };
        match tokio::time::timeout(TELL_MAX, wire.send(message)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, key, "the holder does not know who waits"),
            Err(_) => tracing::debug!(key, "the holder does not know who waits"),
        }
    }

    /// Takes over the queue of the previous holder: its nodes asked before those known here.
    pub(super) fn inherit(&self, nonce: &str, next: &[Waiter]) {
        if next.is_empty() {
            return;
        }
        let mut waiting = lock(&self.waiting);
        let known = waiting.remove(nonce).unwrap_or_default();
        let row = waiting.entry(nonce.to_owned()).or_default();
        for waiter in next.iter().cloned().chain(known) {
            add(row, waiter);
        }
    }

    /// Takes the queue of this lease.
    pub(super) fn heirs(&self, nonce: &str) -> Vec<Waiter> {
        lock(&self.waiting).remove(nonce).unwrap_or_default()
    }

    /// The next holder of the lease with this nonce, and the queue behind it, without nodes that
    /// have left.
    pub(super) fn heir(&self, nonce: &str) -> Option<Holder> {
        let row = self.heirs(nonce);
        let presence = lock(&self.presence);
        let mut row = row.into_iter().filter(|it| !presence.departed.contains(&it.owner));
        let Waiter { owner, nonce } = row.next()?;
        Some(Holder { owner, nonce, handed: true, next: row.collect() })
    }

    /// The lease was handed to an acquisition of this node that has ended.
    pub(super) fn is_handed_in_vain(&self, key: &str, revision: Revision, holder: &Holder) -> bool {
        holder.handed
            && holder.owner == self.owner
            && !self.is_active(key, &holder.nonce)
            // A change that the watch shows late may be over already.
            && lock(&self.view).get(key).is_some_and(|seen| seen.revision == revision)
    }
}

fn add(row: &mut Vec<Waiter>, waiter: Waiter) {
    if row.len() < WAITING_MAX && row.iter().all(|known| known.nonce != waiter.nonce) {
        row.push(waiter);
    }
}
