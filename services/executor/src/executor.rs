//! One executor: what it is made of, and its three verbs: handle a delivery, stop, die.

use std::num::NonZero;
use std::sync::{Arc, OnceLock};

use bus::{Bucket, Bus, Delivery, Leases, Presence, Wire};
use catalog::Catalog;
use chassis::{Chance, Clock, Point, Points, Trail};
use engine::Engine;
use model::Timestamp;
use store::Store;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::actor::Actors;
use crate::calls::Calls;
use crate::config::Config;
use crate::handle;
use crate::trodden::trodden;

/// What an executor needs of the world.
#[derive(Clone)]
pub struct Context {
    /// This node's name, unique in the cluster.
    pub node: String,
    /// The database.
    pub store: Arc<dyn Store>,
    /// The message bus.
    pub bus: Arc<dyn Bus>,
    /// The engine.
    pub engine: Arc<Engine>,
    /// Definitions.
    pub catalog: Catalog,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Ids and seeds.
    pub chance: Arc<dyn Chance>,
    /// Who lives.
    pub presence: Presence,
    /// Outgoing calls.
    pub calls: Arc<dyn Calls>,
    /// Told where each command is; nobody in production.
    pub points: Option<Arc<dyn Points>>,
    /// Settings.
    pub config: Config,
}

/// Applies commands to instances. Clones share it.
#[derive(Clone)]
pub struct Executor(Cx);

/// What every step of the pipeline is handed.
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
    trail: Trail,
    pub(crate) config: Config,
    pub(crate) leases: Leases,
    /// Bursts that may run now.
    pub(crate) bursts: Semaphore,
    /// Turns with scripts that may run now: one for each core. More of them would take each other's
    /// time, of which each has little, and memory.
    pub(crate) scripts: Arc<Semaphore>,
    pub(crate) actors: Actors,
    pub(crate) tasks: TaskTracker,
    stopping: CancellationToken,
    gone: CancellationToken,
    give_up_at: OnceLock<Instant>,
}

impl Executor {
    /// An executor that does nothing until it is handed deliveries. Needs a tokio runtime.
    #[must_use]
    pub fn start(context: Context) -> Self {
        let Context { node, store, bus, engine, catalog, clock, chance, .. } = context;
        let Context { presence, calls, points, config, .. } = context;
        catalog.trust_while(&presence);
        let nonces = Arc::clone(&chance);
        let nonces: bus::Chance = Arc::new(move || nonces.new_id());
        let trail = Trail::new(&node, points);
        let leases =
            Leases::start(trodden(bus.kv(Bucket::Leases), &trail), &node, config.terms, nonces)
                .fair(Arc::clone(&bus) as Arc<dyn Wire>);
        let inner = Inner {
            bursts: Semaphore::new(config.concurrency.max(1)),
            scripts: Arc::new(Semaphore::new(cores())),
            actors: Actors::default(),
            tasks: TaskTracker::new(),
            stopping: CancellationToken::new(),
            gone: CancellationToken::new(),
            give_up_at: OnceLock::new(),
            node,
            store,
            bus,
            engine,
            catalog,
            clock,
            chance,
            presence,
            calls,
            trail,
            config,
            leases,
        };
        let cx = Arc::new(inner);
        cx.spawn(follow_presence(Arc::clone(&cx)));
        Self(cx)
    }

    /// Takes one delivery to its end: acknowledged, sent back, parked, or left to come again.
    /// Never fails.
    pub async fn handle(&self, delivery: Delivery) {
        let work = Box::pin(handle::handle(&self.0, delivery));
        self.0.gone.run_until_cancelled(work).await.unwrap_or_default();
    }

    /// From now on outgoing calls get only a moment more: those that take longer are made again
    /// elsewhere.
    pub fn begin_stop(&self) {
        let cx = &self.0;
        cx.give_up_at.get_or_init(|| Instant::now() + cx.config.call_grace);
        cx.stopping.cancel();
    }

    /// Finishes what is in hand and gives every lease back. To be called when nothing is handed
    /// over any more.
    pub async fn stop(&self) {
        self.begin_stop();
        let cx = &self.0;
        cx.tasks.close();
        cx.tasks.wait().await;
        cx.leases.close().await;
    }

    /// Drops everything at once, as a crash does.
    pub fn kill(&self) {
        self.0.gone.cancel();
    }

    /// Leases that are held now.
    #[must_use]
    pub fn leases_held(&self) -> usize {
        self.0.leases.held()
    }

    /// Instances that are worked on now.
    #[must_use]
    pub fn instances_in_hand(&self) -> usize {
        self.0.actors.len()
    }

    pub(crate) fn cx(&self) -> &Cx {
        &self.0
    }
}

impl Inner {
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn seed(&self) -> [u8; 32] {
        self.chance.seed()
    }

    /// Passes a point.
    pub(crate) async fn at(&self, point: Point) {
        self.trail.at(point).await;
    }

    /// Runs a task that a stop waits for and a kill drops.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let gone = self.gone.clone();
        // Boxed, because each layer around a task copies it.
        let task = Box::pin(task);
        self.tasks.spawn(async move {
            gone.run_until_cancelled(task).await.unwrap_or_default();
        });
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.gone.is_cancelled()
    }

    /// Completes when a stop begins.
    pub(crate) async fn stopping(&self) {
        self.stopping.cancelled().await;
    }

    /// Completes when a stop waits for outgoing calls no longer.
    pub(crate) async fn given_up(&self) {
        self.stopping.cancelled().await;
        if let Some(at) = self.give_up_at.get() {
            tokio::time::sleep_until(*at).await;
        }
    }
}

/// Threads that run at the same time here; 1 where the system does not say.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Tells the leases who lives, so that those of dead nodes are taken over at once.
async fn follow_presence(cx: Cx) {
    let mut live = cx.presence.changed();
    loop {
        let nodes: Vec<_> =
            live.borrow_and_update().iter().map(|member| member.node.clone()).collect();
        cx.leases.presence_changed(&nodes);
        tokio::select! {
            biased;
            () = cx.stopping() => return,
            changed = live.changed() => if changed.is_err() {
                return;
            },
        }
    }
}
