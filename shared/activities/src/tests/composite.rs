//! Workflows that are used as activities.

use engine::testing::{Player, env, parsed};
use engine::{Library, Reference};
use model::SubStatus;
use serde_json::{Value, json};

use super::engine;

/// A published definition, version 1.
fn definition(id: &str, document: Value) -> Value {
    let mut whole = json!({"id": format!("{id}-1"), "definitionId": id, "name": id, "version": 1,
        "isPublished": true, "isLatest": true});
    let members = document.as_object().unwrap().clone();
    whole.as_object_mut().unwrap().extend(members);
    whole
}

fn library(used: &[Value]) -> Library {
    let mut library = Library::default();
    for document in used {
        let definition = parsed(document.clone()).unwrap();
        let definition_id = Some(definition.definition_id.clone());
        library.add(Reference { definition_id, ..Reference::default() }, definition);
    }
    library
}

fn player(document: Value, used: &[Value]) -> Player<'static> {
    match Player::using(engine(), document, &library(used)) {
        Ok(player) => player.recoding(),
        Err(problems) => panic!("the definition has problems: {problems:?}"),
    }
}

fn problems(document: Value, used: &[Value]) -> Vec<String> {
    let found = Player::using(engine(), document, &library(used)).err().unwrap_or_default();
    found.iter().map(ToString::to_string).collect()
}

fn runs(id: &str, child: &str, more: Value) -> Value {
    let mut node = json!({"type": child, "id": id, "workflowDefinitionId": child});
    node.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    node
}

fn line(script: &str) -> Value {
    json!({"type": "WriteLine", "text": {"js": script}})
}

fn bound(id: &str) -> Value {
    json!({"typeName": "Object", "memoryReference": {"id": id}})
}

/// The two workflows of Elsa's test of names: both have an input Input1 and an output Output1.
#[test]
fn inputs_and_outputs_of_the_same_name_do_not_mix() {
    let names = json!({"inputs": [{"type": "Object", "name": "Input1"}],
        "outputs": [{"type": "Object", "name": "Output1"}]});
    let with = |id: &str, activities: Value| {
        let mut document = names.clone();
        document["root"] = json!({"type": "Sequence", "id": "s", "activities": activities});
        definition(id, document)
    };
    let child = with(
        "Child",
        json!([
            line("'Child: ' + getInput1()"),
            {"type": "SetOutput", "outputName": "Output1", "outputValue": {"js": "getInput1() + '!'"}}
        ]),
    );
    let more = json!({"input1": {"typeName": "Object", "expression":
            {"type": "JavaScript", "value": "getInput1() + ' for the child'"}},
        "output1": bound("Output1")});
    let parent = with(
        "Parent",
        json!([
            line("'Parent: ' + getInput1()"),
            runs("c", "Child", more),
            line("'Parent: ' + getInput1()")
        ]),
    );
    let mut player = player(parent, &[child]);
    player.start(json!({"Input1": "Foo"}));
    assert_eq!(player.lines(), ["Parent: Foo", "Child: Foo for the child", "Parent: Foo"]);
    assert_eq!(player.state().output["Output1"], "Foo for the child!");
    let child = player.journal.iter().find(|entry| entry.activity_type.as_deref() == Some("Child"));
    assert_eq!(child.unwrap().activity_id.as_ref().unwrap().as_str(), "c");
}

#[test]
fn variables_of_the_two_sides_do_not_mix() {
    let variables = |of: &str| {
        json!([{"id": "v", "name": "V", "typeName": "String", "value": of},
            {"id": format!("only-{of}"), "name": format!("Only{of}"), "typeName": "String", "value": of}])
    };
    let child = definition(
        "Child",
        json!({"variables": variables("Child"),
        "outputs": [{"type": "Object", "name": "Out"}],
        "root": {"type": "Sequence", "activities": [
            line("variables.V + ' ' + (variables.OnlyParent === undefined)"),
            {"type": "SetVariable", "variable": {"id": "v", "name": "V"}, "value": "changed"},
            line("variables.V"),
            {"type": "SetOutput", "outputName": "Out", "outputValue": {"js": "variables.V"}}
        ]}}),
    );
    let parent = definition(
        "Parent",
        json!({"variables": variables("Parent"),
        "root": {"type": "Sequence", "activities": [
            runs("c", "Child", json!({"out": bound("only-Parent")})),
            line("variables.V + ' ' + variables.OnlyParent + ' ' + (variables.OnlyChild === undefined)"),
            runs("d", "Child", json!({}))
        ]}}),
    );
    let mut player = player(parent, &[child]);
    player.start(json!({}));
    let once = ["Child true", "changed"];
    assert_eq!(player.lines(), [&once[..], &["Parent changed true"], &once].concat());
}

/// What a loop gives to its body is for the inputs of the workflow, not for the activities in it.
#[test]
fn a_loop_gives_its_value_to_the_inputs_of_a_workflow() {
    let child = definition(
        "Child",
        json!({"inputs": [{"type": "Int32", "name": "N"}],
        "root": line("getN() + ' ' + (variables.CurrentValue === undefined)")}),
    );
    let body = runs("c", "Child", json!({"n": {"js": "variables.CurrentValue * 10"}}));
    let parent = definition(
        "Parent",
        json!({"root":
        {"type": "ForEach", "id": "f", "items": [1, 2], "body": body}}),
    );
    let mut player = player(parent, &[child]);
    player.start(json!({}));
    assert_eq!(player.incident(), None);
    assert_eq!(player.lines(), ["10 true", "20 true"]);
}

#[test]
fn complete_ends_the_innermost_workflow_with_its_outcomes() {
    let child = definition(
        "Child",
        json!({"outcomes": ["Yes", "No"], "root":
        {"type": "Sequence", "activities": [
            {"type": "Sequence", "activities": [{"type": "Complete", "outcomes": "Yes"}]},
            {"type": "WriteLine", "text": "never"}
        ]}}),
    );
    let connection = |from: &str, port: &str, to: &str| json!({"source": {"activity": from, "port": port}, "target": {"activity": to, "port": "In"}});
    let parent = definition(
        "Parent",
        json!({"root": {"type": "Elsa.Flowchart", "id": "f", "start": "c",
        "activities": [runs("c", "Child", json!({})),
            {"type": "WriteLine", "id": "yes", "text": "yes"},
            {"type": "WriteLine", "id": "no", "text": "no"}],
        "connections": [connection("c", "Yes", "yes"), connection("c", "No", "no")]}}),
    );
    let mut player = player(parent, &[child]);
    player.start(json!({}));
    assert_eq!(player.lines(), ["yes"]);
    assert_eq!(player.outcomes("c"), ["Yes"]);
    assert_eq!((player.status(), player.incident()), (SubStatus::Finished, None));
}

/// Both sides use the same ids, and results of activities are found by them.
#[test]
fn a_nested_workflow_waits_and_goes_on() {
    let script = |result: &str| {
        json!({"type": "RunJavaScript", "id": "a", "name": "A", "script": format!("'{result}'"),
            "result": null})
    };
    let inner = definition(
        "Inner",
        json!({"inputs": [{"type": "Int32", "name": "N"}],
        "outputs": [{"type": "Int32", "name": "Twice"}],
        "root": {"type": "Sequence", "id": "s", "activities": [script("inner"),
            {"type": "Event", "id": "e", "eventName": "go", "canStartWorkflow": true},
            line("getResultFromA() + ' ' + getN()"),
            {"type": "SetOutput", "outputName": "Twice", "outputValue": {"js": "getN() * 2"}}]}}),
    );
    let outer = definition(
        "Outer",
        json!({"inputs": [{"type": "Int32", "name": "N"}],
        "outputs": [{"type": "Int32", "name": "Result"}],
        "root": {"type": "Sequence", "id": "s", "activities": [script("outer"),
            runs("a2", "Inner", json!({"n": {"js": "getN() + 1"}, "twice": bound("Result")})),
            line("getResultFromA() + ' ' + getN()")]}}),
    );
    let parent = definition(
        "Parent",
        json!({"outputs": [{"type": "Int32", "name": "All"}],
        "root": {"type": "Sequence", "id": "s", "activities": [script("parent"),
            runs("a3", "Outer", json!({"n": "1", "result": bound("All")})),
            line("getResultFromA()")]}}),
    );
    let used = [outer, inner];
    let triggers = engine().compile(&parsed(parent.clone()).unwrap(), &library(&used)).unwrap();
    assert_eq!(engine().triggers(&triggers, &env(0)).unwrap().stimuli, []);
    let mut player = player(parent, &used);
    player.start(json!({}));
    assert_eq!(player.status(), SubStatus::Suspended);
    assert!(player.resume("Elsa.Event", json!({})) || player.resume("Event", json!({})));
    assert_eq!(player.incident(), None);
    assert_eq!(player.lines(), ["inner 2", "outer 1", "parent"]);
    assert_eq!(player.state().output["All"], json!(4));
}

#[test]
fn an_input_without_a_value_has_its_default_and_one_that_does_not_fit_is_an_incident() {
    let child = definition(
        "Child",
        json!({"inputs": [
            {"type": "Int32", "name": "N", "defaultValue": 7}],
        "root": {"type": "Sequence", "activities": [line("getN() + 1")]}}),
    );
    let parent = |more: Value| definition("Parent", json!({"root": runs("c", "Child", more)}));
    let used = [child];
    let mut default = player(parent(json!({})), &used);
    assert_eq!(default.start(json!({})).lines(), ["8"]);
    let mut wrong = player(parent(json!({"n": {"js": "'many'"}})), &used);
    wrong.start(json!({}));
    assert_eq!(wrong.incident(), Some("N: \"many\" is not a whole number"));
    assert_eq!(wrong.state().incidents[0].activity_type, "Child");
    let expected = ["activity c: N: \"many\" is not a whole number"];
    assert_eq!(problems(parent(json!({"n": "many"})), &used), expected);
}

#[test]
fn a_circle_a_missing_workflow_and_a_broken_one_are_problems() {
    let uses = |id: &str, child: &str| definition(id, json!({"root": runs("c", child, json!({}))}));
    let used = [uses("B", "C"), uses("C", "A")];
    let found = problems(uses("A", "B"), &[used[0].clone(), used[1].clone(), uses("A", "B")]);
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("A > B > C > A"), "{found:?}");
    // A first version is not stored yet: it is known all the same.
    let mut by_name = uses("A", "A");
    by_name["options"] = json!({"usableAsActivity": true});
    by_name["root"].as_object_mut().unwrap().remove("workflowDefinitionId");
    for first in [uses("A", "A"), by_name] {
        let found = problems(first, &[]);
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("would run within itself: A > A"), "{found:?}");
    }
    assert_eq!(
        problems(uses("A", "Gone"), &[]),
        [
            "activity c: type: there is no workflow Gone, which Gone is to run: import and publish it first"
        ]
    );
    let broken = definition("B", json!({"root": {"type": "Nothing", "id": "n"}}));
    assert_eq!(
        problems(uses("A", "B"), &[broken]),
        ["activity c: type: in the workflow B, activity n: there is no activity type Nothing"]
    );
}

/// What keeps a definition from being published, and what its author is warned of.
fn examined(document: Value, library: &Library) -> Vec<String> {
    let found = engine().examine(&parsed(document).unwrap(), library, &env(0));
    found.problems.iter().map(ToString::to_string).collect()
}

#[test]
fn what_the_workflow_does_not_declare_is_named() {
    let end = |outcomes: Value| json!({"type": "Complete", "outcomes": outcomes});
    let declaring = |outcomes: Value, root: Value| {
        definition(
            "Child",
            json!({"inputs": [{"name": "Amount", "type": "Int32", "isRequired": true}],
                "outcomes": outcomes, "root": root}),
        )
    };
    let child = |root: Value| declaring(json!(["High"]), root);
    let parent = |node: Value, port: &str| {
        let next = json!({"type": "WriteLine", "id": "b"});
        definition(
            "Parent",
            json!({"root": {"type": "Flowchart", "id": "f", "activities": [node, next],
                "connections": [{"source": {"activity": "c", "port": port},
                    "target": {"activity": "b"}}]}}),
        )
    };
    let check = |root: Value, more: Value, port: &str, expected: &[&str]| {
        let used = library(&[child(root)]);
        let found = examined(parent(runs("c", "Child", more), port), &used);
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.starts_with(expected), "{found}");
        }
    };
    let low = || end(json!("Low"));
    for port in ["High", "Low", "Done"] {
        check(low(), json!({"amount": 1, "name": "c", "metadata": {}}), port, &[]);
    }
    let never = "activity f: connections[0]: this connection is never followed, as activity c has no \
                 outcome Medium: use Done or High or Low";
    check(low(), json!({"amount": 1}), "Medium", &[never]);
    check(end(json!("[\"Low\"]")), json!({"amount": 1}), "Medium", &[never]);
    // An expression may say any outcome, also one that is not declared.
    let computed = || end(json!({"js": "'Medium'"}));
    let undeclared = "activity f: connections[0]: this connection may never be followed, as the \
                      workflow that activity c runs does not declare the outcome Medium: use Done \
                      or High";
    check(computed(), json!({"amount": 1}), "Medium", &[undeclared]);
    let used = library(&[declaring(json!([]), computed())]);
    let silent = parent(runs("c", "Child", json!({"amount": 1})), "Medium");
    assert_eq!(examined(silent, &used), [""; 0], "nothing is declared");
    let unknown = "activity c: amuont: the workflow Child has no input or output amuont, so that \
                   value is ignored: did you mean Amount?";
    check(low(), json!({"amount": 1, "amuont": 3}), "Done", &[unknown]);
    let unknown =
        "activity c: xx: the workflow Child has no input or output xx, so that value is ignored";
    check(low(), json!({"amount": 1, "xx": 3}), "Done", &[unknown]);
    let missing = "activity c: Amount: it is required: give it a value";
    check(low(), json!({}), "Done", &[missing]);
}

#[test]
fn a_type_that_is_unknown_may_be_like_a_published_workflow() {
    let document = json!({"type": "InnerCalk", "id": "a"});
    let mut library = Library::default();
    library.offer(&["InnerCalc".to_owned(), "Other".to_owned()]);
    let expected = "activity a: type: there is no activity type InnerCalk: did you mean InnerCalc?";
    assert_eq!(examined(document, &library), [expected]);
}
