//! The cache itself, and its answers to cache-notifier.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bus::{Bucket, Bus, Pointer, Pointers, Presence, Standing};
use engine::{Engine, Problem, Program};
use futures::StreamExt as _;
use model::{Definition, DefinitionId, VersionId};
use protocol::{CachePosition, ContentType, Headers, Message, decode_body, encode_body, subject};
use store::{Store, VersionOption};
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Compiled programs kept; the one that was compiled first goes when there are more.
const PROGRAMS_MAX: usize = 1_000;

/// Why there is no program.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database does not answer.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The bus does not answer.
    #[error(transparent)]
    Bus(#[from] bus::Error),
    /// A stored version does not compile, as after a downgrade.
    #[error("definition version {version_id} does not compile: {}", listed(problems))]
    Broken {
        /// Which.
        version_id: VersionId,
        /// Everything that is wrong with it.
        problems: Vec<Problem>,
    },
}

/// Published pointers and compiled programs of one node. Cloning shares it.
#[derive(Clone)]
pub struct Catalog(Arc<Inner>);

struct Inner {
    store: Arc<dyn Store>,
    engine: Arc<Engine>,
    pointers: Pointers,
    standing: OnceLock<Standing>,
    programs: Mutex<Programs>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

#[derive(Default)]
struct Programs {
    by_version: BTreeMap<VersionId, Arc<Program>>,
    oldest_first: VecDeque<VersionId>,
}

impl Catalog {
    /// Follows the pointers, and tells cache-notifier which ones this node has applied.
    ///
    /// # Errors
    /// When the bus cannot be asked.
    pub async fn start(
        store: Arc<dyn Store>,
        bus: Arc<dyn Bus>,
        engine: Arc<Engine>,
        chance: bus::Chance,
        node: &str,
    ) -> Result<Self, Error> {
        let pointers = Pointers::start(bus.kv(Bucket::Definitions), chance).await?;
        let inner = Arc::new(Inner {
            store,
            engine,
            pointers,
            standing: OnceLock::new(),
            programs: Mutex::default(),
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
        });
        let asked = bus.subscribe(subject::CACHE_ASK).await?;
        let answers = answer(Arc::clone(&inner), bus, node.to_owned(), asked);
        inner.tasks.spawn(inner.stop.clone().run_until_cancelled_owned(answers));
        inner.tasks.close();
        Ok(Self(inner))
    }

    /// The program of this exact version; `None` when there is no such version.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn program(&self, id: &VersionId) -> Result<Option<Arc<Program>>, Error> {
        if let Some(program) = self.cached(id) {
            return Ok(Some(program));
        }
        match self.0.store.version(id).await? {
            Some(definition) => self.compiled(&definition).map(Some),
            None => Ok(None),
        }
    }

    /// The program of the published version; `None` when none is published. A node that has not
    /// seen the pointer's `min_revision` yet looks in the database.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn published(
        &self,
        id: &DefinitionId,
        min_revision: Option<u64>,
    ) -> Result<Option<Arc<Program>>, Error> {
        let known = self.0.pointers.get(id).filter(|pointer| {
            self.is_trusted() && pointer.revision >= min_revision.unwrap_or_default()
        });
        match known {
            Some(Pointer { version_id: Some(version_id), .. }) => self.program(&version_id).await,
            Some(Pointer { version_id: None, .. }) => Ok(None),
            None => match self.0.store.definition(id, VersionOption::Published).await? {
                Some(definition) => self.compiled(&definition).map(Some),
                None => Ok(None),
            },
        }
    }

    /// Trusts the pointers only while the others count this node as live, and only a snapshot that
    /// was taken since they do: a publisher does not wait for a node that counts as gone.
    pub fn trust_while(&self, presence: &Presence) {
        self.0.standing.get_or_init(|| presence.standing());
    }

    /// The pointers are complete: none that this node shows is older than its last sync.
    #[must_use]
    pub fn is_trusted(&self) -> bool {
        let Some(synced_at) = self.0.pointers.synced_at() else { return false };
        let is_current =
            |standing: &Standing| !standing.is_cut_off() && synced_at >= standing.live_since();
        self.0.standing.get().is_none_or(is_current)
    }

    /// The revision of the pointer as known here; 0 when there is none.
    #[must_use]
    pub fn revision(&self, id: &DefinitionId) -> u64 {
        self.0.pointers.get(id).map_or(0, |pointer| pointer.revision)
    }

    /// The pointers behind it, for those who rebuild something when one changes.
    #[must_use]
    pub fn pointers(&self) -> &Pointers {
        &self.0.pointers
    }

    /// Stops following.
    pub async fn close(&self) {
        self.0.stop.cancel();
        self.0.tasks.wait().await;
        self.0.pointers.close().await;
    }

    fn cached(&self, id: &VersionId) -> Option<Arc<Program>> {
        self.programs().by_version.get(id).map(Arc::clone)
    }

    fn compiled(&self, definition: &Definition) -> Result<Arc<Program>, Error> {
        if let Some(program) = self.cached(&definition.id) {
            return Ok(program);
        }
        let program = self
            .0
            .engine
            .compile(definition)
            .map_err(|problems| Error::Broken { version_id: definition.id.clone(), problems })?;
        let program = Arc::new(program);
        // The latest version, while it is a draft, can still change under its id.
        if definition.is_published || !definition.is_latest {
            self.programs().keep(definition.id.clone(), &program);
        }
        Ok(program)
    }

    fn programs(&self) -> MutexGuard<'_, Programs> {
        self.0.programs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Programs {
    fn keep(&mut self, id: VersionId, program: &Arc<Program>) {
        if self.by_version.insert(id.clone(), Arc::clone(program)).is_none() {
            self.oldest_first.push_back(id);
        }
        while self.oldest_first.len() > PROGRAMS_MAX {
            if let Some(oldest) = self.oldest_first.pop_front() {
                self.by_version.remove(&oldest);
            }
        }
    }
}

/// Tells cache-notifier what is applied: after each change, and when it asks.
async fn answer(inner: Arc<Inner>, bus: Arc<dyn Bus>, node: String, mut asked: bus::Subscription) {
    let mut changes = inner.pointers.changed();
    loop {
        let definition_id = tokio::select! {
            biased;
            change = changes.recv() => match change {
                Ok((definition_id, pointer)) => {
                    tracing::info!(
                        definition = %definition_id, version = pointer.version,
                        revision = pointer.revision, "cache invalidation received"
                    );
                    definition_id
                }
                // What was missed is asked for again by cache-notifier.
                Err(RecvError::Lagged(_)) => continue,
                Err(RecvError::Closed) => return,
            },
            question = asked.next() => match question {
                Some(question) => match position(&question.message) {
                    Some(definition_id) => definition_id,
                    None => continue,
                },
                None => return,
            },
        };
        let pointer = inner.pointers.get(&definition_id);
        let revision = pointer.as_ref().map_or(0, |pointer| pointer.revision);
        let version_id = pointer.and_then(|pointer| pointer.version_id);
        let position = CachePosition { definition_id, revision, version_id };
        let Ok(payload) = encode_body(ContentType::Json, &position) else { continue };
        let message =
            Message { subject: subject::cache_applied(&node), headers: Headers::new(), payload };
        if let Err(error) = bus.send(message).await {
            tracing::debug!(%error, "cache position not sent; cache-notifier asks again");
        }
    }
}

fn position(message: &Message) -> Option<DefinitionId> {
    let position: Result<CachePosition, _> = decode_body(message.content_type(), &message.payload);
    position.ok().map(|position| position.definition_id)
}

fn listed(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
