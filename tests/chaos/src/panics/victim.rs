//! The node whose tasks panic: what it is told to do, and what it says.

#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_nats::Client;
use cluster::NodePlan;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::eventually;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use crate::api::{Api, KEY, Response};
use crate::callee::SLOW;
use crate::workflow::Names;
use crate::world::{World, last_words};

const PANICS: &str = "staunch_task_panics_total{";
const RESTARTS: &str = "staunch_task_restarts_total{";
/// The node answers within this time, or the connection has panicked.
const ANSWER_MAX: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_secs(60);
const POKE_EVERY: Duration = Duration::from_millis(100);
const RETRACT: &str = "/elsa/api/bulk-actions/retract/workflow-definitions/by-definition-ids";
/// Of the pokes, this many later there is another publication, and another slow call.
const PUBLISH_EACH: usize = 4;
const CALL_EACH: usize = 10;

/// What the metrics say of one task.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Figure {
    pub(super) panics: u64,
    pub(super) restarts: u64,
}

/// What the metrics say of all tasks.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures(BTreeMap<String, Figure>);

impl Figures {
    pub(super) fn of(&self, task: &str) -> Figure {
        self.0.get(task).copied().unwrap_or_default()
    }

    fn read(metrics: &str) -> Self {
        let mut figures = Self::default();
        for (name, is_panics) in [(PANICS, true), (RESTARTS, false)] {
            for line in metrics.lines().filter(|line| line.starts_with(name)) {
                let (_, rest) = line.split_once("task=\"").unwrap();
                let task = rest.split('"').next().unwrap();
                let value: f64 = line.rsplit(' ').next().unwrap().parse().unwrap();
                let figure = figures.0.entry(task.to_owned()).or_default();
                *(if is_panics { &mut figure.panics } else { &mut figure.restarts }) = value as u64;
            }
        }
        figures
    }
}

/// The plan with these schemes of authentication, so that their tasks run. The issuer is away.
/// Callers have the same name at every node that takes their API key.
pub(super) fn guarded(schemes: &str, plan: NodePlan) -> NodePlan {
    let settings = [
        ("STAUNCH_API_KEY", KEY),
        ("STAUNCH_OIDC_ISSUER", "http://127.0.0.1:9"),
        ("STAUNCH_OIDC_AUDIENCE", "chaos"),
        ("STAUNCH_OIDC_HTTP", "true"),
    ];
    let environment = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    NodePlan { auth: schemes.to_owned(), environment, ..plan }
}

/// The node.
pub(super) struct Victim {
    place: usize,
    api: Api,
    /// The address of its port for health and metrics.
    admin: String,
    /// Where it hears which task has to panic.
    address: String,
    /// Every task that it has run, over all its lives.
    pub(super) tasks: BTreeSet<String>,
}

impl Victim {
    /// Adds it to the cluster, at this place among the nodes, and waits until it works.
    pub(super) async fn begin(world: &mut World, place: usize, plan: NodePlan) -> Self {
        let [address, admin] = [(); 2].map(|()| format!("127.0.0.1:{}", testkit::free_port()));
        let mut arguments = plan.arguments.clone();
        arguments.extend(["--admin-listen".to_owned(), admin.clone()]);
        let mut plan = guarded("api-key,identity,oidc", NodePlan { arguments, ..plan });
        plan.environment.push(("STAUNCH_PANICS".to_owned(), address.clone()));
        world.cluster.begin(plan).unwrap();
        let (api, admin) = (world.api(place), format!("http://{admin}"));
        let victim = Self { place, api, admin, address, tasks: BTreeSet::new() };
        world.cluster.node_mut(place).wait_ready().await.unwrap();
        victim
    }

    /// Makes these tasks panic at their `nth` poll from now.
    pub(super) async fn plant(&self, tasks: &[&str], nth: u32) {
        if tasks.is_empty() {
            return;
        }
        let lines: String = tasks.iter().map(|task| format!("{task}:{nth}\n")).collect();
        let mut stream = TcpStream::connect(&self.address).await.unwrap();
        stream.write_all(lines.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        // It closes the connection when all are planted.
        let mut answer = Vec::new();
        timeout(ANSWER_MAX, stream.read_to_end(&mut answer)).await.unwrap().unwrap();
    }

    /// The figures of its tasks in this life of the process. Notes the names of these tasks.
    pub(super) async fn figures(&mut self) -> Figures {
        let mut text = String::new();
        eventually("the metrics are read", PATIENCE, async || {
            let found = self.get("/metrics").await.filter(Response::is_ok);
            text = found.map(|found| found.body.as_str().unwrap().to_owned()).unwrap_or_default();
            !text.is_empty()
        })
        .await;
        let figures = Figures::read(&text);
        self.tasks.extend(figures.0.keys().cloned());
        figures
    }

    /// The tasks that are down, as readiness says; None where it does not answer, or names something
    /// else.
    pub(super) async fn down(&self) -> Option<Vec<String>> {
        let answer = self.get("/health/ready").await?;
        let checks = answer.body["checks"].as_array()?;
        let about_tasks = checks.iter().find(|check| check["name"] == "tasks")?;
        let Some(reason) = about_tasks["reason"].as_str() else {
            return answer.is_ok().then(Vec::new);
        };
        assert_eq!(answer.status, 503, "ready, although {reason}");
        let names = reason.strip_prefix("down: ")?;
        Some(names.split(", ").map(str::to_owned).collect())
    }

    /// The process has not ended.
    pub(super) fn is_up(&self, world: &mut World) {
        let node = world.cluster.node_mut(self.place);
        assert!(node.is_running(), "the process has ended: {}", last_words(node));
    }

    /// Asks the process to stop, where it has not ended. It ends in order, has counted these panics,
    /// and is started again.
    pub(super) async fn ended(&mut self, world: &mut World, tasks: &[&str], succeeds: bool) {
        let node = world.cluster.node_mut(self.place);
        let status = node.stop().await.unwrap().status;
        let (said, last) = (node.said(), last_words(node));
        assert_eq!(status.code(), Some(i32::from(!succeeds)), "{tasks:?}: {last}");
        assert!(!said.contains("what is left is dropped"), "{tasks:?}: not in order: {last}");
        for task in tasks {
            let counted = format!("a task panicked task=\"{task}\"");
            assert!(said.contains(&counted), "the panic of {task} is not logged: {last}");
        }
        node.restart().await.unwrap();
        self.is_ready(&format!("the panic of {tasks:?}")).await;
    }

    /// Waits until readiness has no complaint.
    pub(super) async fn is_ready(&self, after: &str) {
        let what = format!("the process is ready after {after}");
        eventually(&what, PATIENCE, async || self.down().await.is_some_and(|down| down.is_empty()))
            .await;
    }

    async fn get(&self, path: &str) -> Option<Response> {
        let asked = self.api.send(Method::GET, path, None, &Value::Null);
        timeout(ANSWER_MAX, asked).await.ok()?.ok()
    }
}

/// What the other load does not do, so that every task has something to do: requests over NATS,
/// publications, outgoing calls that take long.
pub(super) struct Pokes {
    is_over: Arc<AtomicBool>,
    calls: JoinHandle<usize>,
}

impl Pokes {
    /// Starts them.
    pub(super) async fn begin(world: &World, victim: &Victim, names: Names) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let doors = [victim.api.clone(), world.api(0)];
        let ports = [victim.admin.clone(), world.cluster.nodes()[victim.place].url()];
        let poking = poke(world.client().await, ports, doors, names, Arc::clone(&is_over));
        Self { is_over, calls: tokio::spawn(poking) }
    }

    /// Ends them; gives the number of slow calls whose start was accepted.
    pub(super) async fn end(self) -> usize {
        self.is_over.store(true, Ordering::SeqCst);
        self.calls.await.unwrap()
    }
}

async fn poke(
    client: Client,
    ports: [String; 2],
    doors: [Api; 2],
    names: Names,
    is_over: Arc<AtomicBool>,
) -> usize {
    let (mut turn, mut calls) = (0, 0);
    while !is_over.load(Ordering::SeqCst) {
        turn += 1;
        for subject in ["staunch.api.ingress.status", "staunch.api.get.nobody"] {
            // Whoever is asked may be about to panic.
            drop(timeout(ANSWER_MAX, client.request(subject, "".into())).await);
        }
        for port in &ports {
            // A new client, so that there is a connection to accept.
            let asking = Api::new(port);
            let health = asking.send(Method::GET, "/health/live", None, &Value::Null);
            drop(timeout(ANSWER_MAX, health).await);
        }
        if turn % PUBLISH_EACH == 0 {
            let news = names.news(turn);
            drop(timeout(ANSWER_MAX, doors[0].try_publish(&news)).await);
            // The audit log has an entry for it, which is written with others.
            let ids = json!({"definitionIds": [news["definitionId"]]});
            drop(timeout(ANSWER_MAX, doors[0].send(Method::POST, RETRACT, None, &ids)).await);
        }
        if turn % CALL_EACH == 0 {
            call(&doors, calls).await;
            calls += 1;
        }
        sleep(POKE_EVERY).await;
    }
    calls
}

/// Starts an instance that makes a slow call; again until it is accepted.
async fn call(doors: &[Api; 2], number: usize) {
    let definition = format!("calling-{}", SLOW.trim_end_matches('-'));
    let instance = format!("{definition}-{number}");
    let give_up = Instant::now() + PATIENCE;
    for door in doors.iter().cycle() {
        let asked = door.start_async(&definition, &instance, number);
        // 409: the try before was accepted, and its answer was lost.
        let is_taken = |answer: &Response| answer.is_ok() || answer.status == 409;
        if matches!(timeout(ANSWER_MAX, asked).await, Ok(Ok(answer)) if is_taken(&answer)) {
            return;
        }
        assert!(Instant::now() < give_up, "nobody accepts {instance}");
        sleep(POKE_EVERY).await;
    }
}
