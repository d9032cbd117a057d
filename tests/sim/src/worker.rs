//! Workers: they take tasks, die in between, report twice, and lose acknowledgements or send them late.

#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]

use std::sync::Arc;
use std::time::Duration;

use bus::TaskAnswer;
use protocol::{Message, header, subject};
use serde_json::{Value, json};

use crate::world::World;

/// The number of workers.
pub(crate) const WORKERS: u64 = 2;
/// The tasks that they take.
const TYPE: &str = "Ship";
/// The longest wait for a task.
const WAIT: Duration = Duration::from_secs(2);
/// Acknowledgements may be late by so much.
const LATE_MAX_MS: u64 = 12_000;

/// Works until it is aborted. A worker that dies is replaced by itself: it forgets what it had, and
/// the task stays in the stream.
pub(crate) async fn work(world: Arc<World>, number: u64) {
    let client = world.client(9_000 + number);
    let (dice, nemesis) = (&client.dice, &world.cluster.nemesis);
    let kinds = [(TYPE.to_owned(), 1)];
    loop {
        tokio::time::sleep(Duration::from_millis(50) + dice.millis(400)).await;
        let dies = |odds: u64| !nemesis.is_calm() && dice.hits(odds);
        if dies(2_000) {
            // The consumer seems to have lost what another worker has.
            world.cluster.bus.redeliver_tasks();
        }
        let taken = client.bus.take_tasks(&kinds, 1, WAIT).await.unwrap_or_default();
        let Some(handed) = taken.into_iter().next() else { continue };
        let task: Value = serde_json::from_slice(&handed.message.payload).unwrap();
        let (id, attempt) = (task["taskId"].as_str().unwrap(), &task["attempt"]);
        if dies(1_500) {
            nemesis.note("worker", format_args!("dies with {id}.{attempt}"));
            continue;
        }
        let longest = if dies(2_500) { 6_000 } else { 1_500 };
        tokio::time::sleep(dice.millis(longest)).await;
        let report = |name: &str| Message {
            subject: subject::task_result(TYPE, 1, id),
            headers: [(header::MESSAGE_ID.to_owned(), format!("{id}.{attempt}.{name}"))].into(),
            payload: json!({"output": "shipped", "attempt": attempt}).to_string().into_bytes(),
        };
        let mut is_kept = client.bus.publish(report("done")).await.is_ok();
        if dies(1_500) {
            is_kept |= client.bus.publish(report("again")).await.is_ok();
        }
        nemesis.note("worker", format_args!("reports {id}.{attempt}: {is_kept}"));
        // Its acknowledgement is lost, or it dies before it: the task is done again.
        if !is_kept || dies(1_500) {
            continue;
        }
        let late = if dies(3_500) { dice.millis(LATE_MAX_MS) } else { Duration::ZERO };
        let bus = Arc::clone(&client.bus);
        let acknowledge = async move {
            tokio::time::sleep(late).await;
            bus.answer_task(&handed.address, TaskAnswer::Done).await.unwrap_or_default();
        };
        if late.is_zero() {
            acknowledge.await;
        } else {
            // It takes other tasks meanwhile, and the stream may be made anew.
            tokio::spawn(acknowledge);
        }
    }
}
