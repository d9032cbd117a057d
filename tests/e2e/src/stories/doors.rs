//! A start arrives by HTTP, by a plain NATS publish or by a request to the NATS Services API. All
//! ways allow the same depth of values.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::within;

use crate::api::Api;
use crate::workflow;
use crate::world::World;

const SOON: Duration = Duration::from_secs(15);

/// All three ways start instances of the same kind.
pub(crate) async fn a_start_comes_in_by_every_door(world: World) {
    let node = world.node("all", "all").await;
    let api = Api::new(&node.url());
    api.publish(&workflow::quick("doors")).await;

    let id = api.start("doors", json!({"Number": 1})).await;
    let instance = api.reaches(&id, "Finished", SOON).await;
    assert_eq!(instance["workflowState"]["output"]["Result"], 2, "{instance}");

    let client = world.client().await;
    let body = json!({"input": {"Number": 2}, "instanceId": "by-publish"}).to_string();
    client.publish("staunch.cmd.start.doors", body.into()).await.unwrap();
    client.flush().await.unwrap();
    let instance = api.reaches("by-publish", "Finished", SOON).await;
    assert_eq!(instance["workflowState"]["output"]["Result"], 4, "{instance}");

    let body = json!({"input": {"Number": 3}, "instanceId": "by-request"}).to_string();
    let request = client.request("staunch.api.start.doors", body.into());
    let answer = within("an outcome", SOON, request).await.unwrap();
    let outcome: Value = serde_json::from_slice(&answer.payload).unwrap();
    assert_eq!(outcome["workflowInstanceId"], "by-request", "{outcome}");
    assert_eq!(outcome["refusal"], Value::Null, "{outcome}");
    let instance = api.reaches("by-request", "Finished", SOON).await;
    assert_eq!(instance["workflowState"]["output"]["Result"], 6, "{instance}");
    assert_eq!(api.count("doors", None).await, 3);
}

/// Lists inside each other, to this depth.
fn nested(levels: usize) -> Value {
    (0..levels).fold(json!(7), |value, _| Value::Array(vec![value]))
}

/// A value of 64 levels is accepted and returned on every way; one of 65 is refused, with the
/// limit.
pub(crate) async fn a_value_is_64_deep_at_most_at_every_door(world: World) {
    let node = world.node("all", "all").await;
    let api = Api::new(&node.url());
    let copy = workflow::set_output("copy", "Result", "getInput('Value')");
    api.publish(&workflow::sequence("copies", &[copy])).await;
    let script = "let v = 7; for (let i = 0; i < getInput('Levels'); i++) v = [v]; v";
    let made = workflow::set_output("made", "Result", script);
    api.publish(&workflow::sequence("makes", &[made])).await;
    let event = workflow::sequence("waits", &[workflow::event("wait", "deep")]);
    api.publish(&event).await;
    for (levels, is_fit) in [(64, true), (65, false), (700, false)] {
        by_rest(&api, levels, is_fit).await;
        for kind in ["application/json", "application/msgpack"] {
            by_nats(&world, &api, kind, levels, is_fit).await;
        }
        if levels < 100 {
            by_script(&api, levels, is_fit).await;
        }
    }
    // No process has crashed.
    let id = api.start("copies", json!({"Value": nested(1)})).await;
    api.reaches(&id, "Finished", SOON).await;
}

/// The limit that a value of n levels exceeds: that of a value, or that of a whole message.
fn too_deep(levels: usize) -> &'static str {
    if levels <= 90 { "more than 64 deep" } else { "more than 96 deep" }
}

async fn by_rest(api: &Api, levels: usize, is_fit: bool) {
    for path in ["workflow-definitions/copies/dispatch", "workflow-definitions/copies/execute"] {
        let answer = api.post(&format!("/{path}"), &json!({"input": {"Value": nested(levels)}})).await;
        let expected = if is_fit { 200..300 } else { 400..401 };
        assert!(expected.contains(&answer.status), "{path} {levels}: {answer:?}");
        let said = answer.body.to_string();
        assert!(is_fit || said.contains(too_deep(levels)), "{path} {levels}: {said}");
    }
}

async fn by_nats(world: &World, api: &Api, kind: &str, levels: usize, is_fit: bool) {
    let client = world.client().await;
    let name = kind.rsplit('/').next().unwrap();
    let id = format!("deep-{name}-{levels}");
    let ask = async |subject: &str, body: Value| {
        let bytes = match name {
            "json" => body.to_string().into_bytes(),
            _ => rmp_serde::to_vec_named(&body).unwrap(),
        };
        let mut headers = async_nats::HeaderMap::new();
        headers.insert("Content-Type", kind);
        let request = client.request_with_headers(subject.to_owned(), headers, bytes.into());
        let answer = within(subject, SOON, request).await.unwrap();
        serde_json::from_slice::<Value>(&answer.payload).unwrap()
    };
    let start = json!({"instanceId": id, "input": {"Value": nested(levels)}});
    let starts = ask("staunch.api.start.copies", start).await;
    let raises = ask("staunch.api.event.deep", json!({"payload": nested(levels)})).await;
    if is_fit {
        let instance = api.reaches(&id, "Finished", SOON).await;
        assert_eq!(instance["workflowState"]["output"]["Result"], nested(levels));
        assert!(raises["status"].is_null(), "{raises}");
        return;
    }
    for answer in [starts, raises] {
        let said = answer.to_string();
        assert!(answer["status"] == 400 && said.contains(too_deep(levels)), "{kind}: {said}");
    }
}

async fn by_script(api: &Api, levels: usize, is_fit: bool) {
    let id = api.start("makes", json!({"Levels": levels})).await;
    let instance = api.reaches(&id, if is_fit { "Finished" } else { "Faulted" }, SOON).await;
    let said = instance.to_string();
    assert!(is_fit || said.contains("more than 64 deep"), "{levels}: {said}");
}
