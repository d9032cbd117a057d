//! Each service as a process of its own binary.

use std::time::Duration;

use serde_json::json;
use testkit::{eventually, free_port};

use super::waiting::open_bookmark;
use crate::api::Api;
use crate::workflow;
use crate::world::World;

const SOON: Duration = Duration::from_secs(20);

/// A figure of each service, which only its own process has.
const FIGURES: [(&str, &str); 4] = [
    ("ingress", "staunch_http_request_duration_seconds_count"),
    ("executor", "staunch_lease_wait_seconds_count"),
    ("timer", "staunch_timers_fired_total"),
    ("cache-notifier", "staunch_cache_announced_total"),
];

/// The four binaries form one cluster, and each answers probes and scrapes.
pub(crate) async fn separate_binaries_make_a_cluster(world: World) {
    let admin = FIGURES.map(|_| format!("127.0.0.1:{}", free_port()));
    let mut services = Vec::new();
    for ((name, _), admin) in FIGURES.iter().zip(&admin) {
        services.push(world.service(name, &["--admin-listen", admin]).await);
    }
    let ingress = &services[0];
    let api = Api::new(&ingress.url());
    let activities = [workflow::delay("pause", 1), workflow::event("wait", "go")];
    let answer = api.publish(&workflow::sequence("apart", &activities)).await;
    assert_eq!(answer["everywhere"], true, "{answer}");
    let id = api.start("apart", json!({})).await;
    let bookmark = open_bookmark(&api, &id, "Elsa.Event").await;
    let body = json!({"bookmarkId": bookmark, "input": {}});
    api.post(&format!("/workflow-instances/{id}/resume"), &body).await.ok();
    api.reaches(&id, "Finished", SOON).await;
    for ((name, figure), admin) in FIGURES.iter().zip(&admin) {
        let ready = text(&format!("http://{admin}/health/ready")).await;
        assert!(ready.contains("\"status\":\"Healthy\""), "{name}: {ready}");
        eventually(&format!("{figure} of {name}"), SOON, async || {
            text(&format!("http://{admin}/metrics")).await.contains(figure)
        })
        .await;
    }
}

/// Without a timer no timer fires and nobody sweeps: readiness says so, and the work goes on.
pub(crate) async fn a_cluster_without_a_timer_says_what_it_lacks(world: World) {
    let node = world.node("node", "ingress,executor,cache-notifier").await;
    let ready = text(&format!("{}/health/ready", node.url())).await;
    assert!(ready.contains("Degraded") && ready.contains("no live node has the role timer"));
    let _timer = world.node("timer", "timer").await;
    eventually("readiness knows the timer", SOON, async || {
        !text(&format!("{}/health/ready", node.url())).await.contains("Degraded")
    })
    .await;
}

async fn text(url: &str) -> String {
    drop(rustls::crypto::ring::default_provider().install_default());
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let answer = client.get(url).send().await.unwrap();
    answer.error_for_status().unwrap().text().await.unwrap()
}
