//! Tasks: what workers get, and what becomes of their reports.

use std::time::Duration;

use bus::{Stream, Wire as _};
use futures::StreamExt as _;
use model::{BookmarkId, Map, PayloadHash, SubStatus, TaskStatus, Timestamp, What, limits};
use protocol::{
    Body, Command, LostTask, Message, Outcome, Perform, Refusal, ReplyWhen, TaskCancelled,
    TaskCompleted,
};
use serde_json::{Value, json};
use store::Payloads as _;

use crate::wired::large::whole;
use crate::wired::world::{Peculiar, World, cancel, resume, sequence, wait_for};

/// The trace of the start.
const TRACEPARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// A report of a worker for this type and version.
pub(crate) fn report(id: &str, task_id: &str, kind: Option<(&str, u32)>) -> TaskCompleted {
    let kind = kind.map(|(task_type, version)| (task_type.to_owned(), version));
    TaskCompleted {
        task_id: task_id.to_owned(),
        kind,
        result: json!({ "by": id }),
        ..TaskCompleted::default()
    }
}

pub(crate) fn failed(task_id: &str, attempt: u32) -> TaskCompleted {
    let error = json!({"type": "no-stock", "title": "no stock", "detail": "until Monday"});
    TaskCompleted {
        status: Some(TaskStatus::Failed),
        attempt: Some(attempt),
        error: error.as_object().cloned(),
        ..report("worker", task_id, Some(("Ship", 1)))
    }
}

pub(crate) async fn send(world: &World, id: &str, report: TaskCompleted) -> Outcome {
    world.ask(Command::new(id.into(), Body::Task(report)), ReplyWhen::Committed).await
}

/// The attempts that were published, in order.
pub(crate) fn attempts(world: &World) -> Vec<(Message, Value)> {
    let stored = world.bus.stored(Stream::Tasks).into_iter();
    stored
        .map(|(_, message)| {
            let body = serde_json::from_slice(&message.payload).unwrap();
            (message, body)
        })
        .collect()
}

pub(crate) fn task_id(world: &World) -> String {
    attempts(world)[0].1["taskId"].as_str().unwrap().to_owned()
}

pub(crate) async fn begun(more: Value) -> (World, super::world::Node) {
    let world = World::new();
    let mut task = json!({"type": "RunTask", "id": "ship", "taskName": "Ship",
        "payload": {"order": 7}});
    for (name, value) in more.as_object().unwrap() {
        task[name] = value.clone();
    }
    world.publish("ship", sequence(vec![task]), json!({})).await;
    let node = world.node("a").await;
    let mut start = super::world::start("ship", "i", json!({}));
    start.traceparent = Some(TRACEPARENT.to_owned());
    world.ask(start, ReplyWhen::Settled).await;
    (world, node)
}

/// What the timer service does when a timer of this name is due.
pub(crate) async fn fire(world: &World, name: &str) -> Outcome {
    let bookmark = world.bookmarks("i").await[name].to_string();
    let fired = resume(&format!("fired-{name}"), "i", Some(&bookmark), json!({}));
    world.ask(fired, ReplyWhen::Committed).await
}

/// What the sweep does when a new stream does not have the task, whose attempt is older.
async fn lose(world: &World, name: &str, bookmark_id: &BookmarkId, before: Timestamp) {
    let lost = LostTask { bookmark_id: bookmark_id.clone(), before };
    let perform = Perform { instance_id: "i".into(), lost: Some(lost) };
    let command = Command::new(name.into(), Body::Perform(perform)).encode().unwrap();
    bus::Queue::publish(&world.bus, command).await.unwrap();
    world.until_quiet().await;
}

/// The input of a task that a script computes.
fn computed(script: &str) -> Value {
    json!({"typeName": "Object", "expression": {"type": "JavaScript", "value": script}})
}

/// Removes the payloads that nobody uses, and looks whether these are still there.
async fn swept(world: &World, hashes: &[PayloadHash], is_kept: bool) {
    let (late, now) = (Timestamp::from_millis(i64::MAX), world.now());
    world.store.clear_payloads(late, now, 9).await.unwrap();
    for hash in hashes {
        assert_eq!(world.store.payload(hash).await.unwrap().is_some(), is_kept, "{hash}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_worker_gets_all_that_it_needs() {
    let (world, _node) = begun(json!({"taskVersion": 2, "timeout": "01:00:00"})).await;
    let (message, body) = attempts(&world).remove(0);
    let id = body["taskId"].as_str().unwrap();
    assert_eq!(message.subject, "staunch.task.Ship.2");
    let expected = json!({
        "taskId": id, "taskType": "Ship", "taskVersion": 2, "input": {"order": 7},
        "workflowInstanceId": "i", "workflowDefinitionId": "ship", "activityId": "ship",
        "attempt": 1, "deadline": "2026-01-01T01:00:00.000Z",
    });
    assert_eq!(body, expected);
    let header = |name: &str| message.header(name).unwrap_or_default();
    assert_eq!((header("Staunch-Task"), header("Staunch-Attempt")), (id, "1"));
    assert_eq!(header("Staunch-Deadline"), "2026-01-01T01:00:00.000Z");
    assert_eq!(header("Nats-Msg-Id"), format!("{id}.1"));
    let pools: Vec<_> = world.bus.pools().into_iter().collect();
    assert_eq!(pools, [("task-Ship-2".to_owned(), "staunch.task.Ship.2".to_owned())]);
}

/// The members that say what people call the workflow and its instance.
#[tokio::test(start_paused = true)]
async fn a_worker_gets_the_names_of_the_instance_where_they_fit() {
    let large = "({a: 'y'.repeat(200000), b: 'y'.repeat(200000), c: 'y'.repeat(115000)})";
    let long = "N".repeat(10_000);
    for (name, payload, is_there) in [
        ("Shipping", json!({"order": 7}), true),
        (long.as_str(), json!({"order": 7}), true),
        ("Shipping", computed(large), true),
        (long.as_str(), computed(large), false),
    ] {
        let world = World::new();
        let correlate = json!({"type": "Correlate", "id": "c", "correlationId": "order-7"});
        let task = json!({"type": "RunTask", "id": "ship", "taskName": "Ship", "payload": payload});
        world.publish("ship", sequence(vec![correlate, task]), json!({"name": name})).await;
        let _node = world.node("a").await;
        world.start("ship", "i", json!({})).await;
        assert_eq!(world.status("i").await, Some(SubStatus::Suspended), "{is_there}");
        let body = attempts(&world).remove(0).1;
        let expected = is_there.then(|| (json!(name), json!("order-7")));
        let found = (body.get("workflowName"), body.get("correlationId"));
        assert_eq!(found, expected.as_ref().map(|(name, id)| (name, id)).unzip(), "{}", name.len());
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_attempt_is_followed_by_another_one_until_there_is_none_left() {
    let retry = json!({"customProperties": {"retry": {"attempts": 2, "delay": "1m"}}});
    let (world, _node) = begun(retry).await;
    let id = task_id(&world);
    let outcome = send(&world, "r1", failed(&id, 1)).await;
    assert_eq!((outcome.refusal, outcome.affected), (None, Some(1)), "{outcome:?}");
    assert_eq!(outcome.sub_status, Some(SubStatus::Suspended));
    assert_eq!(attempts(&world).len(), 1, "the pause comes first");
    fire(&world, "TaskRetry").await;
    world.until("the second attempt", async || attempts(&world).len() == 2).await;
    let (message, body) = attempts(&world).remove(1);
    assert_eq!((&body["taskId"], &body["attempt"]), (&json!(id), &json!(2)));
    assert_eq!(body["input"], json!({"order": 7}));
    assert_eq!(message.id(), Some(format!("{id}.2").as_str()));
    // A timer has no trace of its own.
    assert_eq!(message.header("traceparent"), Some(TRACEPARENT));
    let journal = world.journal("i").await;
    assert!(journal.iter().any(|entry| entry.what == What::Retrying));

    let outcome = send(&world, "r2", failed(&id, 2)).await;
    assert_eq!(outcome.sub_status, Some(SubStatus::Faulted));
    assert_eq!(outcome.incidents, ["no stock: until Monday (attempt 2 of 2)"]);
    let incident = world.record("i").await.state.incidents.remove(0);
    assert_eq!(incident.code, "no-stock");
    world.until_quiet().await;
    assert_eq!(world.store.sizes().pending, 0);
}

#[tokio::test(start_paused = true)]
async fn the_report_of_another_attempt_changes_nothing_and_says_so() {
    let retry = json!({"customProperties": {"retry": {"attempts": 3, "delay": "1m"}}});
    let (world, _node) = begun(retry).await;
    let id = task_id(&world);
    send(&world, "r1", failed(&id, 1)).await;
    fire(&world, "TaskRetry").await;
    let before = world.instance("i").await.unwrap().version;
    for (name, attempt) in [("late", 1), ("early", 3)] {
        let late = TaskCompleted { attempt: Some(attempt), ..report(name, &id, Some(("Ship", 1))) };
        let outcome = send(&world, name, late).await;
        assert_eq!(outcome.refusal, Some(Refusal::AlreadyDone), "{outcome:?}");
        let said = outcome.message.unwrap_or_default();
        assert!(said.contains(&format!("attempt {attempt} of task {id}")), "{said}");
    }
    assert_eq!(world.instance("i").await.unwrap().version, before);
    let now = TaskCompleted { attempt: Some(2), ..report("now", &id, Some(("Ship", 1))) };
    let outcome = send(&world, "now", now).await;
    assert_eq!(outcome.sub_status, Some(SubStatus::Finished), "{outcome:?}");
    world.until_quiet().await;
    assert_eq!(world.store.sizes().pending, 0);
}

#[tokio::test(start_paused = true)]
async fn a_worker_ends_no_task_of_another_type() {
    let (world, _node) = begun(json!({})).await;
    let id = task_id(&world);
    for (name, kind) in [("type", ("Pay", 1)), ("version", ("Ship", 2))] {
        let outcome = send(&world, name, report(name, &id, Some(kind))).await;
        assert_eq!(outcome.refusal, Some(Refusal::NotFound), "{outcome:?}");
    }
    assert_eq!(world.status("i").await, Some(SubStatus::Suspended));
    let outcome = send(&world, "admin", report("admin", &id, None)).await;
    assert_eq!(outcome.sub_status, Some(SubStatus::Finished), "{outcome:?}");
}

#[tokio::test(start_paused = true)]
async fn a_task_of_a_cancelled_instance_is_cancelled() {
    let (world, _node) = begun(json!({})).await;
    let mut heard = world.bus.subscribe("staunch.task-cancel.>").await.unwrap();
    world.ask(cancel("c", "i"), ReplyWhen::Committed).await;
    let notice = heard.next().await.unwrap().message;
    let id = task_id(&world);
    assert_eq!(notice.subject, format!("staunch.task-cancel.Ship.1.{id}"));
    let body: Value = serde_json::from_slice(&notice.payload).unwrap();
    let expected = json!({
        "taskId": id, "taskType": "Ship", "taskVersion": 1, "workflowInstanceId": "i",
    });
    assert_eq!(body, expected);
    assert!(serde_json::from_value::<TaskCancelled>(body).is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_task_that_the_broker_lost_is_handed_out_once_again() {
    let (world, _node) = begun(json!({})).await;
    let id = task_id(&world);
    let bookmark_id = BookmarkId::new(world.bookmarks("i").await["Elsa.RunTask"].as_str());
    let before = world.instance("i").await.unwrap().updated_at;
    let ask = async |name: &str, before| lose(&world, name, &bookmark_id, before).await;
    ask("early", before).await;
    assert_eq!(attempts(&world).len(), 1, "the loss was before the attempt");
    let after = before.after(Duration::from_secs(1));
    tokio::time::sleep(Duration::from_secs(2)).await;
    ask("lost", after).await;
    world.until("the second attempt", async || attempts(&world).len() == 2).await;
    // What is handed out now is handed out after the loss.
    ask("again", after).await;
    let handed_out = attempts(&world);
    assert_eq!(handed_out.len(), 2);
    let (message, body) = &handed_out[1];
    assert_eq!((&body["taskId"], &body["attempt"]), (&json!(id), &json!(2)));
    assert_eq!(
        (message.id(), &body["input"]),
        (Some(format!("{id}.2").as_str()), &json!({"order": 7}))
    );
    let late = TaskCompleted { attempt: Some(1), ..report("late", &id, Some(("Ship", 1))) };
    assert_eq!(send(&world, "late", late).await.refusal, Some(Refusal::AlreadyDone));
    let now = TaskCompleted { attempt: Some(2), ..report("now", &id, Some(("Ship", 1))) };
    assert_eq!(send(&world, "now", now).await.sub_status, Some(SubStatus::Finished));
    ask("over", after).await;
    assert_eq!(attempts(&world).len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_is_late_fails_and_is_cancelled() {
    let (world, _node) = begun(json!({"timeout": "00:00:30"})).await;
    let mut heard = world.bus.subscribe("staunch.task-cancel.>").await.unwrap();
    let outcome = fire(&world, "TaskTimeout").await;
    assert_eq!(outcome.sub_status, Some(SubStatus::Faulted));
    assert_eq!(world.record("i").await.state.incidents[0].code, "TaskTimeout");
    let notice = heard.next().await.unwrap().message;
    assert!(notice.subject.ends_with(&task_id(&world)), "{}", notice.subject);
}

#[tokio::test(start_paused = true)]
async fn a_report_that_comes_early_waits_with_its_attempt_and_its_type() {
    // The id of a task depends on its instance alone.
    let (world, _node) = begun(json!({})).await;
    let id = task_id(&world);
    for (attempt, kind, ends) in
        [(1, ("Ship", 1), true), (2, ("Ship", 1), false), (1, ("Pay", 1), false)]
    {
        let world = World::new();
        let task = json!({"type": "RunTask", "id": "ship", "taskName": "Ship"});
        let root = sequence(vec![task, wait_for("more")]);
        world.publish("ship", root, json!({})).await;
        let _node = world.node("a").await;
        let early = TaskCompleted { attempt: Some(attempt), ..report("early", &id, Some(kind)) };
        let outcome = send(&world, "early", early).await;
        assert_eq!(outcome.refusal, Some(Refusal::Waiting));
        world.start("ship", "i", json!({})).await;
        world.until_quiet().await;
        world
            .until("the report is taken or refused", async || world.store.sizes().pending == 0)
            .await;
        let waits: Vec<_> = world.bookmarks("i").await.into_keys().collect();
        let expected = if ends { "Elsa.Event" } else { "Elsa.RunTask" };
        assert_eq!(waits, [expected], "attempt {attempt} of {kind:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_people_write_is_read() {
    let (world, _node) = begun(json!({})).await;
    let id = task_id(&world);
    let subject = format!("staunch.cmd.task.Ship.1.{id}");
    let body = json!({"status": "failed", "error": {"title": "no stock"}, "retryable": false});
    let headers = [("Staunch-Attempt", "1"), ("Nats-Msg-Id", "r1")];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let message = Message { subject, headers, payload: body.to_string().into_bytes() };
    let Body::Task(read) = Command::decode(&message, "x").unwrap().body else { panic!("a task") };
    assert_eq!((read.attempt, read.kind.clone()), (Some(1), Some(("Ship".to_owned(), 1))));
    bus::Queue::publish(&world.bus, message).await.unwrap();
    world.until_status("i", SubStatus::Faulted).await;
    let record = world.record("i").await;
    assert_eq!(record.state.incidents[0].message, "no stock");
    assert_eq!(record.state.output, Map::new());
}

/// Every attempt has the same input, and the payloads stay as long as there may be another one.
#[tokio::test(start_paused = true)]
async fn an_input_that_no_message_carries_rests_in_payloads_while_its_task_is_open() {
    let (y, z) = ("y".repeat(200_000), "z".repeat(300_000));
    let cases: [(&str, Value, &[&str]); 4] = [
        ("({long: 'z'.repeat(300000), n: 1})", json!({"long": z, "n": 1}), &[]),
        (
            "({long: ['z'.repeat(300000), 'z'.repeat(300000)], n: 1})",
            json!({"long": [z, z], "n": 1}),
            &["long"],
        ),
        (
            "({a: 'y'.repeat(200000), b: {of: 'z'.repeat(300000)}, c: 'y'.repeat(200000)})",
            json!({"a": y, "b": {"of": z}, "c": y}),
            &["b"],
        ),
        (
            "({a: 'y'.repeat(200000), b: {of: 'y'.repeat(200000)}, c: 'y'.repeat(200000), n: 1})",
            json!({"a": y, "b": {"of": y}, "c": y, "n": 1}),
            &["a", "b", "c"],
        ),
    ];
    for (script, expected, large) in cases {
        let retry = json!({"retry": {"attempts": 2, "delay": "1m"}});
        let (world, _node) =
            begun(json!({"payload": computed(script), "customProperties": retry})).await;
        let (message, body) = attempts(&world).remove(0);
        assert!(message.payload.len() <= limits::COMMAND_BYTES_MAX, "{}", message.payload.len());
        let (id, input) = (task_id(&world), body["input"].clone());
        let mut hashes = Vec::new();
        for (name, value) in expected.as_object().unwrap() {
            let hash = model::large::payload(&input[name]);
            assert_eq!(hash.is_some(), large.contains(&name.as_str()), "{name} of {script}");
            assert!(whole(&world, &input[name]).await == *value, "{name} of {script}");
            hashes.extend(hash);
        }
        swept(&world, &hashes, true).await;

        let bookmark_id = world.bookmarks("i").await["Elsa.RunTask"].clone();
        tokio::time::sleep(Duration::from_secs(2)).await;
        lose(&world, "lost", &bookmark_id, world.now()).await;
        world.until("the second attempt", async || attempts(&world).len() == 2).await;
        send(&world, "r2", failed(&id, 2)).await;
        swept(&world, &hashes, true).await;
        fire(&world, "TaskRetry").await;
        world.until("the third attempt", async || attempts(&world).len() == 3).await;
        let all = attempts(&world);
        assert!(all.iter().all(|(_, body)| body["input"] == input), "{script}");
        swept(&world, &hashes, true).await;

        let good = TaskCompleted { attempt: Some(3), ..report("good", &id, Some(("Ship", 1))) };
        let outcome = send(&world, "good", good).await;
        assert_eq!(outcome.sub_status, Some(SubStatus::Finished), "{outcome:?}");
        swept(&world, &hashes, false).await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_input_that_no_payload_holds_either_is_an_incident() {
    let world = World::new();
    let task = json!({"type": "RunTask", "id": "ship", "taskName": "Ship",
        "payload": computed("({long: 'z'.repeat(600000)})")});
    world.publish("ship", sequence(vec![task]), json!({})).await;
    let config = crate::Config { payload_bytes_max: 100, ..World::config() };
    let _node = world.peculiar("a", Peculiar { config: Some(config), ..Peculiar::default() }).await;
    world.start("ship", "i", json!({})).await;
    assert_eq!(world.status("i").await, Some(SubStatus::Faulted));
    let message = world.record("i").await.state.incidents[0].message.clone();
    assert!(message.contains("more than the 524288 that are allowed"), "{message}");
    assert!(attempts(&world).is_empty());
}
