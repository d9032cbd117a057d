//! `compose/compose.yaml`: its form, and its processes.

use std::path::Path;

use testkit::{binary, executable};

use crate::script::run;

#[tokio::test]
async fn the_compose_file_is_right_in_every_detail() {
    run("compose_check.py", &[&executable("staunch").await]).await;
}

#[tokio::test]
async fn the_processes_of_the_compose_file_are_a_cluster() {
    run("compose_run.py", &[&executable("staunch").await, &binary().await]).await;
}

#[tokio::test]
async fn timers_can_have_a_node_of_their_own() {
    with_pattern("scheduler.yaml").await;
}

#[tokio::test]
async fn a_scheduler_from_outside_can_start_the_work() {
    with_pattern("external.yaml").await;
}

/// The cluster, with a file of `compose/patterns` on top.
async fn with_pattern(file: &str) {
    let (staunch, nats) = (executable("staunch").await, binary().await);
    run("compose_run.py", &[&staunch, &nats, Path::new(file)]).await;
}
