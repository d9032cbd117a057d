//! Outgoing calls.

use connectors::{CallEnd, ErrorKind};
use model::{BookmarkId, SubStatus};
use protocol::{Body, Command, Refusal, ReplyWhen, Start};
use serde_json::{Value, json};

use crate::Point;
use crate::wired::crash::CrashAt;
use crate::wired::world::{Peculiar, World, cancel, line, resume, sequence, start};

const URL: &str = "http://example.test/pay";

fn call() -> Value {
    json!({"type": "SendHttpRequest", "url": URL, "method": "POST", "content": {"amount": 3},
        "expectedStatusCodes": [{"statusCode": 200, "activity": line("paid")}]})
}

#[tokio::test(start_paused = true)]
async fn a_call_is_made_once_and_its_result_moves_the_instance() {
    let world = World::new();
    world.calls.respond(URL, 200, json!({"ok": true}));
    world.publish("pay", call(), json!({})).await;
    let _nodes = (world.node("a").await, world.node("b").await);
    let outcome = world.start("pay", "i", json!({})).await;
    assert_eq!(outcome.sub_status, Some(SubStatus::Finished), "settled means after the call");
    assert_eq!(world.lines("i").await, ["paid"]);
    assert_eq!(world.calls.asked().len(), 1);
    assert_eq!(world.instance("i").await.unwrap().version, 2);
    world.until_quiet().await;
    assert_eq!(world.events("i"), ["started", "finished"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_result_was_not_recorded_is_repeated_with_the_same_key() {
    let world = World::new();
    world.calls.respond(URL, 200, json!({}));
    world.publish("pay", call(), json!({})).await;
    let crash = CrashAt::new(Point::Called);
    let first = world.peculiar("a", crash.peculiar()).await;
    world.send(&start("pay", "i", json!({}))).await;
    crash.happened().await;
    first.kill().await;
    let _second = world.node("b").await;
    world.until_status("i", SubStatus::Finished).await;
    let keys: Vec<_> = world.calls.asked().into_iter().map(|call| call.key).collect();
    assert_eq!(keys.len(), 2);
    assert_eq!(keys[0], keys[1]);
    assert_eq!(world.lines("i").await, ["paid"]);
}

/// What wakes an instance for the next attempt belongs to no trace.
#[tokio::test(start_paused = true)]
async fn every_attempt_of_a_call_belongs_to_the_trace_of_the_start() {
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let world = World::new();
    for status in [503, 200] {
        world.calls.respond(URL, status, json!({}));
    }
    let mut pay = call();
    pay["customProperties"] = json!({"retry": {"attempts": 2, "delay": "1h"}});
    world.publish("pay", pay, json!({})).await;
    let first = world.node("a").await;
    let mut start = start("pay", "i", json!({}));
    start.traceparent = Some(trace.to_owned());
    world.send(&start).await;
    world.until("the pause", async || pause(&world).await.is_some()).await;
    let pause = pause(&world).await.unwrap();
    first.kill().await;
    let _second = world.node("b").await;
    world.send(&resume("r", "i", Some(pause.as_str()), json!({}))).await;
    world.until_status("i", SubStatus::Finished).await;
    assert_eq!(world.calls.traces(), [Some(trace.to_owned()), Some(trace.to_owned())]);
}

/// The bookmark of the pause before the next attempt of a call.
async fn pause(world: &World) -> Option<BookmarkId> {
    world.instance("i").await?;
    world.record("i").await.state.paused_calls().next().map(|(id, _)| id.clone())
}

#[tokio::test(start_paused = true)]
async fn a_cancel_gives_a_running_call_up() {
    let world = World::new();
    world.calls.hold();
    world.publish("pay", call(), json!({})).await;
    let _node = world.node("a").await;
    world.send(&start("pay", "i", json!({}))).await;
    world.until("the call is made", async || world.calls.asked().len() == 1).await;
    assert_eq!(world.status("i").await, Some(SubStatus::Executing));
    let unnamed = world.ask(resume("r", "i", None, json!({})), ReplyWhen::Committed).await;
    assert_eq!(unnamed.refusal, Some(Refusal::StillRunning));
    let outcome = world.ask(cancel("c", "i"), ReplyWhen::Committed).await;
    assert_eq!(outcome.sub_status, Some(SubStatus::Cancelled));
    world.until_quiet().await;
    world.calls.go();
    assert!(world.calls.answered().is_empty());
    assert_eq!(world.status("i").await, Some(SubStatus::Cancelled));
}

#[tokio::test(start_paused = true)]
async fn a_cancel_finds_the_node_that_makes_the_call() {
    let world = World::new();
    world.calls.hold();
    world.publish("pay", call(), json!({})).await;
    let _nodes = (world.node("a").await, world.node("b").await, world.node("c").await);
    world.send(&start("pay", "i", json!({}))).await;
    world.until("the call is made", async || world.calls.asked().len() == 1).await;
    let began = tokio::time::Instant::now();
    let outcome = world.ask(cancel("c", "i"), ReplyWhen::Committed).await;
    assert_eq!(outcome.sub_status, Some(SubStatus::Cancelled));
    assert!(began.elapsed() < std::time::Duration::from_secs(60), "{:?}", began.elapsed());
    world.until_quiet().await;
    assert_eq!(world.calls.asked().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_result_waits_for_the_database_and_the_call_is_not_made_again() {
    let world = World::new();
    world.calls.respond(URL, 200, json!({}));
    world.publish("pay", call(), json!({})).await;
    let faults = crate::wired::fault::Outage::new(store::memory::Operation::Commit);
    let store = world.store.with_faults(faults.clone());
    world.calls.hold();
    let _node = world.peculiar("a", Peculiar { store: Some(store), ..Default::default() }).await;
    world.send(&start("pay", "i", json!({}))).await;
    world.until("the call is made", async || world.calls.asked().len() == 1).await;
    faults.begin();
    world.calls.go();
    world.until("commits fail", async || faults.count() > 3).await;
    faults.end();
    world.until_status("i", SubStatus::Finished).await;
    assert_eq!(world.calls.asked().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_stop_does_not_wait_for_a_slow_call() {
    let world = World::new();
    world.publish("pay", call(), json!({})).await;
    world.calls.hold();
    let first = world.node("a").await;
    world.send(&start("pay", "i", json!({}))).await;
    world.until("the call is made", async || world.calls.asked().len() == 1).await;
    let began = tokio::time::Instant::now();
    first.stop().await;
    assert!(began.elapsed() < std::time::Duration::from_millis(1_100), "{:?}", began.elapsed());
    world.calls.respond(URL, 200, json!({}));
    world.calls.go();
    let _second = world.node("b").await;
    world.until_status("i", SubStatus::Finished).await;
    let keys: Vec<_> = world.calls.asked().into_iter().map(|call| call.key).collect();
    assert_eq!(keys[0], keys[1]);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_waits_is_answered_after_the_call() {
    let world = World::new();
    world.calls.answer(URL, CallEnd::refused("not there"));
    let pay = json!({"type": "SendHttpRequest", "url": URL,
        "failedToConnect": {"type": "WriteHttpResponse", "statusCode": 502, "content": "sorry"}});
    world.publish("pay", sequence(vec![pay]), json!({})).await;
    let _node = world.node("a").await;
    let body = Start { definition_id: "pay".into(), responds: true, ..Start::default() };
    let command = Command::new("s".into(), Body::Start(body));
    let outcome = world.ask(command, ReplyWhen::Settled).await;
    assert_eq!(outcome.response.unwrap().status_code, 502);
}

#[tokio::test(start_paused = true)]
async fn a_call_for_which_a_node_has_no_descriptor_is_made_elsewhere_or_later() {
    let world = World::new();
    world.calls.answer(URL, CallEnd::error(ErrorKind::Exhausted, "Too many open files"));
    world.publish("pay", call(), json!({})).await;
    let _nodes = (world.node("a").await, world.node("b").await);
    world.send(&start("pay", "i", json!({}))).await;
    // Longer than any node would try by itself.
    world.until("the call is tried again", async || world.calls.asked().len() > 20).await;
    assert_eq!(world.status("i").await, Some(SubStatus::Executing));
    world.calls.respond(URL, 200, json!({}));
    world.until_status("i", SubStatus::Finished).await;
    assert_eq!(world.lines("i").await, ["paid"]);
    let calls = world.calls.asked();
    assert!(calls.iter().all(|call| call.key == calls[0].key), "{calls:?}");
}
