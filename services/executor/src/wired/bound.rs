//! The number of commands, bytes and scripts that an executor works on at the same time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use engine::{Engine, Flaw, Language, Languages, Scope};
use model::{SubStatus, limits};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::cx::cores;
use crate::wired::world::{Peculiar, World, line, start};
use crate::{Config, Point, Points};

/// The number of scripts that run now, and the largest number so far.
#[derive(Default)]
struct Running {
    now: AtomicUsize,
    most: AtomicUsize,
}

/// A language whose scripts take a moment.
struct Slow(Arc<Running>);

impl Language for Slow {
    fn name(&self) -> &'static str {
        "JavaScript"
    }

    fn check(&self, _source: &str) -> Result<(), Flaw> {
        Ok(())
    }

    #[expect(clippy::disallowed_methods, reason = "this is what a script does to its thread")]
    fn evaluate(&self, _source: &str, _scope: &mut dyn Scope) -> Result<Value, Flaw> {
        let now = self.0.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.0.most.fetch_max(now, Ordering::SeqCst);
        // Long enough for other scripts to begin, if they may.
        std::thread::sleep(Duration::from_millis(20));
        self.0.now.fetch_sub(1, Ordering::SeqCst);
        Ok(json!("slow"))
    }
}

#[tokio::test]
async fn no_more_scripts_run_than_there_are_cores_and_the_others_wait_g12() {
    let running = Arc::new(Running::default());
    let languages = Languages::new(vec![Box::new(Slow(Arc::clone(&running)))]);
    let world = World::with_engine(Engine::new(activities::all(), languages));
    world.publish("slow", json!({"type": "WriteLine", "text": {"js": "slow()"}}), json!({})).await;
    let config = Config { offload_turns: true, ..World::config() };
    let _node = world.peculiar("a", Peculiar { config: Some(config), ..Default::default() }).await;
    let ids: Vec<String> = (0..cores() * 8).map(|number| format!("i-{number}")).collect();
    for id in &ids {
        world.send(&start("slow", id, json!({}))).await;
    }
    for id in &ids {
        world.until_status(id, SubStatus::Finished).await;
        assert_eq!(world.lines(id).await, ["slow"]);
    }
    let most = running.most.load(Ordering::SeqCst);
    println!("G12: {} scripts, {most} at most at the same time, {} cores", ids.len(), cores());
    assert!(most <= cores(), "{most} scripts ran at the same time");
}

/// Holds all bursts before they run, until the test opens it, and counts them.
pub(crate) struct Gate {
    came: AtomicUsize,
    pub(crate) open: Semaphore,
}

impl Gate {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { came: AtomicUsize::new(0), open: Semaphore::new(0) })
    }

    pub(crate) fn came(&self) -> usize {
        self.came.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Points for Gate {
    async fn at(&self, _node: &str, point: Point) {
        if point == Point::BeforeRun {
            self.came.fetch_add(1, Ordering::SeqCst);
            drop(self.open.acquire().await);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn as_many_bursts_run_at_once_as_the_concurrency_allows_and_the_others_wait_g12() {
    const COUNT: usize = 20;
    let args = chassis::Args { executor_concurrency: Some("3".to_owned()), ..Default::default() };
    let settings = chassis::Settings::resolve(&args, &|_| None).unwrap();
    let config = Config { offload_turns: false, ..Config::from(&settings) };
    let world = World::new();
    world.publish("hello", line("Hello"), json!({})).await;
    let gate = Gate::new();
    let points: Option<Arc<dyn Points>> = Some(gate.clone());
    let peculiar = Peculiar { points, config: Some(config), ..Default::default() };
    let _node = world.peculiar("a", peculiar).await;
    for number in 0..COUNT {
        world.send(&start("hello", &format!("i-{number}"), json!({}))).await;
    }
    let come = async || gate.came() >= 3;
    world.until("some bursts run", come).await;
    // The clock is virtual: everything that can happen happens in this time.
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(gate.came(), 3);
    gate.open.add_permits(1);
    for number in 0..COUNT {
        world.until_status(&format!("i-{number}"), SubStatus::Finished).await;
    }
    world.until_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn large_commands_stay_in_the_stream_while_others_are_in_hand_g12() {
    const COUNT: usize = 20;
    const BYTES: usize = 500 * 1024;
    let world = World::new();
    world.publish("hello", line("Hello"), json!({})).await;
    let gate = Gate::new();
    let points: Option<Arc<dyn Points>> = Some(gate.clone());
    let config = Config { in_hand_bytes_max: limits::PULL_BYTES_MAX, ..World::config() };
    let peculiar = Peculiar { points, config: Some(config), ..Default::default() };
    let _node = world.peculiar("a", peculiar).await;
    for number in 0..COUNT {
        let input = json!({"Blob": "x".repeat(BYTES)});
        world.send(&start("hello", &format!("i-{number}"), input)).await;
    }
    let wanted = limits::PULL_BYTES_MAX / BYTES;
    let come = async || gate.came() >= wanted;
    world.until("some commands are in progress", come).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(gate.came(), wanted);
    gate.open.add_permits(1);
    for number in 0..COUNT {
        world.until_status(&format!("i-{number}"), SubStatus::Finished).await;
    }
    world.until_quiet().await;
    assert_eq!(gate.came(), COUNT);
}

/// Counts the commands that were put aside.
#[derive(Default)]
struct Aside(AtomicUsize);

#[async_trait]
impl Points for Aside {
    async fn at(&self, _node: &str, point: Point) {
        if point == Point::Waiting {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// The ends of many children come at once to their one parent. Those that find its mailbox full wait
/// in the database and not in the stream, where they would keep the commands of others from being
/// delivered.
#[tokio::test(start_paused = true)]
async fn commands_of_a_busy_instance_are_put_aside_and_applied_once_g2_g12() {
    const CHILDREN: usize = 120;
    let world = World::new();
    world.publish("child", json!({"type": "WriteLine", "text": "child"}), json!({})).await;
    let items: Vec<_> = (0..CHILDREN).collect();
    let bulk = json!({"type": "BulkDispatchWorkflows", "workflowDefinitionId": "child",
        "items": items, "childCompleted": line("ended")});
    world.publish("parent", bulk, json!({})).await;
    let aside = Arc::new(Aside::default());
    let mut nodes = Vec::new();
    for name in ["a", "b"] {
        let config = Config { mailbox: 2, ..World::config() };
        let points: Arc<dyn Points> = Arc::clone(&aside) as _;
        let peculiar =
            Peculiar { config: Some(config), points: Some(points), ..Default::default() };
        nodes.push(world.peculiar(name, peculiar).await);
    }
    world.start("parent", "p", json!({})).await;
    // No sweep runs here: the actors find what was put aside.
    world.until_status("p", SubStatus::Finished).await;
    assert_eq!(world.lines("p").await.len(), CHILDREN);
    world.until_quiet().await;
    assert_eq!(world.store.sizes().pending, 0);
    let put_aside = aside.0.load(Ordering::SeqCst);
    println!("{put_aside} of {CHILDREN} ends were put aside");
    assert!(put_aside > 0);
}
