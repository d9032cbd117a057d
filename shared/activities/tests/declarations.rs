//! What an editor offers to the script of one activity: the variables around it, the outputs of what
//! may have run before it, and what its activity gives to it alone.

use engine::testing::parsed;
use engine::{Asked, Engine};
use serde_json::{Value, json};

fn declared(root: Value, asked: &Asked) -> String {
    let document = json!({"root": root, "variables": [{"name": "Outer", "typeName": "Int32"}]});
    let engine = Engine::new(activities::all(), expressions::all());
    let definition = parsed(document).unwrap_or_default();
    engine.declarations("JavaScript", &definition, asked).unwrap_or_default()
}

fn at(activity: &str) -> Asked {
    Asked { activity_id: Some(activity.to_owned()), ..Asked::default() }
}

fn script(id: &str) -> Value {
    json!({"type": "RunJavaScript", "id": id, "script": "1"})
}

/// The activities whose results are offered.
fn results(root: &Value, activity: &str) -> Vec<String> {
    let text = declared(root.clone(), &at(activity));
    let lines = text.lines().filter_map(|line| line.strip_prefix("declare function getResultFrom"));
    lines.filter_map(|line| Some(line.split_once('(')?.0.to_owned())).collect()
}

#[test]
fn outputs_are_those_of_activities_that_may_have_run() {
    let sequence = |list: &[Value]| json!({"type": "Sequence", "id": "s", "activities": list});
    let plain = sequence(&[script("A"), script("B"), sequence(&[script("C"), script("D")])]);
    let branches = sequence(&[
        script("A"),
        json!({"type": "If", "id": "if", "condition": true, "then": script("T"), "else": script("E")}),
        json!({"type": "Parallel", "id": "p", "activities": [script("L"), script("R")]}),
    ]);
    let round = json!({"type": "While", "id": "w", "condition": true,
        "body": sequence(&[script("A"), script("B")])});
    let looped = sequence(&[script("Z"), round, script("Y")]);
    let chart = |back: bool| {
        let mut connections = vec![
            json!({"source": {"activity": "A", "port": "Done"}, "target": {"activity": "B"}}),
            json!({"source": "A", "target": "C"}),
            json!({"source": "C", "target": "D"}),
        ];
        if back {
            connections.push(json!({"source": "D", "target": "A"}));
        }
        json!({"type": "Flowchart", "id": "f", "connections": connections,
            "activities": [script("A"), script("B"), script("C"), script("D")]})
    };
    for (root, activity, expected) in [
        (&plain, "A", &[][..]),
        (&plain, "B", &["A"]),
        (&plain, "D", &["A", "B", "C"]),
        (&branches, "T", &["A"]),
        (&branches, "E", &["A"]),
        (&branches, "R", &["A", "If", "T", "E", "L"]),
        (&looped, "A", &["Z", "A", "B"]),
        (&looped, "Y", &["Z", "A", "B"]),
        (&chart(false), "A", &[]),
        (&chart(false), "B", &["A"]),
        (&chart(false), "D", &["A", "C"]),
        (&chart(true), "B", &["A", "C", "D"]),
        (&chart(true), "A", &["A", "C", "D"]),
    ] {
        let mut found = results(root, activity);
        found.sort();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(found, expected, "{activity} in {root}");
    }
}

#[test]
fn variables_are_those_around_the_activity() {
    let root = json!({"type": "Sequence", "id": "s", "activities": [
        {"type": "ForEach", "id": "each", "items": [1],
            "variables": [{"name": "Inner", "typeName": "String"}],
            "body": {"type": "WriteLine", "id": "in", "text": "x"}},
        {"type": "Sequence", "id": "other", "variables": [{"name": "Outer", "typeName": "Boolean"}],
            "activities": [{"type": "WriteLine", "id": "beside", "text": "x"}]}]});
    for (activity, is_there, is_not) in [
        ("in", &["getInner(): string", "getCurrentValue(): any", "getOuter(): number"][..], ""),
        ("each", &["getInner(): string", "getOuter(): number"], "getCurrentValue"),
        ("beside", &["getOuter(): boolean"], "getInner"),
        ("s", &["getOuter(): number"], "getInner"),
    ] {
        let text = declared(root.clone(), &at(activity));
        for accessor in is_there {
            assert!(text.contains(&format!("declare function {accessor};")), "{activity}: {text}");
        }
        assert!(is_not.is_empty() || !text.contains(is_not), "{activity}: {text}");
    }
    let anywhere = declared(root, &Asked::default());
    assert!(anywhere.contains("getInner(") && anywhere.contains("getCurrentValue("), "{anywhere}");
}

#[test]
fn an_input_has_its_arguments_and_outcomes() {
    let bulk = json!({"type": "BulkDispatchWorkflows", "id": "b", "items": [1]});
    let any = "declare const args: { [name: string]: any };";
    let item = "declare const args: {\n  \"item\": any;\n};\ndeclare function getItem(): any;";
    let none = "declare const args: {\n};";
    let asked = |id: Option<&str>, ty: Option<&str>, property: Option<&str>| Asked {
        activity_id: id.map(str::to_owned),
        activity_type: ty.map(str::to_owned),
        property: property.map(str::to_owned),
    };
    for (asked, arguments, outcomes) in [
        (Asked::default(), any, true),
        (asked(Some("b"), None, Some("correlationIdFunction")), item, false),
        (asked(Some("b"), None, Some("Items")), none, false),
        (asked(Some("b"), None, None), item, false),
        (
            asked(None, Some("Elsa.BulkDispatchWorkflows"), Some("CorrelationIdFunction")),
            item,
            false,
        ),
        (asked(Some("gone"), Some("Elsa.RunJavaScript"), Some("Script")), none, true),
        (asked(None, Some("Elsa.RunJavaScript"), Some("PossibleOutcomes")), none, false),
        (asked(None, Some("Acme.Unheard"), None), any, true),
    ] {
        let text = declared(bulk.clone(), &asked);
        assert!(text.contains(arguments), "{asked:?}: {text}");
        assert_eq!(text.contains("declare function setOutcome("), outcomes, "{asked:?}");
    }
}
