//! Traces as a collector gets them: one request, its bursts, what they read, write, publish and call,
//! and the child that they start.

mod collector;

use std::time::Duration;

use cluster::{Cluster, Plan};
use serde_json::json;
use testkit::{eventually, executable};

use crate::api::Api;
use crate::load::{self, line, sequence};
use collector::{Collector, Span};

/// Spans are sent every few seconds.
const PATIENCE: Duration = Duration::from_secs(60);
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

/// The first span of this name that fits, once the collector has it.
async fn one(collector: &Collector, what: &str, fits: impl Fn(&Span) -> bool) -> Span {
    let mut found = None;
    eventually(what, PATIENCE, async || {
        found = collector.spans().into_iter().find(|span| fits(span));
        found.is_some()
    })
    .await;
    found.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spans_are_linked_as_things_happened() {
    let collector = Collector::start();
    let callee = collector::Callee::start();
    let mut cluster = Cluster::start(Plan::new(&executable("staunch").await)).await.unwrap();
    for (name, roles) in [("gateway", "ingress,timer,cache-notifier"), ("worker", "executor")] {
        let mut plan = load::node(name, roles);
        plan.arguments.extend(["--otlp-endpoint", &collector.url()].map(str::to_owned));
        cluster.add(plan).await.unwrap();
    }
    let api = Api::new(&cluster.urls()[0]);
    let child = json!({"type": "ExecuteWorkflow", "workflowDefinitionId": "child",
        "waitForCompletion": true});
    let call = json!({"type": "SendHttpRequest", "url": callee.url()});
    let delay = json!({"type": "Delay", "timeSpan": "00:00:01"});
    api.publish(&sequence("child", &[line("child")])).await;
    api.publish(&sequence("parent", &[call, child, delay, line("over")])).await;
    let traceparent = format!("00-{TRACE}-{CALLER}-01");
    let path = "/workflow-definitions/parent/dispatch";
    let (status, body) = api.traced(path, &json!({}), Some(&traceparent)).await;
    assert_eq!(status, 200, "{body}");
    let id = body["workflowInstanceId"].as_str().unwrap().to_owned();
    api.reaches("parent", "Finished", 1).await;

    let http =
        one(&collector, "the request is traced", |span| span.name == "http" && span.trace == TRACE)
            .await;
    assert_eq!((http.parent.as_str(), http.service.as_str()), (CALLER, "staunch"));

    let is_burst = |span: &Span| span.name == "burst" && span.field("instance") == Some(&id);
    let first = one(&collector, "the first burst is linked to the request", |span| {
        is_burst(span) && span.links.contains(&http.id)
    })
    .await;
    assert_ne!(first.trace, http.trace, "an instance may live for months, a trace does not");
    assert_eq!(first.field("trace"), Some(&TRACE.to_owned()));
    let inside = |span: &Span, name: &str| span.name == name && span.parent == first.id;
    one(&collector, "its commit is in it", |span| inside(span, "commit")).await;
    let version =
        one(&collector, "the cache read its definition", |span| inside(span, "definition")).await;
    assert!(version.field("version").is_some(), "{version:?}");
    one(&collector, "what it published is in it", |span| inside(span, "publish")).await;
    let called = one(&collector, "its call is in it", |span| inside(span, "call")).await;
    let sent = callee.traceparent();
    assert_eq!(sent, format!("00-{}-{}-01", called.trace, called.id), "what the callee got");

    let second = one(&collector, "the burst with the answer is linked to the first", |span| {
        is_burst(span) && span.links == [first.id.as_str()]
    })
    .await;
    let begun = one(&collector, "the child's burst is linked to its parent's", |span| {
        span.name == "burst" && span.links.contains(&second.id) && !is_burst(span)
    })
    .await;
    one(&collector, "the parent goes on with the child's end", |span| {
        is_burst(span) && span.links.contains(&begun.id)
    })
    .await;
    let timer = one(&collector, "the timer is traced", |span| {
        span.name == "timer" && span.field("instance") == Some(&id)
    })
    .await;
    let last = one(&collector, "the burst after the delay is linked to the timer", |span| {
        is_burst(span) && span.links.contains(&timer.id)
    })
    .await;
    assert!(last.links.contains(&first.id), "a timer knows no trace, the instance does: {last:?}");
    one(&collector, "it reads the instance or knows it", |span| span.parent == last.id).await;
    one(&collector, "it takes the lease", |span| span.name == "lease" && span.parent == last.id)
        .await;

    // The log of the executor has the trace of the request, and the instance.
    let said = cluster.nodes()[1].said();
    let is_line = |line: &&str| line.contains("instance changed") && line.contains(&id);
    let changed = said.lines().find(is_line).unwrap_or_else(|| panic!("no line in {said}"));
    assert!(changed.contains(TRACE), "{changed}");
    cluster.stop().await.unwrap();
}
