//! Numbers, names, lists and bodies beyond their limits.

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::world::{BOUND, World, json_request, writes_line};
use crate::{Config, serve};

#[tokio::test]
async fn numbers_names_and_lists_have_bounds_that_the_refusal_names() {
    let world = World::new().await;
    world.publish("line", writes_line()).await;
    let id = world.begin("line").await;
    let far = "9223372036854775808";
    let journal = format!("/api/workflow-instances/{id}/journal");
    for path in ["/api/workflow-instances", "/api/workflow-definitions", "/api/audit", &journal] {
        for query in [
            format!("page={far}"),
            format!("skip={far}"),
            "skip=18446744073709551615".to_owned(),
            format!("page=1000000000&pageSize={far}"),
        ] {
            let answer = world.get(&format!("{path}?{query}")).await;
            assert!(answer.problem(400).contains("1000000000 items"), "{path}?{query}");
        }
        world.get(&format!("{path}?pageSize={far}")).await.expect(200);
        world.get(&format!("{path}?skip=1000000000")).await.expect(200);
    }
    let long = "x".repeat(1_025);
    let many: Vec<String> = (0..1_001).map(|n| n.to_string()).collect();
    for (path, body, expected) in [
        ("/api/workflow-instances", json!({"page": 1_u64 << 63}), "1000000000 items"),
        ("/api/workflow-instances", json!({"ids": many}), "ids has 1001 items"),
        ("/api/workflow-instances", json!({"searchTerm": long}), "searchTerm has 1025 bytes"),
        ("/api/workflow-instances", json!({"version": 4_000_000_000_u32}), "version is 4000000000"),
        (&journal, json!({"skip": u64::MAX}), "1000000000 items"),
        (&journal, json!({"filter": {"eventNames": many}}), "eventNames has 1001 items"),
        (
            "/api/workflow-instances",
            json!({"definitionId": "line", "correlationId": long}),
            "correlationId has 1025 bytes",
        ),
        ("/api/workflow-definitions/line/execute", json!({"name": long}), "name has 1025 bytes"),
        ("/api/events/x/trigger", json!({"correlationId": long}), "correlationId has 1025"),
        (
            "/api/api-keys",
            json!({"name": "x", "permissions": ["*"], "lifetimeSeconds": u64::MAX}),
            "lifetimeSeconds is above",
        ),
        (
            "/api/api-keys",
            json!({"name": "x", "permissions": [long]}),
            "a permission has 1025 bytes",
        ),
    ] {
        let found = world.post(path, &body).await.problem(400);
        assert!(found.contains(expected), "{path}: {found}");
    }
}

/// Ids and paths are longer than names, and a definition has more activities than other lists have items.
#[tokio::test]
async fn activities_are_asked_for_by_all_paths_that_a_definition_can_have() {
    let world = World::new().await;
    let long = "x".repeat(10_000);
    let leaf = json!({"type": "Elsa.WriteLine", "id": long, "text": "deep"});
    let root = (0..30).fold(leaf, |inner, at| {
        let id = format!("6b1f4f0e-7a53-4c53-9a5e-57a09c48a1{at:02}");
        json!({"type": "Elsa.Sequence", "id": id, "activities": [inner]})
    });
    world.publish("deep", root).await;
    let id = world.begin("deep").await;
    world.until(&id, "Finished").await;
    let list = format!("/api/activity-executions/list?workflowInstanceId={id}");
    let list = world.get(&list).await.expect(200);
    let records = list["items"].as_array().unwrap();
    let nodes: Vec<_> = records.iter().map(|one| one["activityNodeId"].as_str().unwrap()).collect();
    let deepest = nodes.iter().max_by_key(|node| node.len()).unwrap();
    assert!(nodes.len() == 32 && deepest.len() > 11_000, "{} of {}", deepest.len(), nodes.len());

    let (report, journal) =
        ("/api/activity-executions/report", format!("/api/workflow-instances/{id}/journal"));
    let asked = json!({"workflowInstanceId": id, "activityNodeIds": nodes});
    let stats = world.post(report, &asked).await.expect(200);
    assert_eq!(stats["stats"].as_array().unwrap().len(), nodes.len());
    let lines = async |filter: Value| {
        let found = world.post(&journal, &json!({ "filter": filter })).await.expect(200);
        found["totalCount"].as_u64().unwrap()
    };
    let of_leaf = lines(json!({"activityIds": [long]})).await;
    assert!(of_leaf > 1);
    assert_eq!(lines(json!({"activityNodeIds": [deepest]})).await, of_leaf);

    // The activities of the largest definition, and the workflow, in a body that is larger than others.
    let path = |at: usize| format!("Workflow1:{}:{at}", "a-sequence:".repeat(10));
    let mut many: Vec<String> = (0..10_001).map(path).collect();
    let asked = json!({"workflowInstanceId": id, "activityNodeIds": many});
    assert_eq!(world.post(report, &asked).await.expect(200)["stats"], json!([]));
    assert_eq!(lines(json!({"activityNodeIds": many})).await, 0);
    many.push("more".to_owned());
    let expected = "activityNodeIds has 10002 items: use at most 10001";
    let asked = json!({"workflowInstanceId": id, "activityNodeIds": many});
    assert!(world.post(report, &asked).await.problem(400).contains(expected));
    for name in ["activityIds", "activityNodeIds"] {
        let found = world.post(&journal, &json!({"filter": {name: many}})).await.problem(400);
        assert!(found.contains(&expected.replace("activityNodeIds", name)), "{found}");
    }
}

#[tokio::test]
async fn a_nul_in_a_path_or_a_query_is_refused_at_every_route() {
    let world = World::without_executor(Config::default()).await;
    for (path, place) in [
        ("/elsa/api/workflow-definitions?searchTerm=a%00", "query parameter searchTerm"),
        ("/api/workflow-instances?page=0&searchTerm=a%00", "query parameter searchTerm"),
        ("/elsa/api/audit?target=%00", "query parameter target"),
        ("/elsa/api/labels/a%00", "the path"),
        ("/elsa/api/workflow-instances/a%00", "the path"),
        ("/workflows/x%00", "the path"),
        ("/workflows/x?correlationId=%00", "query parameter correlationId"),
        ("/bookmarks/resume?t=%00", "query parameter t"),
    ] {
        let detail = world.get(path).await.problem(400);
        let expected = format!("{place} has a NUL character (%00): leave it out");
        assert_eq!(detail, expected, "{path}");
    }
    world.get("/elsa/api/workflow-definitions?searchTerm=a%2500").await.expect(200);
}

#[tokio::test]
async fn integers_of_more_than_64_bits_are_refused_and_others_kept() {
    let world = World::new().await;
    world.publish("line", writes_line()).await;
    let post = |path: &str, body: &str| {
        let request = Request::post(path).header("content-type", "application/json");
        request.body(Body::from(body.to_owned())).unwrap()
    };
    let start = "/api/workflow-instances";
    let large = r#"{"definitionId": "line", "input": {"a": [0, 18446744073709551616]}}"#;
    let found = world.send(post(start, large)).await.problem(400);
    assert!(found.contains("input.a[1] is an integer of more than 64 bits"), "{found}");
    let event = r#"{"input": -9223372036854775809}"#;
    world.send(post("/api/events/x/trigger", event)).await.problem(400);
    let kept = r#"{"definitionId": "line", "input": {"a": 18446744073709551615}}"#;
    let started = world.send(post(start, kept)).await.expect(200);
    let id = started["workflowInstanceId"].as_str().unwrap();
    let seen = world.get(&format!("{start}/{id}")).await.expect(200);
    assert_eq!(seen["workflowState"]["input"]["a"], u64::MAX);
    let root = json!({"type": "Elsa.HttpEndpoint", "path": "/n", "supportedMethods": ["POST"],
        "canStartWorkflow": true});
    world.publish("n", root).await;
    world.send(post("/workflows/n", r#"{"n": 18446744073709551616}"#)).await.problem(400);
}

#[tokio::test]
async fn values_nest_as_deep_as_everywhere() {
    let world = World::new().await;
    world.publish("line", writes_line()).await;
    let root = json!({"type": "Elsa.HttpEndpoint", "path": "/d", "supportedMethods": ["POST"],
        "canStartWorkflow": true});
    world.publish("d", root).await;
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let start =
        |depth| format!(r#"{{"definitionId": "line", "input": {{"a": {}}}}}"#, nested(depth));
    for (path, body, status) in [
        ("/api/workflow-instances", start(64), 200),
        ("/api/workflow-instances", start(65), 400),
        ("/api/workflow-instances", start(100_000), 400),
        ("/workflows/d", nested(64), 200),
        ("/workflows/d", nested(65), 400),
    ] {
        let request = Request::post(path).header("content-type", "application/json");
        let answer = world.send(request.body(Body::from(body)).unwrap()).await;
        assert_eq!(answer.status, status, "{path}: {:#}", answer.body);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_is_declared_too_large_is_refused_before_it_is_sent() {
    let world = World::without_executor(Config::default()).await;
    let life = chassis::Life::new(BOUND);
    let config = Config { listen: "127.0.0.1:0".parse().unwrap(), ..Config::default() };
    let address = serve::start(world.context(), config, &life).await.unwrap();
    for (path, key) in [
        ("/api/workflow-instances", ""),
        ("/api/workflow-instances", "idempotency-key: k\r\n"),
        ("/api/workflow-definitions", ""),
    ] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n{key}\
             content-length: 5000000\r\nexpect: 100-continue\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = vec![0; 1024];
        let read = testkit::within("an answer", BOUND, stream.read(&mut answer)).await.unwrap();
        let answer = String::from_utf8_lossy(&answer[..read]);
        assert!(answer.starts_with("HTTP/1.1 413"), "{path} {key}: {answer}");
    }
    life.begin_stop();
    assert!(life.finished().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_does_not_arrive_is_given_up() {
    let world = World::without_executor(Config::default()).await;
    let life = chassis::Life::new(BOUND);
    let config = Config { listen: "127.0.0.1:0".parse().unwrap(), ..Config::default() };
    let address = serve::start(world.context(), config, &life).await.unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /api/events/x/trigger HTTP/1.1\r\nhost: {address}\r\n\
         content-type: application/json\r\ncontent-length: 20\r\n\r\n{{\"input\""
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    let read = stream.read_to_string(&mut answer);
    testkit::within("the server gives up", BOUND, read).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    life.begin_stop();
    assert!(life.finished().await);
}

#[tokio::test]
async fn a_page_of_another_origin_reaches_no_route_but_links() {
    let world = World::new().await;
    world.publish("line", writes_line()).await;
    let page = [("sec-fetch-site", "cross-site"), ("origin", "https://evil.example")];
    for path in [
        "/elsa/api/workflow-definitions/line/execute",
        "/elsa/api/events/x/trigger",
        "/workflows/bookmarks/resume",
        "/workflows/any/events/trigger",
    ] {
        let answer = world.send(json_request("POST", path, &page, &json!({}))).await;
        assert!(answer.problem(403).contains("web page of another origin"), "{path}");
    }
    // A link is authorized by its token; this token is not valid.
    for path in ["/bookmarks/resume?t=x", "/api/bookmarks/resume?t=x"] {
        let answer = world.send(json_request("POST", path, &page, &json!({}))).await;
        assert!(answer.problem(404).contains("the link is not valid"), "{path}");
    }
}

#[tokio::test]
async fn a_filter_that_means_nothing_here_is_refused() {
    let world = World::without_executor(Config::default()).await;
    for path in ["/elsa/api/workflow-instances", "/elsa/api/workflow-instances/query"] {
        for name in ["names", "parentWorkflowInstanceIds", "isExecuting", "Colour"] {
            let value = if name == "isExecuting" { json!(true) } else { json!(["a"]) };
            let detail = world.post(path, &json!({"page": 0, name: value})).await.problem(400);
            assert!(detail.contains(&format!("there is no filter {name}: use ")), "{detail}");
        }
        // Clients send all members that they know, most of them empty.
        let empty = json!({"Page": 0, "names": [], "parentWorkflowInstanceIds": null, "tag": ""});
        world.post(path, &empty).await.expect(200);
    }
}

#[tokio::test]
async fn an_id_that_no_instance_can_have_is_refused_by_a_retry() {
    let world = World::without_executor(Config::default()).await;
    for id in ["", "a b\u{1}"] {
        let body = json!({"workflowInstanceIds": [id]});
        world.post("/elsa/api/alterations/workflows/retry", &body).await.problem(400);
        let body = json!({"workflowInstanceIds": [id], "alterations": [{"type": "Retry"}]});
        world.post("/elsa/api/alterations/run", &body).await.problem(400);
    }
}
