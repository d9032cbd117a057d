//! Workers: they take tasks, die in between, report twice, and lose acknowledgements.

use std::sync::Arc;
use std::time::Duration;

use bus::{Queue as _, Stream};
use protocol::{Message, header, subject};
use serde_json::{Value, json};

use crate::world::World;

/// The number of workers.
pub(crate) const WORKERS: u64 = 2;

/// Works until it is aborted. A worker that dies is replaced by itself: it forgets what it had, and
/// the task stays in the stream.
pub(crate) async fn work(world: Arc<World>, number: u64) {
    let client = world.client(9_000 + number);
    let dice = &client.dice;
    loop {
        tokio::time::sleep(Duration::from_millis(50) + dice.millis(400)).await;
        // Another worker may have the same task: its consumer seemed to have lost it.
        let stored = world.cluster.bus.stored(Stream::Tasks);
        if stored.is_empty() {
            continue;
        }
        let (sequence, message) = dice.pick(&stored);
        let task: Value = serde_json::from_slice(&message.payload).unwrap();
        let (id, attempt) = (task["taskId"].as_str().unwrap(), &task["attempt"]);
        let dies = |odds: u64| !world.cluster.nemesis.is_calm() && dice.hits(odds);
        if dies(1_500) {
            world.cluster.nemesis.note("worker", format_args!("dies with {id}.{attempt}"));
            continue;
        }
        tokio::time::sleep(dice.millis(1_500)).await;
        let report = |name: &str| Message {
            subject: subject::task_result("Ship", 1, id),
            headers: [(header::MESSAGE_ID.to_owned(), format!("{id}.{attempt}.{name}"))].into(),
            payload: json!({"output": "shipped", "attempt": attempt}).to_string().into_bytes(),
        };
        let mut is_kept = client.bus.publish(report("done")).await.is_ok();
        if dies(1_500) {
            is_kept |= client.bus.publish(report("again")).await.is_ok();
        }
        world.cluster.nemesis.note("worker", format_args!("reports {id}.{attempt}: {is_kept}"));
        // Its acknowledgement is lost, or it dies before it: the task is done again.
        if is_kept && !dies(1_500) {
            world.cluster.bus.remove(Stream::Tasks, *sequence).await.unwrap_or_default();
        }
    }
}
