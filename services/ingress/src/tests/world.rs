//! One small cluster in memory, and a client of its API.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use bus::{Bucket, Bus, Fault, Faults, Member, MemoryBus, Operation, Presence};
use catalog::Catalog;
use chassis::{Clock as _, Life, SystemChance, TokioClock};
use engine::Engine;
use serde_json::{Value, json};
use store::Store;
use store::memory::MemoryStore;
use tower::ServiceExt as _;

use super::answers::{Asked, CONTRACT};
use crate::respond::Verbatim;
use crate::{App, Config, Context, plans, router};

/// The longest wait of a test for any condition.
pub(super) const BOUND: Duration = Duration::from_secs(20);

/// Longer than anything waits for an answer of the bus.
const SILENCE: Duration = Duration::from_secs(3_600);

/// One ingress, one executor, one cache-notifier.
pub(super) struct World {
    pub(super) app: Arc<App>,
    pub(super) store: MemoryStore,
    pub(super) bus: MemoryBus,
    pub(super) life: Life,
    pub(super) broken: Arc<Broken>,
    router: Router,
    base: Context,
}

/// What fails in a world.
#[derive(Default)]
pub(super) struct Broken {
    publishes: AtomicBool,
    outcomes: AtomicBool,
    notice: AtomicBool,
    pulls: AtomicBool,
    bus: AtomicBool,
    streams: AtomicBool,
    database: AtomicBool,
    silent: AtomicBool,
}

impl Broken {
    /// Publishes fail while it is set.
    pub(super) fn set(&self, broken: bool) {
        self.publishes.store(broken, Ordering::SeqCst);
    }

    /// Outcomes are lost from now on.
    pub(super) fn deafen(&self) {
        self.outcomes.store(true, Ordering::SeqCst);
    }

    /// The next request to cache-notifier has no answer, as if the one that gets it were frozen.
    pub(super) fn lose_notice(&self) {
        self.notice.store(true, Ordering::SeqCst);
    }

    /// That request has been made.
    pub(super) fn has_lost_notice(&self) -> bool {
        !self.notice.load(Ordering::SeqCst)
    }

    /// Executors get no commands while it is set.
    pub(super) fn stall(&self, broken: bool) {
        self.pulls.store(broken, Ordering::SeqCst);
    }

    /// The message bus does not answer while it is set.
    pub(super) fn lose_bus(&self, broken: bool) {
        self.bus.store(broken, Ordering::SeqCst);
    }

    /// No stream answers while it is set, and questions to services are never sent.
    pub(super) fn lose_streams(&self, broken: bool) {
        self.streams.store(broken, Ordering::SeqCst);
    }

    /// Nothing that a node reads of the message bus has an answer while it is set.
    pub(super) fn silence_bus(&self, silent: bool) {
        self.silent.store(silent, Ordering::SeqCst);
    }

    /// The database does not answer while it is set.
    pub(super) fn lose_database(&self, broken: bool) {
        self.database.store(broken, Ordering::SeqCst);
    }
}

impl Faults for Broken {
    fn delay(&self, _node: &str, operation: &Operation<'_>) -> Duration {
        let is_read = matches!(
            operation,
            Operation::Read { .. } | Operation::Get { .. } | Operation::Entries { .. }
        );
        let is_silent = is_read && self.silent.load(Ordering::SeqCst);
        if is_silent { SILENCE } else { Duration::ZERO }
    }

    fn on(&self, _node: &str, operation: &Operation<'_>) -> Fault {
        let is_set = |broken: &AtomicBool| broken.load(Ordering::SeqCst);
        match operation {
            _ if is_set(&self.bus) => Fault::Unavailable,
            Operation::Read { .. } if is_set(&self.streams) => Fault::Unavailable,
            Operation::Request { subject } if *subject == protocol::subject::SERVICES_INFO => {
                match is_set(&self.streams) {
                    true => Fault::Lost,
                    false => Fault::None,
                }
            }
            Operation::Send { .. } if is_set(&self.outcomes) => Fault::Lost,
            Operation::Request { subject } if *subject == protocol::subject::CACHE_CHANGED => {
                match self.notice.swap(false, Ordering::SeqCst) {
                    true => Fault::Lost,
                    false => Fault::None,
                }
            }
            Operation::Publish { .. } if is_set(&self.publishes) => Fault::Unavailable,
            Operation::Pull if is_set(&self.pulls) => Fault::Unavailable,
            _ => Fault::None,
        }
    }
}

#[async_trait]
impl store::memory::Faults for Broken {
    async fn before(&self, _operation: store::memory::Operation) -> Result<(), store::Error> {
        match self.database.load(Ordering::SeqCst) {
            true => Err(store::Error::Unavailable("injected fault".to_owned())),
            false => Ok(()),
        }
    }
}

/// An answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Value,
}

impl Answer {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The body, once the status is the expected one.
    #[track_caller]
    pub(super) fn expect(self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{:#}", self.body);
        self.body
    }

    /// The detail of a problem of this status.
    #[track_caller]
    pub(super) fn problem(self, status: u16) -> String {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        let body = self.expect(status);
        for member in ["type", "title", "detail", "instance"] {
            assert!(body[member].is_string(), "{member} of {body:#}");
        }
        assert_eq!(body["status"], status);
        body["detail"].as_str().unwrap().to_owned()
    }
}

impl World {
    pub(super) async fn new() -> Self {
        Self::with(Config { answer_time_max: Duration::from_secs(10), ..Config::default() }).await
    }

    /// A cluster in which everything works.
    pub(super) async fn with(config: Config) -> Self {
        let world = Self::without_executor(config).await;
        world.start_executor().await;
        world
    }

    /// A cluster without an executor.
    pub(super) async fn without_executor(config: Config) -> Self {
        Self::build(config, None, &["ingress", "executor"]).await
    }

    /// A cluster without an executor, in which no node has the role of one.
    pub(super) async fn without_the_role(config: Config) -> Self {
        Self::build(config, None, &["ingress"]).await
    }

    /// A cluster without an executor, on this database.
    pub(super) async fn over(config: Config, database: Arc<dyn Store>) -> Self {
        Self::build(config, Some(database), &["ingress", "executor"]).await
    }

    async fn build(config: Config, database: Option<Arc<dyn Store>>, roles: &[&str]) -> Self {
        let clock = TokioClock::starting_at(chassis::SystemClock.now());
        let store = MemoryStore::new(Arc::new(move || clock.now()));
        let broken = Arc::new(Broken::default());
        let bus = MemoryBus::with_faults(Arc::new(move || clock.now()), Arc::clone(&broken) as _);
        let in_memory = store.with_faults(Arc::clone(&broken) as _);
        let shared: (Arc<dyn Store>, Arc<dyn Bus>) =
            (database.unwrap_or_else(|| Arc::new(in_memory)), Arc::new(bus.clone()));
        let me = Member {
            node: "node".to_owned(),
            roles: roles.iter().map(|role| (*role).to_owned()).collect(),
            started_at: clock.now(),
            address: None,
            version: Some(chassis::version().to_owned()),
        };
        let nodes = bus.kv(Bucket::Nodes);
        let presence =
            Presence::join(nodes, me, Duration::from_secs(30), testkit::nonces()).await.unwrap();
        let engine = Arc::new(Engine::new(activities::all(), expressions::all()));
        let (of, over) = (Arc::clone(&shared.0), Arc::clone(&shared.1));
        let catalog =
            Catalog::start(of, over, Arc::clone(&engine), testkit::nonces(), "node").await.unwrap();
        let base = Context {
            store: shared.0,
            bus: shared.1,
            engine,
            catalog,
            presence,
            clock: Arc::new(clock),
            chance: Arc::new(SystemChance),
            trail: chassis::Trail::default(),
        };
        let life = Life::new(Duration::from_secs(5));
        let app = App::start(base.clone(), config).await.unwrap();
        plans::begin(&app);
        let router = router::router(Arc::clone(&app));
        let world = Self { app, store, bus, life, broken, router, base };
        world.start_notifier().await;
        world
    }

    async fn start_notifier(&self) {
        let cx = &self.base;
        let notifier = cache_notifier::Context::start(
            "node",
            Arc::clone(&cx.store),
            Arc::clone(&cx.bus),
            cx.presence.clone(),
            testkit::nonces(),
            cache_notifier::Config::default(),
        );
        let running = cache_notifier::run(notifier.await.unwrap(), self.life.clone());
        self.life.spawn_fallible("cache-notifier", running);
        testkit::eventually("the notifier listens", BOUND, async || self.life.is_ready()).await;
    }

    pub(super) async fn start_executor(&self) {
        let cx = self.base.clone();
        let context = executor::Context {
            node: "node".to_owned(),
            store: cx.store,
            bus: cx.bus,
            engine: cx.engine,
            catalog: cx.catalog,
            clock: cx.clock,
            chance: cx.chance,
            presence: cx.presence,
            calls: Arc::new(connectors::MemoryCalls::new()),
            points: None,
            config: executor::Config::default(),
        };
        self.life.spawn_fallible("executor", executor::run(context, self.life.clone()));
    }

    /// Adds a node to the live ones that does nothing.
    pub(super) async fn join(&self, node: &str, role: &str) -> Presence {
        let me = Member {
            node: node.to_owned(),
            roles: vec![role.to_owned()],
            started_at: self.base.clock.now(),
            address: None,
            version: None,
        };
        let (nodes, nonces) = (self.base.bus.kv(Bucket::Nodes), testkit::nonces());
        Presence::join(nodes, me, Duration::from_secs(30), nonces).await.unwrap()
    }

    /// Fires timers, as a node of its own.
    pub(super) async fn start_timer(&self) {
        let presence = self.join("timer", "timer").await;
        let Context { store, bus, .. } = self.base.clone();
        let (nonces, config) = (testkit::nonces(), timer::Config::default());
        let cx = timer::Context::new("timer", store, bus, presence, nonces, config);
        self.life.spawn_fallible("timer", timer::run(cx, self.life.clone()));
    }

    /// The routes of this ingress.
    pub(super) fn router(&self) -> &Router {
        &self.router
    }

    /// The context of every ingress of this cluster.
    pub(super) fn context(&self) -> Context {
        self.base.clone()
    }

    /// Another ingress of the same cluster.
    pub(super) async fn another(&self) -> Router {
        let config = self.app.config.clone();
        router::router(App::start(self.base.clone(), config).await.unwrap())
    }

    pub(super) async fn get(&self, path: &str) -> Answer {
        self.send(Request::get(path).body(Body::empty()).unwrap()).await
    }

    pub(super) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(json_request("POST", path, &[], body)).await
    }

    pub(super) async fn put(&self, path: &str, body: &Value) -> Answer {
        self.send(json_request("PUT", path, &[], body)).await
    }

    pub(super) async fn delete(&self, path: &str) -> Answer {
        self.send(Request::delete(path).body(Body::empty()).unwrap()).await
    }

    pub(super) async fn post_with(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Answer {
        self.send(json_request("POST", path, headers, body)).await
    }

    pub(super) async fn send(&self, request: Request<Body>) -> Answer {
        send_to(&self.router, request).await
    }

    /// Publishes a definition with this root and waits for the barrier.
    pub(super) async fn publish(&self, id: &str, root: Value) -> Value {
        let definition = json!({"definitionId": id, "name": id, "root": root});
        let answer = self.post("/elsa/api/workflow-definitions", &definition).await;
        assert!(answer.status.is_success(), "{:#}", answer.body);
        assert_eq!(answer.body["everywhere"], true, "{:#}", answer.body);
        answer.body
    }

    /// Starts an instance and gives its id.
    pub(super) async fn begin(&self, definition_id: &str) -> String {
        let body = json!({"definitionId": definition_id});
        let body = self.post("/elsa/api/workflow-instances", &body).await.expect(200);
        body["workflowInstanceId"].as_str().unwrap().to_owned()
    }

    /// Waits until an instance has this sub-status.
    pub(super) async fn until(&self, id: &str, sub_status: &str) {
        let path = format!("/elsa/api/workflow-instances/{id}/execution-state");
        let what = format!("{id} is {sub_status}");
        testkit::eventually(&what, BOUND, async || {
            self.get(&path).await.body["subStatus"] == sub_status
        })
        .await;
    }
}

pub(super) fn json_request(
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &Value,
) -> Request<Body> {
    let mut request =
        Request::builder().method(method).uri(path).header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Body::from(body.to_string())).unwrap()
}

pub(super) async fn send_to(router: &Router, mut request: Request<Body>) -> Answer {
    if !request.headers().contains_key("host") {
        request.headers_mut().insert("host", "127.0.0.1:5001".parse().unwrap());
    }
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let asked = Asked { method, uri, headers: request.headers().clone() };
    let answered = testkit::within("an answer", BOUND, router.clone().oneshot(request)).await;
    let (parts, body) = answered.unwrap().into_parts();
    let is_of_a_workflow = parts.extensions.get::<Verbatim>().is_some();
    // A stream of events has no end.
    let is_stream = parts.headers.get("content-type").is_some_and(|it| it == "text/event-stream");
    let bytes = if is_stream { Bytes::new() } else { to_bytes(body, usize::MAX).await.unwrap() };
    let text = || Value::String(String::from_utf8_lossy(&bytes).into_owned());
    let body = serde_json::from_slice(&bytes).unwrap_or_else(|_| text());
    let answer = Answer { status: parts.status, headers: parts.headers, body };
    if !is_of_a_workflow {
        let breaches = CONTRACT.breaches(&asked, &answer);
        assert!(breaches.is_empty(), "{breaches:#?}\n{:#}", answer.body);
    }
    answer
}

/// A workflow that waits for an event, then ends.
pub(super) fn waits_for(event: &str) -> Value {
    json!({"type": "Elsa.Sequence", "id": "seq", "activities": [
        {"type": "Elsa.Event", "id": "wait", "eventName": event},
        {"type": "Elsa.WriteLine", "id": "done", "text": "done"}]})
}

/// A workflow that ends at once.
pub(super) fn writes_line() -> Value {
    json!({"type": "Elsa.WriteLine", "id": "line", "text": "hello"})
}
