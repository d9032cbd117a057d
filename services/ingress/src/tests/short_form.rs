//! The short form of definitions, which is written from Elsa's form and expanded to it.

use std::sync::Arc;

use axum::body::Body;
use axum::http::Request;
use model::limits;
use serde_json::{Value, json};

use super::world::{Answer, World};
use crate::Config;
use crate::app::CONVERSIONS_MAX;

const SHORTEN: &str = "/elsa/api/workflow-definitions/short-form/shorten";
const EXPAND: &str = "/elsa/api/workflow-definitions/short-form/expand";
const HELLO: &str = "definitionId: hello\nname: Hello\nvariables:\n  Count: 3\nflow:\n  one:\n    \
                     type: WriteLine\n    text:\n      js: variables.Count\n    next: two\n  two:\n    \
                     type: WriteLine\n    text: done\n";

/// Expands a text of this media type; none if it is empty.
async fn expand(world: &World, kind: &str, text: impl Into<Body>) -> Answer {
    let mut request = Request::post(EXPAND);
    if !kind.is_empty() {
        request = request.header("content-type", kind);
    }
    world.send(request.body(text.into()).unwrap()).await
}

async fn world() -> World {
    World::without_executor(Config::default()).await
}

#[tokio::test]
async fn a_text_is_expanded_and_written_again_and_nothing_is_stored() {
    let world = world().await;
    let full = expand(&world, "application/yaml", HELLO).await.expect(200);
    assert_eq!(full["definitionId"], "hello");
    assert_eq!(full["root"]["type"], "Elsa.Flowchart", "{full:#}");
    assert_eq!(full["root"]["activities"][0]["text"]["expression"]["type"], "JavaScript");
    assert_eq!(full["root"]["connections"][0]["target"]["activity"], "two");
    for body in [json!({"model": full}), full.clone()] {
        let answer = world.post(SHORTEN, &body).await;
        assert_eq!(answer.header("content-type"), Some("application/yaml"));
        assert_eq!(answer.expect(200), HELLO);
    }
    // Without a media type, with an old one, and as JSON.
    for kind in ["", "text/x-yaml; charset=utf-8"] {
        assert_eq!(expand(&world, kind, HELLO).await.expect(200), full);
    }
    let in_json = json!({"root": [{"type": "WriteLine", "text": "hi"}]}).to_string();
    let full = expand(&world, "application/json", in_json).await.expect(200);
    assert_eq!(full["root"]["activities"][0]["type"], "Elsa.WriteLine");
    assert_eq!(full["definitionId"], Value::Null, "a text without an id stays without one");
    let named = expand(&world, "application/yaml", "Name: x\nRoot: []\n").await.expect(200);
    assert_eq!(named["name"], "x", "names are read in any case: {named:#}");
    let listed = world.get("/elsa/api/workflow-definitions").await.expect(200);
    assert_eq!(listed["totalCount"], 0);
}

#[tokio::test]
async fn what_the_short_form_cannot_say_stays_as_it_is() {
    let world = world().await;
    let odd = json!({"definitionId": "odd", "each": 5, "root": {"type": "Elsa.WriteLine", "id": "a",
        "text": {"typeName": "Int32", "expression": {"type": "Cobol", "value": [1.50]}},
        "metadata": {"designer": {"position": {"x": 1, "y": -2.5}}}}});
    let text = world.post(SHORTEN, &json!({"model": odd})).await.expect(200);
    let text = text.as_str().unwrap().to_owned();
    assert!(text.starts_with("full:"), "{text}");
    assert_eq!(expand(&world, "application/yaml", text).await.expect(200), odd);
    // A draft may have no root yet.
    let draft = json!({"definitionId": "draft", "name": "Draft"});
    let text = world.post(SHORTEN, &json!({"model": draft})).await.expect(200);
    assert_eq!(text, "definitionId: draft\nname: Draft\n");
}

#[tokio::test]
async fn a_definition_in_pascal_case_is_shortened_as_another() {
    let world = world().await;
    let pascal = json!({"Name": "Hello", "Variables": [{"Id": "v", "Name": "V"}],
        "Root": {"Type": "Elsa.SetVariable", "Id": "s", "Variable": {"Id": "v", "Name": "V"},
            "Value": {"TypeName": "Object", "Expression": {"Type": "Literal", "Value": {"Id": 1}}}}});
    let camel = json!({"name": "Hello", "variables": [{"id": "v", "name": "V"}],
        "root": {"type": "Elsa.SetVariable", "id": "s", "variable": {"id": "v", "name": "V"},
            "value": {"typeName": "Object", "expression": {"type": "Literal", "value": {"Id": 1}}}}});
    let expected = world.post(SHORTEN, &camel).await.expect(200);
    for body in [json!({"Model": pascal}), pascal.clone()] {
        assert_eq!(world.post(SHORTEN, &body).await.expect(200), expected);
    }
}

#[tokio::test]
async fn a_root_that_is_no_activity_is_not_shortened() {
    let world = world().await;
    for root in [json!(null), json!(5), json!("x"), json!([{"type": "Elsa.End"}])] {
        for body in [json!({"model": {"name": "a", "root": root}}), json!({"Root": root})] {
            let refused = world.post(SHORTEN, &body).await.problem(400);
            assert!(refused.starts_with("root of the body: this is "), "{refused}");
            assert!(refused.contains("write an object with a type"), "{refused}");
        }
    }
}

/// The text would be refused when it is read, as a save refuses the definition.
#[tokio::test]
async fn what_a_save_refuses_is_not_shortened() {
    let world = world().await;
    let line = json!({"type": "Elsa.WriteLine", "Type": "Elsa.End", "id": "a", "text": "x"});
    let nested = json!({"type": "Elsa.Sequence", "activities": [line]});
    for (root, place) in [(line, "root.Type"), (nested, "root.activities[0].Type")] {
        let sent = json!({"model": {"definitionId": "twice", "root": root}});
        let said = world.post(SHORTEN, &sent).await.problem(400);
        assert!(said.contains(&format!("{place}: this is \"type\" once more")), "{said}");
        let saved = world.post("/elsa/api/workflow-definitions", &sent).await.problem(400);
        assert_eq!(said, saved);
    }
    for wrong in [json!({"variables": 7}), json!({"outcomes": [7]})] {
        let said = world.post(SHORTEN, &json!({"model": wrong})).await.problem(400);
        assert!(said.starts_with("the body is not a workflow definition: "), "{said}");
    }
}

#[tokio::test]
async fn a_text_that_is_no_definition_is_refused_with_every_place() {
    let world = world().await;
    let check = async |text: &str, expected: Value| {
        let answer = expand(&world, "application/yaml", text.to_owned()).await.expect(400);
        let flaws = answer["flaws"].as_array().unwrap_or_else(|| panic!("{answer:#}"));
        let places: Vec<_> = flaws
            .iter()
            .map(|flaw| {
                let message = flaw["message"].as_str().unwrap();
                let words = message.split(' ').take(4).collect::<Vec<_>>().join(" ");
                json!([flaw["line"], flaw["column"], words])
            })
            .collect();
        assert_eq!(json!(places), expected, "{answer:#}");
        assert_eq!(answer["isCutShort"], false);
        let detail = answer["detail"].as_str().unwrap();
        let place = format!("line {}, column {}: ", flaws[0]["line"], flaws[0]["column"]);
        assert!(detail.starts_with("the text is not a definition: "), "{detail}");
        assert!(detail.contains(&place), "{detail}");
    };
    check("name: x\nname: y\n", json!([[2, 1, "name is there twice:"]])).await;
    check("", json!([[1, 1, "the text is empty:"]])).await;
    check("hello", json!([[1, 1, "this is no definition:"]])).await;
    check("full: 5\n", json!([[1, 7, "this is no definition:"]])).await;
    check("a: &x 1\n", json!([[1, 7, "anchors are not read:"]])).await;
    let wrong = "nmae: x\nvariables: 7\noutcomes: [A, 2]\nflow:\n  a:\n    type: WriteLine\n    \
                 next: 1\n";
    let expected = json!([
        [2, 1, "variables: this is 7,"],
        [3, 15, "outcomes[1]: this is 2,"],
        [7, 11, "next names activities by"],
    ]);
    check(wrong, expected).await;
    let misspelled = "optoins: {}\nroot: []\n";
    check(misspelled, json!([[1, 1, "a definition has no"]])).await;
    check("- 1\n", json!([[1, 3, "root.activities[0]: this is 1,"]])).await;
    check("name: x\nroot:\n", json!([[2, 1, "root: this is null,"]])).await;
    check("name: x\nroot: 5\n", json!([[2, 1, "root: this is a"]])).await;
    check("type: End\nType: If\n", json!([[2, 1, "root.Type: this is \"type\""]])).await;
    let in_json = expand(&world, "application/json", "{\n \"root\": ]}").await.expect(400);
    assert_eq!(in_json["flaws"][0]["line"], 2, "{in_json:#}");
}

#[tokio::test]
async fn many_flaws_and_long_ones_are_cut_short() {
    let world = world().await;
    let many: String = (0..1_200).map(|at| format!("  a{at}: {{type: X, next: 1}}\n")).collect();
    let answer = expand(&world, "application/yaml", format!("flow:\n{many}")).await.expect(400);
    assert_eq!(answer["flaws"].as_array().unwrap().len(), 1_000);
    assert_eq!(answer["isCutShort"], true);
    assert!(answer["detail"].as_str().unwrap().ends_with("; more of them are in flaws"));
    let long = format!("root: {{flow: [], connections: [{}]}}\n", "x".repeat(5_000));
    let answer = expand(&world, "application/yaml", long).await.expect(400);
    let message = answer["flaws"][0]["message"].as_str().unwrap();
    assert_eq!(message.chars().count(), 500, "{message}");
}

#[tokio::test]
async fn a_text_that_is_too_large_or_means_too_much_is_refused() {
    let world = world().await;
    let large = format!("name: {}\n", "x".repeat(limits::DEFINITION_BYTES_MAX));
    let refused = expand(&world, "application/yaml", large.clone()).await.problem(413);
    assert!(refused.contains(&limits::DEFINITION_BYTES_MAX.to_string()), "{refused}");
    world.post(SHORTEN, &json!({"model": {"name": large}})).await.problem(413);
    // Each connection is ten times as long in Elsa's form.
    let links = "  - a->b\n".repeat(60_000);
    let text =
        format!("root:\n flow: [{{id: a, type: X}}, {{id: b, type: X}}]\n connections:\n{links}");
    let refused = expand(&world, "application/yaml", text).await.problem(413);
    assert!(refused.starts_with("in Elsa's form the definition has "), "{refused}");
    let note = "x".repeat(100_000);
    let lines = "  - {type: WriteLine, text: a}\n".repeat(100);
    let text = format!("each: {{note: {note}}}\nroot:\n{lines}");
    let refused = expand(&world, "application/yaml", text).await.problem(400);
    assert!(refused.contains("what each and variables add to the activities"), "{refused}");
    // Deep lists have many spaces as YAML.
    let numbers = vec![1; 120_000];
    let deep = (0..80).fold(json!(numbers), |inner, _| json!([inner]));
    let sent = json!({"model": {"definitionId": "deep", "customProperties": {"deep": deep}}});
    let refused = world.post(SHORTEN, &sent).await.problem(413);
    assert!(refused.contains("because its values are nested deeply"), "{refused}");
}

#[tokio::test]
async fn other_bodies_are_refused() {
    let world = world().await;
    let refused = expand(&world, "text/plain", HELLO).await.problem(415);
    assert!(refused.contains("send YAML with Content-Type: application/yaml"), "{refused}");
    let bytes: &'static [u8] = b"name: \xff\n";
    let refused = expand(&world, "application/yaml", bytes).await.problem(400);
    assert!(refused.starts_with("byte 6 of the body is not UTF-8"), "{refused}");
    let packed = Request::post(EXPAND).header("content-encoding", "gzip");
    world.send(packed.body(Body::from(HELLO)).unwrap()).await.problem(415);
    world.post(SHORTEN, &json!([])).await.problem(400);
    world.post(SHORTEN, &json!({"name": "no root"})).await.problem(400);
}

#[tokio::test(start_paused = true)]
async fn more_conversions_than_may_be_at_once_wait_and_are_refused_then() {
    let world = world().await;
    let all = u32::try_from(CONVERSIONS_MAX).unwrap();
    let room = Arc::clone(&world.app.conversions).try_acquire_many_owned(all).unwrap();
    let refused = expand(&world, "application/yaml", HELLO).await.problem(503);
    assert!(refused.contains("as many definitions as it may at once"), "{refused}");
    drop(room);
    expand(&world, "application/yaml", HELLO).await.expect(200);
}

/// An editor completes the types of workers as it does others, and marks what does not fit.
#[tokio::test]
async fn the_schema_knows_the_types_of_workers() {
    const SCHEMA: &str = "/elsa/api/workflow-definitions/short-form/schema";
    let world = world().await;
    let types = "/elsa/api/activity-types";
    for (version, kind) in [(1, "string"), (2, "number")] {
        let document = json!({"type": "Acme.Charge", "version": version, "description": "Takes money.",
            "input": {"required": ["amount"], "properties": {"amount": {"type": kind, "minimum": 1},
                "card": {"$ref": "#/$defs/card"}, "currency": {"enum": ["EUR", "USD"]}},
                "$defs": {"card": {"type": "object"}}},
            "output": {"properties": {"receipt": {"type": "string"}}}});
        world.post(types, &document).await.expect(200);
    }
    let answer = world.get(SCHEMA).await;
    assert_eq!(answer.header("content-type"), Some("application/schema+json"));
    let schema = answer.expect(200);
    let validator = jsonschema::draft7::new(&schema).unwrap();
    let fits = |activity: Value| validator.is_valid(&json!({"root": [activity]}));
    let charge = |more: Value| {
        let mut activity = json!({"type": "Acme.Charge", "id": "charge", "receipt": "Receipt"});
        activity.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        activity
    };
    for good in [
        json!({"amount": 7, "currency": "EUR", "card": {}}),
        json!({"amount": {"js": "variables.Amount"}, "next": "a"}),
        json!({"amount": 7, "version": 2}),
        json!({"amount": 0, "version": 1}),
        json!({"amount": " -7.5e3 "}),
        json!({"amount": "much", "version": 1}),
    ] {
        assert!(fits(charge(good.clone())), "{good}");
    }
    for bad in [
        json!({"amount": 0}),
        json!({"amount": 0, "version": 2}),
        json!({"amount": [7], "version": 1}),
        json!({"amount": 7, "currency": "XYZ"}),
        json!({"amont": 7}),
        json!({"amount": "much"}),
        json!({"amount": "7 EUR", "version": 2}),
    ] {
        assert!(!fits(charge(bad.clone())), "{bad}");
    }
    let names = schema.pointer("/$defs/activity/anyOf/1/allOf/0/properties/type/anyOf");
    let of_worker = json!({"enum": ["Acme.Charge"], "description": "Takes money."});
    let found = names.unwrap().as_array().unwrap().iter().filter(|name| **name == of_worker);
    assert_eq!(found.count(), 1);
    assert!(fits(json!({"type": "WriteLine", "text": "as before"})));
    let task = |version: Value| json!({"type": "RunTask", "taskName": "a", "taskVersion": version});
    for good in [json!(2), json!(2.0), json!({"js": "2"}), json!(null)] {
        assert!(fits(task(good.clone())), "{good}");
    }
    for bad in [json!(""), json!(0), json!("2"), json!(1.5), json!("1.5"), json!(2_147_483_648_u32)]
    {
        assert!(!fits(task(bad.clone())), "{bad}");
    }
    let refused = world.get(&format!("{SCHEMA}?type=a")).await;
    assert_eq!(refused.status, 400);
}
