//! Alterations: applied once, whatever crashes; refused as a whole.

use std::collections::BTreeMap;

use model::{Alteration, SubStatus, What};
use protocol::{Alter, Body, Command, Refusal, ReplyWhen};
use serde_json::{Value, json};
use store::{BookmarkFilter, Bookmarks as _, InstanceFilter, Instances as _, Page, StoredBookmark};

use crate::wired::fault::counted;
use crate::wired::world::{World, event, line, resume, sequence, wait_for};

pub(super) fn alter(id: &str, instance: &str, alterations: Vec<Alteration>) -> Command {
    Command::new(id.into(), Body::Alter(Alter { instance_id: instance.into(), alterations }))
}

fn retry() -> Vec<Alteration> {
    vec![Alteration::Retry { activity_ids: Vec::new() }]
}

fn set(value: Value) -> Alteration {
    Alteration::ModifyVariable { variable_id: "Good".to_owned(), value }
}

fn good() -> Value {
    json!({"variables": [{"id": "good", "name": "Good", "typeName": "Boolean", "value": false}]})
}

fn check() -> Value {
    json!({"type": "If", "id": "check", "then": line("good"),
        "condition": {"js": "if (!variables.Good) throw new Error('bad'); return true"}})
}

#[tokio::test(start_paused = true)]
async fn a_retry_goes_on_once_however_often_it_is_delivered() {
    let world = World::new();
    world.publish("f", sequence(vec![line("a"), check(), line("z")]), good()).await;
    let _node = world.node("n").await;
    let outcome = world.start("f", "i", json!({})).await;
    assert_eq!(outcome.sub_status, Some(SubStatus::Faulted));
    let faulted = world.instance("i").await.unwrap();
    tokio::time::sleep(std::time::Duration::from_secs(60)).await;
    let outcome = world.ask(alter("s", "i", vec![set(json!(true))]), ReplyWhen::Committed).await;
    assert_eq!((outcome.refusal, outcome.sub_status), (None, Some(SubStatus::Faulted)));
    assert_eq!(world.instance("i").await.unwrap().finished_at, faulted.finished_at);
    let command = alter("r", "i", retry());
    let outcome = world.ask(command.clone(), ReplyWhen::Committed).await;
    assert_eq!((outcome.refusal, outcome.sub_status), (None, Some(SubStatus::Finished)));
    let before = world.instance("i").await.unwrap();
    assert_eq!((before.incidents, before.finished_at), (0, Some(before.updated_at)));
    assert!(before.finished_at > faulted.finished_at, "it ended a second time: {before:?}");
    // The same command under another message id, as the sweep sends it.
    let mut again = command.encode().unwrap();
    again.headers.insert(protocol::header::MESSAGE_ID.to_owned(), "r.w1".to_owned());
    again.headers.insert(protocol::header::COMMAND_ID.to_owned(), "r".to_owned());
    bus::Queue::publish(&world.bus, again).await.unwrap();
    world.until_quiet().await;
    assert_eq!(world.instance("i").await.unwrap(), before);
    assert_eq!(world.lines("i").await, ["a", "good", "z"]);
    let refused = world.ask(alter("r2", "i", retry()), ReplyWhen::Committed).await;
    assert_eq!(refused.refusal, Some(Refusal::Unfit));
    assert_eq!(world.events("i"), ["started", "faulted", "finished"]);
}

#[tokio::test(start_paused = true)]
async fn an_instance_that_is_retried_and_fails_again_has_ended_again() {
    let faults = || counted("staunch_instances_total{status=\"Faulted\"}");
    let world = World::new();
    world.publish("f", check(), good()).await;
    let _node = world.node("n").await;
    world.start("f", "i", json!({})).await;
    let (first, before) = (world.instance("i").await.unwrap(), faults());
    tokio::time::sleep(std::time::Duration::from_secs(60)).await;
    let outcome = world.ask(alter("r", "i", retry()), ReplyWhen::Committed).await;
    assert_eq!((outcome.refusal, outcome.sub_status), (None, Some(SubStatus::Faulted)));
    let second = world.instance("i").await.unwrap();
    assert_eq!((second.version, second.incidents), (first.version + 1, 1), "one burst");
    assert_eq!(second.finished_at, Some(second.updated_at));
    assert!(second.finished_at > first.finished_at, "it ended a second time: {second:?}");
    assert!(faults() > before, "each end is counted");
    let journal = world.journal("i").await.into_iter();
    let statuses = journal.filter(|entry| entry.what == What::Workflow);
    let statuses: Vec<_> = statuses.filter_map(|entry| entry.message).collect();
    assert_eq!(statuses, ["Executing", "Faulted", "Faulted"]);
    world.settle("i", SubStatus::Faulted).await;
    assert_eq!(world.events("i"), ["started", "faulted", "faulted"]);
}

#[tokio::test(start_paused = true)]
async fn a_parent_that_waits_again_gets_the_next_end_of_its_child() {
    let world = World::new();
    world.publish("child", sequence(vec![wait_for("x"), check()]), good()).await;
    let run = json!({"type": "ExecuteWorkflow", "workflowDefinitionId": "child",
        "waitForCompletion": true});
    let root = json!({"type": "Parallel", "activities": [
        sequence(vec![run, line("child over")]), sequence(vec![wait_for("y"), check()])]});
    world.publish("parent", root, good()).await;
    let _node = world.node("n").await;
    world.start("parent", "p", json!({})).await;
    world.until_quiet().await;
    let of_child =
        InstanceFilter { definition_ids: vec!["child".into()], ..InstanceFilter::default() };
    let children = world.store.list(&of_child, Page::first()).await.unwrap().items;
    let child = children[0].id.as_str();
    world.until_status(child, SubStatus::Suspended).await;
    world.send(&event("e1", "y", json!({}))).await;
    world.until_status("p", SubStatus::Faulted).await;
    world.send(&event("e2", "x", json!({}))).await;
    world.settle(child, SubStatus::Faulted).await;
    let again = || [vec![set(json!(true))], retry()].concat();
    let outcome = world.ask(alter("r1", "p", again()), ReplyWhen::Committed).await;
    assert_eq!(outcome.sub_status, Some(SubStatus::Suspended), "it waits for its child again");
    let outcome = world.ask(alter("r2", child, again()), ReplyWhen::Committed).await;
    assert_eq!(outcome.sub_status, Some(SubStatus::Finished));
    world.settle("p", SubStatus::Finished).await;
    assert_eq!(world.lines("p").await, ["good", "child over"]);
    assert!(world.dead().is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_a_faulted_instance_waited_for_can_be_resumed_after_a_retry() {
    let world = World::new();
    let root = json!({"type": "Parallel", "activities": [
        sequence(vec![wait_for("x"), line("x")]), check()]});
    world.publish("f", root, good()).await;
    let _node = world.node("n").await;
    world.start("f", "i", json!({})).await;
    assert!(world.bookmarks("i").await.is_empty());
    let steps = [vec![set(json!(true))], retry()].concat();
    let outcome = world.ask(alter("r", "i", steps), ReplyWhen::Committed).await;
    assert_eq!(outcome.sub_status, Some(SubStatus::Suspended));
    assert_eq!(world.bookmarks("i").await.len(), 1);
    world.send(&event("e", "x", json!({}))).await;
    world.until_status("i", SubStatus::Finished).await;
    assert_eq!(world.lines("i").await, ["good", "x"]);
}

#[tokio::test(start_paused = true)]
async fn a_paused_instance_takes_what_arrived_when_it_goes_on() {
    let world = World::new();
    world.publish("w", sequence(vec![wait_for("x"), line("x"), wait_for("y")]), json!({})).await;
    let _node = world.node("n").await;
    world.start("w", "i", json!({})).await;
    let pause = alter("p", "i", vec![Alteration::Pause { reason: None }]);
    assert_eq!(world.ask(pause, ReplyWhen::Committed).await.refusal, None);
    assert!(world.bookmarks("i").await.is_empty());
    let kept = world.ask(event("e", "x", json!({})), ReplyWhen::Committed).await;
    assert_eq!(kept.refusal, Some(Refusal::Waiting));
    let early = world.ask(resume("s", "i", None, json!({})), ReplyWhen::Committed).await;
    assert_eq!(early.refusal, Some(Refusal::Waiting));
    assert!(world.lines("i").await.is_empty());
    let on = alter("u", "i", vec![Alteration::Unpause]);
    assert_eq!(world.ask(on, ReplyWhen::Committed).await.refusal, None);
    world.until_quiet().await;
    world.until_status("i", SubStatus::Finished).await;
    assert_eq!(world.lines("i").await, ["x"]);
}

#[tokio::test(start_paused = true)]
async fn an_instance_migrates_only_where_it_fits() {
    let world = World::new();
    world.publish("m", sequence(vec![wait_for("x")]), json!({})).await;
    let _node = world.node("n").await;
    world.start("m", "i", json!({})).await;
    let second = sequence(vec![wait_for("x"), line("second")]);
    world.publish("m", second, json!({"id": "m-v2", "version": 2})).await;
    let third = sequence(vec![line("third")]);
    world.publish("m", third, json!({"id": "m-v3", "version": 3})).await;
    let to = |id: &str, target_version| alter(id, "i", vec![Alteration::migrate(target_version)]);
    for (id, version, why) in [("a", 3, "not there"), ("b", 4, "no version 4"), ("c", 1, "already")]
    {
        let outcome = world.ask(to(id, version), ReplyWhen::Committed).await;
        assert_eq!(outcome.refusal, Some(Refusal::Unfit));
        assert!(outcome.message.clone().unwrap().contains(why), "{outcome:?}");
    }
    let outcome = world.ask(to("d", 2), ReplyWhen::Committed).await;
    assert_eq!(outcome.refusal, None, "{outcome:?}");
    let row = world.instance("i").await.unwrap();
    assert_eq!((row.version_id.as_str(), row.definition_version, row.version), ("m-v2", 2, 2));
    world.send(&event("e", "x", json!({}))).await;
    world.until_status("i", SubStatus::Finished).await;
    assert_eq!(world.lines("i").await, ["second"]);
}

#[tokio::test(start_paused = true)]
async fn the_rows_of_bookmarks_name_the_activities_of_the_version_that_runs() {
    let world = World::new();
    let waits = |ids: [&str; 2]| {
        let wait = |id: &str, event: &str| json!({"type": "Event", "id": id, "eventName": event});
        let both = [wait(ids[0], "x"), wait(ids[1], "y")];
        json!({"type": "Parallel", "id": "all", "activities": both})
    };
    world.publish("m", waits(["a", "same"]), json!({})).await;
    let _node = world.node("n").await;
    world.start("m", "i", json!({})).await;
    let rows = async || {
        let filter = BookmarkFilter { instance_id: Some("i".into()), ..BookmarkFilter::default() };
        let found = world.store.find(&filter, 10).await.unwrap();
        let row = |row: StoredBookmark| (row.bookmark.activity_id.to_string(), row);
        found.into_iter().map(row).collect::<BTreeMap<_, _>>()
    };
    let before = rows().await;
    world.publish("m", waits(["b", "same"]), json!({"id": "m-v2", "version": 2})).await;
    let activities = BTreeMap::from([("a".into(), "b".into())]);
    let to = vec![Alteration::Migrate { target_version: 2, activities }];
    let outcome = world.ask(alter("c", "i", to), ReplyWhen::Committed).await;
    assert_eq!(outcome.refusal, None, "{outcome:?}");
    let after = rows().await;
    assert_eq!(after.keys().collect::<Vec<_>>(), ["b", "same"]);
    assert_eq!(after["same"], before["same"]);
    let mut expected = before["a"].clone();
    expected.bookmark.activity_id = "b".into();
    expected.bookmark.activity_node_id = "Workflow1:all:b".to_owned();
    assert_eq!(after["b"], expected, "the wait itself is the same");
    world.send(&event("e", "x", json!({}))).await;
    world.send(&event("f", "y", json!({}))).await;
    world.until_status("i", SubStatus::Finished).await;
    assert!(rows().await.is_empty());
}
