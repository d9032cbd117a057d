//! Sample values.

use std::collections::BTreeMap;
use std::time::Duration;

use model::{
    Bookmark, BookmarkId, Changed, Definition, Entry, Instance, InstanceId, Map, Misfire, Recorded,
    Recurrence, Schedule, Stimulus, SubStatus, Timestamp, Token, TokenTarget, Trigger, What,
};
use protocol::{Message, header};
use serde_json::json;

use crate::{
    Base, Burst, Expected, Loaded, NewInstance, OutboxRow, PendingCommand, Publication,
    StoredBookmark, shard_of,
};

/// This many milliseconds after a fixed moment.
pub(super) fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(1_795_000_000_000 + millis)
}

pub(super) fn message(id: &str) -> Message {
    let mut headers = BTreeMap::new();
    headers.insert(header::MESSAGE_ID.to_owned(), id.to_owned());
    Message { subject: format!("staunch.cmd.{id}"), headers, payload: vec![0, 159, 146, 150, 255] }
}

pub(super) fn instance(id: &str) -> Instance {
    Instance::new(id.into(), "order".into(), "order-1".into(), 1, at(0))
}

/// A start.
#[must_use]
pub fn start(id: &str) -> NewInstance {
    let command = message(&format!("start-{id}"));
    NewInstance { instance: instance(id), command, activation_key: None }
}

/// A burst that inserts.
#[must_use]
pub fn first(id: &str) -> Burst {
    let instance = Instance {
        version: 1,
        status: SubStatus::Suspended,
        state: b"state 1".to_vec(),
        ..instance(id)
    };
    Burst::new(instance, Expected::Absent)
}

/// A burst after the one that committed this version.
#[must_use]
pub fn next(id: &str, loaded: i64) -> Burst {
    let mut burst = first(id);
    burst.expected = Expected::Version(loaded);
    burst.instance.version = loaded + 1;
    burst.instance.updated_at = at(loaded + 1);
    burst.instance.state = format!("state {}", loaded + 1).into_bytes();
    burst
}

/// A burst after the loaded state.
pub(super) fn after(loaded: &Loaded) -> Burst {
    let instance = &loaded.instance;
    let mut burst = next(instance.id.as_str(), instance.version);
    burst.instance = Instance {
        version: instance.version + 1,
        status: SubStatus::Suspended,
        ..instance.clone()
    };
    burst
}

/// A bookmark that waits for the event of its id.
#[must_use]
pub fn bookmark(instance_id: &str, id: &str) -> StoredBookmark {
    let stimulus = Stimulus::event(id);
    StoredBookmark {
        instance_id: instance_id.into(),
        definition_id: "order".into(),
        correlation_id: None,
        shard: shard_of(instance_id),
        bookmark: Bookmark {
            id: id.into(),
            hash: stimulus.hash(),
            name: stimulus.name,
            activity_id: "wait".into(),
            activity_node_id: "flow:wait".to_owned(),
            activity_instance_id: format!("run-{id}"),
            payload: stimulus.payload,
            created_at: at(0),
            due_at: None,
        },
    }
}

pub(super) fn timer(instance_id: &str, id: &str, due_at: Timestamp) -> StoredBookmark {
    let mut stored = bookmark(instance_id, id);
    stored.bookmark.due_at = Some(due_at);
    stored
}

pub(super) fn http(instance_id: &str, id: &str, template: &str) -> StoredBookmark {
    let stimulus = Stimulus::http(template, "get");
    let mut stored = bookmark(instance_id, id);
    stored.bookmark.hash = stimulus.hash();
    stored.bookmark.name = stimulus.name;
    stored.bookmark.payload = stimulus.payload;
    stored
}

/// A command for any bookmark that waits for the event of this name.
pub(super) fn pending(id: &str, event_name: &str, accepted_at: Timestamp) -> PendingCommand {
    PendingCommand {
        id: id.into(),
        instance_id: None,
        bookmark_id: None,
        hash: Some(Stimulus::event(event_name).hash()),
        correlation_id: None,
        command: message(id),
        accepted_at,
        expires_at: None,
        waiting: false,
    }
}

/// A command to keep.
#[must_use]
pub fn command(id: &str) -> PendingCommand {
    pending(id, "E", at(0))
}

/// A command for one instance.
pub(super) fn resume(id: &str, instance_id: &str, bookmark_id: Option<&str>) -> PendingCommand {
    PendingCommand {
        instance_id: Some(instance_id.into()),
        bookmark_id: bookmark_id.map(BookmarkId::from),
        hash: None,
        ..pending(id, "", at(0))
    }
}

pub(super) fn entry(sequence: u64, text: &str) -> Entry {
    Entry {
        sequence,
        timestamp: at(i64::try_from(sequence).unwrap()),
        activity_id: Some("write".into()),
        activity_instance_id: Some("run-write".to_owned()),
        activity_type: Some("Elsa.WriteLine".to_owned()),
        activity_name: None,
        what: What::Line,
        message: Some(text.to_owned()),
        payload: Some(json!({"Outcomes": ["Done"], "half": 0.5, "big": u64::MAX})),
        node: (sequence == 1).then(|| "node".to_owned()),
        owner: Some(sequence),
        recorded: (sequence == 2).then(|| Box::new(recorded())),
    }
}

fn recorded() -> Recorded {
    Recorded {
        node_id: Some("Workflow1:write".to_owned()),
        inputs: Map::from_iter([("text".to_owned(), json!("é"))]),
        outputs: Map::from_iter([("result".to_owned(), json!([1, null]))]),
        variables: vec![Changed { owner: 0, id: "v".to_owned(), value: json!({"a": 0.5}) }],
    }
}

pub(super) fn outbox(id: &str, created_at: Timestamp) -> OutboxRow {
    OutboxRow { id: id.to_owned(), instance_id: "a".into(), message: message(id), created_at }
}

pub(super) fn token(hash: &str, instance_id: &str, expires_at: Timestamp) -> Token {
    Token {
        hash: hash.to_owned(),
        instance_id: instance_id.into(),
        target: TokenTarget::Bookmark("b".into()),
        created_at: at(0),
        expires_at,
    }
}

/// A draft, the latest of its definition.
pub(super) fn draft(definition_id: &str, version: u32) -> Definition {
    Definition {
        id: format!("{definition_id}-{version}").into(),
        definition_id: definition_id.into(),
        name: Some(format!("The {definition_id}")),
        version,
        created_at: Some(at(i64::from(version))),
        is_latest: true,
        root: json!({"type": "Elsa.WriteLine", "text": "\u{0}\"é🦀\\"}),
        ..Definition::default()
    }
}

pub(super) fn publication(definition_id: &str, version: u32) -> Publication {
    let draft = draft(definition_id, version);
    let definition = Definition { published_at: draft.created_at, ..draft };
    Publication { definition, base: Base::Any, triggers: Vec::new(), schedules: Vec::new() }
}

pub(super) fn trigger(definition: &Definition, activity_id: &str, of: Stimulus) -> Trigger {
    Trigger {
        definition_id: definition.definition_id.clone(),
        version_id: definition.id.clone(),
        activity_id: activity_id.into(),
        hash: of.hash(),
        name: of.name,
        payload: of.payload,
    }
}

pub(super) fn schedule(definition: &Definition, seconds: u64, next_at: Timestamp) -> Schedule {
    let id = format!("{}-timer", definition.definition_id);
    Schedule {
        shard: shard_of(&id),
        id: id.into(),
        definition_id: definition.definition_id.clone(),
        version_id: definition.id.clone(),
        activity_id: "timer".into(),
        recurrence: Recurrence::Every { interval: Duration::from_secs(seconds) },
        misfire: Misfire::FireAll { max: 3 },
        next_at: Some(next_at),
        occurrence: 0,
    }
}

pub(super) fn ids(instances: &[Instance]) -> Vec<&str> {
    instances.iter().map(|instance| instance.id.as_str()).collect()
}

pub(super) fn subjects(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(|message| message.subject.trim_start_matches("staunch.cmd.")).collect()
}

pub(super) fn id(text: &str) -> InstanceId {
    text.into()
}
