//! Leases of others, as the log and the figures of a node show them.

use std::time::Duration;

use async_nats::{HeaderMap, HeaderName, HeaderValue};
use cluster::{Node, NodePlan};
use serde_json::{Value, json};
use testkit::eventually;

use super::waiting::open_bookmark;
use crate::api::Api;
use crate::other_side::Closed;
use crate::workflow::{event, line, sequence};
use crate::world::World;

const SOON: Duration = Duration::from_secs(30);
/// The rounds in which a node gets a lease that it has waited for. One is enough, unless the lease is
/// free between two waits.
const ROUNDS_MAX: usize = 20;
/// The trace of the commands, and its id.
const TRACEPARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CONTENDED: &str = "staunch_lease_wait_seconds_count{contended=\"true\"}";

/// A lease that another node has is busy, is waited for, is taken and given back, and is lost when
/// another node takes it: each has its line with the instance and the trace, and its figure.
pub(crate) async fn every_lease_is_in_the_log_and_in_the_figures(world: World) {
    let mut plan = NodePlan::new("node", "all");
    let settings =
        ["--log", "info,executor=debug", "--lease-wait", "1s", "--allow-private-addresses"];
    plan.arguments.extend(settings.map(str::to_owned));
    let node = world.start(plan).await;
    let api = Api::new(&node.url());
    let callee = Closed::start().await;
    let call = json!({"type": "SendHttpRequest", "id": "call", "url": callee.url});
    api.publish(&sequence("free", &[event("wait", "go"), line("over", "'over'")])).await;
    api.publish(&sequence("calls", &[event("wait", "go"), call, line("over", "'over'")])).await;
    for series in ["staunch_lease_failures_total{why=\"held\"}", "staunch_lease_losses_total"] {
        assert_eq!(api.figure(series).await, 0.0, "{series}");
    }

    let mut last = String::new();
    for round in 0.. {
        assert!(round < ROUNDS_MAX, "no wait for a lease ended with it");
        last = busy_and_then_free(&world, &node, &api).await;
        if api.figure(CONTENDED).await > 0.0 {
            break;
        }
    }
    assert!(said(&node, &last, "lease acquired").contains("INFO"), "after a wait");
    assert!(api.figure("staunch_lease_failures_total{why=\"held\"}").await > 0.0);

    // The node has the lease while the call lasts. Then another one takes it.
    let id = resumed(&world, &api, "calls").await;
    eventually("the node has the lease", SOON, async || has(&node, &id, "lease acquired")).await;
    assert!(said(&node, &id, "lease acquired").contains("DEBUG"), "without a wait");
    hold(&world, &id).await;
    eventually("the loss is counted", SOON, async || {
        api.figure("staunch_lease_losses_total").await > 0.0
    })
    .await;
    callee.open();
    free(&world, &id).await;
    api.reaches(&id, "Finished", SOON).await;
}

/// An instance whose lease another node has does not go on, and does when the lease is free.
async fn busy_and_then_free(world: &World, node: &Node, api: &Api) -> String {
    let id = api.start("free", json!({})).await;
    open_bookmark(api, &id, "Elsa.Event").await;
    hold(world, &id).await;
    resume(world, &id).await;
    eventually("the lease is busy", SOON, async || has(node, &id, "lease busy")).await;
    assert!(said(node, &id, "lease busy").contains("holder=another"));
    assert_eq!(api.instance(&id).await["subStatus"], "Suspended");
    free(world, &id).await;
    api.reaches(&id, "Finished", SOON).await;
    for (what, field) in [("lease acquired", "waited_ms="), ("lease released", "held_ms=")] {
        eventually(what, SOON, async || has(node, &id, what)).await;
        let line = said(node, &id, what);
        assert!(line.contains(field) && line.contains(TRACE), "{line}");
    }
    id
}

async fn resumed(world: &World, api: &Api, definition: &str) -> String {
    let id = api.start(definition, json!({})).await;
    open_bookmark(api, &id, "Elsa.Event").await;
    resume(world, &id).await;
    id
}

/// Resumes an instance and waits for nothing.
async fn resume(world: &World, id: &str) {
    let client = world.client().await;
    let headers = HeaderMap::from_iter([(
        HeaderName::from_static("traceparent"),
        HeaderValue::from(TRACEPARENT),
    )]);
    let subject = format!("staunch.cmd.resume.{id}");
    client.publish_with_headers(subject, headers, "{}".into()).await.unwrap();
    client.flush().await.unwrap();
}

/// Takes the lease of an instance as another node, which never gives it back.
async fn hold(world: &World, id: &str) {
    let held = json!({"owner": "another", "nonce": "01932c07a0007b3f8c0123456789abcd"});
    let client = world.client().await;
    let stored = client.request(format!("$KV.staunch_leases.{id}"), held.to_string().into()).await;
    let stored: Value = serde_json::from_slice(&stored.unwrap().payload).unwrap();
    assert!(stored["seq"].is_u64(), "{stored}");
}

/// Takes the lease away from the other node.
async fn free(world: &World, id: &str) {
    let url = world.cluster.nats_url();
    world.cluster.command(&["lease", "rm", id, "--nats-url", &url]).await.unwrap();
}

/// The last line of the node about this lease.
fn last_line(node: &Node, id: &str, what: &str) -> Option<String> {
    let said = node.said();
    let mut lines = said.lines().rev();
    let is_line = |line: &&str| line.contains(what) && line.contains(&format!("instance={id}"));
    lines.find(is_line).map(str::to_owned)
}

fn has(node: &Node, id: &str, what: &str) -> bool {
    last_line(node, id, what).is_some()
}

fn said(node: &Node, id: &str, what: &str) -> String {
    last_line(node, id, what).unwrap_or_else(|| panic!("no {what:?} in {}", node.said()))
}
