//! Alerts by the faults themselves, with a real Prometheus and the rules as they are, but without the
//! time that each has to hold.

mod around;
mod build;

use std::time::Duration;

use async_nats::jetstream;
use cluster::{Cluster, Database, Plan};
use serde_json::json;
use testkit::{eventually, executable, within};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::alerts;
use crate::api::Api;
use crate::load::{self, line, sequence};
use crate::prometheus::Prometheus;
use build::OtherBuild;

const PATIENCE: Duration = Duration::from_secs(90);
/// More than the alert about a backlog allows.
const BACKLOG: usize = 1_100;
/// More than four fifths of the limit of the stream of commands, which is 1 GiB.
const STREAM_BYTES: usize = 900 << 20;
const BODY_BYTES: usize = 1 << 19;
const LARGE: &str = "staunch.cmd.event.large";

async fn fires(prometheus: &Prometheus, alert: &str) {
    eventually(&format!("{alert} fires"), PATIENCE, async || {
        prometheus.firing().await.iter().any(|name| name == alert)
    })
    .await;
    println!("{alert} fired");
}

async fn ends(prometheus: &Prometheus, alert: &str) {
    eventually(&format!("{alert} ends"), PATIENCE, async || {
        prometheus.firing().await.iter().all(|name| name != alert)
    })
    .await;
}

/// Waits until a node counts the figures of the cluster, and says which.
async fn counts(nodes: &[&Api]) -> usize {
    let mut found = None;
    eventually("a node counts", PATIENCE, async || {
        for (number, node) in nodes.iter().enumerate() {
            if node.metrics().await.contains("staunch_cluster_observer 1") {
                found = Some(number);
            }
        }
        found.is_some()
    })
    .await;
    found.unwrap()
}

/// A node without its database or its broker gets no requests, and is not restarted.
async fn lives_but_is_not_ready(api: &Api) {
    eventually("it is not ready", PATIENCE, async || api.status("/health/ready").await == 503)
        .await;
    assert_eq!(api.status("/health/live").await, 200);
}

/// An instance calls a server that is not there, and faults.
async fn calls_fail(api: &Api, prometheus: &Prometheus) {
    let url = format!("http://127.0.0.1:{}", testkit::free_port());
    let call = json!({"type": "SendHttpRequest", "url": url});
    api.publish(&sequence("failing", &[call])).await;
    api.start("failing").await;
    api.reaches("failing", "Faulted", 1).await;
    fires(prometheus, "StaunchCallsFail").await;
    fires(prometheus, "StaunchWorkflowsFault").await;
}

/// Somebody takes the lease of an instance while its call lasts.
async fn a_lease_is_lost(
    cluster: &Cluster,
    client: &async_nats::Client,
    api: &Api,
    prometheus: &Prometheus,
) {
    let callee = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", callee.local_addr().unwrap());
    let event = json!({"type": "Event", "eventName": "go"});
    let call = json!({"type": "SendHttpRequest", "url": url});
    api.publish(&sequence("held", &[event, call])).await;
    let id = api.start("held").await;
    api.reaches("held", "Suspended", 1).await;
    client.publish(format!("staunch.cmd.resume.{id}"), "{}".into()).await.unwrap();
    let called = within("the call", PATIENCE, callee.accept()).await.unwrap();
    let taken = json!({"owner": "another", "nonce": "01932c07a0007b3f8c0123456789abcd"});
    client.request(format!("$KV.staunch_leases.{id}"), taken.to_string().into()).await.unwrap();
    fires(prometheus, "StaunchLeasesLost").await;
    // The next node to have the lease is refused by the callee, and the instance ends.
    drop((called, callee));
    cluster.command(&["lease", "rm", &id, "--nats-url", &cluster.nats_url()]).await.unwrap();
    api.reaches("held", "Faulted", 1).await;
}

/// A task of the node panics, and runs again.
async fn a_task_panics(planting: &str, prometheus: &Prometheus) {
    let mut stream = TcpStream::connect(planting).await.unwrap();
    stream.write_all(b"sweep:1\n").await.unwrap();
    stream.shutdown().await.unwrap();
    fires(prometheus, "StaunchTaskPanics").await;
}

/// While no executor takes commands, some large ones come.
async fn a_stream_fills(client: &async_nats::Client, prometheus: &Prometheus) {
    let jetstream = jetstream::new(client.clone());
    for _ in 0..STREAM_BYTES / BODY_BYTES {
        let body = vec![b' '; BODY_BYTES];
        jetstream.publish(LARGE, body.into()).await.unwrap().await.unwrap();
    }
    fires(prometheus, "StaunchStreamFull").await;
    let stream = jetstream.get_stream("STAUNCH_COMMANDS").await.unwrap();
    stream.purge().filter(LARGE).await.unwrap();
    ends(prometheus, "StaunchStreamFull").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn alerts_fire_when_their_fault_happens() {
    if testkit::promtool().is_none() {
        return;
    }
    let Some(mut postgres) = testkit::own_postgres(false).await else { return };
    postgres.create("watched").await.unwrap();
    let mut plan = Plan::new(&executable("examples/mortal").await);
    plan.nodes = ["node-1", "node-2"].map(|name| load::node(name, "all")).to_vec();
    let planting = format!("127.0.0.1:{}", testkit::free_port());
    plan.nodes[0].environment.push(("STAUNCH_PANICS".to_owned(), planting.clone()));
    plan.nodes[1].arguments.extend(["--limit-definition", "1/1h"].map(str::to_owned));
    plan.database = Database::Url(postgres.url("watched"));
    let mut cluster = Cluster::start(plan).await.unwrap();
    let (api, limited) = (Api::new(&cluster.urls()[0]), Api::new(&cluster.urls()[1]));
    // Without its time to hold, the alert that no node counts would fire until then.
    counts(&[&api, &limited]).await;
    let other = OtherBuild::listen();
    let targets = [api.target(), limited.target(), other.address.clone()];
    let at_once = alerts::rules(|_| "0s".to_owned());
    let prometheus = Prometheus::start(&targets, Some(&at_once)).await.unwrap();
    api.publish(&sequence("quick", &[line("quick")])).await;
    api.start("quick").await;
    api.reaches("quick", "Finished", 1).await;
    // Without its time to hold, an alert on all nodes fires until each was scraped.
    ends(&prometheus, "StaunchNoNode").await;
    ends(&prometheus, "StaunchNobodyCounts").await;
    let before = prometheus.firing().await;
    assert!(before.is_empty(), "without a fault: {before:?}");

    other.run(true);
    fires(&prometheus, "StaunchVersionsDiffer").await;
    other.run(false);
    ends(&prometheus, "StaunchVersionsDiffer").await;

    let client = async_nats::connect(cluster.nats_url()).await.unwrap();
    a_task_panics(&planting, &prometheus).await;
    calls_fail(&api, &prometheus).await;
    a_lease_is_lost(&cluster, &client, &api, &prometheus).await;
    let dispatch = "/workflow-definitions/quick/dispatch";
    eventually("the limit of the second node is reached", PATIENCE, async || {
        limited.post(dispatch, &json!({})).await.0 == 429
    })
    .await;
    fires(&prometheus, "StaunchRefusesWork").await;

    let garbled = "staunch.cmd.start.quick";
    client.publish(garbled, "no command".into()).await.unwrap();
    client.flush().await.unwrap();
    fires(&prometheus, "StaunchDeadLetters").await;

    let (status, body) = api.post("/admin/workflow-runtime/pause", &json!({})).await;
    assert_eq!(status, 200, "{body}");
    for _ in 0..BACKLOG {
        api.start("quick").await;
    }
    fires(&prometheus, "StaunchPaused").await;
    fires(&prometheus, "StaunchBacklog").await;
    a_stream_fills(&client, &prometheus).await;
    api.post("/admin/workflow-runtime/resume", &json!({})).await;
    api.reaches("quick", "Finished", BACKLOG as u64).await;
    ends(&prometheus, "StaunchPaused").await;
    ends(&prometheus, "StaunchBacklog").await;

    cluster.node_mut(1).kill().unwrap();
    fires(&prometheus, "StaunchNodeDown").await;
    cluster.node_mut(1).restart().await.unwrap();
    ends(&prometheus, "StaunchNodeDown").await;

    postgres.kill().unwrap();
    fires(&prometheus, "StaunchDatabaseDown").await;
    fires(&prometheus, "StaunchDatabaseErrors").await;
    fires(&prometheus, "StaunchSweepFails").await;
    lives_but_is_not_ready(&api).await;
    postgres.restart().await.unwrap();
    api.reaches("quick", "Finished", BACKLOG as u64).await;

    cluster.brokers_mut().servers()[0].kill().unwrap();
    fires(&prometheus, "StaunchNatsDisconnected").await;
    fires(&prometheus, "StaunchNodeCutOff").await;
    lives_but_is_not_ready(&api).await;
}
