//! The calls of Elsa Studio's tabs and of Elsa's client beside the core screens: test runs of
//! activities, retries, alterations; requests in every form in which .NET writes them.

use serde_json::{Value, json};

use super::world::{World, waits_for, writes_line};
use crate::Config;

const API: &str = "/elsa/api";
const INSTANCES: &str = "/elsa/api/workflow-instances";

/// A draft, as Elsa Studio keeps one: with values for tests.
async fn draft(world: &World) -> String {
    let definition = json!({"model": {
        "definitionId": "tried", "name": "Tried", "root": {
            "id": "f1", "type": "Elsa.Flowchart", "connections": [],
            "variables": [{"id": "v3", "name": "Inner", "typeName": "String", "value": "in"}],
            "activities": [
                {"id": "line", "type": "Elsa.WriteLine",
                    "text": {"js": "`${variables.Inner} ${variables.Count + 1} ${variables.Other}`"}},
                {"id": "script", "type": "Elsa.RunJavaScript", "script": "return {n: variables.Count}"},
                {"id": "http", "type": "Elsa.SendHttpRequest", "url": "https://shop.example/orders?page=1",
                    "authorization": "Bearer very-secret"},
                {"id": "fails", "type": "Elsa.Fault", "message": "it rained", "code": "E7"},
                {"id": "event", "type": "Elsa.PublishEvent", "eventName": "Ordered"},
                {"id": "choice", "type": "Elsa.If", "condition": true,
                    "then": {"id": "inside", "type": "Elsa.WriteLine", "text": "yes"}},
                {"id": "endless", "type": "Elsa.While", "condition": true,
                    "body": {"id": "again", "type": "Elsa.WriteLine", "text": "again"}}]},
        "variables": [
            {"id": "v1", "name": "Count", "typeName": "Int32", "value": 3},
            {"id": "v2", "name": "Other", "typeName": "String", "value": "kept"}],
        "customProperties": {"VariableTestValues": {"v1": 41}}}, "publish": false});
    let saved = world.post(&format!("{API}/workflow-definitions"), &definition).await.expect(201);
    saved["workflowDefinition"]["id"].as_str().unwrap().to_owned()
}

/// The request of Elsa Studio's Test tab.
fn test_of(version_id: &str, node_id: &str) -> Value {
    json!({
        "workflowDefinitionHandle": {"definitionId": null, "versionOptions": null,
            "definitionVersionId": version_id},
        "activityHandle": {"activityId": null, "activityNodeId": node_id,
            "activityInstanceId": null, "activityHash": null},
    })
}

#[tokio::test]
async fn an_activity_is_tried_out_and_nothing_leaves() {
    let world = World::new().await;
    let id = draft(&world).await;
    let run = async |activity: &str| {
        let sent = test_of(&id, &format!("Workflow1:f1:{activity}"));
        world.post(&format!("{API}/tests/activities"), &sent).await.expect(200)
    };
    let line = run("line").await;
    assert_eq!(line["status"], "Completed", "{line:#}");
    assert_eq!(line["activityState"]["Text"], "in 42 kept");
    assert_eq!(line["payload"]["Outcomes"], json!(["Done"]), "{line:#}");
    assert_eq!((&line["exception"], &line["notSent"]), (&Value::Null, &json!([])));
    assert!(line["outputs"].is_object(), "{line:#}");
    assert_eq!(run("script").await["outputs"]["Result"], json!({"n": 41}));
    assert_eq!(run("choice").await["status"], "Completed");

    let http = run("http").await;
    assert_eq!(http["status"], "Running", "{http:#}");
    assert_eq!(http["notSent"], json!(["GET https://shop.example/orders?…"]));
    assert!(!http.to_string().contains("very-secret"), "{http:#}");
    assert_eq!(run("event").await["notSent"], json!(["the event Ordered"]));

    let failed = run("fails").await;
    assert_eq!(failed["status"], "Faulted");
    for member in ["type", "message", "stackTrace", "innerException", "metadata"] {
        assert!(failed["exception"].get(member).is_some(), "{member} of {failed:#}");
    }
    assert_eq!(failed["exception"]["message"], "it rained");
    assert_ne!(run("endless").await["status"], "Completed");

    let all = world.get(INSTANCES).await.expect(200);
    assert_eq!(all["totalCount"], 0, "a test run stores no instance");
    let latest = world.get(&format!("{API}/workflow-definitions/tried")).await.expect(200);
    assert_eq!((&latest["id"], &latest["version"]), (&json!(id), &json!(1)));
    let audit = world.get(&format!("{API}/audit")).await.expect(200);
    assert_eq!(audit["items"][0]["what"], "activity.test", "{audit:#}");
}

#[tokio::test]
async fn what_cannot_be_tried_out_is_refused() {
    let world = World::new().await;
    let id = draft(&world).await;
    let path = format!("{API}/tests/activities");
    let refused = async |sent: Value| world.post(&path, &sent).await.problem(400);
    let missing = async |sent: Value| world.post(&path, &sent).await.problem(404);
    assert!(refused(json!({})).await.contains("names no workflow"));
    assert!(missing(test_of("nothing", "Workflow1:f1:line")).await.contains("no such version"));
    assert!(missing(test_of(&id, "Workflow1:f1:nothing")).await.contains("no such activity"));
    let hash = json!({"workflowDefinitionHandle": {"definitionVersionId": id},
        "activityHandle": {"activityHash": "abc"}});
    assert!(refused(hash).await.contains("activityHash"));
    let other = json!({"workflowDefinitionHandle": {"definitionId": "tried", "versionOptions": "?"},
        "activityHandle": {"activityId": "line"}});
    assert!(refused(other).await.contains("versionOptions"));
    // By the definition, with members in another case.
    let sent = json!({"WorkflowDefinitionHandle": {"DefinitionId": "tried", "VersionOptions": "Latest"},
        "ACTIVITYHANDLE": {"activityid": "line"}});
    assert_eq!(world.post(&path, &sent).await.expect(200)["status"], "Completed");
}

#[tokio::test]
async fn an_activity_is_tried_out_with_the_values_of_an_instance() {
    let world = World::new().await;
    let definition = json!({"definitionId": "order", "root": {"id": "s", "type": "Elsa.Sequence",
        "activities": [
            {"id": "set", "type": "Elsa.SetVariable", "variable": {"id": "v", "name": "N"},
                "value": 7},
            {"id": "wait", "type": "Elsa.Event", "eventName": "go"},
            {"id": "line", "type": "Elsa.WriteLine", "text": {"js": "'n is ' + variables.N"}}]},
        "variables": [{"id": "v", "name": "N", "typeName": "Int32", "value": 1}]});
    world.post(&format!("{API}/workflow-definitions"), &definition).await.expect(201);
    let id = world.begin("order").await;
    let sent = |activity: Value| json!({"workflowDefinitionHandle": {"definitionId": "order"}, "activityHandle": activity});
    let path = format!("{API}/tests/activities");
    let plain = world.post(&path, &sent(json!({"activityId": "line"}))).await.expect(200);
    assert_eq!(plain["activityState"]["Text"], "n is 1");
    let within = json!({"activityId": "line", "activityInstanceId": format!("{id}:0")});
    let within = world.post(&path, &sent(within)).await.expect(200);
    assert_eq!(within["activityState"]["Text"], "n is 7", "{within:#}");
    let path_of = format!("{API}/activity-executions/list?workflowInstanceId={id}&activityId=set");
    let execution = world.get(&path_of).await.expect(200)["items"][0]["id"].clone();
    let again = sent(json!({"activityInstanceId": execution}));
    assert_eq!(world.post(&path, &again).await.expect(200)["status"], "Completed");
    let other = sent(json!({"activityInstanceId": "nothing:3"}));
    assert!(world.post(&path, &other).await.problem(404).contains("no execution"));
}

#[tokio::test]
async fn retries_are_listed_as_elsa_lists_them() {
    let retry = model::Retry::read(&json!({"attempts": 4, "delay": "2s"})).unwrap();
    let retries = model::Retries::from_iter([("http".to_owned(), retry)]);
    let world = World::with(Config { retries, ..Config::default() }).await;
    let list = world.get(&format!("{API}/resilience/strategies?category=HTTP")).await.expect(200);
    assert_eq!(
        list,
        json!({"count": 1, "items": [{"$type": "HttpResilienceStrategy", "id": "http",
            "displayName": "http", "maxRetryAttempts": 3, "useJitter": false,
            "delay": "00:00:02", "backoffType": "Exponential"}]})
    );
    let features = world.get(&format!("{API}/features/installed/Elsa.Resilience")).await;
    assert_eq!(features.expect(200)["fullName"], "Elsa.Resilience");
    world.get(&format!("{API}/features/installed/Elsa.Identity")).await.problem(404);
    let http = world.get(&format!("{API}/descriptors/activities/Elsa.SendHttpRequest")).await;
    assert_eq!(http.expect(200)["customProperties"]["ResilienceCategory"], "HTTP");

    // Nobody answers at any URL.
    let root = json!({"type": "Elsa.Sequence", "id": "s", "activities": [
        {"type": "Elsa.SendHttpRequest", "id": "call", "url": "https://shop.example",
            "customProperties": {"retry": {"attempts": 3, "delay": "00:00:00.01"}}}]});
    world.publish("calls", root).await;
    let path = format!("{API}/workflow-definitions/calls/execute");
    let ran = world.post(&path, &json!({})).await;
    let id = ran.header("x-elsa-workflow-instance-id").unwrap().to_owned();
    world.until(&id, "Faulted").await;
    let path = format!("{API}/activity-executions/list?WorkflowInstanceId={id}");
    let records = world.get(&path).await.expect(200)["items"].as_array().unwrap().clone();
    for record in &records {
        assert_eq!(record["metadata"]["HasRetryAttempts"], true, "{record:#}");
    }
    let call = records.iter().find(|record| record["activityId"] == "call").unwrap();
    let execution = call["id"].as_str().unwrap();
    let path = format!("{API}/resilience/retries/{execution}");
    let got = world.get(&format!("{path}?skip=0&take=1")).await.expect(200);
    assert_eq!((&got["totalCount"], got["items"].as_array().unwrap().len()), (&json!(2), 1));
    let first = &got["items"][0];
    assert_eq!(first["activityInstanceId"], execution);
    assert_eq!((&first["activityId"], &first["workflowInstanceId"]), (&json!("call"), &json!(id)));
    assert_eq!(
        (&first["attemptNumber"], &first["retryDelay"]),
        (&json!(0), &json!("00:00:00.0100000"))
    );
    assert!(first["id"].is_string() && first["details"]["Reason"].is_string(), "{first:#}");
    let rest = world.get(&format!("{path}?skip=1")).await.expect(200);
    assert_eq!(rest["items"][0]["attemptNumber"], 1);
    for nothing in ["nothing", "nothing:1"] {
        let got = world.get(&format!("{API}/resilience/retries/{nothing}")).await.expect(200);
        assert_eq!(got, json!({"items": [], "totalCount": 0}));
    }
}

/// A filter as Elsa's client writes it: every member, null if it is not set.
fn written_filter(definition_id: &str) -> Value {
    json!({"emptyFilterSelectsAll": false, "workflowInstanceIds": null, "correlationIds": null,
        "names": null, "searchTerm": null, "timestampFilters": null,
        "definitionIds": [definition_id], "definitionVersionIds": null, "hasIncidents": null,
        "isSystem": null, "statuses": null, "subStatuses": null, "activityFilters": null})
}

#[tokio::test]
async fn alterations_are_asked_for_as_elsas_client_does() {
    let world = World::new().await;
    world.publish("w", waits_for("go")).await;
    let id = world.begin("w").await;
    let path = format!("{API}/alterations/dry-run");
    let got = world.post(&path, &written_filter("w")).await.expect(200);
    assert_eq!(got["workflowInstanceIds"], json!([id]));

    let retry = format!("{API}/alterations/workflows/retry");
    let got = world.get(&format!("{retry}?WorkflowInstanceIds={id}&WorkflowInstanceIds=x")).await;
    let results = got.expect(200)["results"].as_array().unwrap().clone();
    assert_eq!(results.len(), 2);
    for result in &results {
        assert!(result["workflowInstanceId"].is_string(), "{result:#}");
        assert_eq!(result["isSuccessful"], false, "{result:#}");
        assert!(result["workflowHasScheduledWork"].is_boolean(), "{result:#}");
        let entry = &result["log"]["logEntries"][0];
        assert!(entry["message"].is_string() && entry["timestamp"].is_string(), "{result:#}");
        assert_eq!(entry["logLevel"], "Error");
    }
    let head = axum::http::Request::head(format!("{retry}?workflowInstanceIds={id}"));
    let head = world.send(head.body(axum::body::Body::empty()).unwrap()).await;
    assert_eq!(head.status, 405, "a HEAD changes nothing");

    let plan = json!({"id": null, "alterations": [{"type": "Cancel"}],
        "filter": written_filter("w")});
    let sent = world.post(&format!("{API}/alterations/submit"), &plan).await.expect(200);
    let plan_id = sent["planId"].as_str().unwrap();
    world.until(&id, "Cancelled").await;
    let plan = world.get(&format!("{API}/alterations/{plan_id}")).await.expect(200);
    for member in ["id", "status", "createdAt"] {
        assert!(plan["plan"][member].is_string(), "{member} of {plan:#}");
    }
    assert!(plan["plan"]["alterations"].is_array() && plan["jobs"].is_array(), "{plan:#}");
}

/// Also inside an alteration; the value of `type` is read exactly, as Elsa reads it.
#[tokio::test]
async fn the_members_of_alterations_are_read_in_any_case() {
    let world = World::new().await;
    world.publish("w", waits_for("go")).await;
    let id = world.begin("w").await;
    world.publish("w", waits_for("stop")).await;
    let (dry_run, run) = (format!("{API}/alterations/dry-run"), format!("{API}/alterations/run"));
    let submit = format!("{API}/alterations/submit");
    let alter = format!("{API}/workflow-instances/{id}/alter");
    let migrate = json!([{"type": "Migrate", "TargetVersion": 2, "Activities": {"wait": "wait"}}]);
    let body = json!({"DefinitionIds": ["w"], "Alterations": migrate});
    let dry = world.post(&dry_run, &body).await.expect(200);
    assert_eq!((&dry["checkedCount"], &dry["misfitCount"]), (&json!(1), &json!(0)), "{dry:#}");
    let body = json!({"Alterations": migrate, "DryRun": true});
    assert_eq!(world.post(&alter, &body).await.expect(200)["fits"], true);
    let body = json!({"WorkflowInstanceIds": [id], "Alterations": migrate});
    let ran = world.post(&run, &body).await.expect(200);
    assert_eq!(ran["results"][0]["isSuccessful"], true, "{ran:#}");
    let plan = json!({"Id": "p", "Filter": {"DefinitionIds": ["w"]},
        "Alterations": [{"Type": "Cancel", "Reason": "enough"}]});
    world.post(&submit, &plan).await.expect(200);
    world.until(&id, "Cancelled").await;
    let kept = world.get(&format!("{API}/alterations/p")).await.expect(200);
    let written = json!([{"type": "Cancel", "reason": "enough"}]);
    assert_eq!(kept["plan"]["alterations"], written);

    let wrong = json!([{"type": "Unpause"},
        {"type": "Migrate", "targetVersion": 2, "activities": {"a": 1}}]);
    let other = json!([{"type": "cancel"}]);
    for (alterations, expected) in [
        (wrong, "alterations[1].activities[\"a\"] is 1, and has to be a text"),
        (other, "alterations[0].type is \"cancel\", and has to be one of Cancel,"),
    ] {
        for (path, body) in [
            (&dry_run, json!({"alterations": alterations})),
            (&run, json!({"alterations": alterations, "workflowInstanceIds": [id]})),
            (&submit, json!({"alterations": alterations, "filter": {}})),
            (&alter, json!({"alterations": alterations})),
        ] {
            let detail = world.post(path, &body).await.problem(400);
            assert!(detail.starts_with(expected), "{path}: {detail}");
        }
    }
}

#[tokio::test]
async fn pages_may_be_in_the_query_of_a_post_and_members_in_any_case() {
    let world = World::new().await;
    world.publish("w", waits_for("go")).await;
    for _ in 0..3 {
        world.begin("w").await;
    }
    for path in [format!("{INSTANCES}/query"), INSTANCES.to_owned()] {
        let page = format!("{path}?Page=1&PageSize=2");
        let got = world.post(&page, &json!({"DefinitionIds": ["w"], "page": null})).await;
        let got = got.expect(200);
        assert_eq!((&got["totalCount"], got["items"].as_array().unwrap().len()), (&json!(3), 1));
        let got = world.post(&path, &json!({"PAGESIZE": 2, "definitionids": null})).await;
        assert_eq!(got.expect(200)["items"].as_array().unwrap().len(), 2);
        let refused = world.post(&path, &json!({"pageSize": 2, "PageSize": 3})).await.problem(400);
        assert!(refused.contains("duplicate field"), "{refused}");
    }
    let started = world.post(INSTANCES, &json!({"DefinitionId": "w", "InstanceId": "mine"})).await;
    assert_eq!(started.expect(200)["workflowInstanceId"], "mine");
    let path =
        format!("{API}/bulk-actions/export/workflow-instances?ids=mine&IncludeBookmarks=False");
    assert_eq!(world.get(&path).await.expect(200)["bookmarks"], json!([]));
}

#[tokio::test]
async fn a_run_begins_with_given_variables_and_at_a_given_activity() {
    let world = World::new().await;
    let definition = json!({"definitionId": "order", "root": {"id": "f", "type": "Elsa.Flowchart",
        "activities": [
            {"id": "a", "type": "Elsa.SetOutput", "outputName": "begin", "outputValue": "a"},
            {"id": "b", "type": "Elsa.SetOutput", "outputName": "n",
                "outputValue": {"js": "variables.N + (getInput('Add') ?? 0)"}}],
        "connections": [{"source": {"activity": "a"}, "target": {"activity": "b"}}]},
        "inputs": [{"name": "Add", "type": "Int32"}],
        "variables": [{"id": "v", "name": "N", "typeName": "Int32", "value": 1}]});
    world.post(&format!("{API}/workflow-definitions"), &definition).await.expect(201);
    let path = format!("{API}/workflow-definitions/order/execute");
    let output = |body: Value| body["workflowState"]["output"].clone();
    let run = json!({"correlationId": null, "triggerActivityId": null, "versionOptions": null,
        "input": {"Add": 1}, "variables": {"N": 5},
        "activityHandle": {"activityId": null, "activityNodeId": "Workflow1:f:b",
            "activityInstanceId": null, "activityHash": null}});
    assert_eq!(output(world.post(&path, &run).await.expect(200)), json!({"n": 6}));
    let query = "input=%7B%22Add%22%3A2%7D&variables=%7B%22v%22%3A7%7D";
    let got = world.get(&format!("{path}?{query}")).await.expect(200);
    assert_eq!(output(got), json!({"begin": "a", "n": 9}));
    assert!(world.get(&format!("{path}?input=%5B")).await.problem(400).contains("parameter input"));
    for (unfit, status) in [
        (json!({"activityHandle": {"activityId": "nothing"}}), 404),
        (json!({"triggerActivityId": "nothing"}), 404),
        (json!({"variables": {"N": "many"}}), 400),
    ] {
        world.post(&path, &unfit).await.problem(status);
    }
    let nothing = json!({"triggerActivityId": ""});
    assert_eq!(
        output(world.post(&path, &nothing).await.expect(200)),
        json!({"begin": "a", "n": 1})
    );
    let nowhere = json!({"activityHandle": {"activityInstanceId": "x:1"}});
    assert!(world.post(&path, &nowhere).await.problem(400).contains("activityId"));
}

#[tokio::test]
async fn an_event_may_be_for_one_execution() {
    let world = World::new().await;
    let wait = |id: &str| json!({"type": "Elsa.Event", "id": id, "eventName": "go"});
    let root = json!({"type": "Elsa.Parallel", "id": "p", "activities": [wait("a"), wait("b")]});
    world.publish("both", root).await;
    let id = world.begin("both").await;
    let bookmarks = async || {
        let got = world.get(&format!("{INSTANCES}/{id}/bookmarks")).await.expect(200);
        got["items"].as_array().unwrap().clone()
    };
    let open = bookmarks().await;
    let execution = open[0]["activityInstanceId"].clone();
    let event = json!({"workflowInstanceId": null, "activityInstanceId": execution,
        "correlationId": null, "input": null, "workflowExecutionMode": "Synchronous"});
    let path = format!("{API}/events/go/trigger");
    assert_eq!(world.post(&path, &event).await.expect(200)["affected"], 1);
    let left = bookmarks().await;
    assert_eq!(left.len(), 1);
    assert_ne!(left[0]["activityInstanceId"], execution);
    assert!(world.post(&path, &event).await.problem(404).contains("does not wait"));
}

#[tokio::test]
async fn instances_of_one_version_are_cancelled() {
    let world = World::new().await;
    world.publish("w", waits_for("a")).await;
    let old = world.begin("w").await;
    world.publish("w", waits_for("b")).await;
    let new = world.begin("w").await;
    let path = format!("{API}/bulk-actions/cancel/workflow-instances");
    let sent = json!({"ids": null, "definitionVersionId": null, "definitionId": "w",
        "versionOptions": "Published"});
    assert_eq!(world.post(&path, &sent).await.expect(200)["cancelled"], 1);
    world.until(&new, "Cancelled").await;
    world.until(&old, "Suspended").await;
    let wrong = json!({"definitionId": "w", "versionOptions": "?"});
    assert!(world.post(&path, &wrong).await.problem(400).contains("versionOptions"));
    world.publish("x", writes_line()).await;
    let none = json!({"definitionId": "x", "versionOptions": "Draft"});
    assert_eq!(world.post(&path, &none).await.expect(200)["cancelled"], 0);
}
