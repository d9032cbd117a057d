//! Pointers: which version of a definition is published, known on every node by a watch. The
//! database has the truth; a pointer shows cheaply when to read it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use model::{DefinitionId, VersionId};
use protocol::subject;
use serde::{Deserialize, Serialize};
use tokio::sync::{broadcast, watch};
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use crate::follow::follow;
use crate::lock::lock;
use crate::retry::{BUDGET, Pace};
use crate::{Change, Error, Kv, Nonces, Put, Revision};

/// The number of changes that a slow listener may be behind before it misses some.
const CHANGES_MAX: usize = 1_024;

/// The published version of one definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// The published version; none when the definition was retracted, or the pointer is gone.
    pub version_id: Option<VersionId>,
    /// Its number.
    pub version: u32,
    /// The revision of the pointer; 0 when it is gone or cannot be read. Read the database in that
    /// case.
    pub revision: Revision,
}

/// The pointers, as this node knows them. Cheap to clone; ends with [`Pointers::close`] or the
/// last clone.
#[derive(Clone)]
pub struct Pointers {
    inner: Arc<Inner>,
    _running: Arc<DropGuard>,
}

struct Inner {
    kv: Arc<dyn Kv>,
    nonces: Nonces,
    view: Mutex<View>,
    synced: watch::Sender<bool>,
    synced_at: Mutex<Option<Instant>>,
    /// Notified of every change that was applied.
    applied: watch::Sender<()>,
    changes: broadcast::Sender<(DefinitionId, Pointer)>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

#[derive(Default)]
struct View {
    pointers: BTreeMap<DefinitionId, Pointer>,
    /// Definitions that the snapshot in progress has named; none outside a snapshot.
    fresh: Option<BTreeSet<DefinitionId>>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Value {
    version_id: Option<VersionId>,
    version: u32,
}

impl Pointers {
    /// Starts the watch and waits for its first snapshot.
    ///
    /// # Errors
    /// When the bus does not answer within about 12 s.
    pub async fn start(kv: Arc<dyn Kv>, nonces: Nonces) -> Result<Self, Error> {
        let stop = CancellationToken::new();
        let inner = Arc::new(Inner {
            kv,
            nonces,
            view: Mutex::default(),
            synced: watch::Sender::default(),
            synced_at: Mutex::default(),
            applied: watch::Sender::default(),
            changes: broadcast::Sender::new(CHANGES_MAX),
            tasks: TaskTracker::new(),
            stop: stop.clone(),
        });
        let running = Arc::new(stop.drop_guard());
        let (listening, tracked) = (Arc::clone(&inner), inner.tasks.token());
        let runs = tasks::supervise("pointers: watch", inner.stop.clone(), move || {
            let _until_it_ends = &tracked;
            listen(Arc::clone(&listening))
        });
        // The task ends with `stop`, and the tracker waits for it.
        drop(runs);
        inner.tasks.close();
        let mut synced = inner.synced.subscribe();
        match tokio::time::timeout(BUDGET, synced.wait_for(|synced| *synced)).await {
            Ok(Ok(_)) => Ok(Self { inner, _running: running }),
            _ => Err(Error::Unavailable("the published pointers cannot be read".to_owned())),
        }
    }

    /// The pointer of a definition, as far as this node knows.
    #[must_use]
    pub fn get(&self, definition_id: &DefinitionId) -> Option<Pointer> {
        lock(&self.inner.view).pointers.get(definition_id).cloned()
    }

    /// All pointers that this node knows, by definition.
    #[must_use]
    pub fn known(&self) -> Vec<(DefinitionId, Pointer)> {
        let view = lock(&self.inner.view);
        view.pointers.iter().map(|(id, pointer)| (id.clone(), pointer.clone())).collect()
    }

    /// The snapshot is complete, and the watch has not broken since.
    #[must_use]
    pub fn is_synced(&self) -> bool {
        *self.inner.synced.borrow()
    }

    /// When the snapshot that the view is based on was complete; none while a new one is in
    /// progress.
    #[must_use]
    pub fn synced_at(&self) -> Option<Instant> {
        *lock(&self.inner.synced_at)
    }

    /// Every change of a pointer, as this node applies it. A listener that lags misses some.
    #[must_use]
    pub fn changed(&self) -> broadcast::Receiver<(DefinitionId, Pointer)> {
        self.inner.changes.subscribe()
    }

    /// Points to a version, or to none with `version_id: None` (retracted). A published version is
    /// never replaced by an older one. Returns the pointer that is there afterwards: this one, or one
    /// that is as new or newer.
    ///
    /// # Errors
    /// When the bus does not answer within about 12 s; repeating it is harmless.
    pub async fn put(
        &self,
        definition_id: &DefinitionId,
        version_id: Option<&VersionId>,
        version: u32,
    ) -> Result<Pointer, Error> {
        let inner = &self.inner;
        let key = subject::token(definition_id.as_str());
        let value = Value { version_id: version_id.cloned(), version };
        let bytes = value.encode()?;
        let mut nonce = (inner.nonces)();
        let mut pace = Pace::until(Instant::now() + BUDGET, &nonce);
        let mut current = inner.read(&key).await?;
        loop {
            if let Some(pointer) = &current
                && !replaces(&value, pointer)
            {
                return Ok(pointer.clone());
            }
            let expected = current.as_ref().map_or(0, |pointer| pointer.revision);
            let failure = match inner.kv.put_if(&key, bytes.clone(), expected, None, &nonce).await {
                Ok(Put::Won(revision)) => {
                    let pointer = value.at(revision);
                    inner.note(definition_id.clone(), pointer.clone());
                    return Ok(pointer);
                }
                Ok(Put::Lost(at)) => {
                    let read = inner.read(&key).await?;
                    let known = read.as_ref().map_or(0, |pointer| pointer.revision);
                    if at.is_none_or(|at| known >= at) && known != expected {
                        current = read;
                        nonce = (inner.nonces)();
                        continue;
                    }
                    Error::Unknown(format!("the pointer of {definition_id} keeps changing"))
                }
                Err(error) if error.is_passing() => error,
                Err(error) => return Err(error),
            };
            if !pace.wait().await {
                return Err(failure);
            }
        }
    }

    /// Points to a version that may be older than the one of the pointer `seen`, which it replaces.
    /// Changes nothing if another pointer is there by now. No node sees the definition as retracted
    /// in between.
    ///
    /// # Errors
    /// When the bus does not answer within about 12 s; repeating it is harmless.
    pub async fn replace(
        &self,
        definition_id: &DefinitionId,
        version_id: Option<&VersionId>,
        version: u32,
        seen: &Pointer,
    ) -> Result<(), Error> {
        let inner = &self.inner;
        let key = subject::token(definition_id.as_str());
        let value = Value { version_id: version_id.cloned(), version };
        let bytes = value.encode()?;
        let nonce = (inner.nonces)();
        let mut pace = Pace::until(Instant::now() + BUDGET, &nonce);
        loop {
            let put = inner.kv.put_if(&key, bytes.clone(), seen.revision, None, &nonce).await;
            let failure = match put {
                Ok(Put::Won(revision)) => {
                    inner.note(definition_id.clone(), value.at(revision));
                    return Ok(());
                }
                Ok(Put::Lost(_)) => return Ok(()),
                Err(error) if error.is_passing() => error,
                Err(error) => return Err(error),
            };
            if !pace.wait().await {
                return Err(failure);
            }
        }
    }

    /// Completes when this node has applied the pointer at this revision, or a later one.
    pub async fn applied(&self, definition_id: &DefinitionId, revision: Revision) {
        let mut applied = self.inner.applied.subscribe();
        loop {
            applied.mark_unchanged();
            if self.get(definition_id).is_some_and(|pointer| pointer.revision >= revision) {
                return;
            }
            if applied.changed().await.is_err() {
                return;
            }
        }
    }

    /// Stops the watch and waits for its task.
    pub async fn close(&self) {
        self.inner.stop.cancel();
        self.inner.tasks.wait().await;
    }
}

impl std::fmt::Debug for Pointers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let known = lock(&self.inner.view).pointers.len();
        write!(f, "Pointers({known} known, synced {})", self.is_synced())
    }
}

impl Value {
    fn encode(&self) -> Result<Bytes, Error> {
        let json = serde_json::to_vec(self).map_err(|error| Error::Corrupt(error.to_string()))?;
        Ok(json.into())
    }

    fn at(self, revision: Revision) -> Pointer {
        Pointer { version_id: self.version_id, version: self.version, revision }
    }
}

/// Whether the new value may replace the pointer that is there.
fn replaces(new: &Value, old: &Pointer) -> bool {
    let Some(published) = &old.version_id else {
        // A tombstone has number 0; a retraction keeps the number that was retracted.
        return new.version_id.is_some() || new.version > old.version || old.version == 0;
    };
    match &new.version_id {
        Some(version_id) => {
            new.version > old.version || (new.version == old.version && version_id != published)
        }
        None => new.version >= old.version,
    }
}

impl Inner {
    async fn read(&self, key: &str) -> Result<Option<Pointer>, Error> {
        let Some(entry) = self.kv.get(key).await? else { return Ok(None) };
        let revision = entry.revision;
        let Some(bytes) = entry.value else {
            return Ok(Some(Pointer { version_id: None, version: 0, revision }));
        };
        // A pointer that cannot be read counts as pointing to no version: the node that knows the
        // published version replaces it.
        let value: Value = serde_json::from_slice(&bytes).unwrap_or_else(|error| {
            tracing::warn!(%error, key, "a pointer cannot be read; it is replaced");
            Value { version_id: None, version: 0 }
        });
        Ok(Some(Pointer { version_id: value.version_id, version: value.version, revision }))
    }

    /// Applies a pointer, from the watch or from an own write; an older one changes nothing.
    fn note(&self, definition_id: DefinitionId, pointer: Pointer) {
        {
            let mut view = lock(&self.view);
            let mut is_known = view
                .pointers
                .get(&definition_id)
                .is_some_and(|known| known.revision >= pointer.revision);
            if let Some(fresh) = &mut view.fresh {
                // The bucket may have been created anew: revisions compare within one snapshot
                // only.
                let is_repeated = !fresh.insert(definition_id.clone());
                is_known = is_known && is_repeated;
            }
            if is_known {
                return;
            }
            view.pointers.insert(definition_id.clone(), pointer.clone());
        }
        self.tell(definition_id, pointer);
    }

    fn tell(&self, definition_id: DefinitionId, pointer: Pointer) {
        self.applied.send_replace(());
        // An error means that there are no listeners.
        drop(self.changes.send((definition_id, pointer)));
    }

    fn gone(&self, definition_id: &DefinitionId) {
        let removed = lock(&self.view).pointers.remove(definition_id);
        if let Some(Pointer { version, .. }) = removed {
            let pointer = Pointer { version_id: None, version, revision: 0 };
            self.tell(definition_id.clone(), pointer);
        }
    }

    fn apply(&self, change: Change) {
        match change {
            Change::Reset => {
                lock(&self.view).fresh = Some(BTreeSet::new());
                *lock(&self.synced_at) = None;
                self.synced.send_replace(false);
            }
            Change::Synced => {
                let fresh = lock(&self.view).fresh.take();
                let known: Vec<_> = lock(&self.view).pointers.keys().cloned().collect();
                for id in known {
                    if fresh.as_ref().is_some_and(|fresh| !fresh.contains(&id)) {
                        self.gone(&id);
                    }
                }
                *lock(&self.synced_at) = Some(Instant::now());
                self.synced.send_replace(true);
            }
            Change::Set { key, value, revision } => {
                let Some(id) = subject::untoken(&key).map(DefinitionId::new) else { return };
                let Some(bytes) = value else { return self.gone(&id) };
                match serde_json::from_slice(&bytes) {
                    Ok(Value { version_id, version }) => {
                        self.note(id, Pointer { version_id, version, revision });
                    }
                    Err(error) => {
                        tracing::warn!(%error, key, "a pointer cannot be read; the database is \
                            asked instead until the pointer is replaced");
                        self.gone(&id);
                    }
                }
            }
        }
    }
}

async fn listen(inner: Arc<Inner>) {
    follow(&*inner.kv, &inner.stop, |change| inner.apply(change)).await;
}

#[cfg(test)]
mod tests;
