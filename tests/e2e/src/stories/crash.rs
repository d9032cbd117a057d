//! Executors are ended by SIGKILL and by SIGTERM while they work.

#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use futures::{StreamExt as _, stream};
use serde_json::json;
use testkit::{eventually, within};
use tokio::task::JoinHandle;

use crate::api::Api;
use crate::workflow;
use crate::world::World;

const STARTS: usize = 300;
const FINISHED_BEFORE: usize = 20;
const SOON: Duration = Duration::from_secs(90);

/// G1, G2, G7: accepted work is done exactly once when an executor is killed under load.
pub(crate) async fn a_killed_executor_loses_no_start_and_repeats_none_g1_g2_g7(world: World) {
    let gateway = world.node("gateway", "ingress,timer,cache-notifier").await;
    let mut victim = world.node("victim", "executor").await;
    let mut other = world.node("other", "executor").await;
    let api = Api::new(&gateway.url());
    api.publish(&workflow::quick("load")).await;
    let accepting = under_way(&world, &api).await;
    victim.kill().unwrap();
    let killed = Instant::now();
    let at_kill = api.count("load", Some("Finished")).await;
    let accepted = accepting.await.unwrap();
    let all_accepted = Instant::now();
    all_finished_once(&api, &accepted).await;
    println!(
        "G1 G2 G7: {} starts accepted, {} finished once, 0 lost, 0 twice; killed when {at_kill} \
         were finished, the last finished {:?} after the kill, {:?} after it was accepted",
        accepted.len(),
        accepted.len(),
        killed.elapsed(),
        all_accepted.elapsed()
    );
    assert!(other.stop().await.unwrap().status.success());
}

/// G7: an executor that is stopped in order hands everything over, in under a second if no call is
/// pending.
pub(crate) async fn a_stopped_executor_drains_and_loses_nothing_g7(world: World) {
    let gateway = world.node("gateway", "ingress,timer,cache-notifier").await;
    let mut leaving = world.node("leaving", "executor").await;
    let staying = world.node("staying", "executor").await;
    let api = Api::new(&gateway.url());
    api.publish(&workflow::quick("load")).await;
    let accepting = under_way(&world, &api).await;
    let asked = Instant::now();
    let status = leaving.stop().await.unwrap().status;
    let drained = asked.elapsed();
    assert!(status.success(), "{status}");
    let accepted = accepting.await.unwrap();
    all_finished_once(&api, &accepted).await;
    println!("G7: drained in {drained:?} under load, {} of {STARTS} finished", accepted.len());
    assert!(drained < Duration::from_secs(5), "{drained:?}");
    drop(staying);
}

/// G3, G11: an executor is paused for longer than all timeouts, perhaps in the middle of a
/// transaction. It does not hold up other nodes, and its unfinished work changes nothing when it
/// continues.
///
/// On PostgreSQL only: on SQLite a process that is paused in a transaction stops all others.
pub(crate) async fn an_executor_that_slept_through_its_leases_changes_nothing_g3_g11(world: World) {
    let gateway = world.node("gateway", "ingress,timer,cache-notifier").await;
    let mut sleeper = world.node("sleeper", "executor").await;
    let mut other = world.node("other", "executor").await;
    let api = Api::new(&gateway.url());
    api.publish(&workflow::quick("load")).await;
    let accepting = under_way(&world, &api).await;
    sleeper.suspend().unwrap();
    let paused = Instant::now();
    let accepted = accepting.await.unwrap();
    all_finished_once(&api, &accepted).await;
    let taken_over = paused.elapsed();
    sleeper.resume().unwrap();
    // It has recovered when it takes part in new work.
    let accepted: BTreeSet<String> = accepted.union(&load(api.clone()).await).cloned().collect();
    assert_eq!(accepted.len(), 2 * STARTS);
    all_finished_once(&api, &accepted).await;
    assert!(sleeper.stop().await.unwrap().status.success());
    assert!(other.stop().await.unwrap().status.success());
    each_once(&api, &accepted).await;
    println!("G3 G11: paused for {taken_over:?}, {} starts finished once, 0 twice", accepted.len());
}

/// G7: a node with every role that is stopped still answers callers that wait for an end; the next
/// node finishes the work that it had accepted.
pub(crate) async fn a_stopped_node_answers_those_who_wait_g7(world: World) {
    let mut node = world.node("leaving", "all").await;
    let api = Api::new(&node.url());
    api.publish(&workflow::quick("load")).await;
    let callers = tokio::spawn({
        let calls = stream::iter(0..STARTS).map(move |number| execute(api.clone(), number));
        calls.buffer_unordered(16).collect::<Vec<_>>()
    });
    let client = world.client().await;
    let finished = client.subscribe("staunch.event.load.*.finished").await.unwrap();
    within("some are finished", SOON, finished.take(FINISHED_BEFORE).count()).await;
    let asked = Instant::now();
    let status = node.stop().await.unwrap().status;
    let drained = asked.elapsed();
    assert!(status.success(), "{status}");
    let answers = callers.await.unwrap();
    let answered = answers.iter().filter(|answer| **answer == Some(200)).count();
    // A node that drains refuses with 503; after the stop no process listens.
    let others = answers.iter().all(|answer| matches!(answer, None | Some(200 | 503)));
    assert!(answered >= FINISHED_BEFORE && others, "{answers:?}");
    let next = world.node("next", "all").await;
    let api = Api::new(&next.url());
    eventually("what was accepted is finished", SOON, async || {
        api.count("load", Some("Finished")).await == api.count("load", None).await
    })
    .await;
    let accepted = api.count("load", None).await;
    println!("G7: stopped in {drained:?}: {answered} of {accepted} accepted callers were answered");
    assert!(accepted >= answered as u64);
}

/// Runs an instance to its end; returns the status of the response, if there is one.
async fn execute(api: Api, number: usize) -> Option<u16> {
    let path = "/elsa/api/workflow-definitions/load/execute";
    let body = json!({"input": {"Number": number}}).to_string();
    let answer = api.try_raw(reqwest::Method::POST, path, Some(body)).await;
    answer.ok().map(|answer| answer.status)
}

/// Starts instances; returns their ids when some are finished and others are not.
async fn under_way(world: &World, api: &Api) -> JoinHandle<BTreeSet<String>> {
    let client = world.client().await;
    let finished = client.subscribe("staunch.event.load.*.finished").await.unwrap();
    let accepting = tokio::spawn(load(api.clone()));
    within("some are finished", SOON, finished.take(FINISHED_BEFORE).count()).await;
    accepting
}

/// Starts instances over HTTP, several at a time; returns the ids of the accepted ones.
async fn load(api: Api) -> BTreeSet<String> {
    let starts = stream::iter(0..STARTS).map(|number| {
        let api = api.clone();
        async move { api.start("load", json!({"Number": number})).await }
    });
    starts.buffer_unordered(16).collect().await
}

/// Waits until all are finished; checks that each ran once and that there are no others.
async fn all_finished_once(api: &Api, accepted: &BTreeSet<String>) {
    let wanted = accepted.len() as u64;
    eventually("every accepted start is finished", SOON, async || {
        api.count("load", Some("Finished")).await >= wanted
    })
    .await;
    each_once(api, accepted).await;
}

/// Checks that each ran once and that there are no others.
async fn each_once(api: &Api, accepted: &BTreeSet<String>) {
    assert_eq!(api.count("load", None).await, accepted.len() as u64);
    assert_eq!(api.count("load", Some("Finished")).await, accepted.len() as u64);
    for id in accepted {
        let journal = api.journal(id).await;
        let lines = journal.iter().filter(|entry| entry["eventName"] == "Line").count();
        assert_eq!(lines, 1, "{id} ran {lines} times: {journal:#?}");
    }
}
