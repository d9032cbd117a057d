//! The nodes: started, killed, replaced.

#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bus::{Bucket, Bus, Member, MemoryBus, Presence};
use catalog::Catalog;
use chassis::{Chance as _, Clock, Life, Points, SeededChance, TokioClock};
use engine::Engine;
use model::Timestamp;
use store::Store;
use store::memory::MemoryStore;
use tokio::task::JoinHandle;

use crate::definitions::{KEPT, LARGE_ABOVE, OUTER};
use crate::gateway::Gateways;
use crate::nemesis::{Nemesis, NodeStore};
use crate::outside::Outside;
use crate::planted::{BrokenBus, BrokenStore, Planted};

const PRESENCE_TTL: Duration = Duration::from_secs(5);
/// Without faults a node stops within this time.
const STOP_MAX: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Executor,
    Timer,
    Notifier,
    Ingress,
}

/// The parts that all nodes share.
pub(crate) struct Cluster {
    pub(crate) clock: TokioClock,
    pub(crate) store: MemoryStore,
    pub(crate) bus: MemoryBus,
    pub(crate) engine: Arc<Engine>,
    pub(crate) nemesis: Arc<Nemesis>,
    pub(crate) outside: Arc<Outside>,
    pub(crate) planted: Option<Planted>,
    pub(crate) gateways: Gateways,
    chance: Arc<SeededChance>,
    nodes: Mutex<BTreeMap<String, Node>>,
    /// Nodes that are stopping.
    leaving: Mutex<BTreeMap<String, Life>>,
}

struct Node {
    role: Role,
    life: Life,
    task: JoinHandle<()>,
    skew: Arc<AtomicI64>,
}

/// The clock of one node: wrong by some milliseconds, which may change at any time.
struct NodeClock {
    clock: TokioClock,
    skew: Arc<AtomicI64>,
}

impl Clock for NodeClock {
    fn now(&self) -> Timestamp {
        let skew = self.skew.load(Ordering::Relaxed);
        Timestamp::from_millis(self.clock.now().as_millis() + skew)
    }
}

impl Cluster {
    pub(crate) fn new(
        clock: TokioClock,
        engine: Arc<Engine>,
        nemesis: Arc<Nemesis>,
        outside: Arc<Outside>,
        planted: Option<Planted>,
        seed: u64,
    ) -> Arc<Self> {
        let now = move || clock.now();
        Arc::new(Self {
            clock,
            store: MemoryStore::new(Arc::new(now)),
            bus: MemoryBus::with_faults(Arc::new(now), nemesis.clone()),
            engine,
            nemesis,
            outside,
            planted,
            gateways: Gateways::default(),
            chance: Arc::new(SeededChance::new(seed)),
            nodes: Mutex::default(),
            leaving: Mutex::default(),
        })
    }

    /// The bus as one node sees it.
    pub(crate) fn bus_of(&self, node: &str) -> Arc<dyn Bus> {
        let bus = self.bus.as_node(node);
        Arc::new(BrokenBus::new(bus, self.planted, self.nonces()))
    }

    /// The database as one node sees it.
    pub(crate) fn store_of(&self, node: &str) -> Arc<dyn Store> {
        let faults = NodeStore { node: node.to_owned(), nemesis: Arc::clone(&self.nemesis) };
        let twin = self.store.with_faults(Arc::new(faults));
        match self.planted {
            Some(Planted::Store(bug)) => Arc::new(BrokenStore::new(twin, self.store.clone(), bug)),
            _ => Arc::new(twin),
        }
    }

    pub(crate) fn nonces(&self) -> bus::Nonces {
        let chance = Arc::clone(&self.chance);
        Arc::new(move || chance.new_id())
    }

    /// Starts a node; it tries again until it can join.
    pub(crate) fn start(self: &Arc<Self>, node: &str, role: Role) {
        let life = Life::new(Duration::from_secs(30));
        let skew = Arc::new(AtomicI64::new(self.nemesis.some_skew()));
        let clock = Arc::new(NodeClock { clock: self.clock, skew: Arc::clone(&skew) });
        let (cluster, name, living) = (Arc::clone(self), node.to_owned(), life.clone());
        let task = tokio::spawn(async move {
            let kill = living.kill();
            let run = cluster.run(&name, role, living, clock);
            kill.run_until_cancelled(run).await.unwrap_or_default();
        });
        self.nemesis.note(node, "starts");
        self.nodes.lock().unwrap().insert(node.to_owned(), Node { role, life, task, skew });
    }

    /// Lets the clock of a node jump.
    pub(crate) fn jump(&self, node: &str) {
        let skew = self.nemesis.some_skew();
        if let Some(node) = self.nodes.lock().unwrap().get(node) {
            node.skew.store(skew, Ordering::Relaxed);
        }
        self.nemesis.note(node, format_args!("its clock is wrong by {skew} ms now"));
    }

    pub(crate) fn role(&self, node: &str) -> Option<Role> {
        self.nodes.lock().unwrap().get(node).map(|node| node.role)
    }

    /// Stops a node as an operator does; false if it had to be killed in the end.
    pub(crate) async fn leave(&self, node: &str) -> bool {
        let Some(mut leaving) = self.nodes.lock().unwrap().remove(node) else { return true };
        self.nemesis.note(node, "leaves");
        self.leaving.lock().unwrap().insert(node.to_owned(), leaving.life.clone());
        leaving.life.begin_stop();
        let is_gone = tokio::time::timeout(STOP_MAX, &mut leaving.task).await.is_ok();
        if !is_gone {
            leaving.life.begin_kill();
            leaving.task.await.unwrap();
        }
        self.leaving.lock().unwrap().remove(node);
        self.nemesis.note(node, if is_gone { "has left" } else { "did not leave" });
        is_gone
    }

    /// Kills a node; returns its role, unless it was stopping already.
    pub(crate) async fn kill(&self, node: &str) -> Option<Role> {
        if let Some(life) = self.leaving.lock().unwrap().get(node) {
            life.begin_kill();
        }
        let node = self.nodes.lock().unwrap().remove(node)?;
        node.life.begin_kill();
        node.task.await.unwrap();
        Some(node.role)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.nodes.lock().unwrap().keys().cloned().collect()
    }

    /// Stops all nodes as an operator does; returns those that did not stop.
    pub(crate) async fn stop(&self) -> Vec<String> {
        let mut stuck = Vec::new();
        for name in self.names() {
            if !self.leave(&name).await {
                stuck.push(name);
            }
        }
        stuck
    }

    async fn run(&self, node: &str, role: Role, life: Life, clock: Arc<NodeClock>) {
        while !life.is_draining() {
            match self.try_run(node, role, life.clone(), Arc::clone(&clock)).await {
                Ok(()) => return,
                Err(error) => self.nemesis.note(node, format_args!("cannot start: {error:#}")),
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }

    async fn try_run(
        &self,
        node: &str,
        role: Role,
        life: Life,
        clock: Arc<NodeClock>,
    ) -> anyhow::Result<()> {
        let (bus, store) = (self.bus_of(node), self.store_of(node));
        let me = Member {
            node: node.to_owned(),
            roles: vec![
                match role {
                    Role::Executor => "executor",
                    Role::Timer => timer::ROLE,
                    Role::Notifier => cache_notifier::ROLE,
                    Role::Ingress => "ingress",
                }
                .to_owned(),
            ],
            started_at: self.clock.now(),
            address: None,
            version: None,
        };
        let presence =
            Presence::join(bus.kv(Bucket::Nodes), me, PRESENCE_TTL, self.nonces()).await?;
        let points: Option<Arc<dyn Points>> = Some(self.nemesis.clone());
        let ran = match role {
            Role::Executor => {
                let node = (node, clock);
                self.execute(node, store, bus, presence.clone(), life).await
            }
            Role::Ingress => {
                let node = (node, clock);
                self.gateway(node, store, bus, presence.clone(), life).await
            }
            Role::Timer => {
                let config = timer::Config { payload_kept: KEPT, ..timer::Config::default() };
                let nonces = self.nonces();
                let cx = timer::Context::new(node, store, bus, presence.clone(), nonces, config);
                timer::run(cx.watched(points), life).await
            }
            Role::Notifier => {
                let config = cache_notifier::Config::default();
                let nonces = self.nonces();
                let of = presence.clone();
                let cx =
                    cache_notifier::Context::start(node, store, bus, of, nonces, config).await?;
                cache_notifier::run(cx.watched(points), life).await
            }
        };
        presence.leave().await;
        ran
    }

    async fn gateway(
        &self,
        (node, clock): (&str, Arc<NodeClock>),
        store: Arc<dyn Store>,
        bus: Arc<dyn Bus>,
        presence: Presence,
        life: Life,
    ) -> anyhow::Result<()> {
        let engine = Arc::clone(&self.engine);
        let (of_store, of_bus) = (Arc::clone(&store), Arc::clone(&bus));
        let catalog =
            Catalog::start(of_store, of_bus, Arc::clone(&engine), self.nonces(), node).await?;
        let points: Option<Arc<dyn Points>> = Some(self.nemesis.clone());
        let context = ingress::Context {
            store,
            bus,
            engine,
            catalog: catalog.clone(),
            presence,
            clock,
            chance: self.chance.clone(),
            trail: chassis::Trail::new(node, points),
        };
        let config = ingress::Config {
            answer_time_max: Duration::from_secs(8),
            ..ingress::Config::default()
        };
        let gateway = Arc::new(ingress::Gateway::open(context, config).await?);
        let opened = self.gateways.open(node, Arc::clone(&gateway), life.kill());
        life.ready();
        life.stop().cancelled().await;
        drop(opened);
        gateway.drain();
        gateway.close().await;
        catalog.close().await;
        Ok(())
    }

    async fn execute(
        &self,
        (node, clock): (&str, Arc<NodeClock>),
        store: Arc<dyn Store>,
        bus: Arc<dyn Bus>,
        presence: Presence,
        life: Life,
    ) -> anyhow::Result<()> {
        let engine = Arc::clone(&self.engine);
        let (of_store, of_bus) = (Arc::clone(&store), Arc::clone(&bus));
        let catalog =
            Catalog::start(of_store, of_bus, Arc::clone(&engine), self.nonces(), node).await?;
        let chance: Arc<dyn chassis::Chance> = self.chance.clone();
        let context = executor::Context {
            node: node.to_owned(),
            store,
            bus,
            engine,
            catalog: catalog.clone(),
            clock,
            chance,
            presence,
            calls: self.outside.clone(),
            points: Some(self.nemesis.clone()),
            config: settings(),
        };
        let ran = executor::run(context, life).await;
        catalog.close().await;
        ran
    }
}

/// The settings of an executor: turns run where they are, large values rest in payloads, and workflows may listen to what others send.
fn settings() -> executor::Config {
    let mut config = executor::Config {
        offload_turns: false,
        payload_above: LARGE_ABOVE,
        ..executor::Config::default()
    };
    config.connectors.nats.subjects = [("*".to_owned(), vec![OUTER.to_owned()])].into();
    config
}
