//! Bad input is refused with a reason, on whichever way it arrives. If no caller waits, it becomes
//! a dead letter.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{eventually, within};

use crate::api::Api;
use crate::workflow;
use crate::world::World;

const SOON: Duration = Duration::from_secs(20);

/// HTTP, publish, request and CLI: each reports the mistake.
pub(crate) async fn bad_input_is_refused_at_every_door_with_a_reason(world: World) {
    let node = world.node("all", "all").await;
    let api = Api::new(&node.url());
    api.publish(&workflow::quick("good")).await;
    over_http(&api).await;
    by_request(&world).await;
    by_publish(&world).await;
    on_the_command_line(&world, &node.url()).await;
    // The API still accepts starts.
    let id = api.start("good", json!({"Number": 1})).await;
    api.reaches(&id, "Finished", SOON).await;
}

async fn over_http(api: &Api) {
    let dispatch = "/elsa/api/workflow-definitions/good/dispatch";
    let large = json!({"input": {"Text": "x".repeat(2 * 1024 * 1024)}}).to_string();
    let broken = json!({"definitionId": "broken", "root": {"id": "a", "type": "Elsa.If",
        "condition": {"typeName": "Boolean", "expression": {"type": "JavaScript", "value": "("}}}});
    api.post("/workflow-definitions/import", &broken).await;
    let missing = "/elsa/api/workflow-definitions/missing/dispatch";
    let unknown = "/elsa/api/workflow-instances/missing";
    let cases = [
        ("broken JSON", Method::POST, dispatch, Some("{"), 400),
        ("an unknown definition", Method::POST, missing, Some("{}"), 404),
        ("an unknown instance", Method::GET, unknown, None, 404),
        ("a large body", Method::POST, dispatch, Some(large.as_str()), 413),
    ];
    for (what, method, path, body, expected) in cases {
        // A server may close a connection after a request that is too large.
        let answer = api.afresh().raw(method, path, body.map(str::to_owned)).await;
        assert_eq!(answer.status, expected, "{what}: {}", answer.body);
    }
    let answer = api.post("/workflow-definitions/broken/publish", &json!({})).await;
    let said = answer.body.to_string();
    assert!(!said.contains("\"isPublished\":true") && said.contains("condition"), "{said}");
}

async fn by_request(world: &World) {
    let client = world.client().await;
    // Ingress refuses with a problem document.
    for (subject, body, status) in [
        ("staunch.api.start.good", "{", 400),
        ("staunch.api.start.good", r#"{"inputs":{}}"#, 400),
        ("staunch.api.start.missing", "{}", 404),
        ("staunch.api.get.missing", "{}", 404),
        ("staunch.api.payload.missing", "{}", 400),
    ] {
        let request = client.request(subject, body.into());
        let answer = within(subject, SOON, request).await.unwrap();
        let problem: Value = serde_json::from_slice(&answer.payload).unwrap();
        assert_eq!(problem["status"], status, "{subject} {body}: {problem}");
        assert!(problem["detail"].as_str().is_some_and(|text| !text.is_empty()), "{problem}");
        let headers = answer.headers.unwrap();
        let code = headers.get("Nats-Service-Error-Code").map(|code| code.as_str().to_owned());
        assert_eq!(code, Some(status.to_string()), "{subject} {body}: {problem}");
    }
    // The executor refuses with an outcome.
    for subject in ["staunch.api.resume.missing", "staunch.api.cancel.missing"] {
        let request = client.request(subject, "{}".into());
        let answer = within(subject, SOON, request).await.unwrap();
        let outcome: Value = serde_json::from_slice(&answer.payload).unwrap();
        assert_eq!(outcome["refusal"], "notFound", "{subject}: {outcome}");
        assert!(outcome["message"].as_str().is_some_and(|text| !text.is_empty()), "{outcome}");
    }
}

async fn by_publish(world: &World) {
    let client = world.client().await;
    let commands = [
        ("staunch.cmd.start.good", "not json"),
        ("staunch.cmd.start.missing", "{}"),
        ("staunch.cmd.resume.missing", "{}"),
        ("staunch.cmd.shout.good", "{}"),
    ];
    for (subject, body) in commands {
        client.publish(subject, body.into()).await.unwrap();
    }
    client.flush().await.unwrap();
    let url = world.cluster.nats_url();
    let list = ["-o", "json", "dead", "ls", "--nats-url", &url];
    let mut dead: Vec<Value> = Vec::new();
    eventually("each of them is among the dead", SOON, async || {
        dead = serde_json::from_str(&world.cluster.command(&list).await.unwrap()).unwrap();
        let is_dead = |subject: &str| dead.iter().any(|one| one["subject"] == subject);
        commands.iter().all(|(subject, _)| is_dead(subject))
    })
    .await;
    for one in &dead {
        assert!(one["reason"].as_str().is_some_and(|text| !text.is_empty()), "{one}");
    }
    let garbled = dead.iter().find(|one| one["subject"] == "staunch.cmd.start.good").unwrap();
    let number = garbled["number"].to_string();
    let shown = world.cluster.command(&["dead", "show", &number, "--nats-url", &url]).await.unwrap();
    assert!(shown.contains("not json"), "{shown}");
    world.cluster.command(&["dead", "rm", "--all", "--nats-url", &url]).await.unwrap();
    let left: Value = serde_json::from_str(&world.cluster.command(&list).await.unwrap()).unwrap();
    assert_eq!(left, json!([]));
}

async fn on_the_command_line(world: &World, url: &str) {
    for (arguments, code) in [
        (vec!["run", "missing", "--server", url], 3),
        (vec!["run", "good", "-i", "{", "--server", url], 2),
        (vec!["run", "good", "--server", "http://127.0.0.1:9"], 5),
        (vec!["instance", "get", "missing", "--server", url], 3),
        (vec!["apply", "-f", "/no/such/file.json", "--server", url], 2),
        (vec!["no-such-command"], 2),
    ] {
        let output = world.cluster.cli(&arguments).await.unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "staunch {arguments:?}: {said}");
        assert!(!said.is_empty() && output.stdout.is_empty(), "staunch {arguments:?}: {said}");
    }
}
