//! Workflows that never end by themselves: they are stopped, or limited to a rate, and leave room
//! for the others.

use std::sync::Arc;
use std::thread::ThreadId;
use std::time::Duration;

use engine::{Activity, Decision, Descriptor, Engine, Languages, Next, Step};
use model::{SubStatus, limits};
use serde_json::{Value, json};
use store::{Instances as _, Page};

use crate::Config;
use crate::wired::world::{Node, Peculiar, World, line, start};

fn endless() -> Value {
    json!({"type": "While", "condition": true, "body": line("again")})
}

async fn node(world: &World, config: Config) -> Node {
    world.peculiar("a", Peculiar { config: Some(config), ..Peculiar::default() }).await
}

#[tokio::test(start_paused = true)]
async fn an_endless_loop_is_stopped_and_its_journal_is_small() {
    let world = World::new();
    world.publish("endless", endless(), json!({})).await;
    let _node = node(&world, Config { steps_without_wait_max: 100_000, ..World::config() }).await;
    world.send(&start("endless", "i", json!({}))).await;
    world.until_status("i", SubStatus::Faulted).await;
    let incident = world.record("i").await.state.incidents.remove(0);
    assert_eq!(incident.code, "TooManySteps");
    assert!(incident.message.contains("100000 activities without waiting"), "{incident:?}");
    let written = world.store.journal(&"i".into(), Page::first()).await.unwrap().total;
    let most = limits::JOURNAL_ENTRIES_WHOLE_MAX + 20 * limits::JOURNAL_ENTRIES_WHOLE_CONTINUED_MAX;
    assert!(written < most as u64, "{written} entries for 100000 activities");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn endless_loops_leave_room_for_an_unrelated_start() {
    const LOOPS: usize = 4;
    let world = World::new();
    world.publish("endless", endless(), json!({})).await;
    world.publish("hello", line("Hello"), json!({})).await;
    let node = node(&world, Config { offload_turns: true, ..World::config() }).await;
    let loops: Vec<_> = (0..LOOPS).map(|number| format!("loop-{number}")).collect();
    for id in &loops {
        world.send(&start("endless", id, json!({}))).await;
    }
    let bursts = async || {
        let mut bursts = 0;
        for id in &loops {
            bursts += world.instance(id).await.map_or(0, |instance| instance.version);
        }
        bursts
    };
    world.until("the loops run", async || bursts().await > 2 * LOOPS as i64).await;
    for number in 0..5 {
        let before = bursts().await;
        world.start("hello", &format!("i{number}"), json!({})).await;
        let meanwhile = bursts().await - before;
        // Each burst of a loop is 10,000 steps. All the loops together have half of the cores.
        assert!(meanwhile <= 8, "{meanwhile} bursts of the loops ran before an unrelated start");
    }
    // Long before the end of the drain, after which the node would be killed.
    tokio::time::timeout(Duration::from_secs(20), node.stop()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_workflow_that_executes_itself_ends_64_deep_with_an_incident() {
    let world = World::new();
    let itself = json!({"type": "ExecuteWorkflow", "workflowDefinitionId": "itself",
        "waitForCompletion": true});
    world.publish("itself", itself, json!({})).await;
    let _node = world.node("a").await;
    world.send(&start("itself", "i", json!({}))).await;
    world.until_status("i", SubStatus::Finished).await;
    world.until_quiet().await;
    assert_eq!(world.store.sizes().instances, limits::CHILD_DEPTH_MAX as usize + 1);
    let filter = store::InstanceFilter {
        sub_statuses: vec![SubStatus::Faulted],
        ..store::InstanceFilter::default()
    };
    let faulted = world.store.list(&filter, Page::first()).await.unwrap().items;
    assert_eq!(faulted.len(), 1);
    let deepest = world.record(faulted[0].id.as_str()).await;
    assert_eq!(deepest.lineage.depth, limits::CHILD_DEPTH_MAX);
    let message = &deepest.state.incidents[0].message;
    assert!(message.contains("64 workflows wait for each other"), "{message}");
    assert!(world.dead().is_empty(), "{:?}", world.dead());
}

#[tokio::test(start_paused = true)]
async fn a_chain_that_never_ends_is_held_to_a_rate_and_goes_on() {
    let world = World::new();
    let itself = json!({"type": "DispatchWorkflow", "workflowDefinitionId": "chain"});
    world.publish("chain", itself, json!({})).await;
    world.publish("hello", line("Hello"), json!({})).await;
    let _node = node(&world, Config { chained_starts_per_second: 5, ..World::config() }).await;
    world.send(&start("chain", "i", json!({}))).await;
    let free = limits::CHAIN_FREE_MAX as usize;
    world.until("the chain is long", async || world.store.sizes().instances > free + 5).await;
    let before = world.store.sizes().instances;
    tokio::time::sleep(Duration::from_secs(20)).await;
    let links = world.store.sizes().instances - before;
    assert!((20..=105).contains(&links), "{links} links in 20 s at 5 a second");
    let outcome = world.start("hello", "other", json!({})).await;
    assert_eq!(outcome.sub_status, Some(SubStatus::Finished));
}

/// Records the thread on which it runs.
struct Where(Arc<std::sync::Mutex<Vec<ThreadId>>>);

impl Activity for Where {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("Test.Where", "Test", "Remembers its thread.").outcomes(&["Done"])
    }

    fn start(&self, _step: &mut Step<'_, '_>) -> Decision {
        self.0.lock().unwrap().push(std::thread::current().id());
        Ok(Next::done())
    }
}

#[tokio::test]
async fn a_long_turn_leaves_the_event_loop_and_a_short_one_stays() {
    let threads = Arc::new(std::sync::Mutex::new(Vec::new()));
    let activities = activities::all().with(Box::new(Where(Arc::clone(&threads))));
    let world = World::with_engine(Engine::new(activities, Languages::default()));
    let repeat = |end: usize| {
        json!({"type": "For", "start": 1, "end": end, "step": 1,
        "body": {"type": "Test.Where"}})
    };
    world.publish("short", repeat(100), json!({})).await;
    world.publish("long", repeat(5_000), json!({})).await;
    let _node = node(&world, Config { offload_turns: true, ..World::config() }).await;
    let here = std::thread::current().id();
    world.start("short", "i1", json!({})).await;
    assert!(std::mem::take(&mut *threads.lock().unwrap()).iter().all(|thread| *thread == here));
    world.start("long", "i2", json!({})).await;
    let threads = threads.lock().unwrap().clone();
    let inline = threads.iter().filter(|thread| **thread == here).count();
    assert_eq!(threads.len(), 5_000);
    assert!(inline <= limits::STEPS_INLINE_MAX, "{inline} steps on the event loop");
    assert_eq!(world.instance("i2").await.unwrap().version, 1, "in one burst");
}
