//! The consumers of tasks, on a real nats-server.

#![expect(clippy::unwrap_used, reason = "a test ends with the first thing that is wrong")]

use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, Config, DeliverPolicy, PullConsumer, pull};
use async_nats::jetstream::{self, stream};
use bus::{Error, Queue as _};
use bus_nats::{NatsBus, Options, connect};
use futures::StreamExt as _;
use protocol::{Message, subject};
use testkit::{TestNats, nats, within};

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
        let mut pulled = consumer.fetch().max_messages(1).messages().await.unwrap();
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
