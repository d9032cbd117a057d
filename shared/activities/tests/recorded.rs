//! The values that the journal keeps, and those that it never keeps.
#![expect(clippy::unwrap_used, reason = "a helper that cannot go on fails its test")]

use engine::Engine;
use engine::testing::Player;
use model::{Alteration, Entry, What};
use serde_json::{Value, json};

fn engine() -> Engine {
    Engine::new(activities::all(), expressions::all())
}

fn played<'e>(engine: &'e Engine, definition: Value) -> Player<'e> {
    let mut player = Player::new(engine, definition).unwrap().recoding();
    player.start(json!({"Secret": "hunter2"}));
    player
}

fn sequence(activities: Value) -> Value {
    json!({"type": "Sequence", "id": "root", "activities": activities})
}

/// The first line about an activity with this event.
#[track_caller]
fn line<'p>(player: &'p Player<'_>, activity: &str, what: What) -> &'p Entry {
    let is_it = |entry: &&Entry| {
        entry.what == what && entry.activity_id.as_ref().is_some_and(|id| id.as_str() == activity)
    };
    player.journal.iter().find(is_it).unwrap()
}

#[track_caller]
fn inputs(player: &Player<'_>, activity: &str) -> Value {
    let line = line(player, activity, What::Started);
    let recorded = line.recorded.as_ref().map(|recorded| recorded.inputs.clone());
    Value::Object(recorded.unwrap_or_default())
}

#[track_caller]
fn outputs(player: &Player<'_>, activity: &str) -> Value {
    let line = line(player, activity, What::Completed);
    let recorded = line.recorded.as_ref().map(|recorded| recorded.outputs.clone());
    Value::Object(recorded.unwrap_or_default())
}

fn kept(player: &Player<'_>) -> String {
    serde_json::to_string(&player.journal).unwrap()
}

#[test]
fn evaluated_inputs_and_outputs_are_kept_and_constants_are_not() {
    let engine = engine();
    let player = played(
        &engine,
        sequence(json!([
            {"type": "WriteLine", "id": "constant", "text": "hello"},
            {"type": "WriteLine", "id": "computed", "text": {"js": "'a' + 1"}},
            {"type": "RunJavaScript", "id": "script", "script": "return {a: [1]}"}])),
    );
    assert_eq!(inputs(&player, "constant"), json!({}));
    assert_eq!(inputs(&player, "computed"), json!({"text": "a1"}));
    assert_eq!(outputs(&player, "script"), json!({"result": {"a": [1]}}));
    let charted = player.program().charted("constant", None).unwrap();
    assert_eq!(charted.node_id(), "Workflow1:root:constant");
    assert_eq!(Value::Object(charted.constants(false)), json!({"text": "hello"}));
    assert_eq!(Value::Object(charted.constants(true)), json!({}));
}

#[test]
fn lines_name_their_execution_and_the_one_around_it() {
    let engine = engine();
    let player = played(&engine, sequence(json!([{"type": "WriteLine", "id": "a", "text": "x"}])));
    let (root, a) = (line(&player, "root", What::Started), line(&player, "a", What::Started));
    assert_eq!(root.activity_instance_id.as_deref(), Some("instance-1:1"));
    assert_eq!((root.owner, a.owner), (Some(0), Some(1)));
    assert_eq!(a.activity_instance_id.as_deref(), Some("instance-1:2"));
    assert!(a.recorded.is_none(), "an id that is unique needs no path");
}

#[test]
fn an_id_that_is_not_unique_comes_with_its_path() {
    let engine = engine();
    let inner = |id: &str| {
        json!({"type": "Sequence", "id": id, "activities": [
        {"type": "WriteLine", "id": "same", "text": id}]})
    };
    let player = played(&engine, sequence(json!([inner("a"), inner("b")])));
    let line = line(&player, "same", What::Started);
    let path = line.recorded.as_ref().unwrap().node_id.clone();
    assert_eq!(path.as_deref(), Some("Workflow1:root:a:same"));
    let charted = player.program().charted("same", path.as_deref()).unwrap();
    assert_eq!(charted.node_id(), "Workflow1:root:a:same");
}

#[test]
fn what_is_kept_follows_the_log_persistence() {
    let engine = engine();
    let line = |id: &str, custom: Value| json!({"type": "WriteLine", "id": id, "text": {"js": "'x' + 1"}, "customProperties": custom});
    let strategy = |name: &str| {
        let name = format!("Elsa.Workflows.LogPersistence.Strategies.{name}, Elsa.Workflows.Core");
        json!({"evaluationMode": "Strategy", "strategyType": name, "expression": null})
    };
    let root = sequence(json!([
        line("inherits", json!({})),
        line("word", json!({"logPersistenceMode": "Include"})),
        line("old", json!({"LogPersistenceMode": {"default": "Inherit", "inputs": {"Text": "Include"}}})),
        line("new", json!({"logPersistenceConfig": {"default": strategy("Exclude"),
            "inputs": {"text": strategy("Include")}}})),
        line("configured", json!({"logPersistenceConfig": {"default": strategy("Configuration")}})),
        {"type": "RunJavaScript", "id": "output", "script": "return 1",
            "customProperties": {"logPersistenceConfig": {"outputs": {"result": strategy("Include")}}}}]));
    let definition = json!({"definitionId": "d", "root": root,
        "customProperties": {"logPersistenceMode": "Exclude"}});
    let player = played(&engine, definition.clone());
    let text = json!({"text": "x1"});
    assert_eq!(inputs(&player, "inherits"), json!({}));
    assert_eq!(inputs(&player, "word"), text);
    assert_eq!(inputs(&player, "old"), text);
    assert_eq!(inputs(&player, "new"), text);
    assert_eq!(inputs(&player, "configured"), text);
    assert_eq!(outputs(&player, "output"), json!({"result": 1}));
    let mut without = Player::new(&engine, definition).unwrap();
    without.configure(|installation| installation.leaves_out_values = true).start(json!({}));
    assert_eq!(inputs(&without, "configured"), json!({}));
    assert_eq!(inputs(&without, "word"), text);
}

#[test]
fn credentials_and_hidden_variables_are_never_kept() {
    let engine = engine();
    let definition = json!({"definitionId": "d", "variables": [
            {"id": "h", "name": "Hidden", "typeName": "Object", "value": "hunter2",
                "storageDriverTypeName": "MemoryStorageDriver"},
            {"id": "v", "name": "Shown", "typeName": "Object"}],
        "root": sequence(json!([
            {"type": "WriteLine", "id": "reads", "text": {"js": "variables.Hidden"}},
            {"type": "WriteLine", "id": "liquid", "text": {"liquid": "{{ Variables.Hidden }}"}},
            {"type": "WriteLine", "id": "refers", "text":
                {"expression": {"type": "Variable", "value": {"id": "h", "name": "Hidden"}}}},
            {"type": "RunJavaScript", "id": "returns", "script": "return variables.Hidden"},
            {"type": "RunJavaScript", "id": "bound", "script": "return getInput('Secret')",
                "result": {"memoryReference": {"id": "h"}}},
            {"type": "WriteLine", "id": "output", "text": {"js": "getOutputFrom('bound')"}},
            {"type": "WriteLine", "id": "last", "text": {"js": "getLastResult()"}},
            {"type": "SetVariable", "id": "sets", "variable": {"id": "h", "name": "Hidden"},
                "value": {"js": "getInput('Secret')"}},
            {"type": "SendHttpRequest", "id": "call", "url": {"js": "'https://example.org/'"},
                "authorization": {"js": "'Bearer ' + getInput('Secret')"},
                "requestHeaders": {"js": "({'X-Api-Key': getInput('Secret'), Accept: '*/*'})"}}]))});
    let player = played(&engine, definition);
    let lines: Vec<_> =
        player.journal.iter().filter(|entry| entry.what != What::Line).cloned().collect();
    let text = serde_json::to_string(&lines).unwrap();
    assert!(!text.contains("hunter2"), "{text}");
    let headers = json!({"X-Api-Key": "***", "Accept": "*/*"});
    let expected = json!({"url": "https://example.org/", "requestHeaders": headers});
    assert_eq!(inputs(&player, "call"), expected);
}

#[test]
fn long_values_are_cut() {
    let engine = engine();
    let player = played(
        &engine,
        sequence(json!([
            {"type": "RunJavaScript", "id": "text", "script": "return 'x'.repeat(100000)"},
            {"type": "RunJavaScript", "id": "list", "script":
                "return Array.from({length: 10000}, (_, i) => i)"}])),
    );
    let text = outputs(&player, "text")["result"].as_str().unwrap().to_owned();
    assert_eq!(text.len(), model::limits::JOURNAL_VALUE_BYTES_MAX);
    assert!(text.ends_with('…'));
    let list = &outputs(&player, "list")["result"];
    assert!(list["$cut"].as_str().unwrap().starts_with("[0,1,2,"), "{list}");
    assert!(list["bytes"].as_u64().unwrap() > 40_000, "{list}");
}

#[test]
fn only_variables_that_changed_are_kept_where_the_next_activity_of_the_root_begins_or_the_turn_ends()
 {
    let engine = engine();
    let definition = json!({"definitionId": "d", "variables": [
            {"id": "a", "name": "A", "typeName": "Int32", "value": 1},
            {"id": "b", "name": "B", "typeName": "Int32", "value": 1},
            {"id": "h", "name": "H", "typeName": "Int32", "value": 1,
                "storageDriverTypeName": "MemoryStorageDriver"}],
        "root": {"type": "Sequence", "id": "root",
            "variables": [{"id": "w", "name": "W", "typeName": "Int32", "value": 1}],
            "activities": [
                {"type": "SetVariable", "id": "same", "variable": "A", "value": 1},
                {"type": "Event", "id": "wait", "eventName": "go"},
                {"type": "RunJavaScript", "id": "set", "script":
                    "variables.B = 5; variables.W = 6; variables.H = 7"},
                {"type": "SetVariable", "id": "again", "variable": "B", "value": 8},
                {"type": "Event", "id": "on", "eventName": "on"}]}});
    let mut player = played(&engine, definition);
    let changes = |player: &Player<'_>| -> Vec<(u64, String, Value)> {
        let recorded = player.journal.iter().filter_map(|entry| entry.recorded.as_ref());
        let changes = recorded.flat_map(|recorded| recorded.variables.clone());
        changes.map(|changed| (changed.owner, changed.id, changed.value)).collect()
    };
    assert_eq!(changes(&player), []);
    assert!(player.resume("Elsa.Event", json!({})));
    let expected = vec![
        (0, "b".to_owned(), json!(5)),
        (1, "w".to_owned(), json!(6)),
        (0, "b".to_owned(), json!(8)),
    ];
    assert_eq!(changes(&player), expected);
    player
        .alter(vec![Alteration::ModifyVariable { variable_id: "A".into(), value: json!(3) }])
        .unwrap();
    assert_eq!(changes(&player).last().unwrap(), &(0, "a".to_owned(), json!(3)));
    assert!(!kept(&player).contains("\"h\""));
}

#[test]
fn a_migrated_instance_knows_which_version_wrote_each_line() {
    let engine = engine();
    let version = |number: u32, text: &str| {
        json!({"id": format!("v{number}"), "definitionId": "d", "version": number,
            "variables": [{"id": format!("x{number}"), "name": "X", "value": 1}],
            "root": sequence(json!([{"type": "Event", "id": "wait", "eventName": "go"},
                {"type": "WriteLine", "id": "say", "text": text}]))})
    };
    let mut player = played(&engine, version(1, "one"));
    let before = player.journal.len();
    player.alter_to(vec![Alteration::migrate(2)], version(2, "two")).unwrap();
    let state = player.state();
    let at = |sequence: usize| state.version_at(sequence as u64).map(ToString::to_string);
    assert_eq!(at(before).as_deref(), Some("v1"));
    assert_eq!(at(before + 1), None, "the line of the migration is of the version that runs now");
    assert_eq!(state.past_versions().count(), 1);
    let line = player.journal.iter().rfind(|entry| entry.recorded.is_some()).unwrap();
    assert_eq!(line.recorded.as_ref().unwrap().variables[0].id, "x2");
}

#[test]
fn a_loop_keeps_the_value_of_its_newest_round() {
    let engine = engine();
    let waits = json!({"type": "Event", "id": "wait", "eventName": "go"});
    let breaks = json!({"type": "Sequence", "id": "inner", "activities": [waits,
        {"type": "If", "id": "if", "then": {"type": "Break", "id": "break"},
            "condition": {"js": "getVariable('CurrentValue') == 2"}}]});
    for (node, last) in [
        (json!({"type": "ForEach", "id": "loop", "items": [1, 2, 3], "body": waits}), 3),
        (json!({"type": "For", "id": "loop", "start": 1, "end": 3, "body": waits}), 3),
        (json!({"type": "ForEach", "id": "loop", "items": [1, 2, 3], "body": breaks}), 2),
    ] {
        let mut player = played(&engine, sequence(json!([node])));
        for round in 2..=last {
            assert!(player.resume("Elsa.Event", json!({})));
            let state = player.state();
            let open: Vec<_> = state.unwritten_outputs().map(|(.., outputs)| outputs).collect();
            assert_eq!(open, [json!({"currentValue": round}).as_object().unwrap()]);
        }
        assert!(player.resume("Elsa.Event", json!({})));
        assert_eq!(outputs(&player, "loop"), json!({"currentValue": last}));
        assert_eq!(player.state().unwritten_outputs().count(), 0);
    }
    // Many rounds of one turn count once.
    let items: Vec<_> = (0..200).map(|round| format!("{round} {}", "x".repeat(400))).collect();
    let player = played(
        &engine,
        sequence(json!([{"type": "ForEach", "id": "loop",
        "items": {"js": "[...Array(200).keys()].map(n => n + ' ' + 'x'.repeat(400))"},
        "body": {"type": "SetName", "id": "name", "value": "x"}}])),
    );
    assert_eq!(outputs(&player, "loop"), json!({"currentValue": items[199]}));
}
