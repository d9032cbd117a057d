//! Results of tasks that cannot be read: their attempts fail, and the messages are dead letters.

use bus::{Outside as _, Queue as _};
use model::SubStatus;
use protocol::{Headers, Letter, Message, Outcome, Refusal, TaskCompleted, header};
use serde_json::json;

use crate::Point;
use crate::wired::crash::CrashAt;
use crate::wired::task::{attempts, begun, failed, fire, report, send, task_id};
use crate::wired::world::{World, sequence};

const FIRST: (&str, &str) = (header::ATTEMPT, "1");

/// What a worker publishes as the result of the task.
fn sent(world: &World, id: &str, headers: &[(&str, &str)], body: &str) -> Message {
    let subject = format!("staunch.cmd.task.Ship.1.{}", task_id(world));
    let mut message = Message { subject, payload: body.into(), ..Message::default() };
    for (name, value) in [(header::MESSAGE_ID, id)].iter().chain(headers) {
        message.headers.insert((*name).to_owned(), (*value).to_owned());
    }
    message
}

async fn publish(world: &World, id: &str, headers: &[(&str, &str)], body: &str) {
    world.bus.publish(sent(world, id, headers, body)).await.unwrap();
    world.until_quiet().await;
}

/// The attempt has failed, with this in its reason; the message is a dead letter, and nothing is left.
async fn is_unfit(world: &World, reason: &str) {
    world.until_status("i", SubStatus::Faulted).await;
    world.until_quiet().await;
    let incident = world.record("i").await.state.incidents.remove(0);
    assert_eq!(incident.code, "ResultUnfit");
    assert!(incident.message.starts_with("the result cannot be read: "), "{}", incident.message);
    assert!(incident.message.contains(reason), "{}", incident.message);
    let dead = world.dead();
    assert_eq!(dead.len(), 1);
    assert!(dead[0].header(header::REASON).unwrap().contains(reason), "{reason}");
    assert_eq!(world.store.sizes().pending, 0);
}

#[tokio::test(start_paused = true)]
async fn a_result_that_cannot_be_read_fails_its_attempt() {
    let deep = format!("{{\"output\": {}1{}}}", "[".repeat(70), "]".repeat(70));
    // It fits into a message, and its numbers are longer where it waits.
    let long = format!("{{\"output\": [0.5{}]}}", ", 0.5".repeat(80_000));
    let large = format!("{{\"output\": \"{}\"}}", "y".repeat(600_000));
    let cases = [
        (deep.as_str(), "nested more than 64 deep"),
        (r#"{"output": {"n": 99999999999999999999999}}"#, "output.n is an integer of more than 64"),
        (r#"{"output": "\ud800"}"#, "the body is not the JSON that is expected"),
        (r#"{"output": 1, "output": 2}"#, "duplicate field"),
        ("no JSON", "the body is not the JSON that is expected"),
        ("", "the body is empty"),
        (r#"{"outptu": 1}"#, "unknown field `outptu`"),
        (r#"{"output": 1, "result": 2}"#, "two names of one member"),
        (r#"{"attempt": 0}"#, "attempt is 0: attempts are numbered from 1 on"),
        (r#"{"status": "failed", "error": {"title": 5}}"#, "error.title is 5: write a text"),
        (r#"{"status": "failed", "error": {"status": "503"}}"#, "write a number, such as 503"),
        (long.as_str(), "more than the 524288 that are allowed"),
        (large.as_str(), "more than the 524288 that are allowed"),
    ];
    for headers in [&[FIRST] as &[_], &[]] {
        for (body, reason) in cases {
            // It is final: another attempt would fail as well.
            let retry = json!({"customProperties": {"retry": {"attempts": 3, "delay": "1m"}}});
            let (world, _node) = begun(retry).await;
            publish(&world, "r", headers, body).await;
            is_unfit(&world, reason).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_header_that_cannot_be_read_fails_the_attempt_too() {
    for (header, reason) in [
        ((header::REPLY_TO, "elsewhere"), "header Staunch-Reply-To"),
        ((header::REPLY_WHEN, "never"), "use committed or settled"),
        ((header::PAYLOAD, "nothing"), "use <member>=<object>"),
        ((header::ATTEMPT, "0"), "use a number, from 1"),
    ] {
        let (world, _node) = begun(json!({})).await;
        publish(&world, "r", &[header], "{}").await;
        is_unfit(&world, reason).await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_unfit_result_counts_only_where_a_valid_one_would() {
    let retry = json!({"customProperties": {"retry": {"attempts": 3, "delay": "1m"}}});
    let (world, _node) = begun(retry).await;
    let id = task_id(&world);
    send(&world, "r1", failed(&id, 1)).await;
    let version = async || world.instance("i").await.unwrap().version;
    let paused = version().await;
    publish(&world, "pause", &[], "{").await;
    assert_eq!(version().await, paused, "the next attempt has not begun");
    fire(&world, "TaskRetry").await;
    world.until("the second attempt", async || attempts(&world).len() == 2).await;
    let second = version().await;
    publish(&world, "late", &[FIRST], "{").await;
    publish(&world, "late in the body", &[], r#"{"attempt": 1, "outptu": 1}"#).await;
    publish(&world, "early", &[(header::ATTEMPT, "3")], "{").await;
    // Whoever may publish for another type ends no task of this one.
    for subject in [format!("staunch.cmd.task.Pay.1.{id}"), format!("staunch.cmd.task.Ship.2.{id}")]
    {
        let headers = Headers::new();
        let other = Message { subject, headers, ..sent(&world, "other", &[], "{") };
        world.bus.publish(other).await.unwrap();
        world.until_quiet().await;
    }
    // What is published again without the number of an attempt may be about an earlier one.
    let letters = world.dead();
    assert_eq!(letters.len(), 6);
    for (number, message) in (1..).zip(letters) {
        let letter = Letter { number, at: world.now(), message };
        world.bus.publish(letter.again()).await.unwrap();
        world.until_quiet().await;
    }
    assert_eq!(version().await, second);
    let now = TaskCompleted { attempt: Some(2), ..report("now", &id, Some(("Ship", 1))) };
    assert_eq!(send(&world, "now", now).await.sub_status, Some(SubStatus::Finished));
    publish(&world, "over", &[], "{").await;
    assert_eq!(world.store.sizes().pending, 0, "nothing waits for a task that is over");
}

#[tokio::test(start_paused = true)]
async fn an_unfit_result_counts_once() {
    for point in [Point::FannedOut, Point::BeforePark, Point::Parked, Point::BeforeAck] {
        let world = World::new();
        let task = json!({"type": "RunTask", "id": "ship", "taskName": "Ship"});
        world.publish("ship", sequence(vec![task]), json!({})).await;
        let first = world.node("first").await;
        world.start("ship", "i", json!({})).await;
        first.stop().await;
        let crash = CrashAt::new(point);
        let node = world.peculiar("a", crash.peculiar()).await;
        world.bus.publish(sent(&world, "r", &[FIRST], "{")).await.unwrap();
        crash.happened().await;
        node.kill().await;
        let _other = world.node("b").await;
        world.settle("i", SubStatus::Faulted).await;
        is_unfit(&world, "the body is not the JSON").await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_sender_of_an_unfit_result_is_told_and_a_mended_replay_changes_nothing() {
    let (world, _node) = begun(json!({})).await;
    let inbox = bus::Wire::inbox(&world.bus);
    let mut replies = bus::Wire::subscribe(&world.bus, &inbox).await.unwrap();
    publish(&world, "r", &[FIRST, (header::REPLY_TO, inbox.as_str())], "{").await;
    let reply = futures::StreamExt::next(&mut replies).await.unwrap().message;
    let outcome: Outcome = serde_json::from_slice(&reply.payload).unwrap();
    assert_eq!(outcome.refusal, Some(Refusal::Garbled));
    is_unfit(&world, "the body is not the JSON").await;
    let version = world.instance("i").await.unwrap().version;
    let letter = Letter { number: 1, at: world.now(), message: world.dead().remove(0) };
    let (mended, _) = letter.edited(&json!({"output": 7})).unwrap();
    for again in [letter.again(), mended] {
        world.bus.publish(again).await.unwrap();
        world.until_quiet().await;
    }
    assert_eq!(world.instance("i").await.unwrap().version, version);
    assert_eq!(world.status("i").await, Some(SubStatus::Faulted));
}

#[tokio::test(start_paused = true)]
async fn an_object_that_cannot_be_read_fails_the_attempt_once_its_time_is_over() {
    for (bytes, reason) in [
        (None, "there is no object o in the object store"),
        (Some("[1"), "it is no JSON"),
        (Some("99999999999999999999999"), "more than 64 bits"),
    ] {
        let (world, _node) = begun(json!({})).await;
        if let Some(bytes) = bytes {
            let bytes = bytes.as_bytes().to_vec();
            world.bus.set_object("staunch_payloads", "o", bytes.into()).await.unwrap();
        }
        let named = (header::PAYLOAD, "$payload=o");
        world.bus.publish(sent(&world, "r", &[FIRST, named], "")).await.unwrap();
        is_unfit(&world, reason).await;
    }
}
