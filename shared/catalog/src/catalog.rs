//! The catalogue of one node: published pointers and compiled programs.

use std::sync::{Arc, OnceLock};

use bus::{Bucket, Bus, Pointer, Pointers, Presence, Standing};
use engine::{Engine, Library, Program};
use model::{Definition, DefinitionId, VersionId};
use protocol::subject;
use store::{Store, VersionOption};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::Error;
use crate::library::library;
use crate::position::Reporter;
use crate::programs::{Programs, Source};

/// Published pointers and compiled programs of one node. Cloning shares it.
#[derive(Clone)]
pub struct Catalog(Arc<Inner>);

struct Inner {
    store: Arc<dyn Store>,
    engine: Arc<Engine>,
    pointers: Pointers,
    standing: OnceLock<Standing>,
    programs: Programs,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Inner {
    async fn source(&self, found: Option<Definition>) -> Result<Option<Source>, store::Error> {
        let Some(definition) = found else { return Ok(None) };
        let library = library(&*self.store, &self.engine, &definition, Library::default()).await?;
        Ok(Some(Source { definition, library }))
    }
}

impl Catalog {
    /// Follows the pointers, and reports to cache-notifier which of them this node has applied.
    ///
    /// # Errors
    /// When the bus cannot be asked.
    pub async fn start(
        store: Arc<dyn Store>,
        bus: Arc<dyn Bus>,
        engine: Arc<Engine>,
        nonces: bus::Nonces,
        node: &str,
    ) -> Result<Self, Error> {
        let pointers = Pointers::start(bus.kv(Bucket::Definitions), nonces).await?;
        let inner = Arc::new(Inner {
            store,
            pointers,
            standing: OnceLock::new(),
            programs: Programs::new(Arc::clone(&engine)),
            engine,
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
        });
        let questions = bus.subscribe(subject::CACHE_ASK).await?;
        let reporter = Reporter::new(inner.pointers.clone(), bus, node.to_owned(), questions);
        let stop = inner.stop.clone();
        let reports = tasks::supervised("report positions", stop.clone(), move || {
            let reporter = reporter.clone();
            async move { reporter.run().await }
        });
        let reports = inner.tasks.track_future(stop.run_until_cancelled_owned(reports));
        drop(tasks::spawn("report positions", reports));
        inner.tasks.close();
        Ok(Self(inner))
    }

    /// The program of this exact version; `None` when there is no such version.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn program(&self, id: &VersionId) -> Result<Option<Arc<Program>>, Error> {
        let read = || async { self.0.source(self.0.store.version(id).await?).await };
        self.0.programs.get(id, read).await
    }

    /// The program of a version that instances may migrate to, or the reason why they may not.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn migration_target(
        &self,
        id: &DefinitionId,
        version: u32,
    ) -> Result<Result<Arc<Program>, String>, Error> {
        let missing = || format!("definition {id} has no version {version}");
        let found = self.0.store.definition(id, VersionOption::Number(version)).await?;
        let Some(found) = found else { return Ok(Err(missing())) };
        if found.published_at.is_none() {
            return Ok(Err(format!("version {version} of {id} was never published")));
        }
        Ok(self.program(&found.id).await?.ok_or_else(missing))
    }

    /// The program of the published version; `None` when none is published. `seen` is the revision of
    /// a pointer that somebody else has seen: then the database is read, because this node may have an
    /// older one. Revisions do not tell, since they begin again in a bucket that was lost and made anew.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn published(
        &self,
        id: &DefinitionId,
        seen: Option<u64>,
    ) -> Result<Option<Arc<Program>>, Error> {
        let is_enough = seen.is_none() && self.is_trusted();
        match self.0.pointers.get(id).filter(|_| is_enough) {
            Some(Pointer { version_id: Some(version_id), .. }) => self.program(&version_id).await,
            Some(Pointer { version_id: None, .. }) => Ok(None),
            None => match self.0.store.definition(id, VersionOption::Published).await? {
                Some(definition) => {
                    let version_id = definition.id.clone();
                    self.0.programs.get(&version_id, || self.0.source(Some(definition))).await
                }
                None => Ok(None),
            },
        }
    }

    /// Drops the program of a version that was deleted, so that the next call reads the database.
    pub fn forget(&self, id: &VersionId) {
        self.0.programs.forget(id);
    }

    /// Trusts the pointers only while the other nodes count this one as live, and only with a
    /// snapshot taken since they do: a publisher does not wait for a node that counts as gone.
    pub fn trust_while(&self, presence: &Presence) {
        self.0.standing.get_or_init(|| presence.standing());
    }

    /// The pointers are complete: none of them is older than the last sync.
    #[must_use]
    pub fn is_trusted(&self) -> bool {
        let Some(synced_at) = self.0.pointers.synced_at() else { return false };
        let is_current =
            |standing: &Standing| !standing.is_cut_off() && synced_at >= standing.live_since();
        self.0.standing.get().is_none_or(is_current)
    }

    /// The revision of the pointer as this node knows it; 0 when there is no pointer.
    #[must_use]
    pub fn revision(&self, id: &DefinitionId) -> u64 {
        self.0.pointers.get(id).map_or(0, |pointer| pointer.revision)
    }

    /// The pointers, for callers that rebuild something when one of them changes.
    #[must_use]
    pub fn pointers(&self) -> &Pointers {
        &self.0.pointers
    }

    /// Stops following the pointers.
    pub async fn close(&self) {
        self.0.stop.cancel();
        self.0.tasks.wait().await;
        self.0.pointers.close().await;
    }
}

#[cfg(test)]
mod tests;
