//! Commands, outcomes and events, as messages.

use std::collections::{BTreeMap, BTreeSet};

use model::{Alteration, Entry, InstanceId, Map, Parent, SubStatus, TaskStatus, Timestamp, What};
use protocol::{
    Alter, Body, BurstJournal, CachePosition, Cancel, Command, ContentType, Dead, EventRaised,
    Headers, HttpAnswer, LifecycleEvent, Lineage, LostTask, Message, Noticed, Outcome, Perform,
    Refusal, ReplyWhen, Restart, Resume, Runtime, Sequence, Start, Taking, TaskCompleted,
    TaskRequest, TimerArmed, decode_body, encode_body, subject,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::files::{every, from_file, must_be_newest, names, to_file, with_unknown_members};
use crate::{buckets, state};

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(1_700_000_000_000 + millis)
}

fn map(value: Value) -> Map {
    value.as_object().unwrap().clone()
}

fn values() -> Map {
    map(json!({"Text": "é", "Number": -7, "Share": 12.5, "List": [true, null, {"a": "b"}]}))
}

/// Every kind of command, with every member set.
fn commands() -> Vec<(&'static str, Command)> {
    let start = Start {
        definition_id: "Order Approval".into(),
        instance_id: Some("i-1".into()),
        version_id: Some("v-1".into()),
        input: values(),
        properties: map(json!({"Flowchart:ExecutionMode": "TokenBased"})),
        correlation_id: Some("order 7".to_owned()),
        name: Some("Order 7".to_owned()),
        trigger_activity_id: Some("http".into()),
        restart: Some(Box::new(Restart { activity_id: Some("a".into()), variables: values() })),
        parent: Some(Parent {
            instance_id: "i-0".into(),
            bookmark_id: Some("b-0".into()),
            activity_instance_id: None,
        }),
        pointer_revision: Some(12),
        responds: true,
    };
    let resume = Resume {
        instance_id: "i-1".into(),
        bookmark_id: Some("b-1".into()),
        input: values(),
        due_at: Some(at(1)),
        event_id: Some("e-1".into()),
        responds: true,
    };
    let event = EventRaised {
        event_name: "order.paid".to_owned(),
        correlation_id: Some("order 7".to_owned()),
        instance_id: Some("i-1".into()),
        payload: Value::Object(values()),
        listened: None,
    };
    let cancel = Cancel { instance_id: "i-1".into(), reason: Some("too late".to_owned()) };
    let alterations = vec![
        Alteration::Cancel { reason: Some("too late".to_owned()) },
        Alteration::CancelActivity {
            activity_id: Some("a".into()),
            activity_instance_id: Some("a-1".to_owned()),
        },
        Alteration::migrate(2),
        Alteration::ModifyVariable { variable_id: "v".to_owned(), value: Value::Object(values()) },
        Alteration::ScheduleActivity { activity_id: Some("a".into()), activity_instance_id: None },
        Alteration::Retry { activity_ids: vec!["a".into()] },
        Alteration::Pause { reason: None },
        Alteration::Unpause,
    ];
    let alter = Alter { instance_id: "i-1".into(), alterations };
    let task = TaskCompleted {
        task_id: "t-1".to_owned(),
        result: Value::Object(values()),
        ..TaskCompleted::default()
    };
    let failed = TaskCompleted {
        kind: Some(("Ship It".to_owned(), 2)),
        status: Some(TaskStatus::Failed),
        attempt: Some(3),
        error: Some(map(json!({"type": "no-stock", "title": "no stock", "status": 409}))),
        retryable: Some(true),
        retry_after: Some(60),
        ..task.clone()
    };
    let whole = |body| Command {
        reply_to: Some("staunch.reply.node.1".to_owned()),
        reply_when: ReplyWhen::Settled,
        sequence: Some(Sequence { sender: "shop:1".to_owned(), number: 3 }),
        traceparent: Some("00-0123456789abcdef0123456789abcdef-0123456789abcdef-01".to_owned()),
        lineage: Lineage { depth: 1, chain: 2 },
        ..Command::new("c-1".into(), body)
    };
    let perform = Perform { instance_id: "i-1".into(), lost: None };
    let lost = LostTask { bookmark_id: "b-1".into(), before: at(5) };
    let again = Perform { lost: Some(lost), ..perform.clone() };
    vec![
        ("command-start", whole(Body::Start(start))),
        ("command-resume", whole(Body::Resume(resume))),
        ("command-cancel", whole(Body::Cancel(cancel))),
        ("command-alter", whole(Body::Alter(alter))),
        ("command-event", whole(Body::Event(event))),
        ("command-task", whole(Body::Task(task))),
        ("command-task-failed", whole(Body::Task(failed))),
        ("command-perform", Command::new("c-1".into(), Body::Perform(perform))),
        ("command-perform-lost", Command::new("c-1".into(), Body::Perform(again))),
    ]
}

/// A value that is sent as JSON.
struct Sample {
    name: &'static str,
    subject: String,
    value: Value,
    /// The objects whose members we define: a later version may add members to them.
    ours: &'static [&'static str],
    /// Reads JSON bytes and writes them again.
    again: fn(&[u8]) -> Value,
}

fn sample<T: Serialize + DeserializeOwned>(
    name: &'static str,
    subject: String,
    value: &T,
    ours: &'static [&'static str],
) -> Sample {
    let again = |bytes: &[u8]| {
        let value: T = decode_body(ContentType::Json, bytes).unwrap();
        serde_json::to_value(value).unwrap()
    };
    Sample { name, subject, value: serde_json::to_value(value).unwrap(), ours, again }
}

fn outcomes() -> Vec<Sample> {
    let done = Outcome {
        workflow_instance_id: Some("i-1".into()),
        sub_status: Some(SubStatus::Finished),
        output: values(),
        incidents: vec!["it rained".to_owned()],
        bookmarks: vec!["b-1".into()],
        response: Some(HttpAnswer {
            status_code: 201,
            headers: BTreeMap::from([("Location".to_owned(), "/1".to_owned())]),
            content_type: Some("application/json".to_owned()),
            is_base64: false,
            payload: None,
            content: json!({"a": 1}),
        }),
        affected: Some(2),
        ..Outcome::default()
    };
    let refused = Outcome::refused(Refusal::NotFound, "instance i-1 does not exist");
    let to = || "staunch.reply.node.1".to_owned();
    vec![
        sample("outcome", to(), &done, &["", "/response"]),
        sample("outcome-cut", to(), &done.cut(true), &["", "/response"]),
        sample("outcome-refused", to(), &refused, &[""]),
    ]
}

fn events() -> Vec<Sample> {
    let (definition, instance) = ("Order Approval".into(), InstanceId::new("i-1"));
    let event = LifecycleEvent {
        id: "i-1.3.0.finished".to_owned(),
        time: at(2),
        definition_id: "Order Approval".into(),
        definition_version: 4,
        workflow_instance_id: "i-1".into(),
        correlation_id: Some("order 7".to_owned()),
        sub_status: SubStatus::Finished,
        version: 3,
        output: Some(values()),
        is_cut: true,
        incidents: vec!["it rained".to_owned()],
    };
    let entry = Entry {
        sequence: 9,
        timestamp: at(3),
        activity_id: Some("say".into()),
        activity_instance_id: Some("x-1".to_owned()),
        activity_type: Some("Elsa.WriteLine".to_owned()),
        activity_name: Some("Say".to_owned()),
        what: What::Completed,
        message: Some("said".to_owned()),
        payload: Some(json!({"Outcomes": ["Done"]})),
        node: Some("node-1".to_owned()),
        owner: None,
        recorded: None,
    };
    let burst =
        BurstJournal { workflow_instance_id: "i-1".into(), version: 3, entries: vec![entry] };
    let task = TaskRequest {
        task_id: "t-1".to_owned(),
        task_type: "Ship It".to_owned(),
        task_version: 2,
        input: json!({"order": 7}),
        workflow_instance_id: "i-1".into(),
        workflow_definition_id: "Order Approval".into(),
        workflow_name: Some("Order approval".to_owned()),
        correlation_id: Some("order-7".to_owned()),
        activity_id: "ship".into(),
        attempt: 3,
        deadline: Some(at(5)),
    };
    let noticed = Noticed {
        definition_id: "Order Approval".into(),
        version_id: Some("v-1".into()),
        version: 4,
        revision: 12,
        everywhere: true,
        missing: vec!["node-2".to_owned()],
    };
    let position = CachePosition {
        definition_id: "Order Approval".into(),
        revision: 12,
        version_id: Some("v-1".into()),
    };
    let armed = TimerArmed {
        instance_id: "i-1".into(),
        bookmark_id: "b-1".into(),
        due_at: at(4),
        shard: 17,
    };
    let dead = Dead {
        command_id: "c-1".into(),
        subject: "staunch.cmd.start.x".to_owned(),
        reason: "no such definition".to_owned(),
        attempts: 1,
    };
    let runtime = Runtime {
        node: "node-1".to_owned(),
        state: Taking::Pausing,
        commands: 7,
        instances: 3,
        wanted: [("i-1".to_owned(), vec!["node-2".to_owned()])].into(),
    };
    let lifecycle = subject::lifecycle(&definition, &instance, "finished");
    let journal = subject::journal(&definition, &instance);
    vec![
        sample("event", lifecycle, &event, &[""]),
        sample("journal", journal, &burst, &["", "/entries/0"]),
        sample("task", subject::task("Ship It", 2), &task, &[""]),
        sample("cache-changed", subject::CACHE_CHANGED.to_owned(), &noticed, &[""]),
        sample("cache-applied", subject::cache_applied("node-1"), &position, &[""]),
        sample("timer-armed", subject::TIMER_ARMED.to_owned(), &armed, &[""]),
        sample("runtime", "_INBOX.1".to_owned(), &runtime, &[""]),
        sample("dead", subject::dead("staunch.cmd.start.x"), &dead, &[""]),
    ]
}

fn file(name: &str) -> String {
    format!("{name}.message")
}

#[test]
fn commands_are_written_as_in_the_newest_version() {
    for (name, command) in commands() {
        must_be_newest(&file(name), &to_file(&command.encode().unwrap()));
    }
}

#[test]
fn commands_of_every_version_are_read() {
    for (name, command) in commands() {
        let versions = every(&file(name));
        for (version, bytes) in &versions {
            let read = Command::decode(&from_file(bytes), "other");
            assert!(read.is_ok(), "{name} of version {version}: {read:?}");
        }
        let (_, newest) = versions.last().unwrap();
        assert_eq!(Command::decode(&from_file(newest), "other").unwrap(), command, "{name}");
    }
}

#[test]
fn commands_of_a_later_version_are_read() {
    for (name, command) in commands() {
        let mut message = command.encode().unwrap();
        let body: Value = rmp_serde::from_slice(&message.payload).unwrap();
        let places: &[&str] = if body.get("parent").is_some() { &["", "/parent"] } else { &[""] };
        message.payload = rmp_serde::to_vec_named(&with_unknown_members(&body, places)).unwrap();
        message.headers.insert("Staunch-From-Tomorrow".to_owned(), "1".to_owned());
        assert_eq!(Command::decode(&message, "other").unwrap(), command, "{name}");
    }
}

#[test]
fn outcomes_and_events_are_written_as_in_the_newest_version() {
    for Sample { name, subject, value, .. } in outcomes().into_iter().chain(events()) {
        let payload = encode_body(ContentType::Json, &value).unwrap();
        let message = Message { subject, headers: Headers::new(), payload };
        must_be_newest(&file(name), &to_file(&message));
    }
}

#[test]
fn outcomes_and_events_of_every_version_are_read_and_of_a_later_one() {
    for Sample { name, value, ours, again, .. } in outcomes().into_iter().chain(events()) {
        let versions = every(&file(name));
        for (_, bytes) in &versions {
            again(&from_file(bytes).payload);
        }
        let (_, newest) = versions.last().unwrap();
        assert_eq!(again(&from_file(newest).payload), value, "{name}");
        let later = with_unknown_members(&value, ours).to_string();
        assert_eq!(again(later.as_bytes()), value, "{name}");
    }
}

#[test]
fn every_file_has_its_test() {
    let messages = commands().into_iter().map(|(name, _)| file(name));
    let said = outcomes().into_iter().chain(events()).map(|sample| file(sample.name));
    let others = buckets::NAMES.into_iter().chain(state::NAMES).map(str::to_owned);
    let known: BTreeSet<_> = messages.chain(said).chain(others).collect();
    assert_eq!(names().into_iter().collect::<BTreeSet<_>>(), known);
}
