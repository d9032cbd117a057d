//! `compose/systemd`, and proxies in front of nodes.

use std::path::Path;

use testkit::{binary, executable};

use crate::script::run;

#[tokio::test]
async fn the_units_of_systemd_are_right_and_closed() {
    run("systemd_check.py", &[&executable("staunch").await, &binary().await]).await;
}

#[tokio::test]
async fn a_node_behind_nginx_answers_as_without() {
    behind("nginx").await;
}

#[tokio::test]
async fn a_node_behind_caddy_answers_as_without() {
    behind("caddy").await;
}

async fn behind(proxy: &str) {
    let (staunch, nats) = (executable("staunch").await, binary().await);
    run("proxy_run.py", &[&staunch, &nats, Path::new(proxy)]).await;
}
