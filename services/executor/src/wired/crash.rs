//! A node crashes at each point of the path; another node finishes the work, and nothing is done twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::{Point, Points};
use async_trait::async_trait;
use chassis::Life;
use model::SubStatus;
use protocol::ReplyWhen;
use serde_json::json;
use tokio::sync::Notify;

use crate::wired::world::{Peculiar, World, event, line, resume, sequence, start, wait_for};

/// Crashes its node when a command is at this point for the nth time.
pub(crate) struct CrashAt {
    point: Point,
    left: AtomicUsize,
    life: Life,
    crashed: Notify,
}

impl CrashAt {
    pub(crate) fn new(point: Point) -> Arc<Self> {
        Self::nth(point, 1)
    }

    pub(crate) fn nth(point: Point, nth: usize) -> Arc<Self> {
        Arc::new(Self {
            point,
            left: AtomicUsize::new(nth),
            life: Life::new(Duration::from_secs(30)),
            crashed: Notify::new(),
        })
    }

    pub(crate) fn peculiar(self: &Arc<Self>) -> Peculiar {
        Peculiar {
            points: Some(self.clone()),
            life: Some(self.life.clone()),
            ..Peculiar::default()
        }
    }

    pub(crate) async fn happened(&self) {
        self.crashed.notified().await;
    }

    pub(crate) fn is_over(&self) -> bool {
        self.life.kill().is_cancelled()
    }
}

#[async_trait]
impl Points for CrashAt {
    async fn at(&self, _node: &str, point: Point) {
        if point != self.point || self.left.fetch_sub(1, Ordering::SeqCst) != 1 {
            return;
        }
        self.life.begin_kill();
        self.crashed.notify_one();
        std::future::pending::<()>().await;
    }
}

/// Every kind of work of an instance: an outgoing call, an event, a child, waiting, a line each.
async fn publish_all(world: &World) {
    const URL: &str = "http://example.test/x";
    world.calls.respond(URL, 200, json!({}));
    let child = json!({"type": "ExecuteWorkflow", "workflowDefinitionId": "child",
        "waitForCompletion": true});
    let call = json!({"type": "SendHttpRequest", "url": URL, "expectedStatusCodes":
        [{"statusCode": 200, "activity": line("called")}]});
    let all = sequence(vec![
        line("began"),
        call,
        child,
        line("child over"),
        json!({"type": "PublishEvent", "eventName": "told"}),
        wait_for("go"),
        line("went on"),
        wait_for("early"),
    ]);
    world.publish("child", line("child"), json!({})).await;
    world.publish("all", all, json!({})).await;
    world.publish("listener", sequence(vec![wait_for("told"), line("heard")]), json!({})).await;
}

async fn story(point: Point, nth: usize) -> bool {
    let world = World::new();
    publish_all(&world).await;
    let crash = CrashAt::nth(point, nth);
    let _first = world.peculiar("a", crash.peculiar()).await;
    world.send(&event("e0", "early", json!({}))).await;
    world.start_kept("listener", "l").await;
    world.start_kept("all", "i").await;
    let _second = world.node("b").await;
    let what = format!("{point:?} {nth}: i waits for go");
    world
        .until(&what, async || {
            tokio::time::sleep(Duration::from_secs(5)).await;
            world.sweep().await;
            world.bookmarks("i").await.contains_key("Elsa.Event")
        })
        .await;
    world.send(&event("e1", "go", json!({}))).await;
    world.settle("i", SubStatus::Finished).await;
    world.settle("l", SubStatus::Finished).await;

    let context = format!("crash at {point:?} the {nth}. time");
    assert_eq!(world.lines("i").await, ["began", "called", "child over", "went on"], "{context}");
    assert_eq!(world.lines("l").await, ["heard"], "{context}");
    // The sweep publishes the events that a crash left behind, perhaps after later ones.
    let mut events = world.events("i");
    events.dedup();
    assert_eq!(events.iter().filter(|event| *event == "started").count(), 1, "{context}");
    assert_eq!(events.iter().filter(|event| *event == "finished").count(), 1, "{context}");
    let keys: std::collections::BTreeSet<_> =
        world.calls.asked().into_iter().map(|call| call.key).collect();
    assert_eq!(keys.len(), 1, "{context}: one call, one key");
    assert!(world.dead().is_empty(), "{context}: {:?}", world.dead());
    crash.is_over()
}

impl World {
    async fn start_kept(&self, definition: &str, instance: &str) {
        let mut command = start(definition, instance, json!({}));
        command.reply_to = Some("_INBOX.somebody".to_owned());
        self.send(&command).await;
    }
}

/// Runs the workflow for each point, with a crash at the nth command there. Returns the points that
/// no command reached.
async fn stories(nth: usize) -> Vec<Point> {
    let mut missed = Vec::new();
    for point in Point::EXECUTOR {
        if !story(*point, nth).await {
            missed.push(*point);
        }
    }
    missed
}

#[tokio::test(start_paused = true)]
async fn a_crash_at_any_point_loses_nothing_and_does_nothing_twice() {
    // Points of paths that this workflow does not take: conflicts and dead commands.
    assert_eq!(stories(1).await, [Point::Conflicted, Point::BeforePark, Point::Parked]);
}

#[tokio::test(start_paused = true)]
async fn a_crash_the_second_time_does_no_more_harm() {
    stories(2).await;
}

#[tokio::test(start_paused = true)]
async fn a_crash_the_fourth_time_does_no_more_harm() {
    stories(4).await;
}

#[tokio::test(start_paused = true)]
async fn a_redelivered_command_changes_nothing() {
    let world = World::new();
    world.publish("wait", sequence(vec![wait_for("x"), wait_for("x")]), json!({})).await;
    let crash = CrashAt::nth(Point::BeforeAck, 2);
    let first = world.peculiar("a", crash.peculiar()).await;
    world.start("wait", "i", json!({})).await;
    let mut again = resume("r", "i", None, json!({}));
    again.reply_when = ReplyWhen::Settled;
    world.send(&again).await;
    crash.happened().await;
    first.kill().await;
    let before = world.instance("i").await.unwrap();
    let _second = world.node("b").await;
    world.until_quiet().await;
    assert_eq!(world.instance("i").await.unwrap(), before);
    assert_eq!(before.version, 2);
}

#[tokio::test(start_paused = true)]
async fn a_command_that_takes_every_node_down_ends_among_the_dead() {
    let world = World::new();
    world.publish("hello", line("Hello"), json!({})).await;
    world.send(&start("hello", "i", json!({}))).await;
    let mut crashes = 0;
    while world.dead().is_empty() {
        let crash = CrashAt::new(Point::BeforeRun);
        let node = world.peculiar(&format!("n{crashes}"), crash.peculiar()).await;
        tokio::select! {
            () = crash.happened() => crashes += 1,
            () = world.until("it is parked", async || !world.dead().is_empty()) => {}
        }
        node.kill().await;
        assert!(crashes <= 50, "it is tried for ever");
    }
    assert!(crashes >= usize::try_from(model::limits::DELIVERIES_MAX).unwrap());
    let dead = world.dead();
    let reason = dead[0].header(protocol::header::REASON).unwrap();
    assert!(reason.contains("took their process down"), "{reason}");
}
