//! Memory for the states of instances: how many of the large ones an executor works on at once, and what
//! goes on meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use model::{CommandId, SubStatus, limits};
use protocol::{Body, Command, EventRaised};
use serde_json::{Value, json};
use store::memory::MemoryStore;
use store::{Burst, Expected, Instances as _};

use crate::wired::bound::Gate;
use crate::wired::world::{Peculiar, World, event, line, sequence, start, wait_for};
use crate::{Config, Point, Points};

const URL: &str = "http://example.test/";
const VALUE_BYTES: usize = 200 * 1024;
/// With this many values two states have no room at the same time.
const MOST: usize = 25;

/// A workflow whose state has so many values when it comes to the last steps.
async fn large(world: &World, id: &str, values: usize, last: &[Value]) {
    let named = |number: usize| json!({"id": format!("v{number}"), "name": format!("V{number}")});
    let set = |number| {
        let value = json!({"js": format!("'x'.repeat({VALUE_BYTES})")});
        json!({"type": "SetVariable", "variable": named(number), "value": value})
    };
    let variable = |number| {
        let mut variable = named(number);
        variable["typeName"] = json!("String");
        variable
    };
    let steps = (0..values).map(set).chain(last.iter().cloned()).collect();
    let variables: Vec<_> = (0..values).map(variable).collect();
    world.publish(id, sequence(steps), json!({"variables": variables})).await;
}

/// Instances that wait for the event `Go`, and the size of their states.
async fn suspended(world: &World, definition: &str, ids: &[String]) -> usize {
    let node = world.node("first").await;
    for id in ids {
        world.send(&start(definition, id, json!({}))).await;
        world.until_status(id, SubStatus::Suspended).await;
    }
    world.until_quiet().await;
    node.stop().await;
    world.instance(&ids[0]).await.unwrap().state.len()
}

fn ids(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("i-{number}")).collect()
}

#[tokio::test(start_paused = true)]
async fn large_states_are_worked_on_as_far_as_there_is_room_and_small_ones_go_on_g12() {
    let world = World::new();
    large(&world, "large", 10, &[wait_for("Go"), line("Hello")]).await;
    world.publish("small", line("Hello"), json!({})).await;
    let ids = ids(20);
    let state_bytes = suspended(&world, "large", &ids).await;
    assert!(state_bytes > 10 * VALUE_BYTES, "{state_bytes} bytes");
    let wanted = limits::STATE_BYTES_MAX / state_bytes;
    assert!(wanted > 1, "{wanted} at once");

    let gate = Gate::new();
    let points: Option<Arc<dyn Points>> = Some(gate.clone());
    // Those who wait for room have none of the permits for bursts: one is left for the small instance.
    let config = Config { concurrency: wanted + 1, ..World::config() };
    let peculiar = Peculiar { points, config: Some(config), ..Default::default() };
    let _node = world.peculiar("b", peculiar).await;
    world.send(&event("go", "Go", json!({}))).await;
    world.until("some instances are worked on", async || gate.came() >= wanted).await;
    // The clock is virtual: everything that can happen happens in this time.
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(gate.came(), wanted, "others wait, and come again");
    world.send(&start("small", "s", json!({}))).await;
    world.until("the small one is worked on", async || gate.came() > wanted).await;
    gate.open.add_permits(1);
    world.until_status("s", SubStatus::Finished).await;
    for id in &ids {
        world.until_status(id, SubStatus::Finished).await;
        assert_eq!(world.lines(id).await, ["Hello"]);
    }
    world.until_quiet().await;
    assert!(world.dead().is_empty(), "who waits for room does not die of it");
    println!("G12: {wanted} states of {state_bytes} bytes at once, of {}", ids.len());
}

/// Another writer commits just before the burst does; notes what follows the conflict.
struct Meddler {
    store: MemoryStore,
    is_done: AtomicBool,
    after: Mutex<Vec<Point>>,
}

#[async_trait]
impl Points for Meddler {
    async fn at(&self, _node: &str, point: Point) {
        if point == Point::BeforeCommit && !self.is_done.swap(true, Ordering::SeqCst) {
            let mut instance = self.store.load(&"i-0".into()).await.unwrap().unwrap().instance;
            let expected = Expected::Version(instance.version);
            instance.version += 1;
            self.store.commit(Burst::new(instance, expected)).await.unwrap();
        }
        let mut after = self.after.lock().unwrap();
        if point == Point::Conflicted || !after.is_empty() {
            after.push(point);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_instance_that_is_read_again_after_a_conflict_has_room_already_g12() {
    let world = World::new();
    large(&world, "large", MOST, &[wait_for("Go"), line("Hello")]).await;
    let state_bytes = suspended(&world, "large", &ids(1)).await;
    assert!(state_bytes > limits::STATE_BYTES_MAX / 2, "{state_bytes} bytes");

    let (is_done, after) = (AtomicBool::new(false), Mutex::default());
    let meddler = Arc::new(Meddler { store: world.store.clone(), is_done, after });
    let points: Option<Arc<dyn Points>> = Some(meddler.clone());
    let _node = world.peculiar("b", Peculiar { points, ..Default::default() }).await;
    world.send(&event("go", "Go", json!({}))).await;
    world.until_status("i-0", SubStatus::Finished).await;
    assert_eq!(world.lines("i-0").await, ["Hello"]);
    let is_step = |point: &Point| {
        matches!(point, Point::BeforeLoad | Point::Loaded | Point::Received | Point::Committed)
    };
    let after: Vec<_> = meddler.after.lock().unwrap().iter().copied().filter(is_step).collect();
    let direct = [Point::BeforeLoad, Point::Loaded, Point::Committed];
    assert_eq!(after.get(..3), Some(direct.as_slice()), "{after:?}");
}

/// An instance gives its room back while it waits for the answer of a call, and its call is made once.
#[tokio::test(start_paused = true)]
async fn an_instance_that_waits_for_a_call_needs_no_room_g12() {
    let world = World::new();
    let call = json!({"type": "SendHttpRequest", "url": URL, "method": "POST", "content": {"amount": 3},
        "expectedStatusCodes": [{"statusCode": 200, "activity": line("answered")}]});
    large(&world, "calls", MOST, &[call]).await;
    large(&world, "large", MOST, &[wait_for("Go"), line("Hello")]).await;
    suspended(&world, "large", &ids(1)).await;
    world.calls.respond(URL, 200, json!({}));
    world.calls.hold();
    let _node = world.node("b").await;
    world.send(&start("calls", "c", json!({}))).await;
    world.until("the call is made", async || world.calls.asked().len() == 1).await;
    world.send(&event("go", "Go", json!({}))).await;
    world.until_status("i-0", SubStatus::Finished).await;
    assert_eq!(world.status("c").await, Some(SubStatus::Executing));
    world.calls.go();
    world.until_status("c", SubStatus::Finished).await;
    assert_eq!(world.lines("c").await, ["answered"]);
    assert_eq!(world.calls.asked().len(), 1);
    world.until_quiet().await;
}

/// Two instances with large states and many commands each take turns.
#[tokio::test(start_paused = true)]
async fn a_busy_instance_gives_its_room_to_another_one_between_two_commands_g12() {
    const EVENTS: usize = 5;
    let world = World::new();
    let mut steps = Vec::new();
    for number in 0..EVENTS {
        steps.extend([wait_for("Go"), line(&format!("{number}"))]);
    }
    large(&world, "large", MOST, &steps).await;
    let ids = ids(2);
    suspended(&world, "large", &ids).await;
    let _node = world.node("b").await;
    for id in &ids {
        for number in 0..EVENTS {
            let (event_name, instance_id) = ("Go".to_owned(), Some(id.as_str().into()));
            let go = EventRaised { event_name, instance_id, ..EventRaised::default() };
            let go_id = CommandId::new(format!("go-{id}-{number}"));
            world.send(&Command::new(go_id, Body::Event(go))).await;
        }
    }
    for id in &ids {
        world.settle(id, SubStatus::Finished).await;
        assert_eq!(world.lines(id).await, ["0", "1", "2", "3", "4"]);
    }
    assert!(world.dead().is_empty(), "{} dead letters", world.dead().len());
}
