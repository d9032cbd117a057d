//! The two tasks of a node's leases: one follows the watch; the other renews the leases that are
//! held and releases those that no acquisition wants.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedMutexGuard, mpsc};
use tokio::time::Instant;

use super::held::{Held, Times};
use super::holder::{Holder, parse};
use super::inner::{Inner, Orphan};
use crate::follow::follow;
use crate::lock::lock;
use crate::retry::Pace;
use crate::{Change, Put, Revision};

/// The longest a release may take.
const RELEASE_MAX: Duration = Duration::from_secs(2);

pub(super) async fn watch(inner: Arc<Inner>) {
    let mut first_sync = true;
    follow(&*inner.kv, &inner.stop, |change| match change {
        Change::Set { key, value, revision } => {
            let holder = parse(value.as_ref());
            lock(&inner.view).note(&key, revision, holder.clone(), Instant::now());
            judge(&inner, &key, revision, holder.as_ref());
            inner.queue.wake(&key);
        }
        Change::Reset => lock(&inner.view).reset(),
        Change::Synced => {
            let owned = {
                let mut view = lock(&inner.view);
                view.synced();
                view.of_owner(&inner.owner)
            };
            // Keys that this node left behind when it ran before under the same name.
            for (key, seen) in owned.into_iter().filter(|_| first_sync) {
                let nonce = seen.holder.map(|holder| holder.nonce).unwrap_or_default();
                if !inner.is_active(&key, &nonce) {
                    inner.orphan(&key, seen.revision, &nonce);
                }
            }
            first_sync = false;
            inner.queue.wake_all();
        }
    })
    .await;
}

/// Acts on a change of a key. A lease of this node that now shows another holder is lost. A lease
/// that was disowned, or handed to an acquisition of this node that has ended, is released. An
/// entry that cannot be read is removed.
fn judge(inner: &Inner, key: &str, revision: Revision, holder: Option<&Holder>) {
    if let Some(holder) = holder
        && (holder.is_unreadable()
            || lock(&inner.disowned).contains_key(&holder.nonce)
            || inner.is_handed_in_vain(key, revision, holder))
    {
        inner.inherit(&holder.nonce, &holder.next);
        inner.orphan(key, revision, &holder.nonce);
    }
    if let Some(mine) = lock(&inner.held).get(key)
        && mine.token < revision
        && holder.is_none_or(|holder| holder.nonce != mine.nonce)
    {
        mine.lost.cancel();
    }
}

pub(super) async fn keep(
    inner: Arc<Inner>,
    orphans: Arc<tokio::sync::Mutex<mpsc::UnboundedReceiver<Orphan>>>,
) {
    let mut orphans = orphans.lock().await;
    let tick = (inner.terms.ttl / 15).max(Duration::from_millis(20));
    let mut ticks = tokio::time::interval(tick);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            () = inner.stop.cancelled() => break,
            Some(orphan) = orphans.recv() => {
                let tracker = inner.tasks.clone();
                let inner = Arc::clone(&inner);
                let work = async move { give_back(&inner, orphan).await };
                drop(tasks::spawn("leases: give back", tracker.track_future(work)));
            }
            _ = ticks.tick() => tend(&inner),
        }
    }
    while let Ok(orphan) = orphans.try_recv() {
        give_back(&inner, orphan).await;
    }
}

/// Starts the renewals that are due, and forgets old entries.
fn tend(inner: &Arc<Inner>) {
    let now = Instant::now();
    lock(&inner.view).sweep(now);
    lock(&inner.disowned).retain(|_, until| *until > now);
    let due: Vec<_> = {
        let is_due = |held: &&Arc<Held>| now >= lock(&held.times).written + inner.terms.ttl / 3;
        lock(&inner.held).values().filter(is_due).cloned().collect()
    };
    for held in due.into_iter().filter(|held| held.is_held()) {
        // If the lock is taken, a renewal or a release is in progress.
        if let Ok(revision) = Arc::clone(&held.revision).try_lock_owned() {
            let tracker = inner.tasks.clone();
            let inner = Arc::clone(inner);
            let work = async move { renew(&inner, &held, revision).await };
            drop(tasks::spawn("leases: renew", tracker.track_future(work)));
        }
    }
}

async fn renew(inner: &Arc<Inner>, held: &Arc<Held>, mut revision: OwnedMutexGuard<Revision>) {
    let nonce = (inner.nonces)();
    let value = inner.value(&held.nonce);
    let ttl = inner.terms.ttl;
    let written = Instant::now();
    let mut pace = Pace::until(lock(&held.times).deadline, &nonce);
    while held.is_held() {
        let put = tokio::select! {
            biased;
            () = held.lost.cancelled() => return,
            put = inner.kv.put_if(&held.key, value.clone(), *revision, Some(ttl), &nonce) => put,
        };
        match put {
            Ok(Put::Won(now_at)) => {
                *revision = now_at;
                let deadline = written + ttl.saturating_sub(inner.terms.guard);
                *lock(&held.times) = Times { written, deadline };
                inner.note(&held.key, now_at, Some(inner.holder(&held.nonce)));
                return;
            }
            Ok(Put::Lost(Some(_))) => match own_revision(inner, held).await {
                // An earlier renewal whose answer was lost had been written.
                Some(now_at) if now_at > *revision => *revision = now_at,
                _ => {
                    tracing::debug!(key = held.key, "a lease was lost: its renewal was refused");
                    held.lost.cancel();
                    return;
                }
            },
            Ok(Put::Lost(None)) => {
                if !pace.wait().await {
                    return;
                }
            }
            Err(error) => {
                tracing::debug!(%error, key = held.key, "a lease could not be renewed yet");
                if !error.is_passing() || !pace.wait().await {
                    return;
                }
            }
        }
    }
}

/// The current revision of the key, if the key still shows this lease.
async fn own_revision(inner: &Inner, held: &Held) -> Option<Revision> {
    let entry = inner.kv.get(&held.key).await.ok().flatten()?;
    let holder = parse(entry.value.as_ref())?;
    (holder.nonce == held.nonce).then_some(entry.revision)
}

/// Releases a lease; a renewal in progress ends first.
pub(super) async fn release(inner: &Inner, held: &Held) {
    let work = async {
        let revision = *held.revision.lock().await;
        purge(inner, &held.key, revision, &held.nonce).await
    };
    let released = tokio::time::timeout(RELEASE_MAX, work).await.unwrap_or(false);
    held.lost.cancel();
    if !released {
        inner.disown(&held.key, &held.nonce);
    }
}

async fn give_back(inner: &Inner, orphan: Orphan) {
    let Orphan { key, revision, nonce } = orphan;
    let work = purge(inner, &key, revision, &nonce);
    if !tokio::time::timeout(RELEASE_MAX, work).await.unwrap_or(false) {
        tracing::debug!(key, "a lease could not be given back, it will expire");
    }
}

/// Purges the key if it still shows this lease, or hands it to the node that has waited longest.
/// False if the state of the key could not be found out.
async fn purge(inner: &Inner, key: &str, mut revision: Revision, lease: &str) -> bool {
    let mut nonce = (inner.nonces)();
    let mut pace = Pace::until(Instant::now() + RELEASE_MAX, &nonce);
    let heir = inner.heir(lease);
    loop {
        let put = match &heir {
            Some(heir) => {
                let ttl = Some(inner.terms.ttl);
                inner.kv.put_if(key, heir.bytes(), revision, ttl, &nonce).await
            }
            None => inner.kv.purge_if(key, revision, &nonce).await,
        };
        match put {
            Ok(Put::Won(now_at)) => {
                inner.note(key, now_at, heir);
                inner.queue.wake(key);
                return true;
            }
            Ok(Put::Lost(Some(_))) => {
                let entry = inner.kv.get(key).await.ok().flatten();
                let Some(entry) = entry else { return true };
                let is_ours = parse(entry.value.as_ref()).is_some_and(|held| held.nonce == lease);
                if !is_ours || entry.revision <= revision {
                    return true;
                }
                revision = entry.revision;
                nonce = (inner.nonces)();
            }
            Ok(Put::Lost(None)) => {
                if !pace.wait().await {
                    return false;
                }
            }
            Err(error) => {
                if !error.is_passing() || !pace.wait().await {
                    return false;
                }
            }
        }
    }
}
