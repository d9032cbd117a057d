//! What every request works with: the shared parts of the process, and what ingress keeps in
//! memory beside them. Nothing here outlives the process.

use std::sync::Arc;
use std::time::Duration;

use bus::{Bus, Presence};
use catalog::Catalog;
use chassis::{Chance, Clock, Health, Trail};
use engine::{Engine, Env};
use model::{CommandId, Timestamp};
use serde_json::Value;
use store::{Audit, Store};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::auth::Caller;
use crate::backlog::Backlog;
use crate::endpoint::Routes;
use crate::idempotency::Answers;
use crate::metrics::Metrics;
use crate::waiters::Waiters;
use crate::{Config, Problem};

/// How long requests still wait for outcomes when the server stops.
const DRAIN_GRACE: Duration = Duration::from_millis(500);

/// The shared parts of the process that ingress works with. Cheap to clone.
#[derive(Clone)]
pub struct Context {
    /// The database.
    pub store: Arc<dyn Store>,
    /// The message bus.
    pub bus: Arc<dyn Bus>,
    /// Compiles definitions and finds what starts them.
    pub engine: Arc<Engine>,
    /// Published versions.
    pub catalog: Catalog,
    /// This node among the others.
    pub presence: Presence,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Ids and seeds.
    pub chance: Arc<dyn Chance>,
    /// Told where each request is; nobody in production.
    pub trail: Trail,
}

/// One ingress.
pub(crate) struct App {
    pub(crate) cx: Context,
    pub(crate) config: Config,
    pub(crate) waiters: Waiters,
    pub(crate) routes: Routes,
    pub(crate) answers: Answers,
    pub(crate) metrics: Metrics,
    pub(crate) health: Health,
    /// One permit per request at work.
    pub(crate) room: Arc<Semaphore>,
    /// One permit per byte of their bodies.
    pub(crate) bodies: Semaphore,
    /// How many commands wait.
    pub(crate) backlog: Backlog,
    draining: CancellationToken,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl App {
    /// Opens the inbox and starts what runs beside the requests.
    pub(crate) async fn start(cx: Context, config: Config) -> Result<Arc<Self>, bus::Error> {
        let (waiters, subscription) = Waiters::open(&*cx.bus).await?;
        cx.catalog.trust_while(&cx.presence);
        let app = Self {
            routes: Routes::following(cx.catalog.pointers()),
            answers: Answers::default(),
            metrics: Metrics::new(),
            health: checks(&cx),
            room: Arc::new(Semaphore::new(config.requests_max)),
            bodies: Semaphore::new(config.bodies_bytes_max),
            backlog: Backlog::new(config.backlog_max),
            draining: CancellationToken::new(),
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
            cx,
            config,
            waiters: waiters.clone(),
        };
        let listening = waiters.listen(subscription);
        app.tasks.spawn(app.stop.clone().run_until_cancelled_owned(listening));
        Ok(Arc::new(app))
    }

    /// The time.
    pub(crate) fn now(&self) -> Timestamp {
        self.cx.clock.now()
    }

    /// An id that was never given before, of 32 hexadecimal characters.
    pub(crate) fn fresh_id(&self) -> String {
        self.cx.chance.new_id()
    }

    /// 256 bits that nobody can guess, in hexadecimal.
    pub(crate) fn secret(&self) -> String {
        self.cx.chance.seed().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Time and chance for the engine.
    pub(crate) fn env(&self, command_id: CommandId) -> Env {
        Env {
            now: self.now(),
            seed: self.cx.chance.seed(),
            command_id,
            base_url: self.config.base_url(),
        }
    }

    /// Writes down who did what. Best effort: what was done stays done.
    pub(crate) async fn audit(&self, caller: &Caller, what: &str, target: &str, details: Value) {
        let entry = Audit {
            at: self.now(),
            who: caller.who.clone(),
            what: what.to_owned(),
            target: target.to_owned(),
            details,
        };
        tracing::info!(who = entry.who, what, target, "audit");
        if let Err(error) = self.cx.store.audit(entry).await {
            tracing::error!(%error, what, target, "the audit log could not be written");
        }
    }

    /// From now on nothing new is taken in.
    pub(crate) fn drain(&self) {
        self.draining.cancel();
    }

    /// Whether nothing new is taken in.
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.is_cancelled()
    }

    /// Completes a moment after draining has begun: what is accepted need not be waited for.
    pub(crate) async fn drained(&self) {
        self.draining.cancelled().await;
        tokio::time::sleep(DRAIN_GRACE).await;
    }

    /// Refuses what could only pile up in the stream and the database.
    pub(crate) fn must_have_room(self: &Arc<Self>) -> Result<(), Problem> {
        if self.backlog.is_to_be_asked() {
            let app = Arc::clone(self);
            self.tasks.spawn(async move { app.backlog.ask(&*app.cx.bus).await });
        }
        if self.backlog.is_too_long() {
            self.metrics.refused();
            return Err(Problem::overloaded(
                "more commands are waiting than can be kept: try again in a moment",
            ));
        }
        Ok(())
    }

    /// Refuses a start while this node may know an old published version.
    pub(crate) fn must_be_current(&self) -> Result<(), Problem> {
        if self.cx.presence.is_cut_off() {
            return Err(Problem::unavailable(
                "this node is cut off from the others and starts nothing new: try again in a \
                 moment, or at another node",
            ));
        }
        Ok(())
    }

    /// Stops what runs beside the requests.
    pub(crate) async fn close(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

/// What ingress cannot work without.
fn checks(cx: &Context) -> Health {
    let health = Health::new();
    let store = Arc::clone(&cx.store);
    health.add("database", move || {
        let store = Arc::clone(&store);
        async move { store.ping().await.map_err(|error| error.to_string()) }
    });
    let bus = Arc::clone(&cx.bus);
    health.add("nats", move || {
        let bus = Arc::clone(&bus);
        async move { bus.backlog().await.map(drop).map_err(|error| error.to_string()) }
    });
    let presence = cx.presence.clone();
    health.add("cluster", move || {
        let is_cut_off = presence.is_cut_off();
        async move { if is_cut_off { Err("cut off from the other nodes".to_owned()) } else { Ok(()) } }
    });
    health
}
