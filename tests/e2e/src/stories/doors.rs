//! A start comes in by HTTP, by a plain NATS publish and by a request to the NATS Services API.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::within;

use crate::api::Api;
use crate::workflow;
use crate::world::World;

const SOON: Duration = Duration::from_secs(15);

/// The three doors lead to the same instances.
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
