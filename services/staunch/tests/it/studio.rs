//! Studio in a real browser, on a real server, as a person uses it.

use std::path::Path;
use std::time::Duration;

use testkit::{find_program, skip, within};
use tokio::process::Command;

use crate::dev::Dev;

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
    let mut node = Command::new("node");
    node.arg(format!("tests/browser/{script}")).arg(&dev.url).arg(format!("{PICTURES}/{script}"));
    let ran = within(script, WALK, node.current_dir(STUDIO).kill_on_drop(true).output()).await;
    let ran = ran.unwrap();
    let (said, wrong) =
        (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{script}: {said}{wrong}");
    dev.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_walks_through_every_page() {
    walk("main.mjs").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_draws_publishes_and_runs_a_workflow() {
    walk("designer.mjs").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_of_a_workflow_gets_nothing_of_studio() {
    walk("sandbox.mjs").await;
}
