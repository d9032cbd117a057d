//! Drafts may be unfinished; what is stored and answered has the members of a workflow.

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

use super::world::{World, writes_line};

const API: &str = "/elsa/api/workflow-definitions";

/// A flowchart with these members.
fn chart(more: &Value) -> Value {
    let mut chart = json!({"id": "f", "type": "Elsa.Flowchart", "activities": [writes_line()]});
    for (name, value) in more.as_object().unwrap() {
        chart[name] = value.clone();
    }
    chart
}

/// Definitions that are no workflows, the place of the mistake, and what stands there.
fn wrong() -> Vec<(Value, &'static str, &'static str)> {
    let root = |root: Value| json!({"root": root});
    let of = |more: Value| json!({"root": chart(&more)});
    let inside = |more: Value| of(json!({"activities": [chart(&more)]}));
    let object = "an activity: write an object with a type";
    let twice = "once more, as names are read in any case: remove one of them";
    vec![
        (root(json!(true)), "root", object),
        (root(json!(7)), "root", object),
        (root(json!([1])), "root", object),
        (root(json!("x")), "root", object),
        (of(json!({"activities": [5]})), "root.activities[0]", object),
        (of(json!({"activities": [writes_line(), "x"]})), "root.activities[1]", object),
        (of(json!({"activities": [null]})), "root.activities[0]", object),
        (of(json!({"activities": {"a": 1}})), "root.activities", "a list"),
        (of(json!({"connections": "x"})), "root.connections", "a list"),
        (of(json!({"connections": [1]})), "root.connections[0]", "an object"),
        (of(json!({"version": "x"})), "root.version", "a whole number"),
        (of(json!({"Version": -1})), "root.version", "a whole number"),
        (of(json!({"name": 5})), "root.name", "a text"),
        (of(json!({"id": 5})), "root.id", "a text"),
        (of(json!({"type": 7})), "root.type", "a text"),
        (of(json!({"customProperties": []})), "root.customProperties", "an object"),
        (inside(json!({"name": 5})), "root.activities[0].name", "a text"),
        (root(json!({"type": "Elsa.If", "then": "x"})), "root.then", object),
        (
            root(json!({"type": "Elsa.Switch", "Cases": [{"Activity": 5}]})),
            "root.cases[0].activity",
            object,
        ),
        (of(json!({"Type": "Elsa.If"})), "root.Type", twice),
        (inside(json!({"ID": "g"})), "root.activities[0].ID", twice),
        (json!({"root": writes_line(), "toolVersion": 5}), "toolVersion", "a text"),
    ]
}

#[tokio::test]
async fn a_draft_that_is_no_workflow_is_refused_at_its_member() {
    let world = World::without_executor(crate::Config::default()).await;
    for (mut definition, place, expected) in wrong() {
        definition["definitionId"] = json!("odd");
        let file = format!(
            "--X\r\nContent-Disposition: form-data; name=\"files\"; filename=\"odd.json\"\r\n\r\n\
             {definition}\r\n--X--\r\n"
        );
        let file = Request::post(format!("{API}/import-files"))
            .header("content-type", "multipart/form-data; boundary=X")
            .body(Body::from(file));
        let wrapped = json!({"model": definition, "publish": false});
        for answer in [
            world.post(API, &wrapped).await,
            world.post(&format!("{API}/import"), &definition).await,
            world.put(&format!("{API}/odd/import"), &definition).await,
            world.send(file.unwrap()).await,
        ] {
            let detail = answer.problem(400);
            let told = format!("{place}: this is ");
            assert!(detail.contains(&told) && detail.contains(expected), "{definition}: {detail}");
        }
        let answer = world.post(API, &json!({"model": definition, "publish": true})).await;
        answer.problem(400);
        world.get(&format!("{API}/odd")).await.problem(404);
    }
}

#[tokio::test]
async fn an_unfinished_draft_is_kept() {
    let world = World::without_executor(crate::Config::default()).await;
    for root in [
        Value::Null,
        json!({}),
        json!({"type": "Elsa.Flowchart"}),
        json!({"type": "Acme.Unknown", "activities": "its own", "connections": 5}),
        chart(&json!({"activities": null, "connections": null, "version": 1.0, "name": null})),
        json!({"type": "Elsa.If", "then": null, "condition": 5}),
    ] {
        let model = json!({"definitionId": "draft", "root": root, "toolVersion": null});
        let answer = world.post(API, &json!({"model": model, "publish": false})).await;
        assert!(answer.status.is_success(), "{root}: {answer:?}");
    }
}

#[tokio::test]
async fn a_version_that_an_activity_does_not_have_is_warned_of() {
    let world = World::without_executor(crate::Config::default()).await;
    for (version, warns) in [(9, true), (1, false), (0, false)] {
        let mut root = writes_line();
        root["version"] = json!(version);
        let definition = json!({"definitionId": format!("v{version}"), "root": root});
        let saved = world.post(API, &definition).await.expect(201);
        let warnings = saved["validationWarnings"].as_array().unwrap();
        let told = warnings.iter().any(|one| {
            one["property"] == "version"
                && one["message"] == "Elsa.WriteLine has no version 9: version 1 runs"
        });
        assert_eq!(told, warns, "{warnings:#?}");
    }
}

#[tokio::test]
async fn a_definition_is_read_in_any_case_as_net_writes_it() {
    let world = World::without_executor(crate::Config::default()).await;
    let model = json!({"DefinitionId": "lost", "Name": "Lost", "Root": writes_line(),
        "Variables": [{"Id": "a", "Name": "Amount", "TypeName": "Int32"}], "Note": 1});
    let draft = world.post(API, &json!({"Model": model, "Publish": false})).await.expect(201);
    let draft = &draft["workflowDefinition"];
    assert_eq!((&draft["definitionId"], &draft["name"]), (&json!("lost"), &json!("Lost")));
    assert_eq!(draft["variables"][0]["name"], "Amount");
    assert_eq!(draft["isPublished"], false);
    let exported = world.get(&format!("{API}/lost/export?versionOptions=Latest")).await.expect(200);
    assert_eq!((&exported["Note"], exported.get("Name")), (&json!(1), None));
    let saved = world.post(API, &json!({"model": model, "Publish": true})).await.expect(200);
    assert_eq!(saved["workflowDefinition"]["isPublished"], true);
    let other = json!({"Name": "Other", "Root": writes_line()});
    let imported = world.post(&format!("{API}/import"), &other).await.expect(201);
    assert_eq!(imported["name"], "Other");
    for (twice, names) in [
        (json!({"name": "a", "Name": "b", "root": writes_line()}), "\"name\" and \"Name\""),
        (json!({"root": writes_line(), "Root": writes_line()}), "\"root\" and \"Root\""),
        (json!({"model": {}, "MODEL": {}}), "\"model\" and \"MODEL\""),
    ] {
        let detail = world.post(API, &twice).await.problem(400);
        assert!(detail.contains(names), "{detail}");
    }
}
