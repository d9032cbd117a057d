//! Activities of types that workers have registered.

use std::collections::BTreeSet;

use engine::testing::{Player, parsed};
use engine::{Effect, Library, NatsCall, Operation, Task};
use model::{ActivityType, SubStatus};
use serde_json::{Value, json};

use super::{engine, oversights, player, problems};

fn charge() -> Value {
    json!({"type": "Acme.ChargeCard", "version": 2, "outcomes": ["Paid", "Declined"],
        "input": {"type": "object", "required": ["amount"], "properties": {
            "amount": {"type": "number", "minimum": 1},
            "currency": {"type": "string", "enum": ["EUR", "USD"], "default": "EUR"}}},
        "output": {"type": "object", "properties": {"receipt": {"type": "string"}}},
        "retry": {"attempts": 2, "delay": "1m"}, "timeout": "1h"})
}

fn upper() -> Value {
    json!({"type": "upper", "version": 1, "mode": "request",
        "input": {"properties": {"text": {"type": "string"}}}})
}

/// A workflow with this activity, and another one behind each of its outcomes.
fn workflow(mut activity: Value) -> Value {
    activity["id"] = json!("work");
    json!({"activityTypes": [charge(), upper()],
        "inputs": [{"name": "Amount", "type": "Double"}],
        "outputs": [{"name": "Got", "type": "Object"}],
        "root": {"type": "Flowchart", "activities": [activity,
            {"type": "WriteLine", "id": "paid", "text": "paid"},
            {"type": "WriteLine", "id": "declined", "text": "declined"}],
        "connections": [
            {"source": {"activity": "work", "port": "Paid"}, "target": {"activity": "paid"}},
            {"source": {"activity": "work", "port": "Declined"}, "target": {"activity": "declined"}}]}})
}

fn charging(more: Value) -> Value {
    let mut activity = json!({"type": "Acme.ChargeCard", "amount": {"js": "getInput('Amount')"},
        "receipt": {"typeName": "String", "memoryReference": {"id": "Got"}}});
    activity.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    workflow(activity)
}

fn tasks(player: &Player<'_>) -> Vec<Task> {
    let task = |effect: &Effect| match effect {
        Effect::Task(task) => Some(task.clone()),
        _ => None,
    };
    player.effects.iter().filter_map(task).collect()
}

fn report(result: Value, outcome: Option<&str>) -> Value {
    let mut input = json!({"RunTaskInput": result});
    if let Some(outcome) = outcome {
        input["RunTaskReport"] = json!({"status": "completed", "outcome": outcome});
    }
    input
}

fn incident(player: &Player<'_>) -> (String, String) {
    let incident = &player.state().incidents[0];
    (incident.code.clone(), incident.message.clone())
}

#[test]
fn an_activity_of_such_a_type_is_a_task_with_its_inputs() {
    let mut player = player(charging(json!({})));
    player.start(json!({"Amount": 12.5}));
    let task = tasks(&player).remove(0);
    assert_eq!((task.task_name.as_str(), task.task_version), ("Acme.ChargeCard", 2));
    assert_eq!(task.payload, json!({"amount": 12.5, "currency": "EUR"}));
    assert!(task.deadline.is_some());
    assert!(player.resume("Elsa.RunTask", report(json!({"receipt": "R-1"}), Some("Declined"))));
    assert_eq!((player.lines(), &player.state().output["Got"]), (vec!["declined"], &json!("R-1")));
    assert_eq!(player.status(), SubStatus::Finished);
}

#[test]
fn without_an_outcome_the_first_one_is_meant_and_retries_are_those_of_the_type() {
    let mut player = player(charging(json!({})));
    player.start(json!({"Amount": 1}));
    let failed = json!({"RunTaskInput": null, "RunTaskReport": {"status": "failed"}});
    assert!(player.resume("Elsa.RunTask", failed));
    assert!(player.fire_timer());
    assert_eq!(tasks(&player).len(), 2);
    assert!(player.resume("Elsa.RunTask", report(json!({}), None)));
    assert_eq!(player.lines(), ["paid"]);
}

#[test]
fn a_result_that_does_not_fit_the_type_is_an_incident() {
    let check = |result: Value, outcome: Option<&str>, part: &str| {
        let mut player = player(charging(json!({})));
        player.start(json!({"Amount": 1}));
        player.resume("Elsa.RunTask", report(result, outcome));
        let (code, message) = incident(&player);
        assert_eq!(code, "InvalidTaskResult");
        assert!(message.contains(part), "{message}");
    };
    check(json!({"receipt": 7}), None, "Acme.ChargeCard@2: /receipt");
    check(json!({}), Some("Lost"), "no outcome Lost: it has Paid, Declined");
}

#[test]
fn an_input_that_does_not_fit_is_named_at_publish_or_is_an_incident() {
    let check = |more: Value, part: &str| {
        let found = oversights(charging(more)).join("; ");
        assert!(found.contains(part), "{found}");
    };
    check(json!({"amount": 0}), "less than the minimum");
    check(json!({"amount": "much"}), "not a number");
    check(json!({"currency": "DM"}), "currency");
    check(json!({"amount": null}), "it is required");
    check(json!({"customProperties": {"timeout": "soon"}}), "timeout");
    check(json!({"customProperties": {"retry": {"attempts": 0}}}), "attempts");
    let mut player = player(charging(json!({})));
    player.start(json!({"Amount": 0}));
    let (code, message) = incident(&player);
    assert_eq!((code.as_str(), tasks(&player).len()), ("InvalidInput", 0));
    assert!(message.starts_with("amount: "), "{message}");
}

#[test]
fn versions_live_side_by_side_and_one_that_does_not_exist_is_named() {
    let mut document = charging(json!({"version": 1}));
    let found = problems(document.clone()).join("; ");
    assert!(found.contains("no such version of the activity type Acme.ChargeCard: use version 2"));
    let mut first = charge();
    (first["version"], first["outcomes"]) = (json!(1), json!(["Paid"]));
    document["activityTypes"].as_array_mut().unwrap().push(first);
    let mut player = player(document);
    player.start(json!({"Amount": 1}));
    assert_eq!(tasks(&player)[0].task_version, 1);
    let near = problems(charging(json!({"type": "Acme.ChargeCrd"}))).join("; ");
    assert!(near.contains("there is no activity type Acme.ChargeCrd"), "{near}");
}

#[test]
fn a_version_that_is_no_whole_number_is_refused_and_what_was_published_goes_on() {
    for rounded in [json!(1.5), json!(2.0), json!("2"), json!(-1), json!(true)] {
        let found = oversights(charging(json!({"version": rounded})));
        let is_told =
            found.len() == 1 && found[0].contains("is not a whole number from 1 to 2147483647");
        assert!(is_told, "{rounded}: {found:?}");
        assert!(problems(charging(json!({"version": rounded}))).is_empty(), "{rounded}");
    }
    for whole in [json!(2), json!(null)] {
        assert!(oversights(charging(json!({"version": whole}))).is_empty(), "{whole}");
    }
}

#[test]
fn an_input_with_the_name_of_the_result_is_refused_and_what_was_published_goes_on() {
    let mut document = workflow(json!({"type": "upper", "text": "hi"}));
    document["activityTypes"][1]["input"]["properties"]["Result"] = json!({"type": "string"});
    let found = oversights(document.clone()).join("; ");
    assert!(found.contains("upper@1 cannot be used: input: Result is an output"), "{found}");
    assert!(problems(document).is_empty());
}

#[test]
fn a_type_of_mode_request_asks_and_the_answer_is_the_result() {
    let ask = || {
        let mut player = player(workflow(json!({"type": "upper", "text": "hi", "result": "Got"})));
        player.start(json!({}));
        player
    };
    let mut player = ask();
    let call = player.state().calls.values().next().unwrap();
    let input = json!({"text": "hi"});
    let expected = NatsCall::Act { task_type: "upper".to_owned(), version: 1, input };
    assert_eq!(call.operation, Operation::Nats(expected));
    assert!(call.tries.is_some(), "a fault of the worker is worth another try");
    assert!(player.resume("Call", json!({"content": "HI", "headers": {}})));
    assert_eq!(player.state().output["Got"], "HI");
    for (answer, code) in [
        (
            json!({"content": "", "headers": {}, "statusCode": 422, "message": "odd"}),
            "WorkerFailed",
        ),
        (json!({"error": "connect", "code": "no-responders", "message": "nobody"}), "NatsConnect"),
        (json!({"content": "HI", "outcome": "Lost"}), "InvalidTaskResult"),
    ] {
        let mut player = ask();
        assert!(player.resume("Call", answer));
        assert_eq!(incident(&player).0, code);
    }
}

#[test]
fn a_version_that_was_published_keeps_the_document_that_it_had() {
    let registered = |more: Value| {
        let mut kind = charge();
        kind.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let mut library = Library::default();
        library.register([serde_json::from_value::<ActivityType>(kind).unwrap()]);
        library
    };
    let newer = registered(json!({"version": 3}));
    let mut draft = parsed(charging(json!({}))).unwrap();
    draft.activity_types.clear();
    assert!(engine().may_need_workers(&draft));
    engine().pin(&mut draft, &newer);
    let labels: Vec<_> = draft.activity_types.iter().map(ActivityType::label).collect();
    assert_eq!(labels, ["Acme.ChargeCard@3"]);
    let published = model::Definition { is_published: true, ..draft.clone() };
    let changed = registered(json!({"version": 4, "input": {"required": ["new"],
        "properties": {"new": {"type": "string"}}}}));
    assert!(engine().validate(&published, &changed).is_ok());
    let problems = engine().validate(&draft, &changed).err().unwrap();
    assert!(problems.iter().any(|problem| problem.property.as_deref() == Some("new")));
}

#[test]
fn a_document_that_a_file_brings_along_is_checked_too() {
    let mut document = charging(json!({}));
    document["activityTypes"][0]["retry"] = json!({"attempts": 0});
    let found = problems(document).join("; ");
    assert!(found.contains("Acme.ChargeCard@2 cannot be used: retry: attempts"), "{found}");
}

#[test]
fn an_activity_without_an_id_gets_the_same_one_wherever_ids_are_made() {
    let root = json!({"type": "Sequence", "activities": [
        {"type": "Acme.ChargeCard", "amount": 1}, {"type": "upper", "text": "a"}]});
    let definition = parsed(json!({"activityTypes": [charge(), upper()], "root": root})).unwrap();
    let program = engine().compile(&definition, &Library::default()).unwrap();
    let compiled: BTreeSet<_> = program.activities().map(|(id, _, _)| id.to_string()).collect();
    let sites = engine().sites(&definition, &Library::default()).list.into_iter();
    let placed: BTreeSet<_> = sites.map(|site| site.id).collect();
    assert!(placed.contains("ChargeCard1") && placed.contains("upper1"), "{placed:?}");
    assert!(placed.is_subset(&compiled), "{placed:?} {compiled:?}");
}

#[test]
fn the_version_of_a_task_is_a_number_from_1() {
    let task = |version: Value| json!({"type": "RunTask", "id": "task", "taskName": "Ship", "taskVersion": version});
    let is_told = |found: &[String]| {
        found.len() == 1 && found[0].contains("is not a whole number from 1 to 2147483647")
    };
    let wrapped = |value: Value| json!({"expression": {"type": "Literal", "value": value}});
    for wrong in [
        json!(1.5),
        json!("1.5"),
        json!("1"),
        wrapped(json!(1.5)),
        wrapped(json!("2.0")),
        json!(""),
        wrapped(json!(" ")),
        json!(true),
    ] {
        let found = oversights(task(wrong.clone()));
        assert!(is_told(&found), "{wrong}: {found:?}");
        assert!(problems(task(wrong)).is_empty(), "what was published goes on");
    }
    for whole in [json!(2), json!(2.0), json!(null), wrapped(json!(2)), wrapped(json!(null))] {
        assert!(oversights(task(whole.clone())).is_empty(), "{whole}");
    }
    for version in [0, -1] {
        let found = problems(task(version.into()));
        assert!(is_told(&found), "{found:?}");
        let given = json!({"typeName": "Int32", "expression": {"type": "Input", "value": "V"}});
        let mut player =
            player(json!({"inputs": [{"name": "V", "type": "Int32"}], "root": task(given)}));
        player.start(json!({"V": version}));
        let (code, message) = incident(&player);
        assert_eq!(code, "InvalidInput");
        assert!(message.contains("is not a whole number from 1"), "{message}");
    }
}

#[test]
fn a_version_of_a_task_that_is_computed_is_neither_rounded_nor_a_text() {
    let given = json!({"typeName": "Int32", "expression": {"type": "Input", "value": "V"}});
    let started = |version: Value| {
        let root =
            json!({"type": "RunTask", "id": "task", "taskName": "Ship", "taskVersion": given});
        let mut player = player(json!({"inputs": [{"name": "V", "type": "Object"}], "root": root}));
        player.start(json!({"V": version}));
        player
    };
    for (version, expected) in [(json!(2), 2), (json!(2.0), 2), (json!(null), 1)] {
        let player = started(version.clone());
        let versions: Vec<_> = tasks(&player).iter().map(|task| task.task_version).collect();
        assert_eq!(versions, [expected], "{version}");
    }
    for wrong in [json!("1"), json!(""), json!(1.5), json!(true), json!(2_147_483_648_i64)] {
        let player = started(wrong.clone());
        let (code, message) = incident(&player);
        assert_eq!((code.as_str(), tasks(&player).len()), ("InvalidInput", 0), "{wrong}");
        let says = format!("taskVersion: {wrong} is not a whole number from 1 to 2147483647");
        assert_eq!(message, says);
    }
}
