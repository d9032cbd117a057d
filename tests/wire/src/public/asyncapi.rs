//! The AsyncAPI 3 document of all subjects.

use std::collections::BTreeSet;

use schemars::generate::Contract;
use serde_json::{Map, Value, json};

use super::channels::{Channel, Content, PARAMETERS, Way, channels};
use super::{file, kinds, must_have, settings, text};

/// The package with the schema of AsyncAPI documents.
const PACKAGE: &str = "@asyncapi/specs";
const VERSION: &str = "6.11.1";
const ABOUT: &str = "Whoever speaks NATS can start, follow and answer workflows. A message published \
to a subject that a stream keeps is answered by JetStream when it is stored. Names in subjects are \
escaped: every byte outside `A-Za-z0-9_-` is `=` and two hexadecimal digits. Members may be added to \
messages at any time; those that are here stay.";

/// The headers of messages, with what they mean.
fn headers() -> Value {
    let header = |about: &str| json!({"type": "string", "description": about});
    json!({"type": "object", "properties": {
        "Nats-Msg-Id": header("The idempotency key: the same message has the same."),
        "Content-Type": header("`application/json` if it is left out, or `application/msgpack`."),
        "Staunch-Reply-To": header("Where the outcome of a command is sent."),
        "Staunch-Reply-When": header("`committed` (default) or `settled`: when it is sent."),
        "Staunch-Sequence": header("`<sender>:<number>`: commands of one sender to one instance apply in this order."),
        "Staunch-Payload": header("`<member>=<object>`: the member of the input gets the file that was put into the object store `staunch_payloads`. May be there several times. `$payload=<object>`, alone and in the result of a task: the JSON in the object is the whole result."),
        "Staunch-Payload-Bytes": header("The bytes of a whole payload, in the answer with one of its parts."),
        "Staunch-Payload-Parts": header("The number of the parts of a payload, in the answer with one of them."),
        "Staunch-Task": header("The id of a task."),
        "Staunch-Instance": header("The id of the instance that a message is about."),
        "Staunch-Attempt": header("The attempt of a task: 1, 2, 3 …"),
        "Staunch-Deadline": header("The time after which the result of a task is not used."),
        "Staunch-Outcome": header("The outcome by which an activity ends, in the answer of its responder."),
        "Staunch-Reason": header("Why a command is a dead letter."),
        "traceparent": header("W3C trace context."),
    }})
}

fn camel(name: &str) -> String {
    let mut words = name.split('-');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |all, word| all + &word[..1].to_uppercase() + &word[1..])
}

/// The schemas of all kinds, and of the types that they have.
fn schemas() -> Map<String, Value> {
    let mut schemas = Map::new();
    for contract in [Contract::Deserialize, Contract::Serialize] {
        let settings = settings(&contract).with(|settings| {
            settings.definitions_path = "/components/schemas".into();
        });
        let mut generator = settings.into_generator();
        let mut own = Vec::new();
        for kind in kinds().into_iter().filter(|kind| kind.contract == contract) {
            let part = (kind.part)(&mut generator).to_value();
            let name = part["$ref"].as_str().and_then(|name| name.rsplit('/').next());
            own.push((kind, name.unwrap().to_owned()));
        }
        let mut definitions = generator.take_definitions(true);
        for (kind, name) in own {
            let mut schema = definitions.remove(&name).unwrap();
            kind.complete(&mut schema);
            schemas.insert(camel(kind.name), schema);
        }
        for (name, schema) in definitions {
            let before = schemas.insert(name.clone(), schema.clone());
            assert!(before.is_none_or(|before| before == schema), "two forms of {name}");
        }
    }
    schemas
}

fn payload(content: Content) -> Value {
    match content {
        Content::Kind(name) => json!({"$ref": format!("#/components/schemas/{}", camel(name))}),
        Content::Any => json!({"description": "JSON of your own choice."}),
        Content::Empty => json!({"description": "Nothing.", "maxLength": 0}),
        Content::Object(about) => json!({"type": "object", "description": about}),
        Content::Bytes(about) => {
            json!({"type": "string", "format": "binary", "description": about})
        }
    }
}

fn message(name: &str, content: Content) -> Value {
    let kind = match content {
        Content::Bytes(_) => "application/octet-stream",
        _ => "application/json",
    };
    json!({"name": name, "contentType": kind,
        "headers": {"$ref": "#/components/schemas/Headers"}, "payload": payload(content)})
}

fn channel(channel: &Channel) -> Value {
    let mut parameters = Map::new();
    for name in channel.parameters() {
        let about = PARAMETERS.iter().find(|known| known.0 == name).unwrap().1;
        parameters.insert(name.to_owned(), json!({"description": about}));
    }
    let kept = match channel.stream {
        Some(stream) => format!("{} Kept in the stream `{stream}`.", channel.about),
        None => format!("{} No stream keeps it.", channel.about),
    };
    let mut shown = json!({
        "address": channel.address,
        "description": kept,
        "messages": {channel.name: message(channel.name, channel.content)},
    });
    if !parameters.is_empty() {
        shown["parameters"] = Value::Object(parameters);
    }
    if let Some(stream) = channel.stream {
        shown["x-stream"] = json!(stream);
    }
    if channel.way == Way::Within {
        shown["x-internal"] = json!(true);
    }
    shown
}

fn operation(channel: &Channel) -> Value {
    // What workers send to who listens is received by `staunch worker progress`, if by no node.
    let is_taken = matches!(channel.way, Way::Takes | Way::Between);
    let action = if is_taken { "receive" } else { "send" };
    let of = |name: &str| json!({"$ref": format!("#/channels/{name}")});
    let mut shown = json!({
        "action": action,
        "channel": of(channel.name),
        "summary": channel.about,
        "messages": [{"$ref": format!("#/channels/{0}/messages/{0}", channel.name)}],
    });
    if channel.answer.is_some() {
        let answer = answer_of(channel);
        shown["reply"] = json!({"channel": of(&answer),
            "messages": [{"$ref": format!("#/channels/{answer}/messages/{answer}")}]});
    }
    shown
}

fn answer_of(channel: &Channel) -> String {
    format!("{}Answer", channel.name)
}

fn document() -> Value {
    let (mut shown, mut operations) = (Map::new(), Map::new());
    for one in channels() {
        shown.insert(one.name.to_owned(), channel(&one));
        if let Some(answer) = one.answer {
            let name = answer_of(&one);
            let about = "The inbox of the request. An error has `Nats-Service-Error-Code`.";
            shown.insert(
                name.clone(),
                json!({"address": null, "description": about,
                    "messages": {name.clone(): message(&name, answer)}}),
            );
        }
        operations.insert(one.name.to_owned(), operation(&one));
    }
    let mut schemas = schemas();
    schemas.insert("Headers".to_owned(), headers());
    json!({
        "asyncapi": "3.0.0",
        "info": {"title": "Staunch over NATS", "version": "1", "description": ABOUT,
            "license": {"name": "Apache-2.0"}},
        "defaultContentType": "application/json",
        "servers": {"nats": {"host": "127.0.0.1:4222", "protocol": "nats",
            "description": "nats-server 2.11 or newer, with JetStream."}},
        "channels": shown,
        "operations": operations,
        "components": {"schemas": schemas},
    })
}

#[test]
fn the_document_is_up_to_date() {
    must_have(&file("api/asyncapi.json"), &text(&document()));
}

/// Every `$ref` of a value.
fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(Value::as_str).map(str::to_owned));
            members.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[test]
fn every_reference_leads_somewhere_and_every_parameter_is_used() {
    let document = document();
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    assert!(found.len() > 30, "{found:?}");
    for reference in found {
        let place = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(place).is_some(), "{reference}");
    }
    let all = channels();
    let used: BTreeSet<_> = all.iter().flat_map(Channel::parameters).collect();
    assert_eq!(used, PARAMETERS.map(|(name, _)| name).into());
    let shown = |name: &str| document["channels"][name]["address"].clone();
    assert_eq!(shown("taskResult"), "staunch.cmd.task.{taskType}.{taskVersion}.{taskId}");
    assert_eq!(shown("task"), "staunch.task.{taskType}.{taskVersion}");
    let progress = "staunch.task-progress.{taskType}.{taskVersion}.{taskId}";
    assert_eq!(shown("taskProgress"), progress);
    assert_eq!(shown("dead"), "staunch.dead.{origin}");
    let operations = document["operations"].as_object().unwrap();
    let without = all.iter().find(|channel| !operations.contains_key(channel.name));
    assert_eq!(without.map(|channel| channel.name), None, "each channel has its operation");
    assert_eq!(operations["taskProgress"]["action"], "receive");
    for (name, body) in [("taskProgress", "taskProgress"), ("taskCancel", "taskCancel")] {
        let payload = &document["channels"][name]["messages"][name]["payload"]["$ref"];
        assert_eq!(payload, &format!("#/components/schemas/{body}"));
    }
}

#[test]
fn every_stream_and_every_prefix_of_subjects_has_a_channel() {
    use protocol::subject as s;
    let all = channels();
    let prefixes = [
        s::COMMANDS,
        s::EVENTS,
        s::JOURNAL,
        s::TASKS,
        s::TASK_CANCEL,
        s::TASK_PROGRESS,
        s::ACT,
        s::DEAD,
        s::API,
        s::HTTP,
        s::TIMER_ARMED,
        s::CACHE_CHANGED,
        s::CACHE_ASK,
        s::CACHE_APPLIED,
        s::RUNTIME,
        s::LEASE_WANTED,
    ];
    for prefix in prefixes {
        let has = |channel: &Channel| {
            let rest = channel.address.strip_prefix(prefix);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        assert!(all.iter().any(has), "{prefix}");
    }
    for stream in [s::COMMANDS_STREAM, s::EVENTS_STREAM, s::TASKS_STREAM, s::DEAD_STREAM] {
        assert!(all.iter().any(|channel| channel.stream == Some(stream)), "{stream}");
    }
}

#[test]
fn the_document_is_one_of_asyncapi_3() {
    let Some(folder) = testkit::npm(PACKAGE, VERSION) else { return };
    let schema = folder.join("node_modules").join(PACKAGE).join("schemas/3.0.0-without-$id.json");
    let schema: Value = serde_json::from_slice(&std::fs::read(schema).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let flaws = |document: &Value| -> Vec<String> {
        let flaws = validator.iter_errors(document);
        flaws.map(|flaw| format!("{} {flaw}", flaw.instance_path())).collect()
    };
    let good = document();
    assert_eq!(flaws(&good), Vec::<String>::new());
    for (place, value) in [
        ("/operations/start/action", json!("shout")),
        ("/channels/start/messages", json!([])),
        ("/info/title", json!(7)),
    ] {
        let mut wrong = good.clone();
        *wrong.pointer_mut(place).unwrap() = value;
        assert!(!flaws(&wrong).is_empty(), "{place}");
    }
}
