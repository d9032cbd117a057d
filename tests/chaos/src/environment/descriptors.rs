//! A node may open no more files.

use std::process::Command;
use std::time::Duration;

use cluster::NodePlan;
use reqwest::Method;
use serde_json::Value;
use testkit::eventually;

use super::load::{Load, SEEN_MAX, ready, said};
use crate::world::{World, all_roles, sql};

const NORMAL: &str = "4096";
/// Those of standard input, output and error alone: no number that a closed connection gives back can
/// be used again, or the database might still be reached through one of them.
const LOW: &str = "3";

fn limit(pid: u32, files: &str) {
    let mut prlimit = Command::new("prlimit");
    let set = prlimit.args(["--pid", &pid.to_string(), &format!("--nofile={files}:")]);
    let ran = set.output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

/// G1, G2, G11: a node can open neither connections to the database nor those of callers. It says
/// why, the other node goes on, and it works again when descriptors are to be had.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_without_descriptors_says_so_and_recovers_g1_g2_g11() {
    // A timer node that does not reach the database keeps its shards: their timers would wait for it.
    let roles = "ingress,executor,cache-notifier".to_owned();
    let nodes = vec![NodePlan { roles, ..all_roles("short") }, all_roles("other")];
    let Some(world) = World::start(1, nodes).await else { return };
    // Callers go to the other node: a balancer sees that this one is not healthy. Both execute.
    let load = Load::begin(&world, "descriptors", &[1]).await;
    load.progress(10).await;
    let pid = world.cluster.nodes()[0].pid().unwrap();
    // A connection that is open already, as a load balancer keeps it.
    let kept = world.api(0);
    let ask = async || kept.send(Method::GET, "/health/ready", None, &Value::Null).await;
    ask().await.unwrap();
    limit(pid, LOW);
    let end_all = "select count(pg_terminate_backend(pid)) from pg_stat_activity
        where application_name = 'staunch' and pid <> pg_backend_pid()";
    let mut last = String::new();
    eventually("readiness names the reason", SEEN_MAX, async || {
        sql(world.cluster.database_url(), end_all);
        let answer = ask().await;
        last = answer.map_or_else(|error| error.to_string(), |answer| answer.body.to_string());
        last.contains("Too many open files")
    })
    .await;
    println!("readiness: {last}");
    assert!(!world.cluster.nodes()[0].is_healthy().await, "a new connection was accepted");
    said(&world, 0, &["ERROR", "no connection can be accepted", "Too many open files"]).await;
    load.progress(10).await;
    limit(pid, NORMAL);
    ready(&world, 0).await;
    load.progress(10).await;
    load.end(&world, "no descriptors").await;
    tokio::time::timeout(Duration::from_secs(5), ask()).await.unwrap().unwrap().ok();
}
