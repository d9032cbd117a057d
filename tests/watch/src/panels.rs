//! Every query of every panel, asked of a real Prometheus that scrapes a cluster under load.

use std::time::Duration;

use cluster::{Cluster, Database, Plan};
use testkit::{eventually, executable};

use crate::api::Api;
use crate::prometheus::Prometheus;
use crate::{dashboards, load};

const PATIENCE: Duration = Duration::from_secs(120);

/// The query as Grafana sends it, over a short time.
fn filled(query: &str) -> String {
    query.replace("$__rate_interval", "1m").replace("$instance", ".*")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_panel_has_data_while_a_cluster_works() {
    if testkit::promtool().is_none() {
        return;
    }
    let mut plan = Plan::new(&executable("staunch").await);
    plan.nodes = ["one", "two"].map(|name| load::node(name, "all")).to_vec();
    if let Some(postgres) = testkit::postgres().await {
        plan.database = Database::Url(postgres.url());
    }
    let cluster = Cluster::start(plan).await.unwrap();
    let apis: Vec<_> = cluster.urls().iter().map(|url| Api::new(url)).collect();
    let targets: Vec<_> = apis.iter().map(Api::target).collect();
    let prometheus = Prometheus::start(&targets, None).await.unwrap();
    load::publish(&apis[0], &cluster.urls()[1]).await;

    let mut missing = dashboards::queries();
    let all = missing.len();
    let mut round = 0;
    eventually("every query has data", PATIENCE, async || {
        load::round(&apis[round % 2], round as u64).await;
        round += 1;
        let mut still = Vec::new();
        for (place, query) in std::mem::take(&mut missing) {
            let found = prometheus.query(&filled(&query)).await;
            // The share of a histogram that has no values is not a number.
            if !found.iter().any(|value| value.is_finite()) {
                still.push((place, query));
            }
        }
        missing = still;
        if !missing.is_empty() {
            println!("round {round}: without data: {missing:#?}");
        }
        missing.is_empty()
    })
    .await;
    println!("{all} queries have data after {round} rounds of load");
    cluster.stop().await.unwrap();
}
