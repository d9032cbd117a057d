//! Sources that begin elsewhere than at the wait or the publication.

use std::time::Duration;

use bus::Bus as _;
use model::{Stimulus, SubStatus};
use serde_json::{Value, json};

use super::{got, listening, outputs, reads, store};
use crate::wired::world::{World, event, sequence};

/// Longer than an executor holds a message that nobody waits for, and than it takes to come again.
const LONG: Duration = Duration::from_secs(60);

async fn output(world: &World, instance: &str, name: &str) -> Value {
    world.record(instance).await.state.output.get(name).cloned().unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn those_that_wait_get_one_message_after_the_other_and_none_is_passed_over() {
    let (world, _nodes) = listening(&["a", "b"]).await;
    for id in 1..=5 {
        store(&world, "orders.eu", &json!({ "id": id }).to_string()).await;
    }
    // It starts with every message, and takes none away from those that wait.
    world.publish("trigger", sequence(vec![reads(true, json!({}))]), outputs()).await;
    world.until("the trigger", async || got(&world, "trigger").await == [1, 2, 3, 4, 5]).await;
    world.publish("wait", sequence(vec![reads(false, json!({}))]), outputs()).await;
    for (number, instance) in ["i", "j", "k"].into_iter().enumerate() {
        world.start("wait", instance, json!({})).await;
        world.until_status(instance, SubStatus::Finished).await;
        assert_eq!(output(&world, instance, "Got").await["id"], json!(number + 1), "{instance}");
        // The second begins at once, the third when nobody has listened for a while.
        if number > 0 {
            tokio::time::sleep(LONG).await;
        }
    }
    world.until_quiet().await;
    assert_eq!(got(&world, "trigger").await, [1, 2, 3, 4, 5]);
}

#[tokio::test(start_paused = true)]
async fn an_instance_that_does_something_else_between_two_waits_misses_nothing() {
    let (world, _nodes) = listening(&["a", "b"]).await;
    let waits = |id: &str, result: &str| {
        let predicate = json!({"js": "args.content.id % 2 == 0"});
        let result = json!({"memoryReference": {"id": result}});
        reads(false, json!({"id": id, "predicate": predicate, "result": result}))
    };
    let go = json!({"type": "Elsa.Event", "id": "go", "eventName": "go"});
    let outputs = json!({"outputs": [{"name": "First"}, {"name": "Second"}, {"name": "Tokens"}]});
    let root = sequence(vec![waits("m", "First"), go, waits("n", "Second")]);
    world.publish("wait", root, outputs).await;
    for id in 1..=6 {
        store(&world, "orders.eu", &json!({ "id": id }).to_string()).await;
    }
    world.start("wait", "i", json!({})).await;
    world.until("the first message", async || output(&world, "i", "First").await["id"] == 2).await;
    tokio::time::sleep(LONG).await;
    world.send(&event("go", "go", json!({}))).await;
    world.until_status("i", SubStatus::Finished).await;
    assert_eq!(output(&world, "i", "Second").await["id"], 4);
}

#[tokio::test(start_paused = true)]
async fn what_is_stored_before_a_beginning_that_is_to_come_has_no_effect() {
    let (world, _nodes) = listening(&["a", "b"]).await;
    let from = world.now().after(LONG).to_string();
    world.publish("trigger", sequence(vec![reads(true, json!({"from": from}))]), outputs()).await;
    let triggers = store::Definitions::triggers_named(&world.store, Stimulus::MESSAGE).await;
    let name = protocol::subject::listener_consumer(&triggers.unwrap()[0].hash);
    let figures = async || world.bus.outside().place_figures("ORDERS", &name).await.unwrap();
    world.until("the place", async || figures().await.is_some()).await;
    store(&world, "orders.eu", r#"{"id": 1}"#).await;
    world
        .until("the message is settled", async || {
            figures().await.is_some_and(|it| (it.delivered, it.in_hand) == (1, 0))
        })
        .await;
    tokio::time::sleep(LONG).await;
    store(&world, "orders.eu", r#"{"id": 2}"#).await;
    world.until("the one from then on", async || !got(&world, "trigger").await.is_empty()).await;
    world.until_quiet().await;
    assert_eq!(got(&world, "trigger").await, [2]);
}
