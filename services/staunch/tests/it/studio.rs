//! Studio in a real browser, on a real server, as a person uses it.

use std::path::Path;
use std::time::Duration;

use cluster::{Cluster, Plan};
use testkit::{find_program, skip, within};
use tokio::process::Command;

use crate::dev::Dev;
use crate::{TURN, staunch};

/// The longest that one walk takes, on any machine.
const WALK: Duration = Duration::from_secs(600);
const STUDIO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../studio");
/// The pictures of the pages, for people to look at.
const PICTURES: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/studio");

/// The packages of the walks, and a browser.
async fn is_there() -> bool {
    let has_browser = std::env::var_os("CHROMIUM").is_some() || find_program("chromium").is_some();
    if !has_browser {
        skip("chromium", "Studio", "there is no Chromium");
        return false;
    }
    if Path::new(STUDIO).join("node_modules/playwright-core").exists() {
        return true;
    }
    let mut npm = Command::new("npm");
    npm.args(["ci", "--no-audit", "--no-fund", "--ignore-scripts", "--silent"]);
    let ran = npm.current_dir(STUDIO).output().await;
    let is_there = ran.is_ok_and(|ran| ran.status.success());
    if !is_there {
        skip("npm", "Studio", "no node with npm, or npm does not reach its registry");
    }
    is_there
}

async fn walk(script: &str) {
    if !is_there().await {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let dev = Dev::start(folder.path()).await;
    run(script, &[&dev.url], None).await;
    dev.end().await;
}

/// Runs a walk at these addresses, the first before the folder of its pictures.
async fn run(script: &str, addresses: &[&str], nats_url: Option<&str>) {
    let mut node = Command::new("node");
    node.arg(format!("tests/browser/{script}")).arg(addresses[0]);
    node.arg(format!("{PICTURES}/{script}")).args(&addresses[1..]);
    node.envs(nats_url.map(|url| ("STAUNCH_NATS_URL", url)));
    let ran = within(script, WALK, node.current_dir(STUDIO).kill_on_drop(true).output()).await;
    let ran = ran.unwrap();
    let (said, wrong) =
        (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{script}: {said}{wrong}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_walks_through_every_page() {
    if !is_there().await {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // The walk sends messages, too.
    let broker = Cluster::start(Plan::new(staunch())).await.unwrap();
    let nats = broker.nats_url();
    let given = ["--nats-url", &nats, "--nats-subjects", "*=>", "--nats-buckets", "*=>"];
    let dev = Dev::start_with(folder.path(), &given).await;
    run("main.mjs", &[&dev.url], Some(&nats)).await;
    dev.end().await;
    broker.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_draws_publishes_and_runs_a_workflow() {
    walk("designer.mjs").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_of_a_workflow_gets_nothing_of_studio() {
    walk("sandbox.mjs").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_people_at_two_nodes_edit_one_workflow() {
    if !is_there().await {
        return;
    }
    let _turn = TURN.acquire().await.unwrap();
    let cluster = Cluster::start(Plan::new(staunch()).with_nodes(2)).await.unwrap();
    let (urls, nats) = (cluster.urls(), cluster.nats_url());
    run("two.mjs", &[&urls[0], &urls[1]], Some(&nats)).await;
    cluster.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_validates_the_cluster() {
    if !is_there().await {
        return;
    }
    let _turn = TURN.acquire().await.unwrap();
    let cluster = Cluster::start(Plan::new(staunch()).with_nodes(2)).await.unwrap();
    run("validate.mjs", &[&cluster.urls()[0]], None).await;
    cluster.stop().await.unwrap();
}
