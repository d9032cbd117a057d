//! The promises of [`Queue`].

use std::collections::BTreeSet;
use std::time::Duration;

use futures::StreamExt as _;
use model::Timestamp;
use model::limits::{COMMAND_BYTES_MAX, PULL_BYTES_MAX};
use protocol::Message;
use tokio::time::Instant;

use super::{BOUND, message, must, within};
use crate::{Bus, Delivery, Error, Fill, Handed, Pool, SELECT_BYTES_MAX, Stream, TaskAnswer};

const SOON: Duration = Duration::from_secs(2);

/// Runs every check of this module, each on its own bus.
pub async fn exercise<B: Bus + Clone>(make: impl AsyncFn() -> B) {
    an_acknowledged_command_is_gone(&make().await).await;
    a_message_id_is_stored_once(&make().await).await;
    an_unanswered_command_comes_again(&make().await).await;
    a_retried_command_comes_again_and_a_late_ack_removes_it(&make().await).await;
    a_pull_waits_and_takes_no_more_than_asked(&make().await).await;
    a_pull_takes_no_more_bytes_than_it_may(&make().await).await;
    pulls_side_by_side_share(&make().await).await;
    a_dropped_pull_keeps_nothing(&make().await).await;
    streams_are_read_and_pruned(&make().await).await;
    messages_are_selected_by_subject(&make().await).await;
    a_selection_of_large_messages_ends_early(&make().await).await;
    a_pool_of_workers_is_made_once(&make().await).await;
    a_pool_says_since_when_a_task_waits(&make().await).await;
    a_stream_says_how_full_it_is(&make().await).await;
    what_cannot_be_stored_says_why(&make().await).await;
    plain_and_durable_messages_meet(&make().await).await;
}

async fn pull(bus: &impl Bus, max: usize) -> Vec<Delivery> {
    must("pull", bus.pull(max, SOON).await)
}

async fn pull_one(bus: &impl Bus) -> Delivery {
    let give_up = Instant::now() + BOUND;
    loop {
        if let Some(delivery) = pull(bus, 1).await.pop() {
            return delivery;
        }
        assert!(Instant::now() < give_up, "no delivery within {BOUND:?}");
    }
}

async fn wait_backlog(bus: &impl Bus, wanted: u64) {
    let give_up = Instant::now() + BOUND;
    loop {
        let backlog = must("backlog", bus.backlog().await);
        if backlog == wanted {
            return;
        }
        assert!(Instant::now() < give_up, "the backlog is {backlog}, not {wanted}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn a_pool_of_workers_is_made_once(bus: &impl Bus) {
    for (task_type, version) in [("Ship It", 1), ("Ship It", 2), ("Ship It", 1), ("é.*>", 1)] {
        must("a pool", bus.provide(task_type, version).await);
        let task = message(&protocol::subject::task(task_type, version), None, "{}");
        must("a task", bus.publish(task).await);
    }
    assert_eq!(must("the tasks", bus.span(Stream::Tasks).await).messages, 4);
    let mut pools = must("the pools", bus.task_pools().await);
    pools.sort_by_key(|pool| (pool.task_type.clone(), pool.version));
    let found: Vec<_> =
        pools.iter().map(|pool| (pool.task_type.as_str(), pool.version, pool.waiting)).collect();
    assert_eq!(found, [("Ship It", 1, 2), ("Ship It", 2, 1), ("é.*>", 1, 1)]);
    assert!(pools.iter().all(|pool| pool.oldest.is_some() && pool.in_progress == 0), "{pools:?}");
}

/// Waits until the only pool has this many tasks that wait and that are in progress.
async fn pool_with(bus: &impl Bus, waiting: u64, in_progress: u64) -> Pool {
    let give_up = Instant::now() + BOUND;
    loop {
        let mut pools = must("the pools", bus.task_pools().await);
        assert_eq!(pools.len(), 1, "{pools:?}");
        let pool = pools.remove(0);
        if (pool.waiting, pool.in_progress) == (waiting, in_progress) {
            return pool;
        }
        assert!(Instant::now() < give_up, "not {waiting} waiting, {in_progress} taken: {pool:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn take_one(bus: &impl Bus, task_type: &str) -> Handed {
    let kinds = [(task_type.to_owned(), 1)];
    let mut taken = must("take", bus.take_tasks(&kinds, 1, BOUND).await);
    assert_eq!(taken.len(), 1, "no task within {BOUND:?}");
    taken.remove(0)
}

/// Neither a task in progress nor one that was given back waits: both were started.
async fn a_pool_says_since_when_a_task_waits(bus: &impl Bus) {
    must("a pool", bus.provide("Pay", 1).await);
    let empty = pool_with(bus, 0, 0).await;
    assert_eq!((empty.oldest, empty.oldest_waiting), (None, None));
    assert_eq!(empty.ack_wait, Duration::from_secs(30));

    let own = protocol::subject::task("Pay", 1);
    let other = protocol::subject::task("Ship", 1);
    for subject in [&own, &other, &own] {
        must("a task", bus.publish(message(subject, None, "{}")).await);
    }
    let untaken = pool_with(bus, 2, 0).await;
    let stored = must("the tasks", bus.select(Stream::Tasks, &own, 1, 2).await);
    let [first, second] = [0, 1].map(|place: usize| stored.get(place).map(|(_, at, _)| *at));
    assert!(first.is_some() && second.is_some(), "{stored:?}");
    assert_eq!((untaken.oldest, untaken.oldest_waiting), (first, first));
    assert!(untaken.made_at.is_some() && untaken.made_at <= first, "{untaken:?}, {first:?}");

    take_one(bus, "Pay").await;
    let one_taken = pool_with(bus, 1, 1).await;
    assert_eq!((one_taken.oldest, one_taken.oldest_waiting), (first, second));

    let taken = take_one(bus, "Pay").await;
    let both_taken = pool_with(bus, 0, 2).await;
    assert_eq!((both_taken.oldest, both_taken.oldest_waiting), (first, None));

    let back = TaskAnswer::Back(Duration::from_millis(200));
    must("back", bus.answer_task(&taken.address, back).await);
    assert_eq!(pool_with(bus, 0, 2).await.oldest_waiting, None);
    assert_eq!(take_one(bus, "Pay").await.deliveries, 2);
    assert_eq!(pool_with(bus, 0, 2).await.oldest_waiting, None);
}

async fn a_stream_says_how_full_it_is(bus: &impl Bus) {
    let [ship, pay] = ["Ship It", "Pay"].map(|task_type| protocol::subject::task(task_type, 1));
    let empty = must("an empty stream", bus.fill(Stream::Tasks, &ship).await);
    assert_eq!(empty, Fill { bytes: 0, bytes_max: Some(268_435_456), own: 0 });
    for subject in [&ship, &ship, &pay] {
        must("a task", bus.publish(message(subject, None, &"x".repeat(1_000))).await);
    }
    for (subject, own) in [(&ship, 2), (&pay, 1), (&protocol::subject::task("Ship", 1), 0)] {
        let fill = must("the stream", bus.fill(Stream::Tasks, subject).await);
        assert_eq!((fill.own, fill.bytes_max), (own, empty.bytes_max), "{subject}");
        assert!((3_000..4_000).contains(&fill.bytes), "{fill:?}");
    }
    let task = must("a task", bus.read(Stream::Tasks, 1, 1).await);
    assert!(must("the removal", bus.remove(Stream::Tasks, task[0].0).await));
    let fill = must("the stream", bus.fill(Stream::Tasks, &ship).await);
    assert_eq!(fill.own, 1);
    assert!((2_000..3_000).contains(&fill.bytes), "{fill:?}");
}

async fn an_acknowledged_command_is_gone(bus: &impl Bus) {
    let mut sent = message("staunch.cmd.start.a", Some("one"), "hello");
    sent.headers.insert("Staunch-Reply-To".to_owned(), "x.y".to_owned());
    let receipt = must("publish", bus.publish(sent.clone()).await);
    assert!(!receipt.duplicate);
    let delivery = pull_one(bus).await;
    assert_eq!(delivery.message, sent);
    assert_eq!(delivery.sequence, receipt.sequence);
    assert_eq!(delivery.attempt, 1);
    assert!(delivery.stored_at.as_millis() > 0);
    assert_eq!(must("backlog", bus.backlog().await), 1);
    must("ack", delivery.settle.ack().await);
    wait_backlog(bus, 0).await;
    assert!(must("pull", bus.pull(10, Duration::from_millis(200)).await).is_empty());
}

async fn a_message_id_is_stored_once(bus: &impl Bus) {
    let first = must("publish", bus.publish(message("staunch.cmd.start.a", Some("x"), "1")).await);
    let again = must("publish", bus.publish(message("staunch.cmd.start.a", Some("x"), "2")).await);
    assert!(again.duplicate);
    assert_eq!(again.sequence, first.sequence);
    let other = must("publish", bus.publish(message("staunch.cmd.start.a", None, "3")).await);
    assert!(other.sequence > first.sequence);
    assert_eq!(must("backlog", bus.backlog().await), 2);
}

async fn an_unanswered_command_comes_again(bus: &impl Bus) {
    for name in ["silent", "working"] {
        must("publish", bus.publish(message("staunch.cmd.start.a", Some(name), name)).await);
    }
    let mut held = pull(bus, 2).await;
    if held.len() < 2 {
        held.extend(pull(bus, 1).await);
    }
    assert_eq!(held.len(), 2);
    let started = Instant::now();
    // Sends progress for the second command every second, until the first is delivered again.
    let again = loop {
        must("progress", held[1].settle.progress().await);
        let pulled = must("pull", bus.pull(1, Duration::from_secs(1)).await);
        if let Some(delivery) = pulled.into_iter().next() {
            break delivery;
        }
        assert!(started.elapsed() < BOUND, "an unanswered command does not come again");
    };
    assert_eq!(again.message.payload, held[0].message.payload);
    assert_eq!(again.attempt, 2);
    assert_eq!(again.sequence, held[0].sequence);
    must("ack", again.settle.ack().await);
    must("ack", held[1].settle.ack().await);
    wait_backlog(bus, 0).await;
}

async fn a_retried_command_comes_again_and_a_late_ack_removes_it(bus: &impl Bus) {
    must("publish", bus.publish(message("staunch.cmd.start.a", Some("x"), "1")).await);
    let first = pull_one(bus).await;
    must("retry", first.settle.retry(Duration::from_millis(300)).await);
    let second = pull_one(bus).await;
    assert_eq!(second.attempt, 2);
    must("late ack", first.settle.ack().await);
    wait_backlog(bus, 0).await;
    must("an ack of what is gone", second.settle.ack().await);
}

async fn a_pull_waits_and_takes_no_more_than_asked(bus: &impl Bus) {
    let started = Instant::now();
    assert!(must("pull", bus.pull(5, Duration::from_millis(300)).await).is_empty());
    assert!(started.elapsed() >= Duration::from_millis(200), "a pull must wait");
    let publish = async {
        // Gives the pull time to wait. If it does not wait yet, this checks less but is still
        // correct.
        tokio::time::sleep(Duration::from_millis(200)).await;
        bus.publish(message("staunch.cmd.start.a", None, "1")).await
    };
    let started = Instant::now();
    let (pulled, sent) = tokio::join!(bus.pull(5, Duration::from_secs(10)), publish);
    must("publish", sent);
    assert_eq!(must("pull", pulled).len(), 1);
    assert!(started.elapsed() < Duration::from_secs(3), "a waiting pull answers at once");
    for body in ["2", "3", "4"] {
        must("publish", bus.publish(message("staunch.cmd.start.a", None, body)).await);
    }
    let some = pull(bus, 2).await;
    assert_eq!(some.len(), 2);
    assert!(some[0].sequence < some[1].sequence);
    assert_eq!(pull(bus, 2).await.len(), 1);
}

async fn a_pull_takes_no_more_bytes_than_it_may(bus: &impl Bus) {
    const COUNT: usize = 10;
    let large = "x".repeat(COMMAND_BYTES_MAX);
    for _ in 0..COUNT {
        must("publish", bus.publish(message("staunch.cmd.start.a", None, &large)).await);
    }
    let mut seen = BTreeSet::new();
    let give_up = Instant::now() + BOUND;
    while seen.len() < COUNT {
        assert!(Instant::now() < give_up, "{} of {COUNT} within {BOUND:?}", seen.len());
        let pulled = pull(bus, COUNT).await;
        let bytes: usize = pulled.iter().map(|delivery| delivery.message.payload.len()).sum();
        assert!(bytes <= PULL_BYTES_MAX, "{bytes} bytes in one pull");
        for delivery in pulled {
            must("ack", delivery.settle.ack().await);
            seen.insert(delivery.sequence);
        }
    }
    wait_backlog(bus, 0).await;
}

async fn pulls_side_by_side_share(bus: &impl Bus) {
    const COUNT: usize = 60;
    let pull_all = async || {
        let mut seen = Vec::new();
        loop {
            let pulled = must("pull", bus.pull(7, Duration::from_millis(500)).await);
            if pulled.is_empty() {
                return seen;
            }
            for delivery in pulled {
                must("ack", delivery.settle.ack().await);
                seen.push(delivery.sequence);
            }
        }
    };
    let publish = async {
        for _ in 0..COUNT {
            must("publish", bus.publish(message("staunch.cmd.start.a", None, "")).await);
        }
    };
    let (one, two, three, ()) = tokio::join!(pull_all(), pull_all(), pull_all(), publish);
    let all: Vec<_> = one.into_iter().chain(two).chain(three).collect();
    let distinct: BTreeSet<_> = all.iter().collect();
    assert_eq!((all.len(), distinct.len()), (COUNT, COUNT), "each command goes to one puller");
}

async fn a_dropped_pull_keeps_nothing(bus: &impl Bus) {
    for _ in 0..3 {
        let pull = bus.pull(10, BOUND);
        let dropped = tokio::time::timeout(Duration::from_millis(100), pull).await;
        assert!(dropped.is_err(), "there is nothing to pull");
    }
    must("publish", bus.publish(message("staunch.cmd.start.a", None, "1")).await);
    let started = Instant::now();
    let delivery = pull_one(bus).await;
    assert_eq!(delivery.attempt, 1, "it went to a pull that nobody waits for");
    assert!(started.elapsed() < Duration::from_secs(3));
}

async fn streams_are_read_and_pruned(bus: &impl Bus) {
    for body in ["1", "2", "3"] {
        must("publish", bus.publish(message("staunch.dead.cmd.start.a", None, body)).await);
    }
    let read = must("read", bus.read(Stream::Dead, 1, 2).await);
    let bodies: Vec<_> = read.iter().map(|(_, _, message)| message.payload.clone()).collect();
    assert_eq!(bodies, [b"1", b"2"]);
    let second = read[1].0;
    assert!(must("remove", bus.remove(Stream::Dead, second).await));
    assert!(!must("remove", bus.remove(Stream::Dead, second).await));
    let read = must("read", bus.read(Stream::Dead, second, 10).await);
    assert_eq!(read.len(), 1);
    assert_eq!(read[0].2.payload, b"3");
    assert!(must("read", bus.read(Stream::Events, 1, 10).await).is_empty());
}

/// Selects until `count` messages are there: the server that answers may be behind.
async fn selected(
    bus: &impl Bus,
    filter: &str,
    from: u64,
    max: usize,
    count: usize,
) -> Vec<(u64, Timestamp, Message)> {
    let give_up = Instant::now() + BOUND;
    loop {
        let selected = must("select", bus.select(Stream::Events, filter, from, max).await);
        if selected.len() >= count {
            return selected;
        }
        assert!(Instant::now() < give_up, "{} messages, not {count}", selected.len());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn messages_are_selected_by_subject(bus: &impl Bus) {
    let span = async || {
        let span = must("span", bus.span(Stream::Events).await);
        let age = span.age.unwrap_or(Duration::MAX);
        assert!(age < Duration::from_secs(3_600), "{age:?}");
        ((span.first, span.last, span.messages), age)
    };
    let (empty, young) = span().await;
    assert_eq!(empty, (1, 0, 0));
    assert_eq!(must("select", bus.select(Stream::Events, "staunch.event.>", 1, 9).await), []);
    let mut sent = Vec::new();
    for (definition, what) in [("a", "started"), ("b", "started"), ("a", "finished")] {
        let subject = format!("staunch.event.{definition}.i.{what}");
        let mut message = message(&subject, Some(&subject), what);
        message.headers.insert("Staunch-Instance".to_owned(), "i".to_owned());
        must("publish", bus.publish(message.clone()).await);
        sent.push(message);
    }
    assert_eq!(span().await.0, (1, 3, 3));
    let check = async |filter: &str, from: u64, max: usize, expected: &[usize]| {
        let found = selected(bus, filter, from, max, expected.len()).await;
        let numbers: Vec<_> = found.iter().map(|(number, ..)| *number).collect();
        let expected_numbers: Vec<_> = expected.iter().map(|at| *at as u64 + 1).collect();
        assert_eq!(numbers, expected_numbers, "{filter} from {from}");
        for ((_, at, message), place) in found.iter().zip(expected) {
            assert_eq!(message, &sent[*place]);
            assert!(at.as_millis() > 0);
        }
    };
    check("staunch.event.>", 0, 9, &[0, 1, 2]).await;
    check("staunch.event.a.*.*", 1, 9, &[0, 2]).await;
    check("staunch.event.*.*.started", 1, 9, &[0, 1]).await;
    check("staunch.event.a.*.finished", 1, 9, &[2]).await;
    check("staunch.event.>", 2, 9, &[1, 2]).await;
    check("staunch.event.>", 1, 2, &[0, 1]).await;
    check("staunch.event.>", 4, 9, &[]).await;
    check("staunch.event.c.*.*", 1, 9, &[]).await;
    must("remove", bus.remove(Stream::Events, 1).await);
    let (rest, old) = span().await;
    assert_eq!(rest, (2, 3, 2));
    assert!(old >= young, "{old:?} after {young:?}");
}

async fn a_selection_of_large_messages_ends_early(bus: &impl Bus) {
    let large = "x".repeat(SELECT_BYTES_MAX - 1_000);
    for number in 0..4 {
        let subject = format!("staunch.event.a.{number}.started");
        must("publish", bus.publish(message(&subject, None, &large)).await);
    }
    let (mut next, mut count) = (1, 0);
    while count < 4 {
        let found = selected(bus, "staunch.event.>", next, 9, 1).await;
        assert!(found.len() < 4, "{} large messages at once", found.len());
        count += found.len();
        next = found.last().map_or(next, |(number, ..)| number + 1);
    }
}

async fn what_cannot_be_stored_says_why(bus: &impl Bus) {
    let nowhere = bus.publish(message("nowhere.at.all", Some("x"), "")).await;
    assert!(matches!(nowhere, Err(Error::NotProvisioned(_))), "{nowhere:?}");
    let large = "x".repeat(1024 * 1024 + 1);
    let large = bus.publish(message("staunch.cmd.start.a", Some("y"), &large)).await;
    must_name_size_and_limit(&large);
}

async fn plain_and_durable_messages_meet(bus: &impl Bus) {
    let mut heard = must("subscribe", bus.subscribe("staunch.event.*.*.finished").await);
    let event = message("staunch.event.d.i.finished", Some("e"), "done");
    must("publish", bus.publish(event.clone()).await);
    let incoming = within("an event", heard.next()).await;
    assert_eq!(incoming.map(|incoming| incoming.message), Some(event));
    must("send", bus.send(message("staunch.cmd.cancel.i", Some("c"), "plain")).await);
    assert_eq!(pull_one(bus).await.message.payload, b"plain");
}

/// A message that is too large is refused with its size and the limit.
pub(super) fn must_name_size_and_limit<T: std::fmt::Debug>(refused: &Result<T, Error>) {
    let text = match refused {
        Err(Error::TooLarge(text)) => text.as_str(),
        _ => "not refused",
    };
    assert!(text.contains("1048577") && text.contains("1048576"), "{refused:?}");
}
