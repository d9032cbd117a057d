//! The events that the system publishes.

use std::time::Duration;

use futures::{StreamExt as _, TryStreamExt as _};
use serde_json::{Value, json};
use testkit::within;

use crate::api::Api;
use crate::workflow;
use crate::world::World;

/// A client reads the lifecycle events of an instance from NATS as JSON; the journal of its bursts
/// only live.
pub(crate) async fn events_are_readable_json_in_order(world: World) {
    let node = world.node("all", "all").await;
    let api = Api::new(&node.url());
    api.publish(&workflow::delayed("told", 1)).await;
    let client = world.client().await;
    let mut events = client.subscribe("staunch.event.told.>").await.unwrap();
    let mut journal = client.subscribe("staunch.journal.>").await.unwrap();
    let id = api.start("told", json!({})).await;
    let mut told = Vec::new();
    while told.last().map(String::as_str) != Some("finished") {
        let event = within("an event", Duration::from_secs(20), events.next()).await.unwrap();
        let body: Value = serde_json::from_slice(&event.payload).unwrap();
        assert_eq!(body["workflowInstanceId"], id, "{body}");
        let what = event.subject.as_str().strip_prefix(&format!("staunch.event.told.{id}."));
        let what = what.unwrap().to_owned();
        assert!(body["time"].is_string() && body["subStatus"].is_string(), "{body}");
        told.push(what);
    }
    assert_eq!(told, ["started", "suspended", "finished"]);
    for version in 1..=2 {
        let burst = within("a burst", Duration::from_secs(20), journal.next()).await.unwrap();
        assert_eq!(burst.subject.as_str(), format!("staunch.journal.told.{id}"));
        let body: Value = serde_json::from_slice(&burst.payload).unwrap();
        assert_eq!(body["version"], version, "{body}");
        assert!(body["entries"].as_array().is_some_and(|all| !all.is_empty()), "{body}");
    }
    let jetstream = async_nats::jetstream::new(client);
    let stream = jetstream.get_stream("STAUNCH_EVENTS").await.unwrap();
    let subjects: Vec<_> =
        stream.info_with_subjects(">").await.unwrap().try_collect().await.unwrap();
    let (of_instance, others): (Vec<_>, Vec<_>) =
        subjects.iter().partition(|(subject, _)| subject.contains(".told."));
    assert_eq!(of_instance.iter().map(|(_, count)| count).sum::<usize>(), 3, "{subjects:?}");
    let is_audit = |subject: &str| subject.starts_with("staunch.event.audit.");
    assert!(others.iter().all(|(subject, _)| is_audit(subject)), "events alone: {subjects:?}");
}
