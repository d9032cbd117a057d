use std::time::Duration;

use serde_json::json;

use super::world::{World, json_request, send_to, waits_for, writes_line};
use crate::Config;

const API: &str = "/elsa/api";

fn adds() -> serde_json::Value {
    json!({"type": "Elsa.SetOutput", "id": "out", "outputName": "Sum",
        "outputValue": {"typeName": "Object", "expression": {"type": "JavaScript", "value": "getInput('A') + getInput('B')"}}})
}

async fn with_sum() -> World {
    let world = World::new().await;
    let definition = json!({"definitionId": "sum", "root": adds(),
        "inputs": [{"name": "A", "type": "Int32"}, {"name": "B", "type": "Int32"}],
        "outputs": [{"name": "Sum", "type": "Int32"}]});
    world.post(&format!("{API}/workflow-definitions"), &definition).await.expect(201);
    world
}

/// A join waits for a path that is not followed: in counter mode it is passed over, in token mode it
/// is an incident.
#[tokio::test]
async fn the_properties_of_a_start_choose_how_its_flowcharts_run() {
    let world = World::new().await;
    let link = |source: &str, port: &str, target: &str| json!({"source": {"activity": source, "port": port}, "target": {"activity": target}});
    let line = |id: &str| json!({"type": "Elsa.WriteLine", "id": id, "text": id});
    let chart = json!({"type": "Elsa.Flowchart", "id": "chart", "activities": [
            {"type": "Elsa.FlowDecision", "id": "choose", "condition": false},
            line("a"), line("b"), {"type": "Elsa.FlowJoin", "id": "join", "mode": "WaitAll"}],
        "connections": [link("choose", "True", "a"), link("choose", "False", "b"),
            link("a", "Done", "join"), link("b", "Done", "join")]});
    world.publish("chart", chart).await;
    let execute = format!("{API}/workflow-definitions/chart/execute");
    world.post(&execute, &json!({})).await.expect(200);
    let tokens = json!({"Flowchart:ExecutionMode": "TokenBased"});
    let answer = world.post(&execute, &json!({"properties": tokens})).await;
    assert!(answer.expect(500).to_string().contains("activity join waits for a token"));
    let body = json!({"definitionId": "chart", "properties": tokens});
    let started = world.post(&format!("{API}/workflow-instances"), &body).await.expect(200);
    assert_eq!(started["subStatus"], "Faulted", "{started:#}");
    let unknown = json!({"definitionId": "chart",
        "properties": {"Flowchart:ExecutionMode": "Quick"}});
    for path in [execute, format!("{API}/workflow-instances")] {
        let detail = world.post(&path, &unknown).await.problem(400);
        assert!(detail.contains("no execution mode \"Quick\": use TokenBased"), "{detail}");
    }
}

#[tokio::test]
async fn execute_waits_for_the_result() {
    let world = with_sum().await;
    let path = format!("{API}/workflow-definitions/sum/execute");
    let answer = world.post(&path, &json!({"input": {"A": 2, "B": 3}, "correlationId": "c"})).await;
    let id = answer.header("x-elsa-workflow-instance-id").unwrap().to_owned();
    let state = answer.expect(200)["workflowState"].clone();
    assert_eq!((&state["id"], &state["subStatus"]), (&json!(id), &json!("Finished")));
    assert_eq!((&state["output"]["Sum"], &state["correlationId"]), (&json!(5), &json!("c")));
    let state = world.get(&path).await.expect(200)["workflowState"].clone();
    assert_eq!(state["subStatus"], "Finished");
}

#[tokio::test]
async fn a_workflow_that_faults_is_a_problem_with_its_state() {
    let world = World::new().await;
    world
        .publish("bad", json!({"type": "Elsa.Fault", "id": "f", "code": "X", "message": "broken"}))
        .await;
    let answer = world.post(&format!("{API}/workflow-definitions/bad/execute"), &json!({})).await;
    assert_eq!(answer.body["workflowState"]["subStatus"], "Faulted");
    assert!(answer.problem(500).contains("broken"));
}

#[tokio::test]
async fn what_a_workflow_writes_is_the_answer() {
    let world = World::new().await;
    let root = json!({"type": "Elsa.WriteHttpResponse", "id": "w", "statusCode": "NotFound",
        "content": "nothing", "contentType": "text/plain"});
    world.publish("answers", root).await;
    let answer =
        world.post(&format!("{API}/workflow-definitions/answers/execute"), &json!({})).await;
    assert_eq!(answer.header("content-type"), Some("text/plain"));
    assert_eq!(answer.expect(404), "nothing");
}

#[tokio::test]
async fn a_response_that_is_too_large_for_a_message_comes_from_the_instance() {
    const BYTES: usize = 2 * 1024 * 1024;
    let world = World::new().await;
    let script = format!("'x'.repeat({BYTES})");
    let content =
        json!({"typeName": "Object", "expression": {"type": "JavaScript", "value": script}});
    let root = json!({"type": "Elsa.WriteHttpResponse", "id": "w", "content": content,
        "contentType": "text/plain"});
    world.publish("large", root).await;
    let answer = world.post(&format!("{API}/workflow-definitions/large/execute"), &json!({})).await;
    assert_eq!(answer.expect(200).as_str().map(str::len), Some(BYTES));
}

#[tokio::test]
async fn a_start_answers_after_the_first_burst() {
    let world = World::new().await;
    world.publish("waits", waits_for("go")).await;
    let body = json!({"definitionId": "waits", "input": {"A": 1}, "instanceId": "mine", "name": "n",
        "correlationId": "c"});
    let answer = world.post(&format!("{API}/workflow-instances"), &body).await.expect(200);
    assert_eq!(answer["workflowInstanceId"], "mine");
    assert_eq!((&answer["status"], &answer["subStatus"]), (&json!("Running"), &json!("Suspended")));
    assert_eq!(
        (&answer["definitionId"], &answer["definitionVersion"]),
        (&json!("waits"), &json!(1))
    );
    assert_eq!(answer["bookmarks"].as_array().unwrap().len(), 1);
    let detail = world.post(&format!("{API}/workflow-instances"), &body).await.problem(409);
    assert!(detail.contains("there is an instance mine already"), "{detail}");
}

#[tokio::test]
async fn respond_async_answers_on_acceptance_and_the_instance_can_be_read() {
    let config = Config::default();
    let world = World::without_executor(config).await;
    world.publish("line", writes_line()).await;
    let body = json!({"definitionId": "line", "input": {"A": 1}});
    let path = format!("{API}/workflow-instances");
    let answer = world.post_with(&path, &[("prefer", "respond-async")], &body).await;
    let location = answer.header("location").unwrap().to_owned();
    let id = answer.expect(202)["workflowInstanceId"].as_str().unwrap().to_owned();
    let read = world.get(&location).await.expect(200);
    assert_eq!((&read["id"], &read["subStatus"]), (&json!(id), &json!("Pending")));
    assert_eq!(read["workflowState"]["input"], json!({"A": 1}));
    world.start_executor().await;
    world.until(&id, "Finished").await;
}

#[tokio::test]
async fn a_run_that_takes_longer_than_the_caller_waits_is_accepted() {
    let config = Config { answer_time_max: Duration::from_millis(50), ..Config::default() };
    let world = World::without_executor(config).await;
    world.publish("line", writes_line()).await;
    let path = format!("{API}/workflow-definitions/line/execute");
    let answer = world.post(&path, &json!({})).await;
    assert!(answer.header("location").is_some());
    assert_eq!(answer.expect(202)["subStatus"], "Pending");
}

#[tokio::test]
async fn a_lost_outcome_is_read_from_the_row_at_the_end_of_the_wait() {
    let config = Config { answer_time_max: Duration::from_millis(1_500), ..Config::default() };
    let world = World::with(config).await;
    world.publish("line", writes_line()).await;
    let root = json!({"type": "Elsa.Sequence", "activities": [
        {"type": "Elsa.HttpEndpoint", "path": "/say", "supportedMethods": ["GET"],
            "canStartWorkflow": true},
        {"type": "Elsa.WriteHttpResponse", "content": "said"}]});
    world.publish("say", root).await;
    world.broken.deafen();
    let start = json!({"definitionId": "line"});
    let started = world.post(&format!("{API}/workflow-instances"), &start).await.expect(200);
    assert_eq!(started["subStatus"], "Finished");
    let path = format!("{API}/workflow-definitions/line/execute");
    let run = world.post(&path, &json!({})).await.expect(200);
    assert_eq!(run["workflowState"]["subStatus"], "Finished");
    assert_eq!(world.get("/workflows/say").await.expect(200), "said");
}

#[tokio::test]
async fn the_same_key_gives_the_same_instance_and_the_same_answer() {
    let world = with_sum().await;
    let other = world.another().await;
    let path = format!("{API}/workflow-definitions/sum/execute");
    let (key, body) = ([("idempotency-key", "k1")], json!({"input": {"A": 1, "B": 1}}));
    let first = world.post_with(&path, &key, &body).await;
    let id = first.header("x-elsa-workflow-instance-id").unwrap().to_owned();
    let again = world.post_with(&path, &key, &body).await;
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(again.header("x-elsa-workflow-instance-id"), Some(id.as_str()));
    assert_eq!(again.body, first.body);
    // Another node, and the other mount.
    let path = "/api/workflow-definitions/sum/execute";
    let elsewhere = send_to(&other, json_request("POST", path, &key, &body)).await;
    assert_eq!(elsewhere.header("x-elsa-workflow-instance-id"), Some(id.as_str()));
    assert_eq!(elsewhere.expect(200)["workflowState"]["output"]["Sum"], 2);
    let different = world.post_with(path, &key, &json!({})).await.problem(422);
    assert!(different.contains("was used with another body"), "{different}");
    let list = world.get("/api/workflow-instances").await.expect(200);
    assert_eq!(list["totalCount"], 1);
}

#[tokio::test]
async fn simultaneous_requests_of_one_key_start_one_instance() {
    let world = with_sum().await;
    let path = format!("{API}/workflow-instances");
    let body = json!({"definitionId": "sum", "input": {"A": 1, "B": 2}});
    let starts = (0..20).map(|_| world.post_with(&path, &[("idempotency-key", "once")], &body));
    let answers = futures::future::join_all(starts).await;
    let ids: std::collections::BTreeSet<_> = answers
        .iter()
        .map(|answer| {
            assert!(answer.status.is_success(), "{answer:?}");
            answer.body["workflowInstanceId"].as_str().unwrap()
        })
        .collect();
    assert_eq!(ids.len(), 1);
    assert_eq!(world.get(&path).await.expect(200)["totalCount"], 1);
}

#[tokio::test]
async fn dispatch_answers_at_once_and_in_bulk() {
    let world = with_sum().await;
    let path = format!("{API}/workflow-definitions/sum/dispatch");
    let body = world.post(&path, &json!({"input": {"A": 1, "B": 1}})).await.expect(200);
    world.until(body["workflowInstanceId"].as_str().unwrap(), "Finished").await;
    // A number of instances that no request may have is wrong where one is started, too.
    world.post(&path, &json!({"count": 100_000})).await.problem(400);
    let path = format!("{API}/workflow-definitions/sum/bulk-dispatch");
    let body = world.post(&path, &json!({"count": 3})).await.expect(200);
    assert_eq!(body["workflowInstanceIds"].as_array().unwrap().len(), 3);
    world.post(&path, &json!({"count": 100_000})).await.problem(400);
}

#[tokio::test]
async fn a_singleton_runs_once_at_a_time() {
    let world = World::new().await;
    let definition = json!({"definitionId": "one", "root": waits_for("go"), "options":
        {"activationStrategyType": "Elsa.Workflows.ActivationValidators.SingletonStrategy, Elsa.Workflows.Core"}});
    world.post(&format!("{API}/workflow-definitions"), &definition).await.expect(201);
    let id = world.begin("one").await;
    let body = json!({"definitionId": "one"});
    let answer = world.post(&format!("{API}/workflow-instances"), &body).await;
    assert_eq!(answer.body["workflowInstanceId"], json!(id));
    answer.problem(409);
}

#[tokio::test]
async fn a_run_that_cannot_start_names_the_instance_in_the_way() {
    let world = World::new().await;
    let definitions = format!("{API}/workflow-definitions");
    let definition = json!({"definitionId": "one", "root": waits_for("go"),
        "options": {"activationStrategyType": "Singleton"}});
    world.post(&definitions, &definition).await.expect(201);
    let id = world.begin("one").await;
    let run = json!({"correlationId": null, "triggerActivityId": null,
        "versionOptions": "Latest", "input": null});
    let path = format!("{definitions}/one/execute");
    let (instances, start) = (format!("{API}/workflow-instances"), json!({"definitionId": "one"}));
    for refused in [
        world.post(&path, &run).await,
        world.get(&path).await,
        world.post(&format!("{definitions}/one/dispatch"), &run).await,
        world.post(&instances, &start).await,
        world.post(&format!("{instances}/start"), &start).await,
        world.post(&format!("{instances}/{id}/restart"), &json!({})).await,
    ] {
        assert_eq!(refused.header("x-elsa-workflow-cannot-start"), Some("True"));
        assert_eq!(refused.header("x-elsa-workflow-instance-id"), Some(id.as_str()));
        refused.problem(409);
    }
    let list = world.get(&format!("{API}/workflow-instances?definitionId=one")).await.expect(200);
    assert_eq!(list["totalCount"], 1, "no instance is stored for a refused start");
    // What is refused for another reason says nothing about starts.
    let unknown = world.post(&format!("{definitions}/nope/execute"), &run).await;
    assert_eq!(unknown.header("x-elsa-workflow-cannot-start"), None);
    unknown.problem(404);
}
