//! Alterations: what an operator may change about an instance.
#![expect(clippy::unwrap_used, reason = "a helper that cannot go on fails its test")]

use engine::Engine;
use engine::testing::Player;
use model::{Alteration, SubStatus, What};
use serde_json::{Value, json};

fn engine() -> Engine {
    Engine::new(activities::all(), expressions::all())
}

fn retry() -> Vec<Alteration> {
    vec![Alteration::Retry { activity_ids: Vec::new() }]
}

fn set(id: &str, value: Value) -> Alteration {
    Alteration::ModifyVariable { variable_id: id.to_owned(), value }
}

fn schedule(id: &str) -> Vec<Alteration> {
    vec![Alteration::ScheduleActivity { activity_id: Some(id.into()), activity_instance_id: None }]
}

fn leave(id: &str) -> Vec<Alteration> {
    vec![Alteration::CancelActivity { activity_id: Some(id.into()), activity_instance_id: None }]
}

fn line(id: &str) -> Value {
    json!({"type": "WriteLine", "id": id, "text": id})
}

fn wait(id: &str) -> Value {
    json!({"type": "Event", "id": id, "eventName": id})
}

/// Fails as long as the variable `Good` is false.
fn check() -> Value {
    json!({"type": "If", "id": "check", "condition": {"js": "if (!variables.Good) throw new Error('bad'); return true"},
        "then": line("good")})
}

fn definition(version: u32, root: Value) -> Value {
    json!({"id": format!("v{version}"), "definitionId": "d", "version": version,
        "variables": [{"id": "good", "name": "Good", "typeName": "Boolean", "value": false}],
        "root": root})
}

fn flow(activities: Vec<Value>, links: &[(&str, &str)]) -> Value {
    let links = links.iter().map(|(source, target)| json!({"source": source, "target": target}));
    json!({"type": "Flowchart", "id": "flow", "activities": activities,
        "connections": links.collect::<Vec<_>>()})
}

fn player<'e>(engine: &'e Engine, root: Value) -> Player<'e> {
    let mut player = Player::new(engine, definition(1, root)).unwrap().recoding();
    player.start(json!({}));
    player
}

fn altered(player: &Player<'_>) -> Vec<String> {
    let entries = player.journal.iter().filter(|entry| entry.what == What::Altered);
    entries.filter_map(|entry| entry.message.clone()).collect()
}

/// The statuses that the journal names, in order.
fn statuses(player: &Player<'_>) -> Vec<String> {
    let entries = player.journal.iter().filter(|entry| entry.what == What::Workflow);
    entries.filter_map(|entry| entry.message.clone()).collect()
}

#[test]
fn a_faulted_instance_goes_on_where_it_failed_beside_what_it_waited_for() {
    let engine = engine();
    let root = flow(
        vec![
            line("begin"),
            wait("other"),
            check(),
            line("end"),
            json!({"type": "FlowJoin", "id": "join", "mode": "WaitAll"}),
        ],
        &[
            ("begin", "other"),
            ("begin", "check"),
            ("other", "join"),
            ("check", "join"),
            ("join", "end"),
        ],
    );
    let mut player = player(&engine, root);
    assert_eq!(player.status(), SubStatus::Faulted);
    assert_eq!(player.state().incident_count, 1);
    assert!(player.state().bookmarks.is_empty());
    player.alter(retry()).unwrap();
    assert_eq!(player.status(), SubStatus::Faulted, "nothing is different yet");
    assert_eq!(player.state().incident_count, 1);
    let mut both = vec![set("Good", json!("true"))];
    both.extend(retry());
    player.alter(both).unwrap();
    assert_eq!((player.status(), player.state().incident_count), (SubStatus::Suspended, 0));
    assert_eq!(player.lines(), ["begin", "good"]);
    assert!(player.resume("Elsa.Event", json!({})));
    assert_eq!(player.lines(), ["begin", "good", "end"]);
    assert_eq!(player.status(), SubStatus::Finished);
    assert_eq!(altered(&player), ["Retry", "ModifyVariable", "Retry"]);
    assert!(player.alter(retry()).unwrap_err().contains("Finished"));
}

#[test]
fn one_of_several_incidents_is_retried() {
    let engine = engine();
    let one = |id: &str| {
        let mut check = check();
        check["id"] = json!(id);
        check["then"] = line(&format!("good {id}"));
        check
    };
    let mut document = definition(
        1,
        json!({"type": "Parallel", "id": "all",
        "activities": [one("a"), one("b"), wait("go")]}),
    );
    document["options"] = json!({"incidentStrategyType": "ContinueWithIncidentsStrategy"});
    let mut player = Player::new(&engine, document).unwrap().recoding();
    player.start(json!({}));
    assert_eq!((player.status(), player.state().incident_count), (SubStatus::Suspended, 2));
    player
        .alter(vec![set("good", json!(true)), Alteration::Retry { activity_ids: vec!["b".into()] }])
        .unwrap();
    assert_eq!((player.lines(), player.state().incident_count), (vec!["good b"], 1));
    let error =
        player.alter(vec![Alteration::Retry { activity_ids: vec!["b".into()] }]).unwrap_err();
    assert!(error.contains("of b, no activity is faulted"), "{error}");
    assert!(player.resume("Elsa.Event", json!({})));
    assert_eq!(player.status(), SubStatus::Faulted);
    player.alter(retry()).unwrap();
    assert_eq!((player.status(), player.lines()), (SubStatus::Finished, vec!["good b", "good a"]));
}

#[test]
fn an_endless_loop_goes_on_after_a_retry() {
    let engine = engine();
    let root = json!({"type": "While", "id": "loop", "condition": {"js": "!variables.Good"},
        "body": {"type": "WriteLine", "id": "again", "text": "again"}});
    let mut player = Player::new(&engine, definition(1, root)).unwrap();
    player.start(json!({}));
    assert_eq!(player.status(), SubStatus::Faulted);
    assert!(player.incident().unwrap().contains("endless loop"));
    player
        .alter(vec![set("Good", json!(true)), Alteration::Retry { activity_ids: vec![] }])
        .unwrap();
    assert_eq!((player.status(), player.state().incident_count), (SubStatus::Finished, 0));
}

#[test]
fn a_cancelled_activity_lets_its_container_go_on() {
    let engine = engine();
    let root = json!({"type": "Sequence", "id": "all", "activities": [
        {"type": "Sequence", "id": "inner", "activities": [wait("a"), line("never")]}, line("b")]});
    let mut sequence = player(&engine, root);
    assert!(sequence.alter(leave("b")).unwrap_err().contains("neither runs nor waits"));
    sequence.alter(leave("inner")).unwrap();
    assert_eq!((sequence.status(), sequence.lines()), (SubStatus::Finished, vec!["b"]));
    let root = flow(vec![wait("a"), line("b")], &[("a", "b")]);
    let mut chart = player(&engine, root);
    chart.alter(leave("a")).unwrap();
    assert_eq!((chart.status(), chart.lines()), (SubStatus::Finished, vec![]));
    let mut whole = player(&engine, wait("a"));
    whole.alter(leave("a")).unwrap();
    assert_eq!(whole.status(), SubStatus::Cancelled);
}

#[test]
fn an_activity_is_scheduled_where_its_container_runs() {
    let engine = engine();
    let root = flow(vec![wait("a"), line("b"), line("c")], &[("a", "b"), ("b", "c")]);
    let mut chart = player(&engine, root);
    chart.alter(schedule("b")).unwrap();
    assert_eq!((chart.status(), chart.lines()), (SubStatus::Suspended, vec!["b", "c"]));
    let before = chart.state().bookmarks.keys().next().cloned();
    chart.alter(schedule("a")).unwrap();
    assert_ne!(chart.state().bookmarks.keys().next().cloned(), before, "it waits anew");
    assert_eq!(chart.state().bookmarks.len(), 1);
    assert!(chart.alter(schedule("x")).unwrap_err().contains("no activity x"));

    let root = json!({"type": "Sequence", "id": "all",
        "activities": [line("a"), wait("b"), line("c"), line("d")]});
    let mut sequence = player(&engine, root);
    sequence.alter(schedule("c")).unwrap();
    assert_eq!((sequence.status(), sequence.lines()), (SubStatus::Finished, vec!["a", "c", "d"]));

    let root = json!({"type": "While", "id": "loop", "condition": true, "body": wait("in")});
    let mut endless = player(&engine, root);
    endless.alter(schedule("in")).unwrap();
    assert_eq!(endless.state().bookmarks.len(), 1);
}

#[test]
fn variables_are_converted_and_unknown_ones_refused() {
    let engine = engine();
    let mut player = player(&engine, wait("a"));
    assert!(player.alter(vec![set("Bad", json!(1))]).unwrap_err().contains("no variable Bad"));
    assert!(player.alter(vec![set("Good", json!("x"))]).unwrap_err().contains("Good"));
    let both = vec![set("Good", json!(true)), set("Bad", json!(1))];
    player.alter(both).unwrap_err();
    assert_eq!(player.state().view(player.program())["variables"]["Good"], false, "all or nothing");
    player.alter(vec![set("Good", json!("true"))]).unwrap();
    assert_eq!(player.state().view(player.program())["variables"]["Good"], true);
}

#[test]
fn a_paused_instance_runs_nothing_until_it_goes_on() {
    let engine = engine();
    let root = json!({"type": "Sequence", "activities": [
        {"type": "SendHttpRequest", "id": "call", "url": "http://example.test/"}, line("b"), wait("c")]});
    let mut player = player(&engine, root);
    assert_eq!(player.status(), SubStatus::Executing);
    let pause = || vec![Alteration::Pause { reason: Some("night".to_owned()) }];
    player.alter(pause()).unwrap();
    assert!(player.alter(pause()).unwrap_err().contains("paused already"));
    let call = player.state().calls.keys().next().cloned().unwrap();
    player.resume_at(call, json!({"statusCode": 200, "headers": {}, "content": null}));
    assert_eq!((player.status(), player.lines()), (SubStatus::Suspended, vec![]));
    player.alter(vec![Alteration::Unpause]).unwrap();
    assert_eq!((player.status(), player.lines()), (SubStatus::Suspended, vec!["b"]));
    assert!(player.alter(vec![Alteration::Unpause]).unwrap_err().contains("not paused"));
    player.alter(pause()).unwrap();
    player.alter(vec![Alteration::Cancel { reason: None }]).unwrap();
    assert_eq!((player.status(), player.state().is_paused), (SubStatus::Cancelled, false));
}

fn migrate() -> Vec<Alteration> {
    vec![Alteration::migrate(2)]
}

#[test]
fn an_instance_migrates_with_the_places_of_its_flowchart() {
    let engine = engine();
    let old = flow(vec![line("begin"), wait("a"), line("end")], &[("begin", "a"), ("a", "end")]);
    let mut player = player(&engine, old);
    // Other places, one activity more, another way in front of the end.
    let new = flow(
        vec![line("extra"), line("end"), wait("a"), line("begin")],
        &[("a", "extra"), ("extra", "end"), ("begin", "a"), ("begin", "end")],
    );
    let mut new = definition(2, new);
    new["variables"] = json!([{"id": "other", "name": "Other", "typeName": "Int32", "value": 7},
        {"id": "good", "name": "Fine", "typeName": "String"}]);
    player.alter_to(migrate(), new.clone()).unwrap();
    let view = player.state().view(player.program());
    assert_eq!(view["definitionVersion"], 2);
    assert_eq!(view["variables"], json!({"Other": 7, "Fine": "false"}));
    assert!(player.alter_to(migrate(), new).unwrap_err().contains("runs version 2 already"));
    assert!(player.resume("Elsa.Event", json!({})));
    assert_eq!(
        (player.status(), player.lines()),
        (SubStatus::Finished, vec!["begin", "extra", "end"])
    );
    assert_eq!(altered(&player), ["Migrate"]);
}

#[test]
fn an_instance_does_not_migrate_when_its_place_is_gone() {
    let engine = engine();
    let old = json!({"type": "Sequence", "id": "all",
        "activities": [{"type": "Sequence", "id": "in", "activities": [line("a"), wait("b")]}, line("c")]});
    let refused = |root: Value| {
        let mut player = player(&engine, old.clone());
        player.alter_to(migrate(), definition(2, root)).err()
    };
    let gone = refused(json!({"type": "Sequence", "id": "all", "activities": [
        {"type": "Sequence", "id": "in", "activities": [line("a")]}]}));
    assert!(
        gone.unwrap().contains("activity b: the instance is at this activity, which is not there")
    );
    let other = refused(json!({"type": "Sequence", "id": "all", "activities": [
        {"type": "Sequence", "id": "in", "activities": [{"type": "Delay", "id": "b", "timeSpan": "00:00:01"}]}]}));
    assert!(other.unwrap().contains("which is an Elsa.Delay there, not an Elsa.Event: map it to"));
    let moved = refused(json!({"type": "Sequence", "id": "all", "activities": [
        {"type": "Sequence", "id": "in", "activities": [line("a")]}, wait("b")]}));
    assert!(moved.unwrap().contains("not a part of in there"));
    let fits = refused(json!({"type": "Sequence", "id": "all", "activities": [
        line("first"), {"type": "Sequence", "id": "in", "activities": [wait("b"), line("last")]}]}));
    assert_eq!(fits, None);
}

#[test]
fn a_faulted_instance_migrates_to_the_corrected_version_and_is_retried() {
    let engine = engine();
    let root = |check: Value| json!({"type": "Sequence", "id": "all", "activities": [line("a"), check, line("z")]});
    let mut player = player(&engine, root(check()));
    assert_eq!(player.status(), SubStatus::Faulted);
    let mut corrected = check();
    corrected["condition"] = json!(true);
    let mut steps = migrate();
    steps.extend(retry());
    player.alter_to(steps, definition(2, root(corrected))).unwrap();
    assert_eq!((player.status(), player.lines()), (SubStatus::Finished, vec!["a", "good", "z"]));
}

#[test]
fn a_restart_begins_at_an_activity_with_what_was_known() {
    let engine = engine();
    let root = flow(vec![line("a"), check(), line("end")], &[("a", "check"), ("check", "end")]);
    let start = |activity: &str| {
        let mut player = Player::new(&engine, definition(1, root.clone())).unwrap().recoding();
        let variables = json!({"Good": true, "Unknown": 1}).as_object().cloned().unwrap();
        player.restart(Some(activity), variables);
        (player.status(), player.lines().join(","), player.incident().map(str::to_owned))
    };
    assert_eq!(start("check"), (SubStatus::Finished, "good,end".to_owned(), None));
    let (status, _, incident) = start("good");
    assert_eq!(status, SubStatus::Faulted);
    assert!(incident.unwrap().contains("root"));
}

fn skip(id: &str, outcomes: &[&str]) -> Vec<Alteration> {
    let outcomes = outcomes.iter().map(|&outcome| outcome.to_owned()).collect();
    vec![Alteration::Skip { activity_id: Some(id.into()), activity_instance_id: None, outcomes }]
}

#[test]
fn a_skipped_activity_ends_with_the_outcome_that_is_given() {
    let engine = engine();
    let link = |port: &str, target: &str| {
        json!({"source": {"activity": "check", "port": port},
            "target": {"activity": target, "port": "In"}})
    };
    let root = json!({"type": "Flowchart", "id": "flow",
        "activities": [check(), line("yes"), line("no")],
        "connections": [link("True", "yes"), link("False", "no")]});
    let mut chart = player(&engine, root);
    assert_eq!((chart.status(), chart.state().incident_count), (SubStatus::Faulted, 1));
    assert!(chart.alter(skip("yes", &[])).unwrap_err().contains("neither runs nor waits"));
    chart.alter(skip("check", &["False"])).unwrap();
    assert_eq!((chart.status(), chart.lines()), (SubStatus::Finished, vec!["no"]));
    assert_eq!(chart.state().incident_count, 0);
    assert!(chart.state().incidents.is_empty());
    assert_eq!(altered(&chart), ["Skip"]);
    assert!(chart.alter(skip("check", &[])).unwrap_err().contains("Finished"));
    let root = json!({"type": "Sequence", "id": "all", "activities": [check(), line("b")]});
    let mut sequence = player(&engine, root);
    sequence.alter(skip("check", &[])).unwrap();
    assert_eq!((sequence.status(), sequence.lines()), (SubStatus::Finished, vec!["b"]));
    let mut whole = player(&engine, check());
    whole.alter(skip("check", &[])).unwrap();
    assert_eq!(whole.status(), SubStatus::Finished);
}

#[test]
fn only_what_is_faulted_is_skipped() {
    let engine = engine();
    let mut document = definition(
        1,
        json!({"type": "Parallel", "id": "all", "activities": [check(), wait("go")]}),
    );
    document["options"] = json!({"incidentStrategyType": "ContinueWithIncidentsStrategy"});
    let mut player = Player::new(&engine, document).unwrap().recoding();
    player.start(json!({}));
    assert_eq!(player.status(), SubStatus::Suspended);
    let error = player.alter(skip("go", &[])).unwrap_err();
    assert!(error.contains("is not faulted"), "{error}");
    player.alter(skip("check", &["True"])).unwrap();
    assert_eq!((player.status(), player.state().incident_count), (SubStatus::Suspended, 0));
    assert!(player.resume("Elsa.Event", json!({})));
    assert_eq!(player.status(), SubStatus::Finished);
}

#[test]
fn an_instance_that_runs_again_and_fails_again_has_a_second_end() {
    let engine = engine();
    let mut retried = player(&engine, check());
    retried.alter(retry()).unwrap();
    let twice = ["Executing", "Faulted", "Faulted"];
    assert_eq!(statuses(&retried), twice);
    retried.alter(vec![set("Good", json!(true))]).unwrap();
    assert_eq!(statuses(&retried), twice, "a variable is set, and nothing runs");
    retried.alter(retry()).unwrap();
    assert_eq!(statuses(&retried), ["Executing", "Faulted", "Faulted", "Finished"]);

    let mut second = check();
    second["id"] = json!("second");
    second["then"] = line("good too");
    let root = json!({"type": "Sequence", "id": "all", "activities": [check(), second]});
    let mut skipped = player(&engine, root);
    skipped.alter(skip("check", &[])).unwrap();
    assert_eq!(statuses(&skipped), twice);

    // The skip itself ends it again: an output is missing.
    let mut document = definition(1, check());
    document["outputs"] = json!([{"name": "Receipt", "isRequired": true}]);
    let mut whole = Player::new(&engine, document).unwrap().recoding();
    whole.start(json!({}));
    whole.alter(skip("check", &[])).unwrap();
    assert!(whole.incident().unwrap().contains("output Receipt is required"));
    assert_eq!(statuses(&whole), twice);
}
