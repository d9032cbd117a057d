//! The calls of Elsa Studio's core screens, as its client sends them, and the answers, as it reads
//! them: names in camelCase, numbers, booleans and times never null.

use serde_json::{Value, json};

use super::world::{World, waits_for, writes_line};

const API: &str = "/elsa/api";

/// The model that Studio sends for a new workflow.
fn new_model(root: &Value) -> Value {
    json!({
        "links": null, "definitionId": null, "name": "Workflow 1", "description": null,
        "toolVersion": "3.8.0.0", "variables": null, "inputs": null, "outputs": null,
        "outcomes": null, "customProperties": null, "isReadonly": false, "options": null,
        "root": root, "id": null, "createdAt": "0001-01-01T00:00:00+00:00", "version": 1,
        "isLatest": true, "isPublished": false,
    })
}

fn nested() -> Value {
    json!({
        "id": "f1", "type": "Elsa.Flowchart", "name": "Flowchart1", "connections": [],
        "activities": [
            {"id": "if1", "type": "Elsa.If", "name": "If1", "condition": true,
             "then": {"id": "f2", "type": "Elsa.Flowchart", "activities": [
                 {"id": "w1", "type": "Elsa.WriteLine", "text": "hello"}], "connections": []}},
            {"id": "sw1", "type": "Elsa.Switch", "cases": [
                {"label": "a", "activity": {"id": "w2", "type": "Elsa.WriteLine", "text": "x"}}]},
        ],
    })
}

/// A member, by its pointer, and whether a value is of its type.
type Member = (&'static str, fn(&Value) -> bool);

/// Whether a member is there and of the type that the client reads.
#[track_caller]
fn has(body: &Value, members: &[Member]) {
    for (name, is_fit) in members {
        let value = body.pointer(name);
        assert!(value.is_some_and(is_fit), "{name} is {value:?} in {body:#}");
    }
}

fn rels(body: &Value) -> Vec<&str> {
    let links = body["links"].as_array().unwrap();
    links.iter().map(|link| link["rel"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_new_workflow_is_created_saved_and_listed() {
    let world = World::new().await;
    let root = json!({"id": "8a1c", "type": "Elsa.Flowchart", "version": 1, "name": "Flowchart1"});
    let path = format!("{API}/workflow-definitions/validation/is-name-unique?name=Workflow%201");
    assert_eq!(world.get(&path).await.expect(200)["isUnique"], true);
    let sent = json!({"model": new_model(&root), "publish": null});
    let answer = world.post(&format!("{API}/workflow-definitions"), &sent).await.expect(201);
    has(
        &answer,
        &[
            ("/alreadyPublished", Value::is_boolean),
            ("/consumingWorkflowCount", Value::is_u64),
            ("/validationErrors", Value::is_array),
            ("/workflowDefinition/id", Value::is_string),
            ("/workflowDefinition/definitionId", Value::is_string),
            ("/workflowDefinition/version", Value::is_u64),
            ("/workflowDefinition/createdAt", Value::is_string),
            ("/workflowDefinition/variables", Value::is_array),
            ("/workflowDefinition/inputs", Value::is_array),
            ("/workflowDefinition/outputs", Value::is_array),
            ("/workflowDefinition/outcomes", Value::is_array),
            ("/workflowDefinition/customProperties", Value::is_object),
            ("/workflowDefinition/options", Value::is_object),
            ("/workflowDefinition/isReadonly", Value::is_boolean),
            ("/workflowDefinition/isSystem", Value::is_boolean),
            ("/workflowDefinition/isLatest", Value::is_boolean),
            ("/workflowDefinition/isPublished", Value::is_boolean),
        ],
    );
    let saved = &answer["workflowDefinition"];
    assert!(rels(saved).contains(&"publish"), "{saved:#}");
    assert_eq!(saved["root"]["nodeId"], "Workflow1:8a1c");
    assert!(!saved["id"].as_str().unwrap().is_empty());

    let path = format!(
        "{API}/workflow-definitions?versionOptions=Latest&IsSystem=False&Page=0&PageSize=50\
         &OrderBy=Name&OrderDirection=Ascending"
    );
    let list = world.get(&path).await.expect(200);
    assert!(rels(&list).contains(&"bulk-publish"));
    assert_eq!(list["totalCount"], 1);
    has(
        &list["items"][0],
        &[
            ("/id", Value::is_string),
            ("/definitionId", Value::is_string),
            ("/name", Value::is_string),
            ("/version", Value::is_u64),
            ("/isLatest", Value::is_boolean),
            ("/isPublished", Value::is_boolean),
            ("/isReadonly", Value::is_boolean),
            ("/isMaterializerAvailable", Value::is_boolean),
            ("/materializerName", Value::is_string),
            ("/createdAt", Value::is_string),
        ],
    );
    assert!(rels(&list["items"][0]).contains(&"publish"));

    // Every change is saved with the whole answer of the last one.
    let mut model = saved.clone();
    model["description"] = json!("Changed");
    let sent = json!({"model": model, "publish": false});
    let again = world.post(&format!("{API}/workflow-definitions"), &sent).await.expect(200);
    assert_eq!(again["workflowDefinition"]["id"], saved["id"]);
    assert_eq!(again["workflowDefinition"]["description"], "Changed");
    let sent = json!({"model": again["workflowDefinition"], "publish": true});
    let published = world.post(&format!("{API}/workflow-definitions"), &sent).await.expect(200);
    assert_eq!(published["workflowDefinition"]["isPublished"], true);
    let once_more = json!({"model": published["workflowDefinition"], "publish": true});
    let same = world.post(&format!("{API}/workflow-definitions"), &once_more).await.expect(200);
    assert_eq!(same["alreadyPublished"], true);
}

#[tokio::test]
async fn lists_have_every_version_by_name_unless_they_are_asked_for_others() {
    let world = World::new().await;
    world.publish("b", writes_line()).await;
    let first = world.publish("a", writes_line()).await["workflowDefinition"]["id"].clone();
    world.publish("a", waits_for("e")).await;
    let list = async |query: &str| {
        let body = world.get(&format!("{API}/workflow-definitions?{query}")).await.expect(200);
        let items = body["items"].as_array().unwrap().clone();
        let shown =
            |item: &Value| format!("{}{}", item["definitionId"].as_str().unwrap(), item["version"]);
        items.iter().map(shown).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(list("").await, "a2 a1 b1");
    assert_eq!(list("OrderDirection=Descending").await, "b1 a2 a1");
    assert_eq!(
        list("versionOptions=Latest&OrderBy=Version&OrderDirection=Ascending").await,
        "b1 a2"
    );
    assert_eq!(list(&format!("Ids={}", first.as_str().unwrap())).await, "a1");
    assert_eq!(list("materializer=Clr").await, "");
    let refused = world.get(&format!("{API}/workflow-definitions?OrderBy=Colour")).await;
    assert!(refused.problem(400).contains("use Name, Created or Version"));
    let refused = world.get(&format!("{API}/workflow-definitions?IsSystem=maybe")).await;
    assert!(refused.problem(400).contains("use true or false"));
}

#[tokio::test]
async fn a_mistake_is_told_under_errors() {
    let world = World::new().await;
    let root = json!({"id": "x", "type": "Elsa.WriteLin"});
    let sent = json!({"model": new_model(&root), "publish": true});
    let answer = world.post(&format!("{API}/workflow-definitions"), &sent).await;
    assert_eq!(answer.header("content-type"), Some("application/problem+json"));
    let body = answer.expect(400);
    let texts = body["errors"]["generalErrors"].as_array().unwrap();
    assert!(texts[0].as_str().unwrap().starts_with("x, property type: "), "{texts:?}");
    let sends = json!({"id": "t", "type": "Elsa.SendHttpRequest"});
    let sent = json!({"model": new_model(&sends), "publish": true});
    let lacks = world.post(&format!("{API}/workflow-definitions"), &sent).await.expect(400);
    let texts = lacks["errors"]["generalErrors"].as_array().unwrap();
    assert_eq!(texts, &["t, property url: there is no value: give one"]);
    let missing = world.get(&format!("{API}/workflow-definitions/nothing")).await.expect(404);
    assert_eq!(missing["errors"]["generalErrors"][0], missing["detail"]);
}

#[tokio::test]
async fn an_import_answers_with_the_definition() {
    let world = World::new().await;
    let file = json!({"definitionId": "order", "name": "Order", "root": nested()});
    let body = world.post(&format!("{API}/workflow-definitions/import"), &file).await.expect(200);
    assert_eq!((&body["definitionId"], &body["version"]), (&json!("order"), &json!(1)));
    assert_eq!(body["root"]["nodeId"], "Workflow1:f1");
    assert!(rels(&body).contains(&"publish"));
    assert_eq!(body["alreadyPublished"], false);
    // As Elsa, 201 for one that gets its id here.
    for unnamed in [json!({"root": nested()}), json!({"definitionId": "", "root": nested()})] {
        let answer = world.post(&format!("{API}/workflow-definitions/import"), &unnamed).await;
        assert!(answer.header("location").is_some(), "{answer:?}");
        assert_eq!(answer.expect(201)["version"], 1);
        let path = format!("{API}/workflow-definitions/named/import");
        assert_eq!(world.put(&path, &unnamed).await.expect(200)["definitionId"], "named");
    }
}

#[tokio::test]
async fn descriptors_have_what_a_designer_needs() {
    let world = World::new().await;
    let list = world.get(&format!("{API}/descriptors/activities?Refresh=True")).await.expect(200);
    let items = list["items"].as_array().unwrap();
    assert_eq!(list["count"], items.len());
    let mut seen = std::collections::BTreeSet::new();
    for item in items {
        let key = (item["typeName"].as_str().unwrap(), item["version"].as_u64().unwrap());
        assert!(seen.insert(key), "{key:?} is listed twice");
        has(
            item,
            &[
                ("/name", Value::is_string),
                ("/namespace", Value::is_string),
                ("/category", Value::is_string),
                ("/displayName", Value::is_string),
                ("/kind", Value::is_string),
                ("/runAsynchronously", Value::is_boolean),
                ("/isContainer", Value::is_boolean),
                ("/isBrowsable", Value::is_boolean),
                ("/isStart", Value::is_boolean),
                ("/isTerminal", Value::is_boolean),
                ("/ports", Value::is_array),
                ("/customProperties", Value::is_object),
                ("/constructionProperties", Value::is_object),
            ],
        );
        for input in item["inputs"].as_array().unwrap() {
            has(
                input,
                &[
                    ("/name", |name| name.as_str().unwrap().starts_with(char::is_uppercase)),
                    ("/typeName", Value::is_string),
                    ("/displayName", Value::is_string),
                    ("/order", |order| order.is_u64() || *order == 5.1),
                    ("/isBrowsable", Value::is_boolean),
                    ("/isWrapped", Value::is_boolean),
                    ("/isSynthetic", Value::is_boolean),
                    ("/isReadOnly", Value::is_boolean),
                    ("/isSensitive", Value::is_boolean),
                    ("/autoEvaluate", Value::is_boolean),
                    ("/uiHint", Value::is_string),
                    ("/uiSpecifications", Value::is_object),
                    ("/defaultSyntax", Value::is_string),
                ],
            );
        }
        for output in item["outputs"].as_array().unwrap() {
            has(output, &[("/name", Value::is_string), ("/typeName", Value::is_string)]);
        }
        for port in item["ports"].as_array().unwrap() {
            has(port, &[("/name", Value::is_string), ("/displayName", Value::is_string)]);
            assert!(port["type"] == "Flow" || port["type"] == "Embedded", "{port}");
        }
    }
    let find = |name: &str| items.iter().find(|item| item["typeName"] == name).unwrap();
    let hint = |name: &str, input: &str| {
        let inputs = find(name)["inputs"].as_array().unwrap();
        inputs.iter().find(|one| one["name"] == input).unwrap()["uiHint"].clone()
    };
    assert_eq!(hint("Elsa.Switch", "Cases"), "switch-editor");
    assert_eq!(hint("Elsa.FlowSwitch", "Cases"), "flow-switch-editor");
    assert_eq!(hint("Elsa.SendHttpRequest", "ExpectedStatusCodes"), "http-status-codes");
    assert_eq!(hint("Elsa.SetVariable", "Variable"), "variable-picker");
    assert_eq!(hint("Elsa.RunJavaScript", "Script"), "code-editor");
    assert_eq!(hint("Elsa.HttpEndpoint", "SupportedMethods"), "checklist");
    assert_eq!(hint("Elsa.If", "Condition"), "singleline");
    assert_eq!(hint("Elsa.FlowJoin", "Mode"), "dropdown");
    assert_eq!(hint("Elsa.DispatchWorkflow", "ChannelName"), "dropdown");
    for (name, called) in [
        ("Elsa.ForEach", "For Each"),
        ("Elsa.ParallelForEach", "Parallel For Each"),
        ("Elsa.FlowSwitch", "Switch (flow)"),
        ("Elsa.FlowFork", "Fork (flow)"),
    ] {
        assert_eq!(find(name)["displayName"], called);
    }
    assert_eq!(find("Elsa.RunTask")["kind"], "Action");
    assert_eq!(find("Elsa.Fork")["category"], "Control Flow");
    assert_eq!(find("Elsa.Flowchart")["isBrowsable"], false);
    assert_eq!(find("Elsa.Flowchart")["ports"].as_array().unwrap().len(), 1);
    assert_eq!(find("Elsa.If")["ports"][0]["name"], "Then");
    for (path, first) in [
        ("descriptors/incident-strategies", "Continue with incidents"),
        ("descriptors/workflow-activation-strategies", "Always"),
        ("descriptors/log-persistence-strategies", "Configuration"),
        ("descriptors/storage-drivers", "Workflow Instance"),
        ("descriptors/variables", "Object"),
        ("descriptors/expression-descriptors", "Literal"),
    ] {
        let list = world.get(&format!("{API}/{path}")).await.expect(200);
        assert_eq!(list["items"][0]["displayName"], first, "{path}");
    }
    for path in
        ["descriptors/commit-strategies/workflows", "descriptors/commit-strategies/activities"]
    {
        assert_eq!(world.get(&format!("{API}/{path}")).await.expect(200)["items"], json!([]));
    }
    let path = format!("{API}/features/installed/Elsa.Http");
    assert_eq!(world.get(&path).await.expect(200)["fullName"], "Elsa.Http");
    world.get(&format!("{API}/features/installed/Elsa.Nothing")).await.problem(404);
    let path = format!("{API}/descriptors/activities/Elsa.FlowJoin/options/Mode");
    let body = world.post(&path, &json!({"context": {}})).await.expect(200);
    assert_eq!(body["items"]["dropdown"]["selectList"]["items"][0]["value"], "WaitAny");
}

#[tokio::test]
async fn inputs_are_described_as_elsa_describes_them() {
    let world = World::new().await;
    let list = world.get(&format!("{API}/descriptors/activities")).await.expect(200);
    let items = list["items"].as_array().unwrap();
    let find = |name: &str| items.iter().find(|item| item["typeName"] == name).unwrap();
    let input = |name: &str, input: &str| {
        let inputs = find(name)["inputs"].as_array().unwrap();
        inputs.iter().find(|one| one["name"] == input).unwrap()
    };
    assert_eq!(input("Elsa.WriteHttpResponse", "StatusCode")["defaultValue"], "OK");
    assert_eq!(input("Elsa.While", "Condition")["autoEvaluate"], false);
    assert_eq!(input("Elsa.If", "Condition")["autoEvaluate"], true);
    let bulk = "Elsa.BulkDispatchWorkflows";
    assert_eq!(input(bulk, "CorrelationIdFunction")["autoEvaluate"], false);
    assert_eq!(input(bulk, "ChannelName")["uiHint"], "dropdown");
    assert_eq!(find(bulk)["kind"], "Task");
    let outcomes = input("Elsa.Complete", "Outcomes");
    assert_eq!(outcomes["defaultSyntax"], "Object");
    assert_eq!(outcomes["defaultValue"], json!(["Done"]), "a list, as the editor writes");
    let request = "Elsa.FlowSendHttpRequest";
    assert_eq!(input(request, "DisableAuthorizationHeaderValidation")["order"], 5);
    assert_eq!(input(request, "ExpectedStatusCodes")["order"], 5.1);
    assert_eq!(input(request, "RequestHeaders")["order"], 6);
    let mut dropdowns = 0;
    for item in items {
        for one in item["inputs"].as_array().unwrap() {
            let words = one["uiSpecifications"]["dropdown"]["selectList"]["items"].as_array();
            let Some(words) = words.filter(|words| !words.is_empty()) else { continue };
            let default = &one["defaultValue"];
            let is_offered = words.iter().any(|word| word["value"] == *default);
            assert!(default.is_null() || is_offered, "{} {one}", item["typeName"]);
            dropdowns += 1;
        }
    }
    assert!(dropdowns > 10, "{dropdowns}");
}

#[tokio::test]
async fn nested_activities_are_found_by_node_id() {
    let world = World::new().await;
    let id = world.publish("order", nested()).await["workflowDefinition"]["id"].clone();
    let id = id.as_str().unwrap();
    let at = |rest: &str| format!("{API}/workflow-definitions/subgraph/{rest}");
    let inner = "Workflow1:f1:if1:f2";
    let body = world.get(&at(&format!("{id}?parentNodeId={inner}"))).await.expect(200);
    assert_eq!((&body["nodeId"], &body["port"]), (&json!(inner), &json!("Then")));
    assert_eq!(body["activity"]["activities"][0]["nodeId"], format!("{inner}:w1"));
    let whole = world.get(&at(id)).await.expect(200);
    assert_eq!(whole["nodeId"], "Workflow1");
    assert_eq!(whole["activity"]["root"]["nodeId"], "Workflow1:f1");

    let path = at(&format!("segments/{id}?childNodeId={inner}:w1"));
    let body = world.get(&path).await.expect(200);
    assert_eq!(body["childNode"]["activity"]["id"], "w1");
    assert_eq!(body["container"]["nodeId"], inner);
    assert_eq!(
        body["pathSegments"],
        json!([{"activityNodeId": "Workflow1:f1:if1", "activityId": "if1",
            "activityType": "Elsa.If", "portName": "Then", "activityName": "If1"}])
    );
    let path = at(&format!("segments/{id}?childNodeId=Workflow1:f1:if1"));
    let body = world.get(&path).await.expect(200);
    assert_eq!(body["container"]["nodeId"], "Workflow1:f1");
    assert_eq!(body["pathSegments"], json!([]));
    world.get(&at(&format!("segments/{id}?childNodeId=nothing"))).await.problem(400);
    world.get(&at("nothing")).await.problem(404);
}

#[tokio::test]
async fn what_a_workflow_used_as_an_activity_holds_is_shown() {
    let world = World::new().await;
    let child = json!({"definitionId": "child", "name": "Child", "root": writes_line(),
        "options": {"usableAsActivity": true}});
    world.post(&format!("{API}/workflow-definitions"), &child).await.expect(201);
    let parent = json!({"id": "s", "type": "Elsa.Sequence",
        "activities": [{"id": "c", "type": "Child"}]});
    let saved = world.publish("parent", parent).await["workflowDefinition"].clone();
    let path = format!(
        "{API}/workflow-definitions/subgraph/{}?parentNodeId=Workflow1:s:c",
        saved["id"].as_str().unwrap()
    );
    let body = world.get(&path).await.expect(200);
    assert_eq!(body["activity"]["root"]["type"], "Elsa.WriteLine");
    let node_id = body["activity"]["root"]["nodeId"].as_str().unwrap();
    assert!(node_id.starts_with("Workflow1:s:c:"), "{node_id}");
    assert_eq!(saved["root"]["activities"][0].get("root"), None);
}

#[tokio::test]
async fn a_start_and_a_query_have_routes_that_do_not_guess() {
    let world = World::new().await;
    world.publish("line", writes_line()).await;
    let path = format!("{API}/workflow-instances/start");
    let body = json!({"definitionId": "line", "instanceId": "one"});
    assert_eq!(world.post(&path, &body).await.expect(200)["workflowInstanceId"], "one");
    world.post(&path, &json!({"page": 0})).await.problem(400);
    let body = json!({"definitionId": "line", "instanceId": "query"});
    assert!(world.post(&path, &body).await.problem(400).contains("the name of a route"));
    let path = format!("{API}/workflow-instances/query");
    let body = world.post(&path, &json!({"definitionId": "line"})).await.expect(200);
    assert_eq!((&body["totalCount"], &body["items"][0]["id"]), (&json!(1), &json!("one")));
}

#[tokio::test]
async fn definitions_are_announced_again() {
    let world = World::new().await;
    world.publish("a", writes_line()).await;
    world.publish("b", writes_line()).await;
    let path = format!("{API}/actions/workflow-definitions/refresh");
    let body = world.post(&path, &json!({"definitionIds": ["a", "x"]})).await.expect(200);
    assert_eq!(body, json!({"refreshed": ["a"], "notFound": ["x"]}));
    let path = format!("{API}/actions/workflow-definitions/reload");
    let body = world.post(&path, &json!({"definitionIds": null})).await.expect(200);
    assert_eq!(body["refreshed"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn run_starts_what_is_on_the_canvas() {
    let world = World::new().await;
    let sent = json!({"model": new_model(&writes_line()), "publish": false});
    let saved = world.post(&format!("{API}/workflow-definitions"), &sent).await.expect(201);
    let id = saved["workflowDefinition"]["definitionId"].as_str().unwrap().to_owned();
    let run = json!({"correlationId": null, "triggerActivityId": null,
        "versionOptions": "Latest", "input": null});
    let path = format!("{API}/workflow-definitions/{id}/execute");
    let ran = world.post(&path, &run).await;
    assert_eq!(ran.header("x-elsa-workflow-cannot-start"), Some("False"));
    assert!(ran.header("x-elsa-workflow-instance-id").is_some());
    assert_eq!(ran.expect(200)["workflowState"]["subStatus"], "Finished");
    // The version that was run stays; the next change is the next version, and is no publication.
    let sent = json!({"model": {"definitionId": id, "root": waits_for("e")}, "publish": false});
    let next = world.post(&format!("{API}/workflow-definitions"), &sent).await.expect(200);
    assert_eq!(next["workflowDefinition"]["version"], 2);
    world.post(&path, &json!({})).await.problem(404);
    let wrong = json!({"model": {"definitionId": id, "root": {"type": "Nothing"}}});
    world.post(&format!("{API}/workflow-definitions"), &wrong).await.expect(200);
    let refused = world.post(&path, &run).await.expect(400);
    assert!(refused["validationErrors"].is_array());
}
