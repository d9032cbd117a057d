//! The context of every step of the pipeline: the node's ports, limits and life cycle.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use bus::{Bus, Leases, Pools, Presence};
use catalog::Catalog;
use chassis::{Chance, Clock, Point, Trail};
use connectors::Calls;
use engine::{Engine, Installation, Secrets, Vault};
use model::Timestamp;
use payloads::Payloads;
use store::{Rooms, Store};
use tokio::sync::{AcquireError, Notify, OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use vault::Watched;

use crate::chains::Chains;
use crate::config::Config;
use crate::mailbox::Mailboxes;
use crate::sample::Sampler;
use crate::stop::Stop;

/// The context of every step of the pipeline.
pub(crate) type Cx = Arc<Inner>;

pub(crate) struct Inner {
    pub(crate) node: String,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) bus: Arc<dyn Bus>,
    pub(crate) engine: Arc<Engine>,
    pub(crate) catalog: Catalog,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) chance: Arc<dyn Chance>,
    pub(crate) presence: Presence,
    pub(crate) calls: Arc<dyn Calls>,
    pub(crate) trail: Trail,
    pub(crate) config: Config,
    /// Reads secrets, if there is a key for them.
    pub(crate) keeper: Option<vault::Keeper>,
    pub(crate) payloads: Payloads,
    pub(crate) leases: Leases,
    /// Permits for bursts: the number that may run at the same time.
    pub(crate) bursts: Semaphore,
    /// Permits for turns with scripts, one for each core. More of them at the same time would slow
    /// each other down while each has a time limit, and would take memory.
    pub(crate) scripts: Arc<Semaphore>,
    /// Permits for turns that continue others: half of the cores, so that endless loops leave the
    /// other half free. They are given in the order of the requests.
    pub(crate) long_turns: Arc<Semaphore>,
    /// The consumers of tasks that are there.
    pub(crate) pools: Pools,
    /// A burst of this node has committed a wait for messages.
    pub(crate) waits_for_messages: Notify,
    pub(crate) mailboxes: Mailboxes,
    pub(crate) chains: Chains,
    /// Decides which refused commands are logged.
    pub(crate) refusals: Sampler,
    /// Memory for the states of instances.
    pub(crate) rooms: Rooms,
    /// One permit for each command whose objects are being kept.
    pub(crate) attaching: Semaphore,
    /// The database did not answer for a command of this node.
    pub(crate) has_no_store: AtomicBool,
    /// This node had no means for a call of a workflow.
    pub(crate) is_exhausted: AtomicBool,
    pub(crate) tasks: TaskTracker,
    pub(crate) stopping: CancellationToken,
    pub(crate) gone: CancellationToken,
    pub(crate) give_up_at: OnceLock<Instant>,
}

impl Inner {
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn seed(&self) -> [u8; 32] {
        self.chance.seed()
    }

    /// Remembers that the database does not answer, so that no more commands are pulled until it does.
    pub(crate) fn note(&self, stop: &Stop) {
        if matches!(stop, Stop::NoStore(_)) {
            self.has_no_store.store(true, Ordering::Relaxed);
        }
    }

    /// Remembers that this process may open no more files, so that it pulls no more commands for a
    /// while.
    pub(crate) fn exhausted(&self) {
        self.is_exhausted.store(true, Ordering::Relaxed);
    }

    /// What the configuration says to workflows, with the secrets as they are now, and these by
    /// themselves, if there is a key for them.
    pub(crate) async fn installation(
        &self,
    ) -> Result<(Arc<Installation>, Option<Arc<Watched>>), Stop> {
        let Some(keeper) = &self.keeper else {
            return Ok((Arc::clone(&self.config.installation), None));
        };
        let watched = keeper.for_turn(self.now()).await.map_err(no_secrets)?;
        let secrets = Secrets::of(Arc::clone(&watched) as Arc<dyn Vault>);
        let configured = Installation::clone(&self.config.installation);
        Ok((Arc::new(Installation { secrets, ..configured }), Some(watched)))
    }

    /// Whether a secret that a turn has not found is there now.
    pub(crate) async fn has_come(&self, secrets: &Watched) -> Result<bool, Stop> {
        let Some(keeper) = &self.keeper else { return Ok(false) };
        keeper.has_come(secrets, self.now()).await.map_err(no_secrets)
    }

    /// The secrets as they are now; none without a key for them.
    pub(crate) async fn secrets(&self) -> Result<Option<Secrets>, Stop> {
        let Some(keeper) = &self.keeper else { return Ok(None) };
        let opened = keeper.current(self.now()).await.map_err(no_secrets)?;
        Ok(Some(Secrets::of(opened)))
    }

    /// Reports that this node has reached a point.
    pub(crate) async fn at(&self, point: Point) {
        self.trail.at(point).await;
    }

    /// Waits for a permit to run a burst.
    pub(crate) async fn burst_permit(&self) -> Result<SemaphorePermit<'_>, Stop> {
        self.bursts.acquire().await.map_err(closed)
    }

    /// Waits for a permit to run a turn with scripts.
    pub(crate) async fn script_permit(&self) -> Result<OwnedSemaphorePermit, Stop> {
        Arc::clone(&self.scripts).acquire_owned().await.map_err(closed)
    }

    /// Waits for a permit to run a turn that continues another.
    pub(crate) async fn long_turn_permit(&self) -> Result<SemaphorePermit<'_>, Stop> {
        self.long_turns.acquire().await.map_err(closed)
    }

    /// Runs a task. A stop waits for it, a kill drops it, and a panic is logged and counted.
    pub(crate) fn spawn(
        &self,
        name: &'static str,
        task: impl Future<Output = ()> + Send + 'static,
    ) {
        let gone = self.gone.clone();
        let task = async move { gone.run_until_cancelled(task).await.unwrap_or_default() };
        drop(tasks::spawn(name, self.tasks.track_future(task)));
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.gone.is_cancelled()
    }

    /// Completes when a stop begins.
    pub(crate) async fn stopping(&self) {
        self.stopping.cancelled().await;
    }

    /// A stop no longer waits for outgoing calls, nor for turns that continue others.
    pub(crate) fn has_given_up(&self) -> bool {
        self.give_up_at.get().is_some_and(|at| Instant::now() >= *at)
    }

    /// Completes when a stop no longer waits for outgoing calls.
    pub(crate) async fn given_up(&self) {
        self.stopping.cancelled().await;
        if let Some(at) = self.give_up_at.get() {
            tokio::time::sleep_until(*at).await;
        }
    }
}

fn no_secrets(error: vault::Error) -> Stop {
    Stop::later(format!("read secrets: {error}"))
}

fn closed(error: AcquireError) -> Stop {
    Stop::later(error.to_string())
}

/// The number of threads that run at the same time here; 1 if the system does not report it.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}
