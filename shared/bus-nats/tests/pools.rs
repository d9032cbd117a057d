//! The consumers of tasks, on a real nats-server.

#![expect(clippy::unwrap_used, reason = "a test ends with the first thing that is wrong")]

use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, Config, DeliverPolicy, PullConsumer, pull};
use async_nats::jetstream::{self, stream};
use bus::{Error, Pools, Queue as _, TaskAnswer, Tasks as _};
use bus_nats::{NatsBus, Options, Topology, connect};
use futures::StreamExt as _;
use protocol::{Message, header, subject};
use testkit::{TestNats, eventually, nats, within};

const BOUND: Duration = Duration::from_secs(30);

async fn world() -> (TestNats, NatsBus, stream::Stream) {
    let server = nats().await;
    let bus = connect(Options::new(server.url())).await.unwrap();
    bus.provision(1).await.unwrap();
    let client = async_nats::connect(server.url()).await.unwrap();
    let tasks = jetstream::new(client).get_stream("STAUNCH_TASKS").await.unwrap();
    (server, bus, tasks)
}

async fn config(tasks: &stream::Stream, name: &str) -> Config {
    tasks.consumer_info(name).await.unwrap().config
}

#[tokio::test]
async fn a_pool_has_its_limits_and_an_operator_may_change_them() {
    let (_server, bus, tasks) = world().await;
    bus.provide("Ship It", 1).await.unwrap();
    let name = "task-Ship=20It-1";
    let made = config(&tasks, name).await;
    assert_eq!(made.filter_subject, "staunch.task.Ship=20It.1");
    assert_eq!((made.ack_policy, made.deliver_policy), (AckPolicy::Explicit, DeliverPolicy::All));
    assert_eq!((made.ack_wait, made.max_ack_pending), (Duration::from_secs(30), 1_000));
    assert_eq!((made.max_deliver, made.inactive_threshold), (-1, Duration::ZERO));

    let longer = pull::Config {
        durable_name: Some(name.to_owned()),
        filter_subject: made.filter_subject.clone(),
        ack_wait: Duration::from_secs(300),
        max_ack_pending: 5,
        ..pull::Config::default()
    };
    tasks.update_consumer(longer).await.unwrap();
    bus.provide("Ship It", 1).await.unwrap();
    assert_eq!(bus.provision_worker("Ship It", 1).await.unwrap(), name);
    let kept = config(&tasks, name).await;
    assert_eq!((kept.ack_wait, kept.max_ack_pending), (Duration::from_secs(300), 5));
    assert_eq!(bus.provision_worker("Ship It", 2).await.unwrap(), "task-Ship=20It-2");
}

#[tokio::test]
async fn names_of_every_kind_have_a_pool_whose_workers_get_their_tasks() {
    let (_server, bus, tasks) = world().await;
    let long = "é".repeat(80);
    for (task_type, version) in [("a", 1), ("a", 11), ("a-1", 1), ("a.b *>/\\", 1), (&*long, 7)] {
        bus.provide(task_type, version).await.unwrap();
        let subject = subject::task(task_type, version);
        let payload = subject.clone().into_bytes();
        let task = Message { subject, payload, ..Message::default() };
        bus.publish(task.clone()).await.unwrap();
        let name = subject::task_consumer(task_type, version);
        let consumer: PullConsumer = tasks.get_consumer(&name).await.unwrap();
        // A consumer may hear of a message a moment after its publisher.
        let asked = consumer.batch().max_messages(1).expires(BOUND);
        let mut pulled = asked.messages().await.unwrap();
        let got = within("a task", BOUND, pulled.next()).await.unwrap().unwrap();
        assert_eq!(got.payload.to_vec(), task.payload, "{task_type} {version}");
        got.double_ack().await.unwrap();
    }
}

#[tokio::test]
async fn a_consumer_that_has_the_tasks_already_is_named_as_the_reason() {
    let (_server, bus, tasks) = world().await;
    let own = pull::Config {
        durable_name: Some("own".to_owned()),
        filter_subject: "staunch.task.Ship.>".to_owned(),
        ..pull::Config::default()
    };
    tasks.create_consumer(own).await.unwrap();
    let error = bus.provide("Ship", 1).await.unwrap_err();
    assert!(matches!(&error, Error::NotProvisioned(_)), "{error}");
    assert!(error.to_string().contains("another consumer has its tasks"), "{error}");
    bus.provide("Pay", 1).await.unwrap();
}

/// A task with so many bytes.
fn task(task_type: &str, number: usize, bytes: usize) -> Message {
    let id = format!("{task_type}.{number}");
    Message {
        subject: subject::task(task_type, 1),
        headers: [(header::MESSAGE_ID.to_owned(), id)].into(),
        payload: vec![b' '; bytes],
    }
}

async fn publish(pools: &Pools, bus: &NatsBus, task: Message) -> Result<(), Error> {
    pools.prepare(&task).await?;
    let _passed = pools.admit(&task).await?;
    bus.publish(task).await.map(drop)
}

#[tokio::test]
async fn a_type_without_workers_leaves_room_for_the_tasks_of_others() {
    const FAT: usize = 32_768;
    let server = nats().await;
    let bus = connect(Options::new(server.url())).await.unwrap();
    // The first stream of this size is that of tasks.
    let topology = include_str!("../../../nats/topology.toml");
    let small = topology.replacen("bytes_max = 268_435_456", "bytes_max = 1_048_576", 1);
    bus.provision_as(&Topology::parse(&small).unwrap(), &1.into()).await.unwrap();
    let subject = subject::task("Fat", 1);
    let fill = bus.fill(bus::Stream::Tasks, &subject).await.unwrap();
    assert_eq!((fill.bytes_max, fill.own), (Some(1_048_576), 0));

    let pools = Pools::new(Arc::new(bus.clone()));
    let mut count = 0;
    let error = loop {
        match publish(&pools, &bus, task("Fat", count, FAT)).await {
            Ok(()) => count += 1,
            Err(error) => break error,
        }
    };
    assert!(error.to_string().contains("tasks of Fat version 1 wait"), "{error}");
    assert!((15..=17).contains(&count), "{count} of the 31 for which the stream has room");
    for number in 0..10 {
        publish(&pools, &bus, task("Thin", number, 1_000)).await.unwrap();
    }
    publish(&pools, &bus, task("Other", 0, FAT)).await.unwrap();
    // Another process finds the same.
    let other = Pools::new(Arc::new(bus.clone()));
    let error = publish(&other, &bus, task("Fat", count, FAT)).await.unwrap_err();
    assert!(matches!(error, Error::Full(_)), "{error}");

    let kind = [("Fat".to_owned(), 1)];
    for handed in bus.take_tasks(&kind, count, BOUND).await.unwrap() {
        bus.answer_task(&handed.address, TaskAnswer::Done).await.unwrap();
    }
    let has_room = async || publish(&pools, &bus, task("Fat", count, FAT)).await.is_ok();
    eventually("there is room again", BOUND, has_room).await;
}
