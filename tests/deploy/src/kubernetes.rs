//! `compose/helm` and `compose/kubernetes`.

use testkit::{binary, executable};

use crate::script::run;

#[tokio::test]
async fn the_chart_renders_what_kubernetes_accepts() {
    run("chart_check.py", &[&executable("staunch").await]).await;
}

#[tokio::test]
async fn the_pods_of_the_chart_work_together() {
    run("chart_run.py", &[&executable("staunch").await, &binary().await]).await;
}
