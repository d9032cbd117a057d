use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

use super::world::{World, json_request};
use crate::{Auth, Config};

/// Answers with the request that it got.
fn echo(path: &str, more: &[(&str, Value)]) -> Value {
    let mut endpoint = json!({"type": "Elsa.HttpEndpoint", "id": "http", "path": path,
        "supportedMethods": ["GET", "POST"], "canStartWorkflow": true,
        "result": {"typeName": "Object", "memoryReference": {"id": "req"}}});
    for (name, value) in more {
        endpoint[*name] = value.clone();
    }
    json!({"type": "Elsa.Sequence", "id": "seq",
        "variables": [{"id": "req", "name": "Request", "typeName": "Object"}],
        "activities": [endpoint,
            {"type": "Elsa.WriteHttpResponse", "id": "w", "content": {"typeName": "Object",
                "expression": {"type": "JavaScript", "value": "getVariable('Request')"}}}]})
}

#[tokio::test]
async fn a_request_starts_a_workflow_and_gets_its_answer() {
    let world = World::new().await;
    world.publish("echo", echo("orders/{orderId}", &[])).await;
    let request =
        json_request("POST", "/workflows/Orders/A7?x=1", &[("x-from", "me")], &json!({"n": 1}));
    let answer = world.send(request).await;
    let id = answer.header("x-elsa-workflow-instance-id").unwrap().to_owned();
    assert_eq!(answer.header("content-type"), Some("application/json; charset=utf-8"));
    let seen = answer.expect(200);
    assert_eq!(seen["routeData"], json!({"orderid": "A7"}));
    assert_eq!((&seen["body"], &seen["query"]), (&json!({"n": 1}), &json!({"x": "1"})));
    assert_eq!((&seen["method"], &seen["headers"]["X-From"]), (&json!("POST"), &json!("me")));
    assert_eq!(
        (&seen["path"], &seen["template"]),
        (&json!("/workflows/Orders/A7"), &json!("/orders/{orderid}"))
    );
    world.until(&id, "Finished").await;
}

#[tokio::test]
async fn what_nothing_waits_for_is_not_found_and_other_methods_are_not_allowed() {
    let world = World::new().await;
    assert!(world.get("/workflows/nope").await.problem(404).contains("no workflow begins with"));
    world.publish("echo", echo("echo", &[])).await;
    let answer = world.delete("/workflows/echo").await;
    assert_eq!(answer.header("allow"), Some("GET, POST"));
    answer.problem(405);
    let bad = Request::get("/workflows/%ff").body(Body::empty()).unwrap();
    world.send(bad).await.problem(400);
    world.post("/elsa/api/workflow-definitions/echo/retract", &json!({})).await.expect(200);
    world.get("/workflows/echo").await.problem(404);
}

#[tokio::test]
async fn a_nul_in_the_path_of_an_endpoint_reaches_no_workflow() {
    let world = World::new().await;
    world.publish("echo", echo("orders/{orderId}", &[])).await;
    for path in ["/workflows/orders/a%00", "/workflows/%00", "/workflows/orders/%00b/c"] {
        for method in ["GET", "POST", "DELETE"] {
            let request = json_request(method, path, &[], &json!({}));
            let detail = world.send(request).await.problem(400);
            assert_eq!(
                detail, "the path has a NUL character (%00): leave it out",
                "{method} {path}"
            );
        }
    }
    // The text of three characters is none.
    let seen = world.get("/workflows/orders/a%2500").await.expect(200);
    assert_eq!(seen["routeData"], json!({"orderid": "a%00"}));
}

#[tokio::test]
async fn a_workflow_without_a_response_answers_with_an_empty_200() {
    let world = World::new().await;
    let root = json!({"type": "Elsa.Sequence", "id": "s", "activities": [
        {"type": "Elsa.HttpEndpoint", "id": "h", "path": "quiet", "canStartWorkflow": true},
        {"type": "Elsa.Event", "id": "e", "eventName": "go"}]});
    world.publish("quiet", root).await;
    let answer = world.get("/workflows/quiet").await;
    assert!(answer.header("x-elsa-workflow-instance-id").is_some());
    assert_eq!(answer.expect(200), "");
}

#[tokio::test]
async fn a_workflow_that_faults_is_a_problem() {
    let world = World::new().await;
    let root = json!({"type": "Elsa.Sequence", "id": "s", "activities": [
        {"type": "Elsa.HttpEndpoint", "id": "h", "path": "bad", "canStartWorkflow": true},
        {"type": "Elsa.Fault", "id": "f", "message": "no luck"}]});
    world.publish("bad", root).await;
    let answer = world.get("/workflows/bad").await;
    assert!(answer.body["incidents"][0].as_str().unwrap().contains("no luck"));
    assert!(answer.problem(500).contains("no luck"));
}

#[tokio::test]
async fn a_waiting_instance_is_resumed_by_its_endpoint() {
    let world = World::new().await;
    let root = json!({"type": "Elsa.Sequence", "id": "s",
        "variables": [{"id": "r", "name": "R", "typeName": "Object"}],
        "activities": [
            {"type": "Elsa.Event", "id": "first", "eventName": "begin"},
            {"type": "Elsa.HttpEndpoint", "id": "h", "path": "confirm/{code}", "supportedMethods": ["POST"],
                "routeData": {"typeName": "Object", "memoryReference": {"id": "r"}}},
            {"type": "Elsa.WriteHttpResponse", "id": "w", "content": {"typeName": "Object",
                "expression": {"type": "JavaScript", "value": "getVariable('R').code"}}}]});
    world.publish("confirm", root).await;
    world.post("/workflows/confirm/x", &json!({})).await.problem(404);
    let (one, two) = (world.begin("confirm").await, world.begin("confirm").await);
    for id in [&one, &two] {
        let path = format!("/elsa/api/workflow-instances/{id}/resume");
        world.post(&path, &json!({})).await.expect(200);
    }
    let answer = world.post("/workflows/confirm/X1", &json!({})).await;
    assert_eq!(answer.body["workflows"].as_array().unwrap().len(), 2);
    assert_eq!(answer.problem(409), "The call is ambiguous and matches multiple workflows.");
    let allowed = world.get("/workflows/confirm/X1").await;
    assert_eq!(allowed.header("allow"), Some("POST"));
    allowed.problem(405);
    let chosen = [("x-workflow-instance-id", one.as_str())];
    let answer = world.post_with("/workflows/confirm/X1", &chosen, &json!({})).await;
    assert_eq!(answer.expect(200), "X1");
    let rest =
        world.post(&format!("/workflows/confirm/X2?workflowInstanceId={two}"), &json!({})).await;
    assert_eq!(rest.expect(200), "X2");
    world.until(&two, "Finished").await;
}

#[tokio::test]
async fn the_specific_route_wins_and_equal_ones_are_ambiguous() {
    let world = World::new().await;
    world.publish("any", echo("items/{id}", &[])).await;
    world.publish("one", echo("items/new", &[])).await;
    let seen = world.get("/workflows/items/new").await.expect(200);
    assert_eq!(seen["template"], "/items/new");
    // Neither template is more specific, and only some requests match both.
    world.publish("begins", echo("files/x-{name}", &[])).await;
    world.publish("ends", echo("files/{name}-y", &[])).await;
    world.get("/workflows/files/x-1").await.expect(200);
    let answer = world.get("/workflows/files/x-1-y").await;
    assert_eq!(answer.body["workflows"].as_array().unwrap().len(), 2);
    answer.problem(409);
}

#[tokio::test]
async fn limits_of_an_endpoint_hold() {
    let config = Config { payload_bytes_max: 1_000, ..Config::default() };
    let world = World::with(config).await;
    world.publish("small", echo("small", &[("requestSizeLimit", json!(10))])).await;
    world.publish("plain", echo("plain", &[])).await;
    let large = json!({"text": "x".repeat(2_000)});
    let small = world.post("/workflows/small", &json!({"a": "0123456789"})).await.problem(413);
    assert!(small.contains("10 bytes") && small.contains("by requestSizeLimit"), "{small}");
    world.post("/workflows/small", &json!({"a": 1})).await.expect(200);
    // The API for payloads has the same limit: it is no way out.
    let plain = world.post("/workflows/plain", &large).await.problem(413);
    assert!(plain.contains("1000 bytes") && plain.contains("setting payload-bytes"), "{plain}");
    assert!(!small.contains("/payloads") && !plain.contains("/payloads"), "{small} {plain}");
}

#[tokio::test]
async fn an_endpoint_that_takes_too_long_times_out_and_goes_on() {
    let world = World::without_executor(Config::default()).await;
    world.publish("slow", echo("slow", &[("requestTimeout", json!("00:00:00.050"))])).await;
    let answer = world.get("/workflows/slow").await;
    let id = answer.body["workflowInstanceId"].as_str().unwrap().to_owned();
    assert!(answer.problem(504).contains("it goes on"));
    let accepted =
        world.post_with("/workflows/slow", &[("prefer", "respond-async")], &json!({})).await;
    assert!(accepted.header("location").is_some());
    accepted.expect(202);
    world.start_executor().await;
    world.until(&id, "Finished").await;
}

#[tokio::test]
async fn an_endpoint_may_ask_for_a_key() {
    let key = "a-bootstrap-key-of-length";
    let config = Config {
        auth: Auth::API_KEY,
        api_key: Some(key.to_owned()),
        answer_time_max: Duration::from_secs(10),
        ..Config::default()
    };
    let world = World::with(config).await;
    let admin = format!("ApiKey {key}");
    let headers = [("authorization", admin.as_str())];
    for (id, authorize) in [("open", false), ("closed", true)] {
        let definition =
            json!({"definitionId": id, "root": echo(id, &[("authorize", json!(authorize))])});
        let answer = world.post_with("/api/workflow-definitions", &headers, &definition).await;
        assert_eq!(answer.expect(201)["everywhere"], true);
    }
    world.get("/workflows/open").await.expect(200);
    world.get("/workflows/closed").await.problem(401);
    let seen = world.post_with("/workflows/closed", &headers, &json!({})).await.expect(200);
    assert!(seen["headers"].get("Authorization").is_none(), "keys are not kept");
}

#[tokio::test]
async fn the_same_key_gets_the_same_answer_of_a_workflow() {
    let world = World::new().await;
    world.publish("echo", echo("echo", &[])).await;
    let key = [("idempotency-key", "pay-1")];
    let first = world.post_with("/workflows/echo", &key, &json!({"n": 1})).await;
    let other = world.another().await;
    let request = json_request("POST", "/workflows/echo", &key, &json!({"n": 1}));
    let again = super::world::send_to(&other, request).await;
    assert_eq!(
        again.headers["x-elsa-workflow-instance-id"],
        first.headers["x-elsa-workflow-instance-id"]
    );
    assert_eq!(again.expect(200), first.body);
}
