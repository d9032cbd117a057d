//! The promises of [`Tasks`](crate::Tasks).

use std::time::Duration;

use protocol::subject;
use tokio::time::Instant;

use super::{BOUND, message, must};
use crate::{Bus, Error, Handed, Stream, TaskAnswer};

const SOON: Duration = Duration::from_secs(10);
const AT_ONCE: Duration = Duration::ZERO;

/// Runs every check of this module, each on its own bus.
pub async fn exercise<B: Bus + Clone>(make: impl AsyncFn() -> B) {
    a_task_that_is_done_is_gone(&make().await).await;
    a_task_that_is_given_back_comes_again(&make().await).await;
    a_call_takes_no_more_than_asked_of_all_its_types(&make().await).await;
    a_call_waits_for_the_first_task_of_any_type(&make().await).await;
    an_address_of_anything_else_is_refused(&make().await).await;
}

fn kinds(kinds: &[(&str, u32)]) -> Vec<(String, u32)> {
    kinds.iter().map(|(name, version)| ((*name).to_owned(), *version)).collect()
}

async fn publish(bus: &impl Bus, kind: (&str, u32), body: &str) {
    must("a pool", bus.provide(kind.0, kind.1).await);
    must("a task", bus.publish(message(&subject::task(kind.0, kind.1), None, body)).await);
}

async fn take(bus: &impl Bus, of: &[(&str, u32)], max: usize, wait: Duration) -> Vec<Handed> {
    must("take", bus.take_tasks(&kinds(of), max, wait).await)
}

async fn take_one(bus: &impl Bus, kind: (&str, u32)) -> Handed {
    let mut taken = take(bus, &[kind], 1, BOUND).await;
    assert_eq!(taken.len(), 1, "no task within {BOUND:?}");
    taken.remove(0)
}

/// Waits until the stream has this number of tasks.
async fn left(bus: &impl Bus, wanted: u64) {
    let give_up = Instant::now() + BOUND;
    loop {
        let left = must("the tasks", bus.span(Stream::Tasks).await).messages;
        if left == wanted {
            return;
        }
        assert!(Instant::now() < give_up, "{left} tasks are left, not {wanted}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn a_task_that_is_done_is_gone(bus: &impl Bus) {
    assert!(take(bus, &[("Ship It", 1)], 1, AT_ONCE).await.is_empty(), "it has no consumer");
    publish(bus, ("Ship It", 1), "one").await;
    let handed = take_one(bus, ("Ship It", 1)).await;
    assert_eq!((handed.message.payload.as_slice(), handed.deliveries), (&b"one"[..], 1));
    assert_eq!(handed.message.subject, "staunch.task.Ship=20It.1");
    assert_eq!(handed.ack_wait, Duration::from_secs(30));
    assert!(handed.stored_at.as_millis() > 0);
    assert!(take(bus, &[("Ship It", 1)], 1, AT_ONCE).await.is_empty(), "a worker has it");
    must("working", bus.answer_task(&handed.address, TaskAnswer::Working).await);
    must("done", bus.answer_task(&handed.address, TaskAnswer::Done).await);
    left(bus, 0).await;
    must("done twice", bus.answer_task(&handed.address, TaskAnswer::Done).await);
    assert!(take(bus, &[("Ship It", 1)], 1, AT_ONCE).await.is_empty());
}

async fn a_task_that_is_given_back_comes_again(bus: &impl Bus) {
    publish(bus, ("a", 1), "one").await;
    let first = take_one(bus, ("a", 1)).await;
    let back = TaskAnswer::Back(Duration::from_millis(200));
    must("back", bus.answer_task(&first.address, back).await);
    let second = take_one(bus, ("a", 1)).await;
    assert_eq!((second.message.payload, second.deliveries), (b"one".to_vec(), 2));
    must("done", bus.answer_task(&second.address, TaskAnswer::Done).await);
    left(bus, 0).await;
}

async fn a_call_takes_no_more_than_asked_of_all_its_types(bus: &impl Bus) {
    for number in 0..4 {
        for kind in [("a", 1), ("a", 2), ("b", 1)] {
            publish(bus, kind, &number.to_string()).await;
        }
    }
    let of_both = [("a", 1), ("b", 1), ("never", 1)];
    let mut taken = take(bus, &of_both, 3, SOON).await;
    assert_eq!(taken.len(), 3);
    taken.extend(take(bus, &of_both, 100, SOON).await);
    assert_eq!(taken.len(), 8, "all of both types");
    assert!(taken.iter().all(|handed| handed.deliveries == 1));
    let of_two = |handed: &&Handed| handed.message.subject == "staunch.task.a.2";
    assert_eq!(taken.iter().filter(of_two).count(), 0);
    for handed in &taken {
        must("done", bus.answer_task(&handed.address, TaskAnswer::Done).await);
    }
    left(bus, 4).await;
}

async fn a_call_waits_for_the_first_task_of_any_type(bus: &impl Bus) {
    must("a pool", bus.provide("a", 1).await);
    let started = Instant::now();
    assert!(take(bus, &[("a", 1), ("b", 1)], 5, Duration::from_millis(300)).await.is_empty());
    assert!(started.elapsed() >= Duration::from_millis(200), "a call must wait");
    // The second has no consumer while the call waits already.
    for kind in [("a", 1), ("b", 1)] {
        let publish = async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            publish(bus, kind, kind.0).await;
        };
        let (taken, ()) = tokio::join!(take(bus, &[("a", 1), ("b", 1)], 5, BOUND), publish);
        let payloads: Vec<_> = taken.iter().map(|handed| handed.message.payload.clone()).collect();
        assert_eq!(payloads, [kind.0.as_bytes()]);
        must("done", bus.answer_task(&taken[0].address, TaskAnswer::Done).await);
    }
    left(bus, 0).await;
}

async fn an_address_of_anything_else_is_refused(bus: &impl Bus) {
    for address in ["", "_INBOX.a", "staunch.cmd.start.a"] {
        let refused = bus.answer_task(address, TaskAnswer::Done).await;
        assert!(matches!(refused, Err(Error::Corrupt(_))), "{address}: {refused:?}");
    }
}
