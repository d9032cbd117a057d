//! Events: the instances that they resume, start, or wait for.

use std::time::Duration;

use model::SubStatus;
use protocol::{Refusal, ReplyWhen};
use serde_json::json;

use crate::wired::crash::CrashAt;
use crate::wired::world::{Peculiar, World, event, line, sequence, start, wait_for};
use crate::{Config, Point};

#[tokio::test(start_paused = true)]
async fn an_event_resumes_all_who_wait_and_starts_what_it_triggers() {
    let world = World::new();
    world.publish("wait", sequence(vec![wait_for("paid"), line("resumed")]), json!({})).await;
    let trigger = json!({"type": "Event", "id": "e", "canStartWorkflow": true,
        "eventName": "paid", "result": {"typeName": "Object", "memoryReference": {"id": "Got"}}});
    let outputs = json!({"outputs": [{"name": "Got"}]});
    world.publish("trigger", sequence(vec![trigger]), outputs).await;
    let _nodes = (world.node("a").await, world.node("b").await);
    for instance in ["i1", "i2"] {
        world.start("wait", instance, json!({})).await;
    }
    let raised = event("e1", "paid", json!({"amount": 7}));
    let outcome = world.ask(raised, ReplyWhen::Committed).await;
    assert_eq!(outcome.affected, Some(3));
    for instance in ["i1", "i2"] {
        world.until_status(instance, SubStatus::Finished).await;
    }
    world.until_quiet().await;
    let every = store::InstanceFilter::default();
    let all = store::Instances::list(&world.store, &every, store::Page::first()).await.unwrap();
    let all = all.items;
    let started = all.iter().find(|one| one.definition_id.as_str() == "trigger").unwrap();
    let record = world.record(started.id.as_str()).await;
    assert_eq!(record.state.output["Got"], json!({"amount": 7}));
    assert_eq!(world.store.sizes().pending, 0);
}

/// The instance that an activation strategy forbids stays, so that its start, delivered again once
/// the way is free, starts nothing.
#[tokio::test(start_paused = true)]
async fn an_event_that_a_strategy_forbids_starts_nothing_later_either() {
    let world = World::new();
    let trigger = json!({"type": "Event", "id": "e", "canStartWorkflow": true, "eventName": "go"});
    let more = json!({"options": {"activationStrategyType": "SingletonStrategy"}});
    world.publish("one", sequence(vec![trigger, wait_for("x"), line("ran")]), more).await;
    let _node = world.node("a").await;
    let every = store::InstanceFilter::default();
    let all = async || {
        let found = store::Instances::list(&world.store, &every, store::Page::first()).await;
        found.unwrap().items
    };
    world.ask(event("e1", "go", json!({})), ReplyWhen::Committed).await;
    world.until_quiet().await;
    let holder = all().await.remove(0).id;
    world.ask(event("e2", "go", json!({})), ReplyWhen::Committed).await;
    world.until_quiet().await;
    let found = all().await;
    let forbidden = found.iter().find(|one| one.id != holder).unwrap();
    assert_eq!(forbidden.status, SubStatus::Cancelled);
    let record = world.record(forbidden.id.as_str()).await;
    assert!(record.state.incidents[0].message.contains(holder.as_str()), "{record:?}");
    world.ask(event("e3", "x", json!({})), ReplyWhen::Committed).await;
    world.until_status(holder.as_str(), SubStatus::Finished).await;
    world.send(&start("one", forbidden.id.as_str(), json!({}))).await;
    world.until_quiet().await;
    assert_eq!(all().await.len(), 2);
    assert_eq!(world.status(forbidden.id.as_str()).await, Some(SubStatus::Cancelled));
}

#[tokio::test(start_paused = true)]
async fn an_event_that_nobody_waits_for_is_kept_for_who_comes() {
    let world = World::new();
    world.publish("wait", sequence(vec![wait_for("x"), line("went on")]), json!({})).await;
    let _node = world.node("a").await;
    let early = world.ask(event("e1", "x", json!({})), ReplyWhen::Committed).await;
    assert_eq!(early.refusal, Some(Refusal::Waiting));
    world.start("wait", "i", json!({})).await;
    world.until_status("i", SubStatus::Finished).await;
    assert_eq!(world.lines("i").await, ["went on"]);
    world.until_quiet().await;
    assert_eq!(world.store.sizes().pending, 0);
}

#[tokio::test(start_paused = true)]
async fn an_event_that_nobody_waits_for_is_kept_for_as_long_as_is_configured() {
    let world = World::new();
    let config = Config { event_wait: Duration::from_secs(60), ..World::config() };
    let _node = world.peculiar("a", Peculiar { config: Some(config), ..Peculiar::default() }).await;
    world.ask(event("e1", "x", json!({})), ReplyWhen::Committed).await;
    let kept_until = async |seconds: u64| {
        let until = world.now().after(Duration::from_secs(seconds));
        store::Inbox::overdue(&world.store, until, 10).await.unwrap().len()
    };
    assert_eq!((kept_until(50).await, kept_until(60).await), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn an_event_that_comes_again_does_not_reach_who_came_since() {
    let world = World::new();
    world.publish("wait", sequence(vec![wait_for("x"), line("went on")]), json!({})).await;
    let _node = world.node("a").await;
    world.start("wait", "i", json!({})).await;
    let outcome = world.ask(event("e1", "x", json!({})), ReplyWhen::Committed).await;
    assert_eq!(outcome.affected, Some(1));
    world.until_status("i", SubStatus::Finished).await;
    for (instance, refusal) in [("i2", Refusal::AlreadyDone), ("i3", Refusal::AlreadyDone)] {
        // The duplicate window of the stream is over.
        tokio::time::sleep(Duration::from_secs(130)).await;
        if instance == "i3" {
            world.start("wait", instance, json!({})).await;
        }
        let again = world.ask(event("e1", "x", json!({})), ReplyWhen::Committed).await;
        assert_eq!((again.affected, again.refusal), (Some(0), Some(refusal)));
        assert_eq!(world.store.sizes().pending, 0);
    }
    assert_eq!(world.status("i3").await, Some(SubStatus::Suspended));
}

#[tokio::test(start_paused = true)]
async fn an_event_delivered_twice_is_taken_once_by_a_loop_that_waits_for_it_again() {
    let world = World::new();
    let looping = sequence(vec![wait_for("x"), line("1"), wait_for("x"), line("2")]);
    world.publish("loop", looping, json!({})).await;
    let crash = CrashAt::new(Point::FannedOut);
    let first = world.peculiar("a", crash.peculiar()).await;
    world.start("loop", "i", json!({})).await;
    world.send(&event("e1", "x", json!({}))).await;
    crash.happened().await;
    first.kill().await;
    let _second = world.node("b").await;
    world.sweep().await;
    world.until_quiet().await;
    world.sweep().await;
    world.until_quiet().await;
    assert_eq!(world.lines("i").await, ["1"]);
    assert_eq!(world.status("i").await, Some(SubStatus::Suspended));
    world.send(&event("e2", "x", json!({}))).await;
    world.until_status("i", SubStatus::Finished).await;
}

/// Three waits, and three events for this instance.
async fn three_waits(world: &World) -> [protocol::Command; 3] {
    let waits = sequence(vec![wait_for("x"), wait_for("x"), wait_for("x"), line("through")]);
    world.publish("waits", waits, json!({})).await;
    ["e1", "e2", "e3"].map(|id| {
        let mut raised = event(id, "x", json!({}));
        if let protocol::Body::Event(event) = &mut raised.body {
            event.instance_id = Some("i".into());
        }
        raised
    })
}

async fn all_are_taken(world: &World) {
    world.until_status("i", SubStatus::Finished).await;
    assert_eq!(world.lines("i").await, ["through"]);
    world.until_quiet().await;
    assert_eq!(world.store.sizes().pending, 0);
    assert!(world.dead().is_empty(), "{:?}", world.dead());
}

#[tokio::test(start_paused = true)]
async fn events_that_came_early_are_each_taken_by_a_wait_of_its_own() {
    let world = World::new();
    let events = three_waits(&world).await;
    let _nodes = (world.node("a").await, world.node("b").await);
    for event in events {
        let early = world.ask(event, ReplyWhen::Committed).await;
        assert_eq!(early.refusal, Some(Refusal::Waiting));
    }
    world.start("waits", "i", json!({})).await;
    all_are_taken(&world).await;
}

#[tokio::test(start_paused = true)]
async fn events_that_come_together_are_each_taken_by_a_wait_of_its_own() {
    let world = World::new();
    let events = three_waits(&world).await;
    let _nodes = (world.node("a").await, world.node("b").await);
    world.start("waits", "i", json!({})).await;
    world.until_status("i", SubStatus::Suspended).await;
    // All find the same bookmark, and one of them burns it.
    for event in events {
        world.send(&event).await;
    }
    all_are_taken(&world).await;
}

#[tokio::test(start_paused = true)]
async fn an_event_for_an_instance_that_comes_again_leaves_nothing_behind() {
    for point in [Point::FannedOut, Point::BeforeAck] {
        let world = World::new();
        world.publish("wait", sequence(vec![wait_for("x")]), json!({})).await;
        let crash = CrashAt::nth(point, if point == Point::BeforeAck { 2 } else { 1 });
        let first = world.peculiar("a", crash.peculiar()).await;
        world.start("wait", "i", json!({})).await;
        world.until_status("i", SubStatus::Suspended).await;
        let [raised, ..] = three_waits(&world).await;
        world.send(&raised).await;
        crash.happened().await;
        first.kill().await;
        let _second = world.node("b").await;
        world.sweep().await;
        world.until_status("i", SubStatus::Finished).await;
        world.until_quiet().await;
        world.sweep().await;
        world.until_quiet().await;
        assert_eq!(world.store.sizes().pending, 0, "{point:?}");
    }
}

/// Writes the row of an event after its instance has ended, as a write does whose caller was dropped.
async fn kept_late(world: &World, raised: &protocol::Command) {
    let late = store::PendingCommand {
        id: raised.id.clone(),
        instance_id: Some("i".into()),
        bookmark_id: None,
        hash: Some(model::Stimulus::event("x").hash()),
        correlation_id: None,
        command: raised.encode().unwrap(),
        accepted_at: world.now(),
        expires_at: Some(world.now().after(Duration::from_secs(24 * 60 * 60))),
        waiting: true,
    };
    store::Inbox::wait(&world.store, late).await.unwrap();
    world.settle("i", SubStatus::Finished).await;
}

#[tokio::test(start_paused = true)]
async fn an_event_that_is_kept_after_its_instance_took_it_and_ended_is_forgotten() {
    let world = World::new();
    let events = three_waits(&world).await;
    let _node = world.node("a").await;
    world.start("waits", "i", json!({})).await;
    for event in &events {
        world.send(event).await;
    }
    all_are_taken(&world).await;
    kept_late(&world, &events[1]).await;
    assert!(world.dead().is_empty(), "{:?}", world.dead());
}

#[tokio::test(start_paused = true)]
async fn an_event_that_no_bookmark_of_its_instance_took_is_a_dead_letter_when_that_is_over() {
    let world = World::new();
    let [raised, ..] = three_waits(&world).await;
    world.publish("short", sequence(vec![line("done")]), json!({})).await;
    let _node = world.node("a").await;
    let early = world.ask(raised.clone(), ReplyWhen::Committed).await;
    assert_eq!(early.refusal, Some(Refusal::Waiting));
    world.start("short", "i", json!({})).await;
    world.settle("i", SubStatus::Finished).await;
    let dead = world.dead();
    assert_eq!(dead.len(), 1, "{dead:?}");
    let reason = dead[0].header(protocol::header::REASON);
    assert_eq!(reason, Some("instance i is over: it is Finished"));

    tokio::time::sleep(Duration::from_secs(130)).await;
    let late = world.ask(raised, ReplyWhen::Committed).await;
    assert_eq!(late.refusal, Some(Refusal::AlreadyDone));
    assert_eq!((world.store.sizes().pending, world.dead().len()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_correlated_event_reaches_only_its_own() {
    let world = World::new();
    world.publish("wait", sequence(vec![wait_for("x")]), json!({})).await;
    let _node = world.node("a").await;
    for (instance, correlation) in [("i1", "one"), ("i2", "two")] {
        let mut command = start("wait", instance, json!({}));
        if let protocol::Body::Start(start) = &mut command.body {
            start.correlation_id = Some(correlation.to_owned());
        }
        world.ask(command, ReplyWhen::Settled).await;
    }
    let mut raised = event("e1", "x", json!({}));
    if let protocol::Body::Event(event) = &mut raised.body {
        event.correlation_id = Some("two".to_owned());
    }
    assert_eq!(world.ask(raised, ReplyWhen::Committed).await.affected, Some(1));
    world.until_status("i2", SubStatus::Finished).await;
    assert_eq!(world.status("i1").await, Some(SubStatus::Suspended));
}
