//! A task panics at each point of the path: the command is delivered again, the work is done once,
//! and nothing is stuck.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use model::{SubStatus, limits};
use protocol::{Refusal, ReplyWhen};
use serde_json::json;

use crate::wired::world::{Peculiar, World, line, resume, sequence, start, wait_for};
use crate::{Point, Points};

/// Panics when a command reaches this point, this many times.
struct PanicAt {
    point: Point,
    left: AtomicUsize,
}

impl PanicAt {
    fn times(point: Point, times: usize) -> Arc<Self> {
        Arc::new(Self { point, left: AtomicUsize::new(times) })
    }

    fn peculiar(self: &Arc<Self>) -> Peculiar {
        Peculiar { points: Some(self.clone()), ..Peculiar::default() }
    }
}

#[async_trait]
impl Points for PanicAt {
    async fn at(&self, _node: &str, point: Point) {
        let is_left = |left: usize| left.checked_sub(1);
        if point == self.point
            && self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, is_left).is_ok()
        {
            panic!("planted at {point:?}");
        }
    }
}

/// An instance that makes a call, waits, and goes on.
async fn publish_story(world: &World) {
    const URL: &str = "http://example.test/x";
    world.calls.respond(URL, 200, json!({}));
    let call = json!({"type": "SendHttpRequest", "url": URL, "expectedStatusCodes":
        [{"statusCode": 200, "activity": line("called")}]});
    let story = vec![line("began"), call, wait_for("go"), line("went on")];
    world.publish("story", sequence(story), json!({})).await;
}

/// Points inside the tasks of the lease bucket, which belong to the crate `bus`.
const LEASE_TASKS: [Point; 2] = [Point::BeforeLease, Point::Leased];

#[tokio::test(start_paused = true)]
async fn a_panic_at_any_point_loses_nothing_and_does_nothing_twice() {
    for point in Point::EXECUTOR.iter().filter(|point| !LEASE_TASKS.contains(point)) {
        let world = World::new();
        publish_story(&world).await;
        let panics = PanicAt::times(*point, 1);
        let node = world.peculiar("a", panics.peculiar()).await;
        world.send(&start("story", "i", json!({}))).await;
        let what = format!("{point:?}: i waits for go");
        let waits = async || world.bookmarks("i").await.contains_key("Elsa.Event");
        world.until(&what, waits).await;
        world.send(&resume("r", "i", None, json!({}))).await;
        world.until_status("i", SubStatus::Finished).await;
        world.until_quiet().await;
        assert_eq!(world.lines("i").await, ["began", "called", "went on"], "{point:?}");
        assert!(world.dead().is_empty(), "{point:?}: {:?}", world.dead());
        node.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_command_whose_task_always_panics_ends_among_the_dead() {
    let world = World::new();
    world.publish("hello", line("Hello"), json!({})).await;
    let panics = PanicAt::times(Point::Decoded, usize::MAX);
    let node = world.peculiar("a", panics.peculiar()).await;
    let outcome = world.ask(start("hello", "i", json!({})), ReplyWhen::Settled).await;
    assert_eq!(outcome.refusal, Some(Refusal::Dead));
    let reason = outcome.message.unwrap();
    assert!(reason.contains("panicked: planted at Decoded"), "{reason}");
    assert!(reason.contains(&format!("try {}", limits::DELIVERIES_MAX)), "{reason}");
    assert_eq!(world.dead().len(), 1);
    node.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_an_actor_leaves_the_other_instances_alone() {
    let world = World::new();
    world.publish("hello", line("Hello"), json!({})).await;
    let panics = PanicAt::times(Point::BeforeCommit, 3);
    let node = world.peculiar("a", panics.peculiar()).await;
    for number in 0..20 {
        world.send(&start("hello", &format!("i{number}"), json!({}))).await;
    }
    for number in 0..20 {
        world.until_status(&format!("i{number}"), SubStatus::Finished).await;
    }
    world.until_quiet().await;
    node.stop().await;
}
