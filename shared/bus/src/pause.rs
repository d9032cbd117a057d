//! Pauses: entries of a bucket that tell nodes to take no new work, one node or all of them. An
//! entry stays until it is removed, so that it outlives restarts and holds for nodes that join
//! later.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use model::Timestamp;
use protocol::subject;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::follow::follow;
use crate::lock::lock;
use crate::retry::{BUDGET, Pace};
use crate::{Change, Error, Kv, Nonces, Put, Revision};

const CLUSTER: &str = "cluster";
const NODE: &str = "node";

/// The nodes that a pause is for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// All nodes, those that join later among them.
    Cluster,
    /// The node of this name.
    Node(String),
}

/// A pause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pause {
    /// When it began.
    pub since: Timestamp,
    /// Who asked for it.
    pub by: String,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
    /// The wait for the end of the work in progress, if someone has asked for one.
    #[serde(default)]
    pub drain: Option<Drain>,
}

/// The wait for the end of the work in progress.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Drain {
    /// When it began.
    pub started_at: Timestamp,
    /// When it ends at the latest.
    pub until: Timestamp,
    /// When it ended; none while it is in progress, or when its process has died.
    #[serde(default)]
    pub completed_at: Option<Timestamp>,
}

impl Pause {
    /// Someone waits for the end of the work in progress.
    #[must_use]
    pub fn is_draining(&self, now: Timestamp) -> bool {
        self.drain.as_ref().is_some_and(|drain| drain.completed_at.is_none() && now < drain.until)
    }
}

/// The pauses, as this node knows them. Cheap to clone; ends with the last clone.
#[derive(Clone)]
pub struct Pauses {
    known: watch::Receiver<Option<Known>>,
    _running: Arc<DropGuard>,
}

type Known = BTreeMap<Scope, Pause>;

/// What the watch has shown.
#[derive(Default)]
struct View {
    known: Known,
    /// The pauses of the snapshot in progress; none outside a snapshot.
    fresh: Option<Known>,
}

impl Pauses {
    /// Starts the watch and waits for its first snapshot: a node that joins knows the pauses before
    /// it takes any work.
    ///
    /// # Errors
    /// When the bus does not answer within about 12 s.
    pub async fn start(kv: Arc<dyn Kv>) -> Result<Self, Error> {
        let stop = CancellationToken::new();
        let (sender, known) = watch::channel(None);
        let view = Arc::new(Mutex::new(View::default()));
        let (stopped, sender) = (stop.clone(), Arc::new(sender));
        let runs = tasks::supervise("pauses: watch", stop.clone(), move || {
            let (kv, stopped) = (Arc::clone(&kv), stopped.clone());
            let (view, sender) = (Arc::clone(&view), Arc::clone(&sender));
            async move {
                follow(&*kv, &stopped, |change| apply(&mut lock(&view), change, &sender)).await;
            }
        });
        // The task ends with `stop`.
        drop(runs);
        let pauses = Self { known, _running: Arc::new(stop.drop_guard()) };
        let mut synced = pauses.known.clone();
        match tokio::time::timeout(BUDGET, synced.wait_for(Option::is_some)).await {
            Ok(Ok(_)) => Ok(pauses),
            _ => Err(Error::Unavailable("the pauses cannot be read".to_owned())),
        }
    }

    /// The node, or the whole cluster, is paused.
    #[must_use]
    pub fn is_paused(&self, node: &str) -> bool {
        self.known.borrow().as_ref().is_none_or(|known| holds(known, node))
    }

    /// The whole cluster is paused.
    #[must_use]
    pub fn is_cluster_paused(&self) -> bool {
        let has = |known: &Known| known.contains_key(&Scope::Cluster);
        self.known.borrow().as_ref().is_none_or(has)
    }

    /// The pauses, at every change; none until they are known.
    #[must_use]
    pub fn changed(&self) -> watch::Receiver<Option<BTreeMap<Scope, Pause>>> {
        self.known.clone()
    }

    /// Completes when the node is not paused.
    pub async fn over(&self, node: &str) {
        let is_over = |known: &Option<Known>| known.as_ref().is_some_and(|it| !holds(it, node));
        if self.known.clone().wait_for(is_over).await.is_err() {
            // The watch has ended with its process.
            std::future::pending::<()>().await;
        }
    }

    /// All pauses with their revisions, as the leader of the bucket has them.
    ///
    /// # Errors
    /// When the bus cannot be asked.
    pub async fn all(kv: &dyn Kv) -> Result<BTreeMap<Scope, (Pause, Revision)>, Error> {
        let entries = kv.entries().await?.into_iter();
        let read = entries.filter_map(|(key, entry)| {
            // The bucket has other keys, too.
            let scope = scope(&key)?;
            Some((scope, (read(&key, &entry.value?), entry.revision)))
        });
        Ok(read.collect())
    }

    /// When the last pause of the scope ended, by the clock of the server; none while it is paused, and
    /// where it never was.
    ///
    /// # Errors
    /// When the bus cannot be asked.
    pub async fn ended_at(kv: &dyn Kv, scope: &Scope) -> Result<Option<Timestamp>, Error> {
        kv.removed_at(&key(scope)).await
    }

    /// Changes a pause: `decide` gets the one that is there, and returns the one that shall be there.
    /// It is called again if another node is faster.
    ///
    /// # Errors
    /// The error of `decide`, or [`Error`] when the bus does not answer within about 12 s.
    pub async fn change<E: From<Error>>(
        kv: &dyn Kv,
        scope: &Scope,
        nonces: &Nonces,
        decide: impl Fn(Option<Pause>) -> Result<Option<Pause>, E>,
    ) -> Result<Option<Pause>, E> {
        let key = key(scope);
        let mut nonce = nonces();
        let mut pace = Pace::until(Instant::now() + BUDGET, &nonce);
        loop {
            let (found, expected) = current(kv, scope, &key).await?;
            let wanted = decide(found.clone())?;
            if wanted == found {
                return Ok(wanted);
            }
            let put = match &wanted {
                Some(pause) => {
                    let bytes = serde_json::to_vec(pause)
                        .map_err(|error| Error::Corrupt(error.to_string()))?;
                    kv.put_if(&key, bytes.into(), expected, None, &nonce).await
                }
                None => kv.purge_if(&key, expected, &nonce).await,
            };
            let failure = match put {
                Ok(Put::Won(_)) => return Ok(wanted),
                Ok(Put::Lost(_)) => {
                    nonce = nonces();
                    Error::Unknown(format!("the pause {key} keeps changing"))
                }
                Err(error) if error.is_passing() => error,
                Err(error) => return Err(error.into()),
            };
            if !pace.wait().await {
                return Err(failure.into());
            }
        }
    }
}

impl std::fmt::Debug for Pauses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pauses({:?})", self.known.borrow())
    }
}

/// The pause that is there, and the revision of its key. The leader decides whether there is one; of
/// a key without a value it shows no revision.
async fn current(
    kv: &dyn Kv,
    scope: &Scope,
    key: &str,
) -> Result<(Option<Pause>, Revision), Error> {
    if let Some((pause, revision)) = Pauses::all(kv).await?.remove(scope) {
        return Ok((Some(pause), revision));
    }
    Ok((None, kv.get(key).await?.map_or(0, |entry| entry.revision)))
}

fn holds(known: &Known, node: &str) -> bool {
    known.keys().any(|scope| match scope {
        Scope::Cluster => true,
        Scope::Node(paused) => paused == node,
    })
}

/// Applies a change of the watch. While a snapshot is in progress, the pauses before it hold.
fn apply(view: &mut View, change: Change, sender: &watch::Sender<Option<Known>>) {
    match change {
        Change::Reset => {
            view.fresh = Some(Known::new());
            return;
        }
        Change::Synced => {
            if let Some(fresh) = view.fresh.take() {
                view.known = fresh;
            }
        }
        Change::Set { key, value, .. } => {
            let Some(scope) = scope(&key) else { return };
            let known = view.fresh.as_mut().unwrap_or(&mut view.known);
            match value {
                Some(bytes) => drop(known.insert(scope, read(&key, &bytes))),
                None => drop(known.remove(&scope)),
            }
            if view.fresh.is_some() {
                return;
            }
        }
    }
    let known = Some(view.known.clone());
    sender.send_if_modified(|before| {
        let is_news = *before != known;
        *before = known;
        is_news
    });
}

fn key(scope: &Scope) -> String {
    match scope {
        Scope::Cluster => CLUSTER.to_owned(),
        Scope::Node(node) => format!("{NODE}.{}", subject::token(node)),
    }
}

fn scope(key: &str) -> Option<Scope> {
    match key.split_once('.') {
        None if key == CLUSTER => Some(Scope::Cluster),
        Some((NODE, node)) => subject::untoken(node).map(Scope::Node),
        _ => None,
    }
}

/// Reads a pause. One that cannot be read holds, because someone has asked for it.
fn read(key: &str, bytes: &Bytes) -> Pause {
    serde_json::from_slice(bytes).unwrap_or_else(|error| {
        tracing::warn!(%error, key, "a pause cannot be read; it holds until it is removed");
        Pause { by: "unknown".to_owned(), ..Pause::default() }
    })
}

#[cfg(test)]
mod tests;
