//! An instance waits for a timer and for a resume, while other nodes come and go.

use std::time::Duration;

use model::Timestamp;
use serde_json::{Value, json};
use testkit::eventually;

use crate::api::Api;
use crate::workflow;
use crate::world::World;

const SOON: Duration = Duration::from_secs(20);

/// A delay ends by itself, a wait by a resume.
pub(crate) async fn an_instance_waits_for_a_timer_and_for_a_resume(world: World) {
    let node = world.node("all", "all").await;
    let api = Api::new(&node.url());
    let activities = [workflow::delay("pause", 1), workflow::event("wait", "go")];
    api.publish(&workflow::sequence("waits", &activities)).await;
    let id = api.start("waits", json!({})).await;
    let bookmark = open_bookmark(&api, &id, "Elsa.Event").await;
    let path = format!("/workflow-instances/{id}/resume");
    let body = json!({"bookmarkId": bookmark, "input": {}});
    assert_eq!(api.post(&path, &body).await.status, 200);
    api.reaches(&id, "Finished", SOON).await;
    // The same bookmark a second time: too late.
    assert_eq!(api.post(&path, &body).await.status, 409);
}

/// G6: timers fire exactly once and never early, also when the node that created them is killed.
pub(crate) async fn two_hundred_timers_fire_once_and_not_early_after_their_node_died_g6(
    world: World,
) {
    const TIMERS: usize = 200;
    const SECONDS: u32 = 3;
    let (mut one, two) = (world.node("one", "all").await, world.node("two", "all").await);
    let first = Api::new(&one.url());
    first.publish(&workflow::delayed("timers", SECONDS)).await;
    let mut ids = Vec::with_capacity(TIMERS);
    for number in 0..TIMERS {
        ids.push(first.start("timers", json!({"Number": number})).await);
    }
    one.kill().unwrap();
    let api = Api::new(&two.url());
    eventually("all timers have fired", Duration::from_secs(60), async || {
        api.count("timers", Some("Finished")).await == TIMERS as u64
    })
    .await;
    let mut lateness = Vec::with_capacity(TIMERS);
    for id in &ids {
        let journal = api.journal(id).await;
        let suspended = moments(&journal, "Suspended");
        let resumed = moments(&journal, "Resumed");
        assert_eq!((suspended.len(), resumed.len()), (1, 1), "{id}: {journal:#?}");
        let waited = resumed[0].since(suspended[0]);
        let wanted = Duration::from_secs(u64::from(SECONDS));
        assert!(waited >= wanted, "{id} fired after {waited:?}");
        lateness.push(waited - wanted);
    }
    lateness.sort();
    println!(
        "G6: {TIMERS} timers, {TIMERS} fired once, 0 early; late p50 {:?}, p99 {:?}, max {:?}",
        lateness[TIMERS / 2],
        lateness[TIMERS * 99 / 100],
        lateness[TIMERS - 1]
    );
}

/// The time of this journal entry of the activity `pause`.
fn moments(journal: &[Value], what: &str) -> Vec<Timestamp> {
    let of_pause = journal
        .iter()
        .filter(|entry| entry["activityId"] == "pause" && entry["eventName"] == what);
    of_pause.map(|entry| Timestamp::parse(entry["timestamp"].as_str().unwrap()).unwrap()).collect()
}

/// Waits until an instance waits at a bookmark of this name; returns its id.
pub(crate) async fn open_bookmark(api: &Api, id: &str, name: &str) -> String {
    let mut found = None;
    eventually(&format!("{id} waits at {name}"), SOON, async || {
        let answer = api.get(&format!("/workflow-instances/{id}")).await;
        let bookmarks = answer.body.pointer("/workflowState/bookmarks").and_then(Value::as_array);
        let mut open = bookmarks.into_iter().flatten();
        found = open.find(|bookmark| bookmark["name"] == name).map(|it| it["id"].clone());
        found.is_some()
    })
    .await;
    found.unwrap().as_str().unwrap().to_owned()
}
