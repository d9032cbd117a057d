//! Alerts by the faults themselves: a lost node, a lost database, a backlog, dead letters; with a real
//! Prometheus and the rules as they are, but without the time that each has to hold.

use std::time::Duration;

use cluster::{Cluster, Database, Plan};
use serde_json::json;
use testkit::{eventually, executable};

use crate::alerts;
use crate::api::Api;
use crate::load::{line, sequence};
use crate::prometheus::Prometheus;

const PATIENCE: Duration = Duration::from_secs(90);
/// More than the alert about a backlog allows.
const BACKLOG: usize = 1_100;

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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn alerts_fire_when_their_fault_happens() {
    if testkit::promtool().is_none() {
        return;
    }
    let Some(mut postgres) = testkit::own_postgres(false).await else { return };
    postgres.create("watched").await.unwrap();
    let mut plan = Plan::new(&executable("staunch").await).with_nodes(2);
    plan.database = Database::Url(postgres.url("watched"));
    let mut cluster = Cluster::start(plan).await.unwrap();
    let api = Api::new(&cluster.urls()[0]);
    let targets: Vec<_> = cluster.urls().iter().map(|url| Api::new(url).target()).collect();
    let at_once = alerts::rules(|_| "0s".to_owned());
    let prometheus = Prometheus::start(&targets, Some(&at_once)).await.unwrap();
    api.publish(&sequence("quick", &[line("quick")])).await;
    api.start("quick").await;
    api.reaches("quick", "Finished", 1).await;
    // Without its time to hold, this alert fires until the first scrape.
    ends(&prometheus, "StaunchNoNode").await;
    let before = prometheus.firing().await;
    assert!(before.is_empty(), "without a fault: {before:?}");

    let client = async_nats::connect(cluster.nats_url()).await.unwrap();
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
    postgres.restart().await.unwrap();
    api.reaches("quick", "Finished", BACKLOG as u64).await;

    cluster.brokers_mut().servers()[0].kill().unwrap();
    fires(&prometheus, "StaunchNatsDisconnected").await;
    fires(&prometheus, "StaunchNodeCutOff").await;
}
