//! Each background task of a process panics once, under load.

#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]

mod victim;

use std::collections::BTreeSet;
use std::time::Duration;

use cluster::NodePlan;
use model::SubStatus;
use reqwest::Method;
use serde_json::json;
use testkit::eventually;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use crate::api::KEY;
use crate::callee::{Callee, SLOW};
use crate::crash::shard_of_schedules;
use crate::ledger::{Found, Ledger};
use crate::scale::{is_full, pick};
use crate::traffic::{Route, Traffic};
use crate::workflow::Names;
use crate::world::{World, all_roles, last_words};
use victim::{Figures, Pokes, Victim, guarded};

const SURVIVOR: &str = "survivor";
const SENDERS: usize = 3;
/// The place of the node that panics, among the nodes.
const PLACE: usize = 1;
const PATIENCE: Duration = Duration::from_secs(90);
/// A task panics at this poll from now. A full run tries all of them.
const NTHS: [u32; 3] = [1, 2, 5];
const LOOK_AGAIN: Duration = Duration::from_millis(10);
/// How often a task gets an occasion to run that the load does not give it.
const OCCASION_EVERY: Duration = Duration::from_secs(1);
/// Voyages that finish after the last panic.
const VOYAGES_AFTER: usize = 5;

/// What a panic of a task has to lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// The task runs again. Until then readiness names it.
    Restarts,
    /// The task is one piece of work; the process goes on.
    Passes,
    /// The process ends in order, and says why.
    Ends,
    /// The task works while the process stops; the stop succeeds.
    PassesStop,
    /// The task works while the process stops; the stop ends in order and fails.
    FailsStop,
}

use Fate::{Ends, FailsStop, Passes, PassesStop, Restarts};

/// Every background task. The test fails where a process runs another one.
const TASKS: [(&str, Fate); 68] = [
    ("admin port", Restarts),
    ("answer publisher", Passes),
    ("ask nodes", Passes),
    ("ask the database", Passes),
    ("bus: make a stream again", Passes),
    ("bus: watch a bucket", Restarts),
    ("cache-notifier", Ends),
    ("cluster id: watch", Restarts),
    ("committer", Restarts),
    ("compile", Passes),
    ("convert", Passes),
    ("connectors: file", Passes),
    ("drain", PassesStop),
    ("executor", Ends),
    ("executor: actor", Passes),
    ("executor: call", Passes),
    ("executor: call client", Passes),
    ("executor: delivery", Passes),
    ("executor: hand", Passes),
    ("executor: listen", Restarts),
    ("executor: presence", Restarts),
    ("executor: pull", Restarts),
    ("executor: request", Passes),
    ("executor: turn", Passes),
    ("fire schedule", Passes),
    ("fire timer", Passes),
    ("hash a password", Passes),
    ("health check", Passes),
    ("hold back the roles", FailsStop),
    ("host a role", FailsStop),
    ("http connection", Passes),
    ("ingress", FailsStop),
    ("ingress audit", Restarts),
    ("ingress backing", Restarts),
    ("ingress backlog", Passes),
    ("ingress connections", Ends),
    ("ingress drain", PassesStop),
    ("ingress forgets requests", Passes),
    ("ingress hub", Passes),
    ("ingress oidc", Restarts),
    ("ingress outcomes", Restarts),
    ("ingress over NATS", Ends),
    ("ingress pauses", Restarts),
    ("ingress plans", Restarts),
    ("ingress stream", Passes),
    ("ingress validation", Passes),
    ("leases: give back", Passes),
    ("leases: hear who waits", Restarts),
    ("leases: keep", Restarts),
    ("leases: renew", Passes),
    ("leases: watch", Restarts),
    ("lookup", Passes),
    ("main", FailsStop),
    ("observe", Restarts),
    ("pauses: watch", Restarts),
    ("pointers: watch", Restarts),
    ("presence: renew", Restarts),
    ("presence: watch", Restarts),
    ("reader", Restarts),
    ("reconcile", Restarts),
    ("report positions", Restarts),
    ("retention", Restarts),
    ("signals", PassesStop),
    ("sweep", Restarts),
    ("test run", Passes),
    ("timer", Ends),
    ("timer scan", Passes),
    ("write pointer", Passes),
];

/// Runs at the first request of a process, and then once a minute.
const FORGETS: &str = "ingress forgets requests";
/// Runs at a login.
const HASHES: &str = "hash a password";
const LOGIN: &str = "/elsa/api/identity/login";
/// Runs while somebody tries a workflow out.
const TRIES: &str = "test run";
const TRIAL: &str = "/elsa/api/tests/workflows";
/// Runs while somebody writes a definition in short.
const CONVERTS: &str = "convert";
const SHORT_FORM: &str = "/elsa/api/workflow-definitions/short-form/shorten";
/// Runs while somebody validates the cluster.
const VALIDATES: &str = "ingress validation";
const VALIDATION: &str = "/elsa/api/cluster/validation";
/// Runs while someone follows the events.
const STREAMS: &str = "ingress stream";
const EVENTS: &str = "/elsa/api/events";
/// Runs while someone is connected to the hub.
const HUB: &str = "ingress hub";
/// They run when a key of the bucket of pauses changes.
const PAUSES: [&str; 2] = ["pauses: watch", "cluster id: watch"];
/// A key that is no pause.
const NO_PAUSE: &str = "$KV.staunch_runtime.nobody";
/// Runs when a bucket is gone.
const HEALS: &str = "bus: make a stream again";
/// Runs when a lease is dropped, as by an actor that panics.
const GIVES_BACK: &str = "leases: give back";
const ACTOR: &str = "executor: actor";
/// Runs when a node comes or goes.
const FOLLOWS: &str = "executor: presence";

/// Tasks that panic at their first poll only. Some run too seldom for a later one. The others are
/// supervised, and spawned under the same name: a later poll may be that of the spawned task, which
/// has no code of its own.
const FIRST_POLL: [&str; 11] = [
    "ingress audit",
    "ingress backing",
    FOLLOWS,
    FORGETS,
    GIVES_BACK,
    HEALS,
    "ingress oidc",
    "ingress outcomes",
    "ingress pauses",
    "report positions",
    "retention",
];

fn tasks_that(fates: &[Fate]) -> Vec<&'static str> {
    let tasks = TASKS.into_iter().filter(|(_, fate)| fates.contains(fate));
    tasks.map(|(task, _)| task).collect()
}

fn fate(task: &str) -> Fate {
    TASKS.into_iter().find(|(name, _)| *name == task).unwrap().1
}

/// G1, G2, G7, G9: whichever background task panics, the panic is counted, the task or its process
/// runs again, readiness names the task until then, and what was accepted is done once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whichever_task_panics_nothing_is_lost_and_nothing_ends_unseen_g1_g2_g7_g9() {
    let survivor = || vec![guarded("api-key", all_roles(SURVIVOR))];
    story(World::start_on_sqlite(survivor()).await).await;
    if is_full()
        && let Some(world) = World::start(1, survivor()).await
    {
        story(world).await;
    }
}

async fn story(mut world: World) {
    let callee = Callee::start().await;
    let names = Names::new("panics");
    for definition in names.definitions(&callee.url) {
        world.api(0).publish(&definition).await;
    }
    let slow = SLOW.trim_end_matches('-');
    world.api(0).publish(&Names::calling(slow, &callee.url)).await;
    let name = owner_of_schedules(&world, &names).await;
    let mut plan = all_roles(&name);
    // It listens, to what nobody sends.
    let settings = ["--retain-every-seconds", "1", "--nats-subjects", "*=quiet.>"];
    plan.arguments.extend(settings.map(str::to_owned));
    let mut victim = Victim::begin(&mut world, PLACE, plan).await;
    let (jetstream, store) = (world.jetstream().await, world.store.clone());
    let doors = vec![world.api(PLACE), world.api(0)];
    let route = Route { names: names.clone(), doors, jetstream: jetstream.clone(), store };
    // It runs at the first request.
    victim.plant(&[FORGETS], 1).await;
    let traffic = Traffic::begin(route, SENDERS);
    let pokes = Pokes::begin(&world, &victim, names.clone()).await;

    let took = panic_everywhere(&mut world, &mut victim).await;
    let wanted = traffic.finished() + VOYAGES_AFTER;
    eventually("voyages finish after the panics", PATIENCE, async || traffic.finished() >= wanted)
        .await;
    let slow_calls = pokes.end().await;
    let accepted = traffic.end().await;
    let ledger = Ledger::new(&world, jetstream, &callee, names.clone());
    let ticks = ended(&world, &ledger, &names).await;
    ledger.all_are(&format!("calling-{slow}"), SubStatus::Finished, slow_calls).await;
    ledger.settled(&accepted).await;
    let Found { voyages, repeated_calls } = ledger.balanced(&accepted).await;
    drop(victim.figures().await);
    let known: BTreeSet<_> = TASKS.iter().map(|(task, _)| (*task).to_owned()).collect();
    assert_eq!(victim.tasks, known, "the tasks that ran, and those that were made to panic");
    println!(
        "G1 G2 G7 G9: {} background tasks, all made to panic within {took:.1?}; {voyages} voyages \
         and {ticks} occurrences of a schedule, each finished once; {repeated_calls} outgoing calls \
         repeated, each under its first key",
        TASKS.len()
    );
    world.cluster.stop().await.unwrap();
}

/// Makes every task panic; gives the time that it took.
async fn panic_everywhere(world: &mut World, victim: &mut Victim) -> Duration {
    let began = Instant::now();
    let mut before = Figures::default();
    for nth in pick(&NTHS[..1], &NTHS[..]) {
        go_on(world, victim, &before, *nth).await;
        println!("the process went on after panics at poll {nth}: {:.1?}", began.elapsed());
        for task in tasks_that(&[Ends]) {
            end(world, victim, task, *nth).await;
        }
        before = victim.figures().await;
    }
    stop(world, victim, &tasks_that(&[PassesStop]), true).await;
    for task in tasks_that(&[FailsStop]) {
        stop(world, victim, &[task], false).await;
    }
    began.elapsed()
}

/// A name of a node that owns the shard of the schedule, not the survivor.
async fn owner_of_schedules(world: &World, names: &Names) -> String {
    let shard = shard_of_schedules(world, names).await;
    let mut names = (0_usize..).map(|attempt| format!("victim-{attempt}"));
    let owns = |name: &String| {
        bus::owner_of(shard, &[name.clone(), SURVIVOR.to_owned()]) == Some(name.as_str())
    };
    names.find(owns).unwrap()
}

/// Plants a panic in each task whose process goes on, and waits until each has panicked, and runs
/// again where it has to.
async fn go_on(world: &mut World, victim: &mut Victim, before: &Figures, nth: u32) {
    let wanted = tasks_that(&[Restarts, Passes]);
    let pid = world.cluster.nodes()[PLACE].pid();
    let (first, any): (Vec<_>, Vec<_>) = wanted.iter().partition(|task| FIRST_POLL.contains(task));
    victim.plant(&first, 1).await;
    victim.plant(&any, nth).await;
    let mut named = BTreeSet::new();
    let mut occasions = Occasions { next_at: Instant::now(), guest: None };
    let give_up = Instant::now() + PATIENCE;
    loop {
        victim.is_up(world);
        named.extend(victim.down().await.unwrap_or_default());
        let now = victim.figures().await;
        let is_restarted = |task: &str| now.of(task).restarts > before.of(task).restarts;
        let mut left = wanted.clone();
        left.retain(|task| {
            let is_whole = fate(task) == Passes || is_restarted(task) && named.contains(*task);
            now.of(task).panics == before.of(task).panics || !is_whole
        });
        if left.is_empty() {
            break;
        }
        assert!(Instant::now() < give_up, "not struck, or not restarted and named: {left:?}");
        occasions.give(world, victim, &left).await;
        // Those that ran again before readiness was asked.
        left.retain(|task| is_restarted(task));
        victim.plant(&left, 1).await;
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    if let Some(guest) = occasions.guest {
        guest.await.unwrap();
    }
    let strangers: Vec<_> = named.iter().filter(|task| !wanted.contains(&task.as_str())).collect();
    assert!(strangers.is_empty(), "readiness names tasks without a panic: {strangers:?}");
    victim.is_ready("the panics that it survives").await;
    assert_eq!(world.cluster.nodes()[PLACE].pid(), pid, "the process went on");
}

/// What lets those tasks run for which the load has no work.
struct Occasions {
    next_at: Instant,
    guest: Option<JoinHandle<()>>,
}

impl Occasions {
    /// Gives an occasion to each of these tasks that needs one, now and then.
    async fn give(&mut self, world: &World, victim: &Victim, left: &[&str]) {
        if Instant::now() < self.next_at {
            return;
        }
        self.next_at = Instant::now() + OCCASION_EVERY;
        if left.contains(&HEALS) {
            // It may be gone still.
            drop(world.jetstream().await.delete_stream("KV_staunch_leases").await);
        }
        if left.contains(&HASHES) {
            let body = json!({"username": "nobody", "password": "of nobody"});
            // It fails as long as the task panics.
            drop(world.api(PLACE).send(Method::POST, LOGIN, None, &body).await);
        }
        if left.contains(&TRIES) {
            let body = json!({"model": {"root": {"type": "Elsa.WriteLine", "text": "tried"}}});
            // It fails as long as the task panics.
            drop(world.api(PLACE).send(Method::POST, TRIAL, None, &body).await);
        }
        if left.contains(&CONVERTS) {
            let body = json!({"model": {"root": {"type": "Elsa.WriteLine", "text": "short"}}});
            // It fails as long as the task panics.
            drop(world.api(PLACE).send(Method::POST, SHORT_FORM, None, &body).await);
        }
        // Once the others are done, which it disturbed: not all of them were struck in time.
        if left == [VALIDATES] {
            let (api, nothing) = (world.api(PLACE), json!(null));
            // The answer lasts as long as the checks do.
            let validating = api.send(Method::POST, VALIDATION, None, &nothing);
            drop(timeout(OCCASION_EVERY, validating).await);
        }
        if left.contains(&STREAMS) {
            let (api, nothing) = (world.api(PLACE), json!(null));
            // The answer has no end.
            let following = api.send(Method::GET, EVENTS, None, &nothing);
            drop(timeout(OCCASION_EVERY, following).await);
        }
        if left.contains(&HUB) {
            drop(timeout(OCCASION_EVERY, visit_the_hub(world)).await);
        }
        if PAUSES.iter().any(|task| left.contains(task)) {
            // The bucket may be out of reach for a moment.
            drop(world.jetstream().await.publish(NO_PAUSE, "".into()).await);
        }
        if left.contains(&GIVES_BACK) {
            victim.plant(&[ACTOR], 1).await;
        }
        if left.contains(&FOLLOWS) && self.guest.as_ref().is_none_or(JoinHandle::is_finished) {
            self.guest = Some(come_and_go(world));
        }
    }
}

/// Connects to the hub of the node, and leaves when it has answered.
async fn visit_the_hub(world: &World) -> std::io::Result<()> {
    let url = world.cluster.nodes()[PLACE].url();
    let address = url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).await?;
    let request = format!(
        "GET /elsa/hubs/workflow-instance HTTP/1.1\r\nhost: {address}\r\nconnection: upgrade\r\n\
         upgrade: websocket\r\nsec-websocket-version: 13\r\n\
         sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nauthorization: ApiKey {KEY}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = [0; 1024];
    stream.read(&mut answer).await.map(drop)
}

/// Another node comes and goes.
fn come_and_go(world: &World) -> JoinHandle<()> {
    let plan = NodePlan { roles: "executor".to_owned(), ..all_roles("guest") };
    let mut guest = world.cluster.apart(plan).unwrap();
    tokio::spawn(async move {
        guest.wait_ready().await.unwrap();
        assert!(guest.stop().await.unwrap().status.success(), "{}", last_words(&guest));
    })
}

/// Plants a panic in a task that the process cannot work without: it ends in order, and is started
/// again.
async fn end(world: &mut World, victim: &mut Victim, task: &str, nth: u32) {
    drop(victim.figures().await);
    victim.plant(&[task], nth).await;
    let node = world.cluster.node_mut(PLACE);
    eventually(&format!("the panic of {task} ends the process"), PATIENCE, async || {
        !node.is_running()
    })
    .await;
    victim.ended(world, &[task], false).await;
}

/// Plants panics in tasks that work while the process stops, and stops it; it is started again.
async fn stop(world: &mut World, victim: &mut Victim, tasks: &[&str], succeeds: bool) {
    drop(victim.figures().await);
    victim.plant(tasks, 1).await;
    victim.ended(world, tasks, succeeds).await;
}

/// Ends the schedule; gives the number of its occurrences when all of them have finished.
async fn ended(world: &World, ledger: &Ledger<'_>, names: &Names) -> usize {
    world.api(0).retract(&names.tick).await;
    let mut ticks = 0;
    eventually("every occurrence is over", PATIENCE, async || {
        ticks = ledger.count(&names.tick, None).await;
        ledger.count(&names.tick, Some(SubStatus::Finished)).await == ticks
    })
    .await;
    ticks
}
