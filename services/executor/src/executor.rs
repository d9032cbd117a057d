//! One executor: its construction, and the operations of its owner: handle a delivery, stop, kill.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use bus::{Bucket, Bus, Delivery, Leases, Pools, Presence, Wire};
use catalog::Catalog;
use chassis::{Chance, Clock, Points, Trail};
use connectors::Calls;
use engine::Engine;
use payloads::Payloads;
use store::{Rooms, Store};
use tokio::sync::{Notify, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::attach::ATTACHING_MAX;
use crate::chains::Chains;
use crate::config::Config;
use crate::cx::{Cx, Inner, cores};
use crate::handle;
use crate::mailbox::Mailboxes;
use crate::sample::Sampler;
use crate::watched::watched;

/// Leases of an answer about the work, among those that other nodes wait for.
const WANTED_MAX: usize = 100;

/// The parts of an executor.
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
    /// The live nodes.
    pub presence: Presence,
    /// Outgoing calls.
    pub calls: Arc<dyn Calls>,
    /// Receives the points that commands reach; none in production.
    pub points: Option<Arc<dyn Points>>,
    /// Settings.
    pub config: Config,
}

/// Applies commands to instances. Clones share it.
#[derive(Clone)]
pub struct Executor(Cx);

impl Executor {
    /// An executor that does nothing until it gets deliveries. Needs a tokio runtime.
    #[must_use]
    pub fn start(context: Context) -> Self {
        let Context { node, store, bus, engine, catalog, clock, chance, .. } = context;
        let Context { presence, calls, points, config, .. } = context;
        catalog.trust_while(&presence);
        let nonces = Arc::clone(&chance);
        let nonces: bus::Nonces = Arc::new(move || nonces.new_id());
        let trail = Trail::new(&node, points);
        let leases =
            Leases::start(watched(bus.kv(Bucket::Leases), &trail), &node, config.terms, nonces)
                .fair(Arc::clone(&bus) as Arc<dyn Wire>);
        let keeper =
            config.master.clone().map(|master| vault::Keeper::new(Arc::clone(&store), master));
        let payloads = Payloads::new(
            Arc::clone(&store),
            Arc::clone(&clock),
            Arc::clone(&chance),
            config.payload_bytes_max,
        )
        .above(config.payload_above)
        .resting(config.payload_places.over(&bus.outside()));
        let inner = Inner {
            keeper,
            payloads,
            attaching: Semaphore::new(ATTACHING_MAX),
            // Half of the commands in hand stay for instances that need no room.
            rooms: Rooms::new(config.in_hand_max / 2),
            bursts: Semaphore::new(config.concurrency.max(1)),
            scripts: Arc::new(Semaphore::new(cores())),
            long_turns: Arc::new(Semaphore::new((cores() / 2).max(1))),
            pools: Pools::new(Arc::clone(&bus)),
            waits_for_messages: Notify::new(),
            mailboxes: Mailboxes::default(),
            chains: Chains::default(),
            refusals: Sampler::default(),
            tasks: TaskTracker::new(),
            has_no_store: AtomicBool::new(false),
            is_exhausted: AtomicBool::new(false),
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
        let followed = Arc::clone(&cx);
        let following = move || follow_presence(Arc::clone(&followed));
        let stopping = cx.stopping.clone();
        cx.spawn("executor: presence", async move {
            tasks::supervised("executor: presence", stopping, following).await;
        });
        Self(cx)
    }

    /// Processes one delivery to its end: acknowledged, sent back, moved to the dead letters, or
    /// left to be delivered again. Never fails.
    pub async fn handle(&self, delivery: Delivery) {
        let work = Box::pin(handle::handle(&self.0, delivery));
        self.0.gone.run_until_cancelled(work).await.unwrap_or_default();
    }

    /// Begins a stop: outgoing calls have `Config::call_grace` left. Another node repeats longer
    /// ones.
    pub fn begin_stop(&self) {
        let cx = &self.0;
        cx.give_up_at.get_or_init(|| Instant::now() + cx.config.call_grace);
        cx.stopping.cancel();
    }

    /// Finishes the work in progress and releases every lease. Call it when no delivery comes any
    /// more.
    pub async fn stop(&self) {
        self.begin_stop();
        let cx = &self.0;
        cx.tasks.close();
        cx.tasks.wait().await;
        cx.leases.close().await;
    }

    /// Drops everything at once, like a crash.
    pub fn kill(&self) {
        self.0.gone.cancel();
    }

    /// The number of leases that are held now.
    #[must_use]
    pub fn leases_held(&self) -> usize {
        self.0.leases.held()
    }

    /// Leases that other nodes wait for, with their names.
    pub(crate) fn leases_wanted(&self) -> BTreeMap<String, Vec<String>> {
        self.0.leases.wanted(WANTED_MAX)
    }

    /// The number of instances that have an actor now.
    #[must_use]
    pub fn instances_in_hand(&self) -> usize {
        self.0.mailboxes.len()
    }

    pub(crate) fn cx(&self) -> &Cx {
        &self.0
    }
}

/// Passes the live nodes to the leases, so that leases of dead nodes are taken over at once.
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
