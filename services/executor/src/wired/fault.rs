//! Failures of the database, the lease and the engine, and other writers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::{Point, Points};
use async_trait::async_trait;
use bus::{Bucket, Queue as _, Wire as _};
use engine::{Activity, Decision, Descriptor, Engine, Languages, Registry, Step};
use futures::{FutureExt as _, StreamExt as _};
use model::{SubStatus, limits};
use protocol::{Refusal, ReplyWhen, header};
use serde_json::json;
use store::memory::{Faults, MemoryStore, Operation};
use store::{Burst, Instances as _};
use tokio::sync::Notify;

use crate::wired::apply::accepted;
use crate::wired::world::{Peculiar, World, cancel, line, resume, sequence, start, wait_for};

/// Makes one operation of the database fail while this lasts.
pub(crate) struct Outage {
    operation: Operation,
    is_on: AtomicBool,
    count: AtomicUsize,
}

impl Outage {
    pub(crate) fn new(operation: Operation) -> Arc<Self> {
        Arc::new(Self { operation, is_on: AtomicBool::new(false), count: AtomicUsize::new(0) })
    }

    pub(crate) fn begin(&self) {
        self.is_on.store(true, Ordering::SeqCst);
    }

    pub(crate) fn end(&self) {
        self.is_on.store(false, Ordering::SeqCst);
    }

    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Faults for Outage {
    async fn before(&self, operation: Operation) -> Result<(), store::Error> {
        if operation == self.operation && self.is_on.load(Ordering::SeqCst) {
            self.count.fetch_add(1, Ordering::SeqCst);
            return Err(store::Error::Unavailable("injected fault".to_owned()));
        }
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn an_outage_of_the_database_is_waited_out_and_nothing_dies_of_it() {
    for operation in [Operation::Load, Operation::Commit] {
        let world = World::new();
        world.publish("hello", line("Hello"), json!({})).await;
        let outage = Outage::new(operation);
        outage.begin();
        let store = Some(world.store.with_faults(outage.clone()));
        let _node = world.peculiar("a", Peculiar { store, ..Default::default() }).await;
        world.send(&start("hello", "i", json!({}))).await;
        let tries = usize::try_from(limits::DELIVERIES_MAX).unwrap() + 5;
        world.until("it is tried often", async || outage.count() > tries).await;
        outage.end();
        world.until_status("i", SubStatus::Finished).await;
        world.until_quiet().await;
        assert!(world.dead().is_empty(), "passing errors never lead to the dead");
        assert_eq!(world.lines("i").await, ["Hello"]);
    }
}

/// The next commit happens, and its answer is lost.
struct LostAnswer(AtomicBool);

#[async_trait]
impl Faults for LostAnswer {
    async fn after(&self, operation: Operation) -> Result<(), store::Error> {
        if operation == Operation::Commit && !self.0.swap(true, Ordering::SeqCst) {
            return Err(store::Error::Unavailable("the answer is lost".to_owned()));
        }
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_commit_whose_answer_is_lost_is_not_repeated() {
    let world = World::new();
    world.publish("hello", line("Hello"), json!({})).await;
    let store = Some(world.store.with_faults(Arc::new(LostAnswer(AtomicBool::new(false)))));
    let _node = world.peculiar("a", Peculiar { store, ..Default::default() }).await;
    let outcome = world.start("hello", "i", json!({})).await;
    assert_eq!(outcome.sub_status, Some(SubStatus::Finished));
    assert_eq!(world.instance("i").await.unwrap().version, 1);
    assert_eq!(world.lines("i").await, ["Hello"]);
    world.settle("i", SubStatus::Finished).await;
    assert_eq!(world.events("i"), ["started", "finished"]);
}

/// The value of a series of this process.
pub(crate) fn counted(series: &str) -> u64 {
    let text = meter::text();
    let mut lines = text.lines();
    let value = lines.find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    value.unwrap().parse().unwrap()
}

/// Another writer commits just before the burst does.
struct Meddler {
    store: MemoryStore,
    done: AtomicBool,
}

#[async_trait]
impl Points for Meddler {
    async fn at(&self, _node: &str, point: Point) {
        let Ok(Some(loaded)) = self.store.load(&"i".into()).await else { return };
        if point != Point::BeforeCommit || self.done.swap(true, Ordering::SeqCst) {
            return;
        }
        let mut instance = loaded.instance;
        let expected = store::Expected::Version(instance.version);
        instance.version += 1;
        self.store.commit(Burst::new(instance, expected)).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_burst_that_loses_its_version_is_run_again() {
    let world = World::new();
    world.publish("wait", sequence(vec![wait_for("x"), line("went on")]), json!({})).await;
    let meddler = Meddler { store: world.store.clone(), done: AtomicBool::new(false) };
    let points: Option<Arc<dyn Points>> = Some(Arc::new(meddler));
    let _node = world.peculiar("a", Peculiar { points, ..Default::default() }).await;
    world.start("wait", "i", json!({})).await;
    let before = counted("staunch_commit_conflicts_total");
    let outcome = world.ask(resume("r", "i", None, json!({})), ReplyWhen::Settled).await;
    assert!(counted("staunch_commit_conflicts_total") > before);
    assert_eq!(outcome.sub_status, Some(SubStatus::Finished));
    assert_eq!(world.instance("i").await.unwrap().version, 3);
    assert_eq!(world.lines("i").await, ["went on"]);
}

/// Holds the first command at a point until the test lets it go.
struct HeldAt {
    point: Point,
    is_used: AtomicBool,
    reached: Notify,
    go: Notify,
}

impl HeldAt {
    fn new(point: Point) -> Arc<Self> {
        let (reached, go) = (Notify::new(), Notify::new());
        Arc::new(Self { point, is_used: AtomicBool::new(false), reached, go })
    }
}

#[async_trait]
impl Points for HeldAt {
    async fn at(&self, _node: &str, point: Point) {
        if point == self.point && !self.is_used.swap(true, Ordering::SeqCst) {
            self.reached.notify_one();
            self.go.notified().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_burst_that_loses_its_lease_neither_commits_nor_acknowledges() {
    let world = World::new();
    world.publish("hello", line("Hello"), json!({})).await;
    let held = HeldAt::new(Point::BeforeCommit);
    let points: Option<Arc<dyn Points>> = Some(held.clone());
    let _first = world.peculiar("a", Peculiar { points, ..Default::default() }).await;
    world.send(&start("hello", "i", json!({}))).await;
    held.reached.notified().await;
    assert!(world.bus.expire(Bucket::Leases, "i"));
    let lease_is_gone = async || world.bus.backlog().await.unwrap() == 1;
    world.until("the command is still there", lease_is_gone).await;
    held.go.notify_one();
    let _second = world.node("b").await;
    world.until_status("i", SubStatus::Finished).await;
    world.until_quiet().await;
    assert_eq!(world.instance("i").await.unwrap().version, 1);
    assert_eq!(world.lines("i").await, ["Hello"]);
}

#[tokio::test(start_paused = true)]
async fn an_early_resume_that_another_node_applies_meanwhile_is_not_kept() {
    let world = World::new();
    world.publish("wait", sequence(vec![wait_for("x"), line("went on")]), json!({})).await;
    let start = start("wait", "i", json!({}));
    world.store.accept(accepted(&world, "wait", &start)).await.unwrap();
    let held = HeldAt::new(Point::BeforeWait);
    let points: Option<Arc<dyn Points>> = Some(held.clone());
    // While it has its one command in hand, the first node takes no others.
    let config = Some(crate::Config { in_hand_max: 1, ..World::config() });
    let first = world.peculiar("a", Peculiar { points, config, ..Default::default() }).await;
    world.send(&resume("early", "i", None, json!({}))).await;
    held.reached.notified().await;
    // The first node loses its lease, and the second one does all the work.
    assert!(world.bus.expire(Bucket::Leases, "i"));
    let _second = world.node("b").await;
    world.send(&start).await;
    world.bus.redeliver();
    world.until_status("i", SubStatus::Finished).await;
    held.go.notify_one();
    first.stop().await;
    assert_eq!(world.store.pending(), []);
    assert_eq!(world.lines("i").await, ["went on"]);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_applied_goes_to_the_dead_and_its_sender_is_told() {
    let world = World::new();
    let _node = world.node("a").await;
    let check = async |command, refusal: Refusal, part: &str| {
        let before = world.dead().len();
        let outcome = world.ask(command, ReplyWhen::Committed).await;
        assert_eq!(outcome.refusal, Some(refusal));
        assert!(outcome.message.as_ref().unwrap().contains(part), "{outcome:?}");
        let dead = world.dead();
        assert_eq!(dead.len(), before + 1);
        let dead = dead.last().unwrap().clone();
        assert!(dead.header(header::REASON).unwrap().contains(part));
        assert!(dead.subject.starts_with("staunch.dead.cmd."));
        assert!(dead.header(header::ORIGIN).unwrap().starts_with("staunch.cmd."));
        assert!(!dead.payload.is_empty());
    };
    check(start("nobody", "i", json!({})), Refusal::NotFound, "definition nobody").await;
    check(resume("r", "unknown", None, json!({})), Refusal::NotFound, "instance unknown").await;
    check(cancel("c", "unknown"), Refusal::NotFound, "instance unknown").await;
    world.until_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn a_body_that_cannot_be_read_is_kept_with_the_reason() {
    let world = World::new();
    let _node = world.node("a").await;
    let message = protocol::Message {
        subject: "staunch.cmd.start.x".to_owned(),
        payload: b"{nonsense".to_vec(),
        ..Default::default()
    };
    world.bus.publish(message).await.unwrap();
    world.until_quiet().await;
    let dead = world.dead();
    assert_eq!(dead.len(), 1);
    assert_eq!(dead[0].payload, b"{nonsense");
    assert!(dead[0].header(header::REASON).unwrap().contains("line 1 column 2"));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_that_its_sender_gets_is_no_dead_letter() {
    let world = World::new();
    world.publish("hello", line("Hello"), json!({})).await;
    let _node = world.node("a").await;
    let long = |id: &str| {
        let mut command = start("hello", id, json!({}));
        let protocol::Body::Start(start) = &mut command.body else { panic!("{command:?}") };
        start.correlation_id = Some("x".repeat(10_000));
        command
    };
    let outcome = world.ask(long("i1"), ReplyWhen::Settled).await;
    assert_eq!(outcome.refusal, Some(Refusal::Garbled));
    assert!(outcome.message.unwrap().contains("10000 bytes"));
    world.until_quiet().await;
    assert!(world.dead().is_empty(), "{:?}", world.dead());
    world.send(&long("i2")).await;
    world.until_quiet().await;
    assert_eq!(world.dead().len(), 1, "without a sender that waits, it is kept");
}

#[tokio::test(start_paused = true)]
async fn what_a_workflow_sets_and_the_database_refuses_is_an_incident() {
    let world = World::new();
    let correlate = json!({"type": "Correlate", "correlationId": "x".repeat(2_000)});
    world.publish("wait", sequence(vec![wait_for("x"), correlate]), json!({})).await;
    let _node = world.node("a").await;
    world.start("wait", "i", json!({})).await;
    let outcome = world.ask(resume("r", "i", None, json!({})), ReplyWhen::Settled).await;
    assert_eq!(outcome.sub_status, Some(SubStatus::Faulted), "{outcome:?}");
    let incident = world.record("i").await.state.incidents.remove(0);
    assert_eq!(incident.code, "NotStorable");
    assert!(incident.message.contains("2000 bytes"), "{incident:?}");
    world.until_quiet().await;
    assert!(world.dead().is_empty(), "{:?}", world.dead());
}

#[tokio::test(start_paused = true)]
async fn an_answer_goes_to_no_subject_but_inboxes() {
    const LEASE: &str = "$KV.staunch_leases.i";
    let world = World::new();
    world.publish("hello", line("Hello"), json!({})).await;
    let _node = world.node("a").await;
    let mut heard = world.bus.subscribe("$KV.>").await.unwrap();
    for reply_to in [LEASE, "staunch.cmd.cancel.i", "_INBOX.*"] {
        let mut message = start("hello", "i", json!({})).encode().unwrap();
        message.headers.insert(header::REPLY_TO.to_owned(), reply_to.to_owned());
        message.headers.insert(header::MESSAGE_ID.to_owned(), reply_to.to_owned());
        world.bus.publish(message).await.unwrap();
    }
    world.until_quiet().await;
    assert_eq!(world.dead().len(), 3, "{:?}", world.dead());
    assert!(world.dead()[0].header(header::REASON).unwrap().contains("Staunch-Reply-To"));
    assert_eq!(world.instance("i").await, None);
    while let Some(heard) = heard.next().now_or_never().flatten() {
        assert_ne!(heard.message.subject, LEASE);
    }
}

/// An activity with a bug.
struct Buggy;

impl Activity for Buggy {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("Test.Buggy", "Test", "Breaks a promise.")
    }

    fn start(&self, _step: &mut Step<'_, '_>) -> Decision {
        panic!("INV-0: this is a bug");
    }
}

#[tokio::test(start_paused = true)]
async fn a_bug_parks_the_command_and_leaves_the_others_alone() {
    let activities = Registry::new(vec![Box::new(Buggy)]);
    let world = World::with_engine(Engine::new(activities, Languages::default()));
    world.publish("buggy", json!({"type": "Test.Buggy"}), json!({})).await;
    let _node = world.node("a").await;
    let outcome = world.start("buggy", "i", json!({})).await;
    assert_eq!(outcome.refusal, Some(Refusal::Dead));
    assert!(outcome.message.unwrap().contains("INV-0: this is a bug"));
    assert_eq!(world.instance("i").await, None);
    assert_eq!(world.dead().len(), 1);
    world.until_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn an_accepted_start_that_hits_a_bug_ends_once_and_says_why() {
    let activities = Registry::new(vec![Box::new(Buggy)]);
    let world = World::with_engine(Engine::new(activities, Languages::default()));
    world.publish("buggy", json!({"type": "Test.Buggy"}), json!({})).await;
    let command = start("buggy", "i", json!({}));
    let protocol::Body::Start(body) = command.body.clone() else { panic!("{command:?}") };
    let now = chassis::Clock::now(&world.clock);
    let descent = crate::accept::Descent { traceparent: None, lineage: Default::default() };
    let accepted = crate::accept::accepted(body, command.id.clone(), None, &descent, now).unwrap();
    store::Instances::accept(&world.store, accepted).await.unwrap();
    let _node = world.node("a").await;
    world.send(&command).await;
    world.until_status("i", SubStatus::Faulted).await;
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_secs(200)).await;
        world.sweep().await;
        world.until_quiet().await;
    }
    let incidents = world.record("i").await.state.incidents;
    assert_eq!(incidents.len(), 1);
    assert!(incidents[0].message.contains("INV-0: this is a bug"), "{incidents:?}");
    assert!(world.dead().is_empty(), "{:?}", world.dead());
    assert_eq!(world.instance("i").await.unwrap().version, 1);
}

#[tokio::test(start_paused = true)]
async fn more_commands_than_a_mailbox_holds_are_delivered_again() {
    let world = World::new();
    let waits = (0..100).map(|_| wait_for("x")).collect();
    world.publish("wait", sequence(waits), json!({})).await;
    let config = crate::Config { mailbox: 4, ..World::config() };
    let _node = world.peculiar("a", Peculiar { config: Some(config), ..Default::default() }).await;
    world.start("wait", "i", json!({})).await;
    for number in 0..100 {
        world.send(&resume(&format!("r{number}"), "i", None, json!({}))).await;
    }
    world.until_status("i", SubStatus::Finished).await;
    assert_eq!(world.instance("i").await.unwrap().version, 101);
    assert!(world.dead().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_state_that_grows_too_large_ends_the_instance_with_an_incident() {
    let world = World::new();
    let grow = json!({"type": "While", "condition": true, "body": {"type": "SetVariable",
        "variable": {"id": "v", "name": "Text"},
        "value": {"js": "getVariable('Text') + getVariable('Text')"}}});
    let more = json!({"variables":
        [{"id": "v", "name": "Text", "typeName": "String", "value": "0123456789abcdef"}]});
    world.publish("grow", grow, more).await;
    let _node = world.node("a").await;
    let outcome = world.start("grow", "i", json!({})).await;
    assert_eq!(outcome.sub_status, Some(SubStatus::Faulted), "{outcome:?}");
    assert!(!outcome.incidents.is_empty());
    world.until_quiet().await;
}

/// Makes writes of node `a` to one bucket fail while this lasts.
struct FailingWrites {
    bucket: Bucket,
    is_on: AtomicBool,
}

impl bus::Faults for FailingWrites {
    fn on(&self, node: &str, operation: &bus::Operation<'_>) -> bus::Fault {
        let is_it =
            matches!(operation, bus::Operation::PutIf { bucket, .. } if *bucket == self.bucket);
        if is_it && node == "a" && self.is_on.load(Ordering::SeqCst) {
            bus::Fault::Unavailable
        } else {
            bus::Fault::None
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_that_is_cut_off_starts_nothing_new() {
    let failing = Arc::new(FailingWrites { bucket: Bucket::Nodes, is_on: AtomicBool::new(false) });
    let world = World::with_faults(failing.clone());
    world.publish("wait", sequence(vec![wait_for("x")]), json!({})).await;
    let _node = world.node("a").await;
    world.start("wait", "i1", json!({})).await;
    failing.is_on.store(true, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_secs(5)).await;
    world.send(&start("wait", "i2", json!({}))).await;
    let resumed = world.ask(resume("r", "i1", None, json!({})), ReplyWhen::Settled).await;
    assert_eq!(resumed.sub_status, Some(SubStatus::Finished), "what runs goes on");
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!(world.status("i2").await, None);
    failing.is_on.store(false, Ordering::SeqCst);
    world.until_status("i2", SubStatus::Suspended).await;
    assert!(world.dead().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_node_that_gets_no_leases_leaves_the_work_to_others() {
    let failing = Arc::new(FailingWrites { bucket: Bucket::Leases, is_on: AtomicBool::new(true) });
    let world = World::with_faults(failing);
    world.publish("hello", line("Hello"), json!({})).await;
    let failures = "staunch_lease_failures_total{why=\"unavailable\"}";
    let before = counted(failures);
    let _nodes = (world.node("a").await, world.node("b").await);
    for number in 0..20 {
        world.send(&start("hello", &format!("i{number}"), json!({}))).await;
    }
    world.until_quiet().await;
    assert!(counted(failures) > before);
    for number in 0..20 {
        let id = format!("i{number}");
        assert_eq!(world.lines(&id).await, ["Hello"]);
    }
}
