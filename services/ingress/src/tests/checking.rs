//! Definitions that are checked without being saved, and what their activities did.

use serde_json::{Value, json};

use super::world::{World, waits_for, writes_line};
use crate::Config;

const CHECK: &str = "/elsa/api/workflow-definitions/validation/check";

#[tokio::test]
async fn a_definition_is_checked_and_not_saved() {
    let world = World::without_executor(Config::default()).await;
    let good = json!({"definitionId": "good", "root": writes_line()});
    let checked = world.post(CHECK, &good).await.expect(200);
    assert_eq!(checked, json!({"isValid": true, "problems": [], "isCutShort": false}));
    world.get("/elsa/api/workflow-definitions/good").await.problem(404);
    let root = json!({"type": "Elsa.Sequence", "id": "seq", "activities": [
        {"type": "Elsa.WriteLine", "id": "line", "text": "x"},
        {"type": "Elsa.Cron", "id": "cron", "canStartWorkflow": true, "cronExpression": "soon"},
        {"type": "Elsa.Nothing", "id": "odd"}]});
    let checked = world.post(CHECK, &json!({"model": {"root": root}})).await.expect(200);
    assert_eq!(checked["isValid"], false, "{checked:#}");
    let problems = checked["problems"].as_array().unwrap();
    let pointer = |id: &str| {
        let found = problems.iter().find(|one| one["activityId"] == id);
        found.map(|one| one["pointer"].clone()).unwrap_or_default()
    };
    assert_eq!(pointer("cron"), "/model/root/activities/1/cronExpression");
    assert_eq!(pointer("odd"), "/model/root/activities/2/type");
    let unread = json!({"definitionId": "x", "variables": [{"name": 7}], "root": waits_for("go")});
    let checked = world.post(CHECK, &unread).await.expect(200);
    assert_eq!(checked["isValid"], false, "{checked:#}");
    let place = checked["problems"][0]["pointer"].as_str().unwrap();
    assert!(place.starts_with("/variables"), "{checked:#}");
    let child = json!({"root": {"type": "Elsa.DispatchWorkflow", "id": "child",
        "workflowDefinitionId": "nobody"}});
    let checked = world.post(CHECK, &child).await.expect(200);
    assert_eq!(
        (&checked["isValid"], &checked["problems"][0]["severity"]),
        (&json!(true), &json!("warning"))
    );
    assert_eq!(checked["problems"][0]["pointer"], "/root/workflowDefinitionId");
    world.post(CHECK, &json!([])).await.problem(400);
    let listed = world.get("/elsa/api/workflow-definitions").await.expect(200);
    assert_eq!(listed["totalCount"], 0);
}

#[tokio::test]
async fn activities_show_how_often_they_ran_and_failed() {
    let world = World::new().await;
    let root = json!({"type": "Elsa.Sequence", "id": "seq", "activities": [
        {"type": "Elsa.WriteLine", "id": "line", "text": "x"},
        {"type": "Elsa.If", "id": "check", "condition": {"typeName": "Boolean", "expression":
            {"type": "JavaScript", "value": "if (getInput('Bad')) throw new Error('bad'); return true"}}},
        {"type": "Elsa.Event", "id": "wait", "eventName": "go"}]});
    world.publish("order", root).await;
    for bad in [false, false, true] {
        let start = json!({"definitionId": "order", "input": {"Bad": bad}});
        let started = world.post("/elsa/api/workflow-instances", &start).await.expect(200);
        let id = started["workflowInstanceId"].as_str().unwrap().to_owned();
        world.until(&id, if bad { "Faulted" } else { "Suspended" }).await;
    }
    let path = "/elsa/api/workflow-definitions/order/figures";
    let found = world.get(path).await.expect(200);
    assert_eq!((&found["instancesRead"], &found["isCutShort"]), (&json!(3), &json!(false)));
    let of = |id: &str| -> Value {
        let items = found["items"].as_array().unwrap();
        items.iter().find(|one| one["activityId"] == id).cloned().unwrap_or_default()
    };
    let line = of("line");
    assert_eq!((&line["started"], &line["completed"]), (&json!(3), &json!(3)), "{found:#}");
    assert!(line["p50Ms"].as_i64().unwrap() <= line["p95Ms"].as_i64().unwrap());
    assert_eq!((&line["running"], &line["activityType"]), (&json!(0), &json!("Elsa.WriteLine")));
    let parts: u64 =
        line["startedParts"].as_array().unwrap().iter().filter_map(Value::as_u64).sum();
    assert_eq!((parts, line["startedParts"].as_array().unwrap().len()), (3, 60));
    let check = of("check");
    assert_eq!((&check["completed"], &check["faulted"]), (&json!(2), &json!(1)), "{found:#}");
    let wait = of("wait");
    assert_eq!((&wait["running"], &wait["p50Ms"]), (&json!(2), &json!(null)), "{found:#}");
    world.get("/elsa/api/workflow-definitions/nobody/figures").await.problem(404);
    for minutes in ["0", "1441", "x"] {
        world.get(&format!("{path}?minutes={minutes}")).await.problem(400);
    }
}
