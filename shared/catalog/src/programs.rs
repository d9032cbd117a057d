//! Compiled programs by version, each compiled once.
//!
//! Compiling may take long, so it runs on a separate thread and never delays other work of the
//! node, such as renewing leases. Concurrent misses of one version wait for the same compilation.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::{Engine, Library, Problem, Program};
use model::{Definition, VersionId};
use tasks::Panicked;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::OnceCell;
use tracing::Instrument as _;

use crate::Error;

/// The greatest number of programs in the cache; the oldest is dropped for a new one.
const PROGRAMS_MAX: usize = 1_000;

/// A program, or all problems of the version.
type Compiled = Result<Arc<Program>, Arc<[Problem]>>;
/// A definition, and those that it uses as activities.
pub(crate) struct Source {
    pub(crate) definition: Definition,
    pub(crate) library: Library,
}

/// One compilation that several callers wait for; `None` if there is no such version.
type Flight = Arc<OnceCell<Option<Compiled>>>;

/// The programs of one node.
pub(crate) struct Programs {
    engine: Arc<Engine>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    by_version: BTreeMap<VersionId, Compiled>,
    oldest_first: VecDeque<VersionId>,
    flights: BTreeMap<VersionId, Flight>,
}

impl Programs {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self { engine, known: Mutex::default() }
    }

    /// The program of this version; `read` reads its source if the program is not in the cache.
    pub(crate) async fn get<R>(
        &self,
        id: &VersionId,
        read: impl FnOnce() -> R,
    ) -> Result<Option<Arc<Program>>, Error>
    where
        R: Future<Output = Result<Option<Source>, store::Error>>,
    {
        let compiled = match self.cached(id) {
            Some(compiled) => Some(compiled),
            // Boxed: this large future is rarely needed, and would be part of every burst's future.
            None => Box::pin(self.compiled(id, read)).await?,
        };
        match compiled {
            None => Ok(None),
            Some(Ok(program)) => Ok(Some(program)),
            Some(Err(problems)) => {
                Err(Error::Broken { version_id: id.clone(), problems: problems.to_vec() })
            }
        }
    }

    async fn compiled<R>(
        &self,
        id: &VersionId,
        read: impl FnOnce() -> R,
    ) -> Result<Option<Compiled>, Error>
    where
        R: Future<Output = Result<Option<Source>, store::Error>>,
    {
        let seat = Seat::take(self, id);
        let compile = async {
            match read().await? {
                Some(source) => self.compile(source).await.map(Some),
                None => Ok::<_, Error>(None),
            }
        };
        let span = tracing::debug_span!(target: "spans", "definition", version = %id);
        seat.flight.get_or_try_init(|| compile.instrument(span)).await.cloned()
    }

    pub(crate) fn forget(&self, id: &VersionId) {
        let mut known = self.known();
        if known.by_version.remove(id).is_some() {
            known.oldest_first.retain(|other| other != id);
        }
    }

    fn cached(&self, id: &VersionId) -> Option<Compiled> {
        self.known().by_version.get(id).cloned()
    }

    async fn compile(&self, source: Source) -> Result<Compiled, Error> {
        let Source { definition, library } = source;
        let engine = Arc::clone(&self.engine);
        let (id, is_immutable) = (definition.id.clone(), definition.is_immutable());
        let compiled = run_apart("compile", move || engine.compile(&definition, &library));
        let compiled = compiled.await.map_err(|error| {
            store::Error::Unavailable(format!("version {id} could not be compiled: {error}"))
        })?;
        let compiled = compiled.map(Arc::new).map_err(Arc::from);
        if is_immutable {
            self.known().keep(id, compiled.clone());
        }
        Ok(compiled)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn keep(&mut self, id: VersionId, compiled: Compiled) {
        if self.by_version.insert(id.clone(), compiled).is_none() {
            self.oldest_first.push_back(id);
        }
        while self.oldest_first.len() > PROGRAMS_MAX {
            if let Some(oldest) = self.oldest_first.pop_front() {
                self.by_version.remove(&oldest);
            }
        }
    }
}

/// A caller's reference to a flight. The last one to be dropped removes the flight.
struct Seat<'p> {
    programs: &'p Programs,
    id: &'p VersionId,
    flight: Flight,
}

impl<'p> Seat<'p> {
    fn take(programs: &'p Programs, id: &'p VersionId) -> Self {
        let flight = Arc::clone(programs.known().flights.entry(id.clone()).or_default());
        Self { programs, id, flight }
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let mut known = self.programs.known();
        // The map has one reference, and this seat has one.
        if Arc::strong_count(&self.flight) <= 2 {
            known.flights.remove(self.id);
        }
    }
}

/// Runs long work on a thread for blocking work. A runtime with one thread, as in the simulation,
/// runs it in place, so that the same seed gives the same history.
///
/// # Errors
/// When the work panics, or the runtime shuts down.
pub async fn run_apart<T: Send + 'static>(
    task: &'static str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Panicked> {
    match Handle::current().runtime_flavor() {
        RuntimeFlavor::CurrentThread => tasks::caught(task, async { work() }).await,
        _ => tasks::blocking(task, work).await,
    }
}

#[cfg(test)]
mod tests;
