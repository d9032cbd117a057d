//! A definition goes through either form and comes back as it was.

use engine::Engine;
use serde_json::{Value, json};
use shortform::{Notation, Tree, Vocabulary, read, write};

fn vocabulary() -> Vocabulary {
    let engine = Engine::new(activities::all(), expressions::all());
    Vocabulary::new(engine.descriptors())
}

/// Shortens, writes YAML, reads it and expands it.
fn check(vocabulary: &Vocabulary, full: &Value) -> Value {
    let short = vocabulary.shorten(full);
    let text = write(&short);
    let back = read(&text, Notation::Yaml).map_err(|flaw| flaw.to_string());
    let back = back.and_then(|back| {
        let expanded = vocabulary.expand(&back, None);
        expanded.map(|tree| tree.value()).map_err(|flaws| format!("{flaws:?}"))
    });
    assert_eq!(back.as_ref(), Ok(full), "{text}");
    short
}

#[test]
fn an_export_of_elsa_comes_back_as_it_was() {
    let text = include_str!("../../../services/staunch/examples/order-approval.json");
    let full: Value = serde_json::from_str(text).unwrap();
    let short = check(&vocabulary(), &full);
    let written = write(&short);
    assert!(written.lines().count() * 2 < text.lines().count(), "{written}");
    for part in
        ["type: FlowDecision", "variable: Decision", "result: Approval", "timeSpan: \"00:00:02\""]
    {
        assert!(written.contains(part), "{part} is not in\n{written}");
    }
    assert!(!written.contains("expression:"), "{written}");
}

#[test]
fn whatever_is_in_a_definition_survives() {
    let vocabulary = vocabulary();
    let full = |root: Value| json!({"definitionId": "x", "root": root});
    let line = |extra: Value| {
        let mut line = json!({"type": "Elsa.WriteLine", "id": "a"});
        line.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        full(line)
    };
    let input = |kind: &str, value: Value| {
        line(json!({"text": {"typeName": "String", "expression": {"type": kind, "value": value}}}))
    };
    for value in [
        json!("a"),
        json!(1),
        json!(null),
        json!([1, {"js": "x"}]),
        json!({"js": "x"}),
        json!({"liqiud": "x"}),
        json!({"secret": "x"}),
        json!({"name": "x"}),
        json!({"type": "Secret", "value": "x"}),
        json!({}),
    ] {
        let scripts = ["JavaScript", "Liquid", "Sql", "CSharp"];
        for kind in
            ["Literal", "Object", "Variable", "Input", "Secret", ""].into_iter().chain(scripts)
        {
            check(&vocabulary, &input(kind, value.clone()));
        }
        check(&vocabulary, &line(json!({"text": value})));
        check(&vocabulary, &line(json!({"metadata": value, "next": value, "full": value})));
        check(&vocabulary, &full(value.clone()));
        check(&vocabulary, &json!({"variables": value, "inputs": value, "flow": value}));
        check(
            &vocabulary,
            &json!({"root": {"type": "Elsa.Flowchart", "connections": value, "activities": value}}),
        );
        check(&vocabulary, &value);
    }
    check(&vocabulary, &json!({"type": "WriteLine", "each": {"version": 1}, "model": {}}));
    check(
        &vocabulary,
        &full(
            json!({"type": "Elsa.Unheard", "x": {"js": "1"}, "activities": [{"type": "WriteLine"}]}),
        ),
    );
    check(
        &vocabulary,
        &full(json!({"type": "Elsa.Sequence", "activities": [
        {"type": "WriteLine"}, {"type": "Elsa.WriteLine", "text": "x"}, "nonsense", {}]})),
    );
}

#[test]
fn a_path_that_the_server_has_to_give_is_not_written() {
    let vocabulary = vocabulary();
    let paths = |text: &str| {
        let full = vocabulary.expand(&read(text, Notation::Yaml).unwrap(), None).unwrap().value();
        let line = full.pointer("/root/activities/0").unwrap();
        [full["root"]["nodeId"].clone(), line["nodeId"].clone()]
    };
    let each = "each: {nodeId: path}\nroot:\n  type: Sequence\n";
    let line = "  activities: [{type: WriteLine, id: w}]\n";
    let named = paths(&format!("{each}  id: s\n{line}"));
    assert_eq!(named, [json!("Workflow1:s"), json!("Workflow1:s:w")]);
    for id in ["", "  id: \"\"\n", "  id: \" \"\n"] {
        assert_eq!(paths(&format!("{each}{id}{line}")), [Value::Null, Value::Null], "{id:?}");
    }
    // One that was written survives.
    for (owner, path) in [("s", "Workflow1:s:w"), ("", "Workflow1::w"), ("", "Workflow1:S1:w")] {
        let full = json!({"root": {"type": "Elsa.Sequence", "id": owner, "nodeId": "Workflow1:s",
            "activities": [{"type": "Elsa.WriteLine", "id": "w", "nodeId": path}]}});
        check(&vocabulary, &full);
    }
}

#[test]
fn flowcharts_of_any_shape_survive() {
    let vocabulary = vocabulary();
    let link = |source: &str, port: &str, target: &str| json!({"source": {"activity": source, "port": port}, "target": {"activity": target, "port": "In"}});
    let mut odd = link("a", "Done", "b");
    odd["vertices"] = json!([{"x": 1}]);
    let lists = [
        vec![link("a", "Done", "b"), link("b", "True", "a"), link("b", "False", "b.c")],
        vec![link("b", "Done", "a"), link("a", "Done", "b")],
        vec![link("b.c", "Done", "a"), link("b", "c", "a"), link("a", "x.y", "b")],
        vec![link("a", "Done", "gone"), link("a", " -> ", "b"), link("", "", "")],
        vec![link("a", "Done", "b"), odd, json!({"source": 1}), json!("a -> b")],
        vec![],
    ];
    for connections in lists {
        check(
            &vocabulary,
            &json!({"root": {"type": "Elsa.Flowchart", "id": "f", "start": "a", "activities": [
            {"type": "Elsa.WriteLine", "id": "a"}, {"type": "Elsa.FlowDecision", "id": "b"},
            {"type": "Elsa.WriteLine", "id": "b.c"}
        ], "connections": connections}}),
        );
    }
}

#[test]
fn a_short_definition_comes_back_from_the_full_form() {
    let vocabulary = vocabulary();
    let secret = json!({"definitionId": "a", "root": {"type": "Elsa.WriteLine", "id": "a",
        "text": {"typeName": "String", "expression": {"type": "Secret", "value": "pay.token"}}}});
    let shortened = vocabulary.shorten(&secret).to_string();
    assert!(shortened.contains(r#"{"secret":"pay.token"}"#), "{shortened}");
    let text = "definitionId: a\nvariables:\n  Count: 1\n  D:\n    type: Decimal\n    value: \"1\"\ninputs:\n  \
        A: String\nflow:\n  a:\n    type: FlowDecision\n    condition:\n      js: variables.Count > 1\n    \
        next:\n      \"True\":\n        - b\n        - c\n      \"False\": c\n  b:\n    type: SetVariable\n    \
        variable: Count\n    value:\n      input: A\n    next: c\n  c:\n    type: WriteLine\n    text:\n      \
        variable: Count\n";
    let full = vocabulary.expand(&read(text, Notation::Yaml).unwrap(), None).unwrap();
    assert_eq!(write(&vocabulary.shorten(&full.value())), text);
    assert_eq!(vocabulary.expand(&Tree::of(&full.value()), None).unwrap().value(), full.value());
}
