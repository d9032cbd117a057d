use bytes::Bytes;
use futures::StreamExt as _;

use super::*;
use crate::{Change, Handed, Place, Put, Taken, TaskAnswer, Tasks as _, Wire as _};

fn bus() -> MemoryBus {
    MemoryBus::starting_at(Timestamp::from_millis(1_000))
}

fn command(id: &str) -> Message {
    let headers = [("Nats-Msg-Id".to_owned(), id.to_owned())].into();
    Message { subject: "staunch.cmd.start.a".to_owned(), headers, payload: Vec::new() }
}

/// Fails the operations of one kind, a number of times.
struct Fail(Mutex<u32>, Fault, fn(&Operation<'_>) -> bool);

impl Faults for Fail {
    fn on(&self, _node: &str, operation: &Operation<'_>) -> Fault {
        let mut left = lock(&self.0);
        if *left == 0 || !(self.2)(operation) {
            return Fault::None;
        }
        *left -= 1;
        self.1
    }
}

fn failing(times: u32, fault: Fault, on: fn(&Operation<'_>) -> bool) -> MemoryBus {
    let clock: ServerClock = Arc::new(|| Timestamp::from_millis(0));
    MemoryBus::with_faults(clock, Arc::new(Fail(Mutex::new(times), fault, on)))
}

#[tokio::test(start_paused = true)]
async fn a_publish_whose_answer_is_lost_is_stored_once() {
    let bus = failing(1, Fault::AnswerLost, |it| matches!(it, Operation::Publish { .. }));
    assert!(matches!(bus.publish(command("x")).await, Err(Error::Unknown(_))));
    let receipt = bus.publish(command("x")).await.unwrap();
    assert!(receipt.duplicate);
    assert_eq!(bus.stored(Stream::Commands).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_lost_ack_means_another_delivery() {
    let bus = failing(1, Fault::Lost, |it| matches!(it, Operation::Ack { .. }));
    bus.publish(command("x")).await.unwrap();
    let wait = Duration::from_secs(60);
    let first = bus.pull(1, wait).await.unwrap().remove(0);
    first.settle.ack().await.unwrap();
    let second = bus.pull(1, wait).await.unwrap().remove(0);
    assert_eq!(second.attempt, 2);
    second.settle.ack().await.unwrap();
    assert_eq!(bus.backlog().await.unwrap(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_is_pulled_and_lost_comes_again() {
    let bus = failing(1, Fault::Lost, |it| matches!(it, Operation::Pull));
    bus.publish(command("x")).await.unwrap();
    let wait = Duration::from_secs(60);
    assert!(bus.pull(1, wait).await.unwrap().is_empty());
    assert_eq!(bus.pull(1, wait).await.unwrap()[0].attempt, 2);
    bus.redeliver();
    assert_eq!(bus.pull(1, Duration::ZERO).await.unwrap()[0].attempt, 3);
}

#[tokio::test(start_paused = true)]
async fn a_message_id_is_forgotten_after_the_window() {
    let bus = bus();
    bus.publish(command("x")).await.unwrap();
    tokio::time::advance(Duration::from_secs(121)).await;
    assert!(!bus.publish(command("x")).await.unwrap().duplicate);
}

#[tokio::test(start_paused = true)]
async fn stamps_come_from_the_clock() {
    let bus = bus();
    tokio::time::advance(Duration::from_millis(500)).await;
    bus.publish(command("x")).await.unwrap();
    let delivery = bus.pull(1, Duration::ZERO).await.unwrap().remove(0);
    assert_eq!(delivery.stored_at, Timestamp::from_millis(1_500));
}

#[tokio::test(start_paused = true)]
async fn a_wipe_loses_everything_and_watches_start_again() {
    let bus = bus();
    let kv = bus.kv(Bucket::Definitions);
    bus.publish(command("x")).await.unwrap();
    kv.put_if("a", Bytes::new(), 0, None, "n").await.unwrap();
    let mut watch = kv.watch().await.unwrap();
    bus.wipe();
    assert_eq!(bus.backlog().await.unwrap(), 0);
    assert_eq!(kv.get("a").await.unwrap(), None);
    let seen: Vec<_> = watch.by_ref().take(5).collect().await;
    assert!(matches!(&seen[1], Change::Set { key, .. } if key == "a"));
    assert_eq!(seen[2..], [Change::Synced, Change::Reset, Change::Synced]);
    assert_eq!(kv.put_if("a", Bytes::new(), 0, None, "n").await.unwrap(), Put::Won(1));
}

#[tokio::test(start_paused = true)]
async fn a_tombstone_vanishes_and_leaves_no_other() {
    let bus = bus();
    let kv = bus.kv(Bucket::Leases);
    kv.put_if("a", Bytes::new(), 0, None, "1").await.unwrap();
    let Put::Won(tombstone) = kv.purge_if("a", 1, "2").await.unwrap() else { panic!("lost") };
    let mut watch = kv.watch().await.unwrap();
    assert!(bus.kv(Bucket::Leases).get("a").await.unwrap().is_some());
    tokio::time::sleep(crate::TOMBSTONE_TTL * 3).await;
    assert_eq!(kv.get("a").await.unwrap(), None);
    let late = kv.put_if("a", Bytes::new(), tombstone, None, "3").await.unwrap();
    assert_eq!(late, Put::Lost(Some(0)));
    let seen: Vec<_> = watch.by_ref().take(2).collect().await;
    assert_eq!(seen, [Change::Reset, Change::Synced]);
}

#[tokio::test(start_paused = true)]
async fn the_tombstone_of_what_has_no_expiry_stays() {
    let bus = bus();
    for bucket in [Bucket::Runtime, Bucket::Activities, Bucket::Definitions] {
        let kv = bus.kv(bucket);
        kv.put_if("a", Bytes::new(), 0, None, "1").await.unwrap();
        let Put::Won(tombstone) = kv.purge_if("a", 1, "2").await.unwrap() else { panic!("lost") };
        tokio::time::sleep(crate::TOMBSTONE_TTL * 3).await;
        let left = Some(crate::Entry { value: None, revision: tombstone });
        assert_eq!(kv.get("a").await.unwrap(), left, "{bucket:?}");
        assert_eq!(kv.entries().await.unwrap(), [], "{bucket:?}");
        let again = kv.put_if("a", Bytes::new(), tombstone, None, "3").await.unwrap();
        assert!(matches!(again, Put::Won(_)), "{bucket:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_closed_bus_ends_what_listens() {
    let bus = bus();
    let mut watch = bus.kv(Bucket::Leases).watch().await.unwrap();
    let mut heard = bus.subscribe("a").await.unwrap();
    bus.close();
    assert_eq!(heard.next().await, None);
    assert_eq!(watch.by_ref().count().await, 2);
    assert!(matches!(bus.publish(command("x")).await, Err(Error::Closed)));
    assert!(matches!(bus.kv(Bucket::Leases).get("a").await, Err(Error::Closed)));
}

/// All messages of a stream of orders.
fn orders() -> Place {
    Place {
        name: "p".to_owned(),
        stream: "ORDERS".to_owned(),
        subject: "orders.*".to_owned(),
        from: Some(crate::From::All),
        one_by_one: false,
    }
}

#[tokio::test(start_paused = true)]
async fn a_restored_stream_has_the_same_messages_and_one_made_anew_has_others() {
    async fn first(bus: &MemoryBus) -> Taken {
        bus.follow(&orders()).await.unwrap().next().await.unwrap().unwrap()
    }
    let bus = bus();
    let anew = async || {
        bus.make_stream("ORDERS", "orders.>");
        let order = Message { subject: "orders.new".to_owned(), ..Message::default() };
        bus.store(order, Duration::ZERO).await.unwrap();
        first(&bus).await
    };
    let in_hand = async || bus.place_figures("ORDERS", "p").await.unwrap().unwrap().in_hand;
    let early = anew().await;
    assert_eq!(bus.stored_nanos("ORDERS", 1), Some(early.stored_nanos));
    bus.restore_stream("ORDERS");
    let again = first(&bus).await;
    assert_eq!((again.sequence, again.stored_nanos), (early.sequence, early.stored_nanos));
    let other = anew().await;
    assert_eq!(other.sequence, early.sequence);
    assert_ne!(other.stored_nanos, early.stored_nanos);
    early.settle.await;
    assert_eq!(in_hand().await, 1, "it is another message");
    other.settle.await;
    assert_eq!(in_hand().await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_removed_stream_says_what_is_lost_with_it() {
    let bus = bus();
    bus.make_stream("ORDERS", "orders.>");
    let mut nanos = Vec::new();
    for _ in 0..3 {
        let order = Message { subject: "orders.new".to_owned(), ..Message::default() };
        let stored = bus.store(order, Duration::ZERO).await.unwrap();
        nanos.push(bus.stored_nanos("ORDERS", stored.sequence).unwrap());
    }
    let mut messages = bus.follow(&orders()).await.unwrap();
    let settled = messages.next().await.unwrap().unwrap();
    settled.settle.await;
    let in_hand = messages.next().await.unwrap().unwrap();
    assert_eq!(bus.remove_stream("ORDERS"), nanos[1..]);
    assert!(messages.next().await.unwrap().is_err(), "those who follow it are told");
    let order = Message { subject: "orders.new".to_owned(), ..Message::default() };
    assert!(bus.store(order, Duration::ZERO).await.is_err());
    in_hand.settle.await;
    assert!(bus.remove_stream("ORDERS").is_empty());
}

async fn task(bus: &MemoryBus, body: &str) {
    bus.provide("Ship", 1).await.unwrap();
    let payload = body.as_bytes().to_vec();
    let subject = subject::task("Ship", 1);
    bus.publish(Message { subject, payload, ..Message::default() }).await.unwrap();
}

async fn take(bus: &MemoryBus) -> Handed {
    let kinds = [("Ship".to_owned(), 1)];
    bus.take_tasks(&kinds, 1, Duration::ZERO).await.unwrap().remove(0)
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_tasks_made_anew_is_young_and_has_no_consumers() {
    let bus = bus();
    task(&bus, "old").await;
    tokio::time::advance(Duration::from_secs(9)).await;
    bus.make_tasks_anew();
    let age = async |stream| bus.span(stream).await.unwrap().age;
    assert_eq!(age(Stream::Tasks).await, Some(Duration::ZERO));
    assert_eq!(age(Stream::Commands).await, Some(Duration::from_secs(9)), "it is another stream");
    assert!(bus.pools().is_empty());
    task(&bus, "new").await;
    let stored = bus.stored(Stream::Tasks);
    assert_eq!(stored.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [1]);
}

#[tokio::test(start_paused = true)]
async fn a_late_acknowledgement_settles_nothing_of_a_stream_made_anew() {
    let bus = bus();
    task(&bus, "old").await;
    bus.publish(command("old")).await.unwrap();
    let old_task = take(&bus).await;
    let old_command = bus.pull(1, Duration::ZERO).await.unwrap().remove(0);

    bus.make_tasks_anew();
    bus.answer_task(&old_task.address, TaskAnswer::Done).await.unwrap();
    task(&bus, "new").await;
    let new_task = take(&bus).await;
    bus.answer_task(&old_task.address, TaskAnswer::Done).await.unwrap();
    assert_eq!(bus.stored(Stream::Tasks).len(), 1, "it is another task of that number");
    assert_eq!(bus.late_acks(), LateAcks { again: 0, of_earlier_stream: 2 });
    bus.answer_task(&new_task.address, TaskAnswer::Done).await.unwrap();
    assert!(bus.stored(Stream::Tasks).is_empty());

    bus.wipe();
    bus.publish(command("new")).await.unwrap();
    let new_command = bus.pull(1, Duration::ZERO).await.unwrap().remove(0);
    assert_eq!(new_command.sequence, old_command.sequence);
    old_command.settle.retry(Duration::ZERO).await.unwrap();
    assert!(bus.pull(1, Duration::ZERO).await.unwrap().is_empty(), "it was not given back");
    old_command.settle.ack().await.unwrap();
    assert_eq!(bus.backlog().await.unwrap(), 1, "it is another command of that number");
    assert_eq!(bus.late_acks(), LateAcks { again: 0, of_earlier_stream: 3 });
    new_command.settle.ack().await.unwrap();
    assert_eq!(bus.backlog().await.unwrap(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_acknowledgement_that_comes_after_another_delivery_settles_the_message() {
    let late = Fault::Late(Duration::from_secs(1));
    let bus = failing(1, late, |it| matches!(it, Operation::Ack { .. }));
    task(&bus, "one").await;
    let first = take(&bus).await;
    let unknown = bus.answer_task(&first.address, TaskAnswer::Done).await;
    assert!(matches!(unknown, Err(Error::Unknown(_))), "{unknown:?}");
    bus.redeliver_tasks();
    let second = take(&bus).await;
    assert_eq!(second.deliveries, 2);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(bus.stored(Stream::Tasks).is_empty());
    assert_eq!(bus.late_acks(), LateAcks { again: 1, of_earlier_stream: 0 });
    bus.answer_task(&second.address, TaskAnswer::Done).await.unwrap();
    assert_eq!(bus.late_acks(), LateAcks { again: 1, of_earlier_stream: 0 });
}

#[cfg(feature = "conformance")]
mod conformance {
    use super::bus;
    use crate::conformance;

    #[tokio::test(start_paused = true)]
    async fn the_twin_keeps_the_promises_of_the_queue() {
        conformance::queue::exercise(async || bus()).await;
    }

    #[tokio::test(start_paused = true)]
    async fn the_twin_keeps_the_promises_of_tasks() {
        conformance::tasks::exercise(async || bus()).await;
    }

    #[tokio::test(start_paused = true)]
    async fn the_twin_keeps_the_promises_of_buckets() {
        conformance::kv::exercise(async || bus()).await;
    }

    #[tokio::test(start_paused = true)]
    async fn the_twin_keeps_the_promises_of_plain_messages() {
        conformance::wire::exercise(async || bus()).await;
    }

    #[tokio::test(start_paused = true)]
    async fn the_twin_keeps_the_promises_of_places_in_streams() {
        let make = async || {
            let bus = bus();
            bus.make_stream(conformance::outside::STREAM, conformance::outside::SUBJECTS);
            bus
        };
        conformance::outside::exercise(make).await;
    }

    #[tokio::test(start_paused = true)]
    async fn leases_claims_presence_and_pointers_hold_over_the_twin() {
        conformance::layer::exercise(async || bus()).await;
    }
}
