//! A JSON Schema for each kind of public message, compared with the one that is committed: what a
//! client may send or read today, it may send or read tomorrow.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::compatible::{Side, breaks};
use super::{Kind, file, kinds, must_have, settings, text};
use crate::files::{every, from_file};

/// The schema of a kind of message, as its file has it.
fn schema(kind: &Kind) -> Value {
    let generator = settings(&kind.contract).into_generator();
    let mut schema = (kind.whole)(generator).to_value();
    schema["$id"] = json!(format!("urn:staunch:message:{}", kind.name));
    kind.complete(&mut schema);
    schema
}

fn public() -> impl Iterator<Item = Kind> {
    kinds().into_iter().filter(|kind| !kind.is_internal)
}

#[test]
fn every_message_keeps_its_promise() {
    let mut broken = Vec::new();
    for kind in public() {
        let path = file(&format!("messages/{}.json", kind.name));
        let new = schema(&kind);
        if let Ok(old) = std::fs::read(&path) {
            let old: Value = serde_json::from_slice(&old).unwrap();
            let side = if kind.is_read() { Side::Read } else { Side::Written };
            let found = breaks(&old, &new, side);
            broken.extend(found.into_iter().map(|flaw| format!("{}: {flaw}", kind.name)));
        }
    }
    assert!(
        broken.is_empty(),
        "these changes break clients; add optional members instead (whoever breaks a promise on \
         purpose removes the file first):\n{}",
        broken.join("\n")
    );
    for kind in public() {
        must_have(&file(&format!("messages/{}.json", kind.name)), &text(&schema(&kind)));
    }
    let known: BTreeSet<_> = public().map(|kind| format!("{}.json", kind.name)).collect();
    let files = std::fs::read_dir(file("messages")).unwrap();
    let files: BTreeSet<_> =
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(files, known, "a message that there was is a promise, too");
}

#[test]
fn what_is_sent_fits_its_schema() {
    let samples = [
        ("outcome", "outcome.message"),
        ("outcome", "outcome-cut.message"),
        ("outcome", "outcome-refused.message"),
        ("lifecycle-event", "event.message"),
        ("burst-journal", "journal.message"),
        ("task", "task.message"),
    ];
    for (name, sample) in samples {
        let kind = kinds().into_iter().find(|kind| kind.name == name).unwrap();
        let validator = jsonschema::validator_for(&schema(&kind)).unwrap();
        for (version, bytes) in every(sample) {
            let sent: Value = serde_json::from_slice(&from_file(&bytes).payload).unwrap();
            let flaws: Vec<_> = validator.iter_errors(&sent).map(|flaw| flaw.to_string()).collect();
            assert!(flaws.is_empty(), "{sample} of version {version}: {flaws:?}");
        }
    }
}

#[test]
fn what_is_read_is_what_fits_the_schema() {
    let cases = [
        ("start", json!({}), true),
        ("start", json!({"input": {"a": [1]}, "correlationId": "c", "instanceId": "i"}), true),
        ("start", json!({"inputs": {}}), false),
        ("start", json!({"input": 1}), false),
        ("resume", json!({"bookmarkId": "b", "input": {}}), true),
        ("cancel", json!({"reason": 7}), false),
        ("alter", json!({"alterations": [{"type": "Pause"}]}), true),
        ("alter", json!({"alterations": [{"type": "Explode"}]}), false),
        ("event", json!({"payload": 7}), true),
        ("event", json!({"input": 7}), true),
        ("task-result", json!({"output": 1, "attempt": 2}), true),
        ("task-result", json!({"result": 1, "status": "cancelled"}), true),
        ("task-result", json!({"status": "lost"}), false),
        ("event", json!({"input": 7, "payload": 7}), false),
        ("task-result", json!({"output": 1, "result": 2}), false),
        ("task-result", json!({"result": 1, "attempt": 0.5}), false),
        ("task-result", json!({"result": 1, "attempt": 0}), false),
    ];
    for (name, body, fits) in cases {
        let kind = kinds().into_iter().find(|kind| kind.name == name).unwrap();
        let validator = jsonschema::validator_for(&schema(&kind)).unwrap();
        assert_eq!(validator.is_valid(&body), fits, "{name} {body}");
        let subject = match name {
            "task-result" => "staunch.cmd.task.Ship.1.t".to_owned(),
            name => format!("staunch.cmd.{name}.x"),
        };
        let message = protocol::Message {
            subject,
            payload: body.to_string().into_bytes(),
            ..protocol::Message::default()
        };
        assert_eq!(protocol::Command::decode(&message, "id").is_ok(), fits, "{name} {body}");
    }
}

/// The attempt 0 is read, so that its sender hears that it is not the current one; it never counts.
#[test]
fn attempts_begin_at_one() {
    let kind = kinds().into_iter().find(|kind| kind.name == "task-result").unwrap();
    let validator = jsonschema::validator_for(&schema(&kind)).unwrap();
    assert!(validator.is_valid(&json!({"attempt": 1})));
    assert!(!validator.is_valid(&json!({"attempt": 0})));
}
