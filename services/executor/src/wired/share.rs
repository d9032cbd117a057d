//! The share of the stream of tasks that the tasks of one type may take.

use bus::Stream;
use protocol::subject;
use serde_json::json;

use crate::wired::world::{World, sequence};

/// Publishes a workflow of one task of this type, with so many bytes of input.
async fn publish(world: &World, task_type: &str, bytes: usize) {
    let task = json!({"type": "RunTask", "id": "work", "taskName": task_type,
        "payload": {"text": "x".repeat(bytes)}});
    world.publish(task_type, sequence(vec![task]), json!({})).await;
}

/// The tasks of this type in the stream.
fn tasks_of(world: &World, task_type: &str) -> usize {
    let subject = subject::task(task_type, 1);
    let stored = world.bus.stored(Stream::Tasks);
    stored.iter().filter(|(_, message)| message.subject == subject).count()
}

/// Nobody sweeps here: what is in the stream, the executor itself has published.
#[tokio::test(start_paused = true)]
async fn the_backlog_of_a_type_without_workers_keeps_no_tasks_of_others_back() {
    let world = World::new();
    world.bus.limit_tasks(1 << 20);
    publish(&world, "Fat", 100_000).await;
    publish(&world, "Thin", 20_000).await;
    let _node = world.node("a").await;
    for number in 0..12 {
        world.start("Fat", &format!("fat-{number}"), json!({})).await;
    }
    let fat = tasks_of(&world, "Fat");
    assert!((5..=6).contains(&fat), "{fat} of the 10 for which the stream has room");
    let is_kept = async || world.store.sizes().outbox == 12 - fat;
    world.until("the others stay in the outbox", is_kept).await;
    for number in 0..3 {
        world.start("Thin", &format!("thin-{number}"), json!({})).await;
    }
    world.until("the other tasks are out", async || tasks_of(&world, "Thin") == 3).await;
    assert_eq!(tasks_of(&world, "Fat"), fat);
    assert_eq!(world.store.sizes().outbox, 12 - fat);
}
