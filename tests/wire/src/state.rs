//! The values in rows of the database: the state of an instance, and lines of its journal.

use executor::Record;
use model::Entry;
use serde_json::{Value, json};

use crate::files::{every, must_be_newest, with_unknown_members};

const RECORD: &str = "record.msgpack";
const JOURNAL: &str = "journal-lines.msgpack";
pub(crate) const NAMES: [&str; 2] = [RECORD, JOURNAL];

/// A record with every member set, as JSON shows it.
fn document() -> Value {
    let bookmark = json!({
        "id": "b-1", "name": "Elsa.Event", "hash": "0123", "activityId": "wait",
        "activityNodeId": "root:wait", "activityInstanceId": "x-1", "payload": {"EventName": "go"},
        "createdAt": "2023-11-14T22:13:20.001Z", "dueAt": "2023-11-14T22:13:21.001Z"
    });
    let call = json!({
        "key": "k-1", "bookmarkId": "b-2", "activityId": "call", "url": "https://example.org/",
        "method": "POST", "headers": {"X-A": "1"}, "contentType": "application/json",
        "content": {"a": 1}, "timeout": {"secs": 5, "nanos": 0}
    });
    let incident = json!({
        "activityId": "call", "activityNodeId": "root:call", "activityType": "Elsa.SendHttpRequest",
        "code": "Timeout", "message": "no answer", "timestamp": "2023-11-14T22:13:20.002Z",
        "activityInstanceId": "i-1:2"
    });
    let execution = json!({
        "number": 2, "id": "x-2", "node": "root:call", "owner": 1, "tag": "cases[0]",
        "started_at": "2023-11-14T22:13:20.004Z",
        "faulted": true, "children": 1, "bookmarks": 1, "variables": {"V": [1]},
        "given": {"CurrentValue": 3}, "memory": {"left": 2}
    });
    let work = json!({
        "node": "root:next", "owner": 1, "tag": {"a": 1}, "given": {"CurrentIndex": 0}
    });
    let state = json!({
        "status": "Suspended", "correlation_id": "order 7", "name": "Order 7",
        "parent": {"instanceId": "i-0", "bookmarkId": "b-0"},
        "input": {"Number": -7, "Share": 12.5}, "output": {"Text": "é"},
        "incidents": [incident], "incident_count": 1, "bookmarks": {"b-1": bookmark},
        "calls": {"b-2": call}, "turns": 3, "steps": 9, "journal_sequence": 20,
        "instance_id": "i-1", "trigger": "root:http", "trigger_input": {"__HttpRequest": {"a": 1}},
        "responds": true, "variables": {"v": null}, "executions": [execution], "last_number": 2,
        "work": [work], "outputs": [{"node": "root:a", "name": "result", "value": [true]}],
        "last_result": {"a": "b"}, "migrations": [{"at": 12, "from": "v-0"}]
    });
    let answer = json!({
        "statusCode": 201, "headers": {"Location": "/1"}, "contentType": "text/plain",
        "content": "made"
    });
    json!({
        "state": state, "applied": ["c-1"], "events": [{"id": "e-1", "others": ["b-3"]}],
        "sequences": [{"sender": "shop", "number": 3}], "activation_key": "one",
        "unfinished": true, "answer": {"commands": ["c-1"], "answer": answer},
        "lineage": {"depth": 1, "chain": 2}, "indexed": {"Amount": "nc0590000000000008000"}
    })
}

/// The objects whose members we define: a later version may add members to them.
const OURS: [&str; 15] = [
    "",
    "/state",
    "/state/parent",
    "/state/incidents/0",
    "/state/bookmarks/b-1",
    "/state/calls/b-2",
    "/state/executions/0",
    "/state/work/0",
    "/state/outputs/0",
    "/state/migrations/0",
    "/events/0",
    "/sequences/0",
    "/answer",
    "/answer/answer",
    "/lineage",
];

fn record() -> Record {
    serde_json::from_value(document()).unwrap()
}

#[test]
fn the_sample_sets_every_member() {
    assert_eq!(serde_json::to_value(record()).unwrap(), document());
}

#[test]
fn a_record_is_written_as_in_the_newest_version() {
    must_be_newest(RECORD, &record().encode().unwrap());
}

#[test]
fn records_of_every_version_are_read_and_of_a_later_one() {
    let versions = every(RECORD);
    for (version, bytes) in &versions {
        let read = Record::decode(bytes);
        assert!(read.is_ok(), "of version {version}: {read:?}");
    }
    let (_, newest) = versions.last().unwrap();
    assert_eq!(Record::decode(newest).unwrap(), record());
    // Times are numbers in MessagePack and text in JSON.
    let document: Value = rmp_serde::from_slice(newest).unwrap();
    let later = rmp_serde::to_vec_named(&with_unknown_members(&document, &OURS)).unwrap();
    assert_eq!(Record::decode(&later).unwrap(), record());
    // The row of an accepted start has no state yet.
    assert_eq!(Record::decode(&[]).unwrap(), Record::default());
}

/// Lines are stored without field names.
fn lines() -> Vec<Entry> {
    let whole = json!({
        "sequence": 9, "timestamp": "2023-11-14T22:13:20.003Z", "activityId": "say",
        "activityInstanceId": "x-1", "activityType": "Elsa.WriteLine", "activityName": "Say",
        "eventName": "Line", "message": "said", "payload": {"Outcomes": ["Done"]}, "node": "node-1"
    });
    let with_values = json!({
        "sequence": 11, "timestamp": "2023-11-14T22:13:20.003Z", "activityId": "say",
        "activityInstanceId": "i-1:2", "activityType": "Elsa.WriteLine", "activityName": null,
        "eventName": "Started", "message": null, "payload": null, "node": null, "owner": 1,
        "recorded": {"nodeId": "Workflow1:a:say", "inputs": {"text": "said"},
            "outputs": {"result": [1]}, "variables": [{"owner": 0, "id": "v1", "value": 7}]}
    });
    let empty = json!({
        "sequence": 10, "timestamp": "2023-11-14T22:13:20.003Z", "activityId": null,
        "activityInstanceId": null, "activityType": null, "activityName": null,
        "eventName": "Workflow", "message": null, "payload": null
    });
    let lines = [whole, empty, with_values];
    lines.into_iter().map(|line| serde_json::from_value(line).unwrap()).collect()
}

#[test]
fn lines_of_a_journal_are_written_as_in_the_newest_version_and_read_in_all() {
    must_be_newest(JOURNAL, &rmp_serde::to_vec(&lines()).unwrap());
    for (version, bytes) in every(JOURNAL) {
        let read: Vec<Entry> = rmp_serde::from_slice(&bytes).unwrap();
        assert_eq!(read, lines(), "of version {version}");
    }
}
