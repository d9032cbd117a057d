//! `staunch validate` as an operator runs it: it passes on a healthy cluster, fails on a broken
//! one, and leaves nothing behind.

use std::process::Output;
use std::time::Duration;

use cluster::{Cluster, Plan};
use serde_json::Value;
use testkit::{eventually, free_port, signal, within};
use tokio::process::Command;
use tokio::sync::SemaphorePermit;

use crate::{TURN, command, staunch, stderr as said};

const VALIDATION_MAX: Duration = Duration::from_secs(400);
const SOON: Duration = Duration::from_secs(60);
/// This check holds for a release build, not for a debug build.
const LEASE: &str = "a lease is taken in time at p99";

fn validate(arguments: &[&str]) -> Command {
    command(&[&["validate"], arguments].concat())
}

async fn ended(mut command: Command) -> Output {
    within("the end of the validation", VALIDATION_MAX, command.output()).await.unwrap()
}

/// Every check with its result.
fn checks(output: &Output) -> Vec<(String, String)> {
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let checks = report["checks"].as_array().unwrap().iter();
    let text = |check: &Value, name: &str| check[name].as_str().unwrap().to_owned();
    checks.map(|check| (text(check, "check"), text(check, "result"))).collect()
}

/// The checks with this result.
fn of<'a>(checks: &'a [(String, String)], wanted: &str) -> Vec<&'a str> {
    let fitting = checks.iter().filter(|(_, result)| result == wanted);
    fitting.map(|(name, _)| name.as_str()).collect()
}

async fn cluster(nodes: usize) -> (Cluster, SemaphorePermit<'static>) {
    let turn = TURN.acquire().await.unwrap();
    (Cluster::start(Plan::new(staunch()).with_nodes(nodes)).await.unwrap(), turn)
}

async fn passes_on(database: &str) {
    let _turn = TURN.acquire().await.unwrap();
    let output = ended(validate(&["--local", "3", "--database", database, "-o", "json"])).await;
    let is_exempt = |name: &str| cfg!(debug_assertions) && name == LEASE;
    let checks = checks(&output);
    let bad: Vec<_> =
        checks.iter().filter(|(name, result)| result != "ok" && !is_exempt(name)).collect();
    assert!(bad.is_empty(), "{bad:?}\n{}", said(&output));
    assert!(checks.len() >= 18, "{checks:?}");
    let is_all_ok = checks.iter().all(|(_, result)| result == "ok");
    assert_eq!(output.status.code(), Some(if is_all_ok { 0 } else { 1 }));
}

#[tokio::test]
async fn a_cluster_of_its_own_passes_on_sqlite() {
    passes_on("sqlite").await;
}

#[tokio::test]
async fn a_cluster_of_its_own_passes_on_postgres() {
    if postgres_server::find().is_none() {
        testkit::skip("pg", "validate on PostgreSQL", "no initdb found");
        return;
    }
    passes_on("postgres").await;
}

#[tokio::test]
async fn a_running_cluster_passes_and_what_needs_its_own_nodes_is_skipped() {
    let (cluster, _turn) = cluster(2).await;
    let output = ended(validate(&["--nodes", &cluster.urls().join(","), "-o", "json"])).await;
    let checks = checks(&output);
    let failed: Vec<_> = of(&checks, "failed").into_iter().filter(|name| *name != LEASE).collect();
    assert!(failed.is_empty(), "{failed:?}\n{}", said(&output));
    assert_eq!(of(&checks, "skipped").len(), 2, "{checks:?}");
    assert!(of(&checks, "ok").contains(&"load over all nodes fails nothing"));
    assert!(of(&checks, "ok").contains(&"everything made is removed"));
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(report.contains("; an answer of readiness "), "{report}");
    cluster.stop().await.unwrap();
}

#[tokio::test]
async fn an_address_where_nothing_answers_is_named() {
    let (mut cluster, _turn) = cluster(2).await;
    let dead = format!("http://127.0.0.1:{}", free_port());
    let urls = format!("{},{dead}", cluster.urls().join(","));
    let output = ended(validate(&["--nodes", &urls])).await;
    assert_eq!(output.status.code(), Some(5));
    let text = said(&output);
    assert!(text.contains("1 of 3 nodes cannot be asked"), "{text}");
    assert!(text.contains(&format!("{dead}: nothing listens there")), "{text}");

    cluster.node_mut(1).suspend().unwrap();
    let output = ended(validate(&["--nodes", &cluster.urls().join(",")])).await;
    cluster.node_mut(1).resume().unwrap();
    assert_eq!(output.status.code(), Some(5));
    let text = said(&output);
    assert!(text.contains(&format!("{}: no answer within", cluster.urls()[1])), "{text}");
}

#[tokio::test]
async fn a_node_that_does_nothing_fails_the_validation() {
    let (mut cluster, _turn) = cluster(3).await;
    let named = cluster.urls()[..2].join(",");
    cluster.node_mut(2).suspend().unwrap();
    let output = ended(validate(&["--nodes", &named, "-o", "json"])).await;
    cluster.node_mut(2).resume().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let checks = checks(&output);
    let is = |name: &str, result: &str| checks.contains(&(name.to_owned(), result.to_owned()));
    assert!(is("every node runs some", "failed"), "{checks:?}");
    // The other nodes do its work all the same.
    assert!(is("each instance runs once", "ok"), "{checks:?}");
}

#[tokio::test]
async fn an_interrupt_leaves_nothing_behind() {
    let (cluster, _turn) = cluster(2).await;
    let urls = cluster.urls();
    let child = validate(&["--nodes", &urls.join(",")]).spawn().unwrap();
    let pid = child.id().unwrap();
    eventually("definitions are made", SOON, async || made(&urls[0]).await > 0).await;
    signal(pid, "INT").unwrap();
    let output = within("the end", SOON, child.wait_with_output()).await.unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("interrupted before all was checked"), "{}", said(&output));
    assert_eq!(made(&urls[0]).await, 0);
}

/// A validation from a page: its events come one by one; only one runs in the cluster; it is over, and
/// nothing of it is left, soon after its reader has gone.
#[tokio::test]
async fn a_validation_over_http_ends_with_its_reader() {
    let (cluster, _turn) = cluster(2).await;
    let urls = cluster.urls();
    let url = format!("{}/elsa/api/cluster/validation", urls[0]);
    let mut answer = client().post(&url).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    let mut seen = String::new();
    while !seen.contains("event: check\n") {
        let chunk = within("an event", SOON, answer.chunk()).await.unwrap().unwrap();
        seen.push_str(std::str::from_utf8(&chunk).unwrap());
    }
    let events: Vec<_> = seen.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    assert_eq!(events[..3], ["begun", "part", "doing"], "{seen}");
    for node in ["node-1", "node-2"] {
        assert!(seen.contains(&format!(r#""node":"{node}""#)), "{seen}");
    }
    assert!(made(&urls[1]).await > 0);
    let elsewhere = format!("{}/elsa/api/cluster/validation", urls[1]);
    for second in [&url, &elsewhere] {
        let second = client().post(second).send().await.unwrap();
        assert_eq!(second.status(), 409);
        let text = second.text().await.unwrap();
        assert!(text.contains("node node-1 makes a validation already"), "{text}");
    }
    drop(answer);
    eventually("nothing is left", SOON, async || made(&urls[1]).await == 0).await;
    eventually("another one may begin", SOON, async || {
        client().post(&url).send().await.unwrap().status() == 200
    })
    .await;
    eventually("so may one at another node", SOON, async || {
        client().post(&elsewhere).send().await.unwrap().status() == 200
    })
    .await;
}

/// The number of definitions.
async fn made(url: &str) -> u64 {
    let url = format!("{url}/elsa/api/workflow-definitions");
    let body: Value = client().get(url).send().await.unwrap().json().await.unwrap();
    body["totalCount"].as_u64().unwrap()
}

fn client() -> reqwest::Client {
    drop(rustls::crypto::ring::default_provider().install_default());
    reqwest::Client::builder().no_proxy().build().unwrap()
}

#[tokio::test]
async fn what_makes_no_sense_is_a_usage_error() {
    let wrong: [&[&str]; 6] = [
        &[],
        &["--local", "1"],
        &["--local", "3", "--database", "oracle"],
        &["--local", "3", "--nodes", "http://127.0.0.1:1"],
        &["--nodes", "127.0.0.1:5001"],
        &["--nodes", "http://127.0.0.1:1", "--brokers", "3"],
    ];
    for arguments in wrong {
        let output = ended(validate(arguments)).await;
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", said(&output));
    }
}
