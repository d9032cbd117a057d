use axum::body::Body;
use axum::http::Request;
use serde_json::json;

use super::world::{World, json_request, writes_line};
use crate::Config;

#[tokio::test]
async fn every_bad_request_is_a_problem_that_says_why() {
    let world = World::new().await;
    world.publish("line", writes_line()).await;
    let large =
        format!(r#"{{"definitionId": "line", "input": {{"a": "{}"}}}}"#, "x".repeat(600_000));
    for (method, path, body, status, detail) in [
        ("GET", "/nowhere", "", 404, "the API is below /elsa/api"),
        ("GET", "/elsa/api/nowhere", "", 404, "there is nothing at /elsa/api/nowhere"),
        ("PATCH", "/elsa/api/workflow-instances", "", 405, "PATCH is not allowed here: use"),
        ("POST", "/api/workflow-instances", "{\n  \"a\": }", 400, "line 2 column 8"),
        ("POST", "/api/workflow-instances", "[]", 400, "not a JSON object"),
        ("POST", "/api/workflow-instances", r#"{"input": {}}"#, 400, "names no definitionId"),
        (
            "POST",
            "/api/workflow-instances",
            r#"{"definitionId": "line", "inputs": {}}"#,
            400,
            "unknown field `inputs`",
        ),
        (
            "POST",
            "/api/workflow-instances",
            r#"{"definitionId": "line", "input": 3}"#,
            400,
            "input is 3, and has to be an object",
        ),
        (
            "POST",
            "/api/workflow-instances",
            r#"{"definitionId": "line", "instanceId": "a b"}"#,
            400,
            "instance id \"a b\"",
        ),
        (
            "POST",
            "/api/workflow-instances",
            r#"{"definitionId": "nope"}"#,
            404,
            "no workflow definition \"nope\"",
        ),
        ("POST", "/api/workflow-instances", large.as_str(), 413, "524288 bytes"),
        ("POST", "/api/workflow-instances", r#"{"status": "Bad"}"#, 400, "use Running or Finished"),
        ("POST", "/api/workflow-instances", r#"{"subStatus": "Bad"}"#, 400, "is not a sub-status"),
        ("POST", "/api/workflow-instances", r#"{"orderBy": "Bad"}"#, 400, "use Created, UpdatedAt"),
        ("GET", "/api/workflow-instances?page=x", "", 400, "query parameter page is \"x\""),
        (
            "GET",
            "/api/workflow-instances?stat=Running",
            "",
            400,
            "there is no query parameter \"stat\" here: use page, pageSize",
        ),
        ("GET", "/api/workflow-instances?OrderBy=Nope", "", 400, "orderBy \"Nope\" is not valid"),
        ("GET", "/api/workflow-definitions?OrderBy=Nope", "", 400, "orderBy is \"Nope\""),
        (
            "GET",
            "/api/workflow-definitions?versionOption=Latest",
            "",
            400,
            "there is no query parameter \"versionOption\" here: use versionOptions, definitionIds",
        ),
        ("GET", "/api/workflow-instances?Page=-1", "", 400, "a whole number from 0 on"),
        (
            "POST",
            "/api/workflow-instances/query",
            r#"{"pageSize":"x"}"#,
            400,
            "the filter cannot be read: pageSize is \"x\", and has to be a whole number from 0",
        ),
        ("POST", "/api/tasks/t/complete", r#"{"attempt": -1}"#, 400, "a whole number from 1 on"),
        ("POST", "/api/tasks/t/fail", r#"{"attempt": 0}"#, 400, "numbered from 1 to 1000"),
        ("POST", "/api/identity/login", "[]", 400, "it is a list, and has to be an object"),
        (
            "GET",
            "/api/workflow-definitions?versionOptions=Best",
            "",
            400,
            "\"Best\" is not a version: use AllVersions, Draft",
        ),
        ("POST", "/api/workflow-definitions", "{}", 400, "send one with a root activity"),
        ("POST", "/api/workflow-definitions", r#"{"model": 3}"#, 400, "member model"),
        (
            "POST",
            "/api/workflow-definitions",
            r#"{"root": {}, "version": "x"}"#,
            400,
            "not a workflow definition",
        ),
        (
            "POST",
            "/api/workflow-definitions/line/execute",
            r#"{"versionOptions": "Best"}"#,
            400,
            "member versionOptions",
        ),
        (
            "POST",
            "/api/workflow-definitions/line/execute",
            r#"{"versionOptions": "9"}"#,
            404,
            "\"line\" has no version 9: the latest is version 1, which is published",
        ),
        (
            "POST",
            "/api/workflow-definitions/line/dispatch",
            r#"{"versionOptions": "Draft"}"#,
            404,
            "\"line\" has no draft: its latest version, 1, is published; ask for versionOptions \
             Latest or Published",
        ),
        (
            "POST",
            "/api/workflow-definitions/nope/execute",
            r#"{"versionOptions": "9"}"#,
            404,
            "there is no workflow definition \"nope\"",
        ),
        (
            "POST",
            "/api/events/x/trigger",
            r#"{"workflowExecutionMode": "Bad"}"#,
            400,
            "Asynchronous or Synchronous",
        ),
        (
            "POST",
            "/api/events/x/trigger",
            r#"{"workflowInstanceId": "nope"}"#,
            404,
            "no workflow instance nope",
        ),
        ("GET", "/api/bookmarks/resume?t=x", "", 404, "the link is not valid"),
        ("GET", "/api/descriptors/activities/Nope", "", 404, "no activity type"),
        (
            "DELETE",
            "/api/workflow-definition-versions/nope",
            "",
            404,
            "no workflow definition version",
        ),
    ] {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", "application/json")
            .body(Body::from(body.to_owned()))
            .unwrap();
        let answer = world.send(request).await;
        assert_eq!(answer.body["instance"], path.split('?').next().unwrap(), "{method} {path}");
        let shown = body.chars().take(60).collect::<String>();
        assert_eq!(answer.status.as_u16(), status, "{method} {path} {shown} {:#}", answer.body);
        let found = answer.problem(status);
        assert!(found.contains(detail), "{method} {path} {shown}: {found}");
    }
}

#[tokio::test]
async fn what_is_no_json_is_not_taken_for_it() {
    let world = World::new().await;
    let request = Request::post("/api/workflow-instances")
        .header("content-type", "text/csv")
        .body(Body::from("a,b"))
        .unwrap();
    assert!(world.send(request).await.problem(415).contains("Content-Type: application/json"));
    let packed = Request::post("/api/workflow-instances")
        .header("content-type", "application/json")
        .header("content-encoding", "gzip")
        .body(Body::from(vec![0x1f, 0x8b, 0x08]))
        .unwrap();
    assert!(world.send(packed).await.problem(415).contains("Content-Encoding \"gzip\""));
}

#[tokio::test]
async fn too_many_requests_are_told_to_come_again() {
    let config = Config { requests_max: 0, ..Config::default() };
    let world = World::without_executor(config).await;
    let answer = world.get("/api/workflow-instances").await;
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert!(answer.problem(503).contains("try again in a moment"));
    world.get("/health/live").await.expect(200);
}

#[tokio::test]
async fn bodies_that_are_too_large_together_are_told_to_come_again_g12() {
    let config = Config { bodies_bytes_max: 400, ..Config::default() };
    let world = World::with(config).await;
    let body = |bytes: usize| json!({"input": {"Blob": "x".repeat(bytes)}});
    let path = "/api/events/x/trigger";
    for key in ["", "key"] {
        let headers: &[(&str, &str)] =
            if key.is_empty() { &[] } else { &[("idempotency-key", key)] };
        let answer = world.post_with(path, headers, &body(400)).await;
        assert_eq!(answer.header("retry-after"), Some("1"));
        assert!(answer.problem(503).contains("as large as they may be together"));
    }
    // The room of the other requests is free again.
    for _ in 0..3 {
        world.post(path, &body(300)).await.expect(200);
    }
    assert_eq!(world.app.bodies.available_permits(), 400);
}

#[tokio::test]
async fn a_stopping_server_takes_nothing_in() {
    let world = World::new().await;
    world.get("/health/ready").await.expect(200);
    world.app.drain();
    world.get("/health/ready").await.problem(503);
    let answer = world.get("/api/workflow-instances").await;
    assert!(answer.header("retry-after").is_some());
    answer.problem(503);
    world.get("/health/live").await.expect(200);
}

#[tokio::test]
async fn a_stopping_server_does_not_wait_for_outcomes() {
    let world = World::without_executor(Config::default()).await;
    world.publish("line", writes_line()).await;
    let body = json!({"definitionId": "line"});
    let start = world.post("/api/workflow-instances", &body);
    let stop = async {
        testkit::eventually("it waits", super::world::BOUND, async || {
            world.app.waiters.count() == 1
        })
        .await;
        world.app.drain();
    };
    let (answer, ()) = tokio::join!(start, stop);
    answer.expect(202);
}

#[tokio::test]
async fn a_panic_is_a_problem_that_says_nothing_of_the_inside() {
    let world = World::without_executor(Config::default()).await;
    let app = std::sync::Arc::clone(&world.app);
    let panicked =
        move |panic: Box<dyn std::any::Any + Send>| crate::finish::panicked(&app, &*panic);
    let router = axum::Router::new()
        .route("/panics", axum::routing::get(async || -> &'static str { panic!("secret") }))
        .layer(tower_http::catch_panic::CatchPanicLayer::custom(panicked))
        .layer(axum::middleware::from_fn_with_state(world.app.clone(), crate::router::answer));
    let request = Request::get("/panics").body(Body::empty()).unwrap();
    let answer = super::world::send_to(&router, request).await;
    let incident = answer.body["incident"].as_str().unwrap().to_owned();
    let detail = answer.problem(500);
    assert!(!detail.contains("secret") && detail.contains(&incident), "{detail}");
    assert_eq!(incident.len(), 32);
}

#[tokio::test]
async fn a_key_that_is_no_key_is_refused() {
    let world = World::new().await;
    let key = "x".repeat(300);
    let request =
        json_request("POST", "/api/events/x/trigger", &[("idempotency-key", &key)], &json!({}));
    assert!(world.send(request).await.problem(400).contains("Idempotency-Key"));
}

#[tokio::test]
async fn traces_go_in_and_out() {
    let world = World::new().await;
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let request = json_request("GET", "/health/live", &[("traceparent", trace)], &json!({}));
    let answer = world.send(request).await;
    assert!(answer.header("traceparent").unwrap().contains("4bf92f3577b34da6a3ce929d0e0e4736"));
    let fresh = world.get("/health/live").await;
    assert_eq!(fresh.header("traceparent").unwrap().len(), 55);
}
