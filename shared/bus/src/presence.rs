//! Presence: each live node renews its own key, and the live nodes are those that have a key. A
//! node that cannot renew its key for a whole TTL knows that the other nodes count it as gone, and
//! starts nothing new.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use model::Timestamp;
use protocol::subject;
use serde::{Deserialize, Serialize};
use tasks::Trouble;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use crate::follow::follow;
use crate::lock::lock;
use crate::retry::{BUDGET, Pace};
use crate::{Change, Entry, Error, Kv, Nonces, Put, Revision};

/// How often [`Presence::until_live`] looks.
const LOOK: Duration = Duration::from_millis(20);

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// Its name, unique in the cluster.
    pub node: String,
    /// Its roles: `executor`, `timer`, …
    pub roles: Vec<String>,
    /// When it started.
    pub started_at: Timestamp,
    /// The URL of its HTTP API, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The version of Staunch that it runs; none of a node whose version does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// This node among the live ones. Cheap to clone; ends with [`Presence::leave`] or the last clone.
#[derive(Clone)]
pub struct Presence {
    inner: Arc<Inner>,
    _running: Arc<DropGuard>,
}

/// Whether the other nodes count this node as live. The presence may have ended: then the node is
/// soon cut off.
#[derive(Clone)]
pub struct Standing(Arc<Inner>);

impl Standing {
    /// As [`Presence::is_cut_off`].
    #[must_use]
    pub fn is_cut_off(&self) -> bool {
        !*self.0.synced.borrow() || lock(&self.0.written).elapsed() > self.0.ttl
    }

    /// The time since which the other nodes count this node as live without a break, as far as it
    /// can know. Before that, they may have decided something without this node.
    #[must_use]
    pub fn live_since(&self) -> Instant {
        *lock(&self.0.live_since)
    }
}

struct Inner {
    node: String,
    kv: Arc<dyn Kv>,
    key: String,
    value: Bytes,
    started_at: Timestamp,
    /// A process that started later has taken the name of this one.
    displaced: CancellationToken,
    ttl: Duration,
    nonces: Nonces,
    view: Mutex<View>,
    live: watch::Sender<Vec<Member>>,
    synced: watch::Sender<bool>,
    own: tokio::sync::Mutex<Revision>,
    /// The time just before the last write that succeeded.
    written: Mutex<Instant>,
    /// The other nodes have counted this node as live without a break since then.
    live_since: Mutex<Instant>,
    /// The time at which this node began to follow the others.
    joined: Instant,
    /// The roles that live nodes had and none has any more, and since when.
    vacant: Mutex<BTreeMap<String, Instant>>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

#[derive(Default)]
struct View {
    members: BTreeMap<String, Member>,
    /// Keys that the snapshot in progress has named; none outside a snapshot.
    fresh: Option<BTreeSet<String>>,
    /// Members that a snapshot has not named, and those whose key cannot be read, and since when. A
    /// bucket that was created anew has lost the keys of live nodes. They count as live for one TTL,
    /// as they themselves do.
    doubted: BTreeMap<String, Instant>,
    /// The revisions that [`Presence::look`] has found. The watch may be behind them by any time, and
    /// ends in showing what happened since: until then its older news are ignored.
    looked: BTreeMap<String, Revision>,
    /// How often the watch has begun anew.
    resets: u64,
}

impl Presence {
    /// Joins: writes the own key, reads the live nodes, and keeps both up to date until
    /// [`Presence::leave`]. A key that is not renewed for `ttl` is gone; it is renewed every `ttl /
    /// 3`.
    ///
    /// # Errors
    /// When the bus does not answer within about 12 s.
    pub async fn join(
        kv: Arc<dyn Kv>,
        me: Member,
        ttl: Duration,
        nonces: Nonces,
    ) -> Result<Self, Error> {
        let value = serde_json::to_vec(&me).map_err(|error| Error::Corrupt(error.to_string()))?;
        let stop = CancellationToken::new();
        let inner = Arc::new(Inner {
            key: subject::token(&me.node),
            node: me.node,
            kv,
            value: value.into(),
            started_at: me.started_at,
            displaced: CancellationToken::new(),
            ttl,
            nonces,
            view: Mutex::default(),
            live: watch::Sender::default(),
            synced: watch::Sender::default(),
            own: tokio::sync::Mutex::new(0),
            written: Mutex::new(Instant::now()),
            live_since: Mutex::new(Instant::now()),
            joined: Instant::now(),
            vacant: Mutex::default(),
            tasks: TaskTracker::new(),
            stop: stop.clone(),
        });
        let running = Arc::new(stop.drop_guard());
        inner.write(Instant::now() + BUDGET).await?;
        inner.supervise("presence: watch", listen);
        inner.supervise("presence: renew", renew);
        inner.tasks.close();
        let mut synced = inner.synced.subscribe();
        let ready = synced.wait_for(|synced| *synced);
        match tokio::time::timeout(BUDGET, ready).await {
            Ok(Ok(_)) => Ok(Self { inner, _running: running }),
            _ => Err(Error::Unavailable("the live nodes cannot be read".to_owned())),
        }
    }

    /// This node's name.
    #[must_use]
    pub fn node(&self) -> &str {
        &self.inner.node
    }

    /// The live nodes, sorted by name; those last known while this node is cut off.
    #[must_use]
    pub fn live(&self) -> Vec<Member> {
        self.inner.live.borrow().clone()
    }

    /// The live nodes, at every change.
    #[must_use]
    pub fn changed(&self) -> watch::Receiver<Vec<Member>> {
        self.inner.live.subscribe()
    }

    /// The time since which no live node has this role, as far as this node knows; `None` while one
    /// has it. A role that no node has had since this node joined is counted from then on.
    #[must_use]
    pub fn without_since(&self, role: &str) -> Option<Instant> {
        let live = self.inner.live.borrow();
        if has_role(&live, role) {
            return None;
        }
        Some(lock(&self.inner.vacant).get(role).copied().unwrap_or(self.inner.joined))
    }

    /// Reads the bucket itself. Afterwards every node that has joined before the call is among the
    /// live nodes, even if the watch has not shown it yet.
    ///
    /// # Errors
    /// When the bus cannot be asked.
    pub async fn look(&self) -> Result<(), Error> {
        let resets = lock(&self.inner.view).resets;
        let found = self.inner.kv.entries().await?;
        let mut view = lock(&self.inner.view);
        // The entries may be of a bucket that is gone: its revisions say nothing about the new one.
        let is_same_bucket = view.resets == resets;
        let View { members, doubted, looked, .. } = &mut *view;
        for (key, Entry { value, revision }) in found {
            if let Some(member) = value.and_then(|value| read(&key, &value)) {
                if is_same_bucket {
                    doubted.remove(&key);
                    looked.insert(key.clone(), revision);
                } else {
                    doubted.insert(key.clone(), Instant::now());
                }
                members.insert(key, member);
            }
        }
        self.inner.show(&view);
        Ok(())
    }

    /// The time after which a key that is not renewed is gone.
    #[must_use]
    pub fn ttl(&self) -> Duration {
        self.inner.ttl
    }

    /// The own key was not renewed for a whole TTL, or the list of the other nodes is not complete.
    #[must_use]
    pub fn is_cut_off(&self) -> bool {
        self.standing().is_cut_off()
    }

    /// Completes when the other nodes count this node as live. It may never do.
    pub async fn until_live(&self) {
        while self.is_cut_off() {
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Whether the other nodes count this node as live, for a holder that must not keep the
    /// presence alive.
    #[must_use]
    pub fn standing(&self) -> Standing {
        Standing(Arc::clone(&self.inner))
    }

    /// Ends when a process that started later has joined under the name of this one: both would count
    /// for one, so this one has to leave.
    pub async fn displaced(&self) {
        self.inner.displaced.cancelled().await;
    }

    /// Removes the own key, so that the other nodes see it at once, and stops. Best effort, for 3 s
    /// at most.
    pub async fn leave(&self) {
        let inner = &self.inner;
        inner.stop.cancel();
        inner.tasks.wait().await;
        if inner.displaced.is_cancelled() {
            return;
        }
        let mut revision = *inner.own.lock().await;
        for _ in 0..3 {
            let nonce = (inner.nonces)();
            let purge = inner.kv.purge_if(&inner.key, revision, &nonce);
            match tokio::time::timeout(Duration::from_secs(1), purge).await {
                Ok(Ok(Put::Lost(Some(at)))) if at > revision => revision = at,
                Ok(Ok(Put::Won(_) | Put::Lost(Some(_)))) => return,
                Ok(Ok(Put::Lost(None)) | Err(_)) | Err(_) => {}
            }
        }
        tracing::debug!(key = inner.key, "the own presence key is left to expire");
    }
}

impl std::fmt::Debug for Presence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Presence({}, cut off {})", self.inner.key, self.is_cut_off())
    }
}

impl Inner {
    /// Runs a task until this node leaves, and again after a panic.
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
        // The task ends with `stop`, and the tracker waits for it.
        drop(runs);
    }

    /// Writes the own key over any value: no other node writes it.
    async fn write(&self, give_up: Instant) -> Result<(), Error> {
        let mut own = self.own.lock().await;
        let mut nonce = (self.nonces)();
        let mut pace = Pace::until(give_up, &nonce);
        let mut sent = Instant::now();
        loop {
            let put = self.kv.put_if(&self.key, self.value.clone(), *own, Some(self.ttl), &nonce);
            let failure = match put.await {
                Ok(Put::Won(revision)) => {
                    *own = revision;
                    let before = std::mem::replace(&mut *lock(&self.written), sent);
                    if before.elapsed() > self.ttl {
                        *lock(&self.live_since) = Instant::now();
                    }
                    return Ok(());
                }
                Ok(Put::Lost(Some(revision))) if revision != *own => {
                    *own = revision;
                    nonce = (self.nonces)();
                    sent = Instant::now();
                    Error::Unknown(
                        "the own presence key keeps changing: is there another node \
                        of the same name?"
                            .to_owned(),
                    )
                }
                Ok(Put::Lost(_)) => {
                    Error::Unknown("the own presence key is being written".to_owned())
                }
                Err(error) if error.is_passing() => error,
                Err(error) => return Err(error),
            };
            if !pace.wait().await {
                return Err(failure);
            }
        }
    }

    fn apply(&self, change: Change) {
        let mut view = lock(&self.view);
        match change {
            Change::Reset => {
                view.fresh = Some(BTreeSet::new());
                // The bucket may have been created anew: revisions start again then.
                view.looked.clear();
                view.resets += 1;
                self.synced.send_replace(false);
                return;
            }
            Change::Synced => {
                if let Some(fresh) = view.fresh.take() {
                    let View { members, doubted, .. } = &mut *view;
                    for key in members.keys().filter(|key| !fresh.contains(*key)) {
                        doubted.entry(key.clone()).or_insert_with(Instant::now);
                    }
                }
            }
            Change::Set { key, revision, .. }
                if view.looked.get(&key).is_some_and(|&found| found > revision) => {}
            Change::Set { key, value: None, .. } => {
                view.looked.remove(&key);
                view.doubted.remove(&key);
                view.members.remove(&key);
            }
            Change::Set { key, value: Some(bytes), .. } => {
                let View { members, fresh, doubted, looked, .. } = &mut *view;
                looked.remove(&key);
                if let Some(member) = read(&key, &bytes) {
                    if key == self.key && member.started_at > self.started_at {
                        self.displaced.cancel();
                    }
                    doubted.remove(&key);
                    if let Some(fresh) = fresh {
                        fresh.insert(key.clone());
                    }
                    members.insert(key, member);
                } else if members.contains_key(&key) {
                    // A live node writes its key again at its next renewal.
                    doubted.entry(key).or_insert_with(Instant::now);
                }
            }
        }
        if view.fresh.is_some() {
            return;
        }
        self.show(&view);
        drop(view);
        self.synced.send_if_modified(|synced| !std::mem::replace(synced, true));
    }

    /// Forgets members that were in doubt for a whole `ttl`.
    fn forget(&self) {
        let mut view = lock(&self.view);
        let View { members, doubted, .. } = &mut *view;
        doubted.retain(|key, since| {
            let is_over = since.elapsed() > self.ttl;
            if is_over {
                members.remove(key);
            }
            !is_over
        });
        if view.fresh.is_none() {
            self.show(&view);
        }
    }

    fn show(&self, view: &View) {
        let mut members: Vec<_> = view.members.values().cloned().collect();
        members.sort();
        self.live.send_if_modified(|known| {
            let is_news = *known != members;
            if is_news {
                self.note_vacant(known, &members);
            }
            *known = members;
            is_news
        });
    }

    /// Notes the roles that nobody has after this change of the live nodes.
    fn note_vacant(&self, before: &[Member], after: &[Member]) {
        let mut vacant = lock(&self.vacant);
        vacant.retain(|role, _| !has_role(after, role));
        let roles = before.iter().flat_map(|member| &member.roles);
        for role in roles.filter(|role| !has_role(after, role)) {
            vacant.entry(role.clone()).or_insert_with(Instant::now);
        }
    }
}

fn has_role(members: &[Member], role: &str) -> bool {
    members.iter().any(|member| member.roles.iter().any(|own| own == role))
}

/// The live nodes, as the leader of the bucket has them, for one who is none of them.
///
/// # Errors
/// When the bus cannot be asked.
pub async fn members(kv: &dyn Kv) -> Result<Vec<Member>, Error> {
    let entries = kv.entries().await?.into_iter();
    let mut members: Vec<_> =
        entries.filter_map(|(key, entry)| read(&key, &entry.value?)).collect();
    members.sort();
    Ok(members)
}

fn read(key: &str, bytes: &[u8]) -> Option<Member> {
    serde_json::from_slice(bytes)
        .inspect_err(|error| tracing::warn!(%error, key, "a node's presence cannot be read"))
        .ok()
}

async fn listen(inner: Arc<Inner>) {
    follow(&*inner.kv, &inner.stop, |change| inner.apply(change)).await;
}

async fn renew(inner: Arc<Inner>) {
    let mut ticks = tokio::time::interval(inner.ttl / 3);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    ticks.reset();
    let mut trouble = Trouble::default();
    loop {
        tokio::select! {
            biased;
            () = inner.stop.cancelled() => return,
            _ = ticks.tick() => {}
        }
        inner.forget();
        let written = tokio::select! {
            biased;
            () = inner.stop.cancelled() => return,
            written = inner.write(Instant::now() + inner.ttl) => written,
        };
        match written {
            Ok(()) if trouble.ends() => tracing::info!("this node's presence is renewed again"),
            Ok(()) => {}
            Err(Error::Closed) => return,
            Err(error) => {
                meter::PRESENCE_RENEWALS_FAILED.inc(&[]);
                if trouble.is_news(&error) {
                    tracing::warn!(%error, "this node's presence could not be renewed");
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
