//! The state that all requests share: the connections of the process, and the memory of ingress.
//! Nothing here outlives the process.

use std::sync::Arc;
use std::time::Duration;

use chassis::{Health, Life};
use engine::{Env, Installation};
use futures::FutureExt as _;
use model::{CommandId, Timestamp};
use payloads::Payloads;
use serde_json::Value;
use store::{Audit, AuditOutcome, Rooms};
use tokio::sync::{Mutex, Semaphore, mpsc};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TrackedFuture;

use crate::audit::{self, Refusals, entry};
use crate::auth::bootstrap::Bootstrap;
use crate::auth::caller::Caller;
use crate::auth::reads::Reads;
use crate::backing::Backing;
use crate::backlog::Backlog;
use crate::config::Config;
use crate::context::Context;
use crate::edit_locks::EditLocks;
use crate::endpoint::table::Routes;
use crate::executors::Paused;
use crate::expiry::Expiry;
use crate::identity::Identity;
use crate::live::Streams;
use crate::metrics::Metrics;
use crate::oidc::{self, Oidc};
use crate::problem::Problem;
use crate::rate::Rates;
use crate::told::Told;
use crate::waiters::Waiters;
use crate::wake::Wake;

/// How long requests still wait for outcomes after the server has begun to stop.
const DRAIN_GRACE: Duration = Duration::from_millis(500);
/// How long a start waits for a node that is cut off from the others: longer than the time from one write of
/// its presence to the next, which is a third of `presence-ttl`, usually 3 s.
const HICCUP: Duration = Duration::from_millis(1_500);

/// How long the requests on the last connections are still answered.
const LAST_REQUESTS: Duration = Duration::from_secs(1);

/// Test runs at the same time.
pub(crate) const TEST_RUNS_MAX: usize = 4;

/// Definitions that are converted at the same time.
pub(crate) const CONVERSIONS_MAX: usize = 2;

/// One ingress.
pub(crate) struct App {
    pub(crate) cx: Context,
    pub(crate) config: Config,
    pub(crate) waiters: Waiters,
    pub(crate) routes: Routes,
    /// When expired requests with a key were last removed.
    pub(crate) expiry: Expiry,
    /// Logins, and the keys of their tokens.
    pub(crate) identity: Identity,
    /// Reads of credentials.
    pub(crate) reads: Reads,
    /// Whether the key of the configuration is nobody else's.
    pub(crate) bootstrap: Bootstrap,
    /// The issuer whose tokens are accepted, if that scheme is on.
    pub(crate) oidc: Option<Arc<Oidc>>,
    /// One change of a definition at a time.
    pub(crate) edit_locks: EditLocks,
    /// Where large bodies and files rest.
    pub(crate) payloads: Payloads,
    /// Secrets, if there is a key for them.
    pub(crate) keeper: Option<Arc<vault::Keeper>>,
    pub(crate) metrics: Metrics,
    pub(crate) health: Health,
    /// Decides which refused requests are in the audit log.
    pub(crate) refusals: Refusals,
    /// Wakes the work on plans.
    pub(crate) plans: Wake,
    /// One permit per request in progress.
    pub(crate) room: Arc<Semaphore>,
    /// One permit per byte of their bodies.
    pub(crate) bodies: Semaphore,
    /// One permit per request that waits for tasks: they leave room for others.
    pub(crate) polls: Semaphore,
    /// Room for the large states that requests read.
    pub(crate) states: Rooms,
    /// Room for the answers that are made of them, until they are sent.
    pub(crate) answers: Rooms,
    /// One permit per test run.
    pub(crate) test_runs: Arc<Semaphore>,
    /// One permit for an export of several instances, which may have large states.
    pub(crate) exports: Semaphore,
    /// One permit per definition that is converted to the short form or from it.
    pub(crate) conversions: Arc<Semaphore>,
    /// The permit of the one validation of the cluster that this node makes at a time.
    pub(crate) validations: Arc<Semaphore>,
    /// The figures of the last hour, and when they were counted.
    pub(crate) last_hour: Mutex<Option<(Instant, Value)>>,
    /// The counts of what is not done, and until when they are given again.
    pub(crate) counts: Mutex<Option<(Instant, Value)>>,
    /// The definitions with unfinished instances, and until when they are given again.
    pub(crate) unfinished: Mutex<Option<(Instant, Value)>>,
    /// The documents of activity types that the log has named as unusable.
    pub(crate) told_types: Told,
    /// Limits of the rate of requests.
    pub(crate) rates: Rates,
    /// The number of commands that wait.
    pub(crate) backlog: Backlog,
    /// Whether NATS and the database answer.
    pub(crate) backing: Backing,
    /// Whether every live executor is paused.
    pub(crate) paused: Paused,
    /// The streams of live updates.
    pub(crate) streams: Streams,
    leaving: CancellationToken,
    draining: CancellationToken,
    stop: CancellationToken,
    tasks: TaskTracker,
    /// Entries of the audit log that are written together.
    audits: mpsc::Sender<Audit>,
}

/// The line of the log about an entry of the audit log. `target` would be that of the line itself.
fn log(entry: &Audit) {
    let Audit { who, what, target, outcome, .. } = entry;
    tracing::info!(who, what, of = target, outcome = outcome.as_str(), "audit");
}

impl App {
    /// Opens the inbox for outcomes, and starts the background tasks.
    pub(crate) async fn start(cx: Context, config: Config) -> Result<Arc<Self>, bus::Error> {
        let (waiters, subscription) = Waiters::open(&*cx.bus).await?;
        cx.catalog.trust_while(&cx.presence);
        let metrics = Metrics;
        let (audits, entries) = mpsc::channel(audit::WAITING_MAX);
        let issuer = config.oidc.clone().filter(|_| config.auth.oidc);
        let issuer = issuer.map(|issuer| Arc::new(Oidc::new(issuer, metrics.clone())));
        let master = config.master.clone();
        let keeper =
            master.map(|master| Arc::new(vault::Keeper::new(Arc::clone(&cx.store), master)));
        let payloads = Payloads::new(
            Arc::clone(&cx.store),
            Arc::clone(&cx.clock),
            Arc::clone(&cx.chance),
            config.payload_bytes_max,
        )
        .above(config.payload_above)
        .resting(config.payload_places.over(&cx.bus.outside()));
        let app = Self {
            payloads,
            routes: Routes::following(cx.catalog.pointers()),
            expiry: Expiry::default(),
            identity: Identity::encrypted_by(keeper.clone()),
            reads: Reads::default(),
            bootstrap: Bootstrap::default(),
            refusals: Refusals::default(),
            plans: Wake::default(),
            edit_locks: EditLocks::default(),
            keeper,
            metrics,
            oidc: issuer,
            health: node::health(&cx.store, &cx.bus, &cx.presence),
            room: Arc::new(Semaphore::new(config.requests_max)),
            bodies: Semaphore::new(config.bodies_bytes_max),
            polls: Semaphore::new((config.requests_max / 2).max(1)),
            // Half of the requests at work stay for those that need no room.
            states: Rooms::new(config.requests_max / 2),
            answers: Rooms::new(config.requests_max / 4),
            test_runs: Arc::new(Semaphore::new(TEST_RUNS_MAX)),
            exports: Semaphore::new(1),
            conversions: Arc::new(Semaphore::new(CONVERSIONS_MAX)),
            validations: Arc::new(Semaphore::new(1)),
            last_hour: Mutex::default(),
            counts: Mutex::default(),
            unfinished: Mutex::default(),
            told_types: Told::default(),
            rates: Rates::new(&config),
            backlog: Backlog::new(config.backlog_max),
            backing: Backing::default(),
            paused: Paused::default(),
            streams: Streams::new(config.streams_max, config.streams_per_caller_max),
            leaving: CancellationToken::new(),
            draining: CancellationToken::new(),
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
            audits,
            cx,
            config,
            waiters: waiters.clone(),
        };
        if let Some(issuer) = &app.oidc {
            app.spawn("ingress oidc", oidc::following(Arc::clone(issuer), app.stop.clone()));
        }
        let (bus, stop) = (Arc::clone(&app.cx.bus), app.stop.clone());
        let mut first = Some(subscription);
        let listening = tasks::supervised("ingress outcomes", app.stop.clone(), move || {
            let listening = waiters.clone().listen(Arc::clone(&bus), first.take());
            stop.clone().run_until_cancelled_owned(listening).map(drop)
        });
        app.spawn("ingress outcomes", listening);
        let (store, bus) = (Arc::clone(&app.cx.store), Arc::clone(&app.cx.bus));
        let (entries, stop) = (Arc::new(Mutex::new(entries)), app.stop.clone());
        let writing = tasks::supervised("ingress audit", app.stop.clone(), move || {
            let (store, bus) = (Arc::clone(&store), Arc::clone(&bus));
            audit::write_together(store, bus, Arc::clone(&entries), stop.clone())
        });
        app.spawn("ingress audit", writing);
        app.follow_backing();
        app.follow_pauses();
        Ok(Arc::new(app))
    }

    fn follow_backing(&self) {
        let (store, bus) = (Arc::clone(&self.cx.store), Arc::clone(&self.cx.bus));
        let (backing, standing) = (self.backing.clone(), self.cx.presence.standing());
        let stop = self.stop.clone();
        let following = tasks::supervised("ingress backing", self.stop.clone(), move || {
            let (store, bus) = (Arc::clone(&store), Arc::clone(&bus));
            let following = backing.clone().follow(store, bus, standing.clone());
            stop.clone().run_until_cancelled_owned(following).map(drop)
        });
        self.spawn("ingress backing", following);
    }

    fn follow_pauses(&self) {
        let (bus, live) = (Arc::clone(&self.cx.bus), self.cx.presence.changed());
        let (paused, stop) = (self.paused.clone(), self.stop.clone());
        let following = tasks::supervised("ingress pauses", self.stop.clone(), move || {
            let following = paused.clone().follow(Arc::clone(&bus), live.clone());
            stop.clone().run_until_cancelled_owned(following).map(drop)
        });
        self.spawn("ingress pauses", following);
    }

    /// Runs a task that must end before ingress ends.
    pub(crate) fn spawn<F>(&self, name: &'static str, task: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        drop(tasks::spawn(name, self.tasks.track_future(task)));
    }

    /// Is cancelled when the background tasks have to end.
    pub(crate) fn ends(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// The time.
    pub(crate) fn now(&self) -> Timestamp {
        self.cx.clock.now()
    }

    /// A new id of 32 hexadecimal characters.
    pub(crate) fn fresh_id(&self) -> String {
        self.cx.chance.new_id()
    }

    /// 256 bits that cannot be guessed, in hexadecimal.
    pub(crate) fn secret(&self) -> String {
        self.cx.chance.seed().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The time and the seed of one call of the engine.
    pub(crate) fn env(&self, command_id: CommandId) -> Env {
        Env {
            now: self.now(),
            seed: self.cx.chance.seed(),
            command_id,
            installation: Arc::new(Installation {
                base_url: self.config.base_url(),
                retries: self.config.retries.clone(),
                leaves_out_values: self.config.leaves_out_values,
                token_mode: self.config.token_mode,
                continues_with_incidents: self.config.continues_with_incidents,
                ..Installation::default()
            }),
            contents: engine::Contents::default(),
        }
    }

    /// Writes an entry of the audit log. If that fails, the change stays.
    pub(crate) async fn audit(&self, caller: &Caller, what: &str, target: &str, details: Value) {
        self.keep_audit(entry(self.now(), caller, what, target, details)).await;
    }

    /// Writes to the audit log that something was refused.
    pub(crate) async fn audit_refusal(
        &self,
        caller: &Caller,
        what: &str,
        target: &str,
        details: Value,
    ) {
        let entry = entry(self.now(), caller, what, target, details);
        self.keep_audit(Audit { outcome: AuditOutcome::Refused, ..entry }).await;
    }

    /// Writes an entry of the audit log about a change that is made often: many entries together,
    /// beside the request. A crash loses those of the last moment.
    pub(crate) async fn audit_later(
        &self,
        caller: &Caller,
        what: &str,
        target: &str,
        details: Value,
    ) {
        self.keep_audit_later(entry(self.now(), caller, what, target, details)).await;
    }

    /// Writes this entry, with others; at once when too many wait.
    pub(crate) async fn keep_audit_later(&self, entry: Audit) {
        if let Err(entry) = self.try_audit_later(entry) {
            self.write_audit(*entry).await;
        }
    }

    /// Gives this entry to those that are written together.
    ///
    /// # Errors
    /// The entry, when too many wait.
    pub(crate) fn try_audit_later(&self, entry: Audit) -> Result<(), Box<Audit>> {
        log(&entry);
        self.audits.try_send(entry).map_err(|full| Box::new(full.into_inner()))
    }

    /// Writes this entry.
    pub(crate) async fn keep_audit(&self, entry: Audit) {
        log(&entry);
        self.write_audit(entry).await;
    }

    async fn write_audit(&self, entry: Audit) {
        let Audit { what, target, .. } = entry.clone();
        let message = audit::event(&entry);
        if let Err(error) = self.cx.store.audit(entry).await {
            tracing::error!(%error, what, of = target, "the audit log could not be written");
        }
        // The log is the truth: nobody waits until the event is stored.
        if let Err(error) = self.cx.bus.send(message).await {
            tracing::warn!(%error, what, of = target, "an entry of the audit log was not sent");
        }
    }

    /// Leaves and drains with this life. After a time of leaving, the requests on the last connections
    /// are still answered: a proxy that learns of the end by a refused connection has sent them, and
    /// must not repeat those that may have done something.
    pub(crate) fn drain_with(self: &Arc<Self>, life: &Life) {
        let (app, life) = (Arc::clone(self), life.clone());
        let draining = async move {
            life.leaving().cancelled().await;
            app.leaving.cancel();
            let left = Instant::now();
            life.stop().cancelled().await;
            if left.elapsed() >= LAST_REQUESTS {
                app.stop.run_until_cancelled(tokio::time::sleep(LAST_REQUESTS)).await;
            }
            app.drain();
        };
        self.spawn("ingress drain", draining);
    }

    /// Refuses every new request from now on.
    pub(crate) fn drain(&self) {
        self.leaving.cancel();
        self.draining.cancel();
    }

    /// Is cancelled when every new request is refused.
    pub(crate) fn draining(&self) -> CancellationToken {
        self.draining.clone()
    }

    /// A task that another one runs, and that must end before ingress ends.
    pub(crate) fn tracked<F: Future>(&self, task: F) -> TrackedFuture<F> {
        self.tasks.track_future(task)
    }

    /// True when this server is not ready any more; it may still answer.
    pub(crate) fn is_leaving(&self) -> bool {
        self.leaving.is_cancelled()
    }

    /// True when every new request is refused.
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.is_cancelled()
    }

    /// Completes a short time after draining has begun: then waiting callers are answered with 202.
    pub(crate) async fn drained(&self) {
        self.draining.cancelled().await;
        tokio::time::sleep(DRAIN_GRACE).await;
    }

    /// Refuses a command while too many wait in the stream.
    pub(crate) fn must_have_room(self: &Arc<Self>) -> Result<(), Problem> {
        if self.backlog.is_to_be_asked() {
            let app = Arc::clone(self);
            let asking = async move { app.backlog.ask(&*app.cx.bus).await };
            self.spawn("ingress backlog", asking);
        }
        if self.backlog.is_too_long() {
            self.metrics.refused();
            return Err(Problem::overloaded(
                "too many commands wait for an executor: try again in a moment",
            ));
        }
        Ok(())
    }

    /// Refuses a start while this node may know only an old published version. A node that was cut off
    /// for a moment is waited for, no longer than [`HICCUP`].
    pub(crate) async fn must_be_current(&self) -> Result<(), Problem> {
        tokio::time::timeout(HICCUP, self.cx.presence.until_live()).await.map_err(|_elapsed| {
            Problem::unavailable(
                "this node is cut off from the others and starts nothing new: try again in a \
                 moment, or at another node",
            )
        })
    }

    /// Stops the background tasks, without waiting for their end.
    pub(crate) fn abandon(&self) {
        self.stop.cancel();
    }

    /// Stops the background tasks, and waits for their end.
    pub(crate) async fn close(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}
