//! The suite of the port, on a real nats-server.

#![expect(clippy::unwrap_used, reason = "a test ends with the first thing that is wrong")]

use std::time::Duration;

use bus::Wire as _;
use bus::conformance::outside;
use bus_nats::{NatsBus, Options, connect};
use protocol::Message;
use serde_json::{Value, json};
use testkit::{TestNats, nats, nats_cluster};
use tokio::sync::Mutex;

/// Servers that live until their suite is over.
#[derive(Default)]
struct Servers(Mutex<Vec<TestNats>>);

impl Servers {
    async fn make(&self) -> NatsBus {
        let server = nats().await;
        let bus = connect(Options::new(server.url())).await.unwrap();
        bus.provision(1).await.unwrap();
        bus.verify().await.unwrap();
        self.0.lock().await.push(server);
        bus
    }
}

#[tokio::test]
async fn nats_keeps_the_promises_of_the_queue() {
    let servers = Servers::default();
    bus::conformance::queue::exercise(async || servers.make().await).await;
}

#[tokio::test]
async fn nats_keeps_the_promises_of_tasks() {
    let servers = Servers::default();
    bus::conformance::tasks::exercise(async || servers.make().await).await;
}

/// With several copies, the last status of a pull comes before what it is about.
#[tokio::test]
async fn nats_keeps_the_promises_of_tasks_with_three_copies() {
    let cluster = nats_cluster().await;
    let urls: Vec<_> = cluster.iter().map(TestNats::url).collect();
    let client = async_nats::connect(urls.as_slice()).await.unwrap();
    let context = async_nats::jetstream::new(client);
    let make = async || {
        // There is none before the first.
        drop(context.delete_stream("STAUNCH_TASKS").await);
        let bus = connect(Options::new(urls.join(","))).await.unwrap();
        bus.provision(3).await.unwrap();
        bus
    };
    bus::conformance::tasks::exercise(make).await;
}

#[tokio::test]
async fn nats_keeps_the_promises_of_buckets() {
    let servers = Servers::default();
    bus::conformance::kv::exercise(async || servers.make().await).await;
}

#[tokio::test]
async fn nats_keeps_the_promises_of_plain_messages() {
    let servers = Servers::default();
    bus::conformance::wire::exercise(async || servers.make().await).await;
}

#[tokio::test]
async fn nats_keeps_the_promises_of_places_in_streams() {
    let servers = Servers::default();
    let make = async || {
        let bus = servers.make().await;
        let config = json!({"name": outside::STREAM, "subjects": [outside::SUBJECTS],
            "storage": "memory"});
        let asked = Message {
            subject: format!("$JS.API.STREAM.CREATE.{}", outside::STREAM),
            payload: config.to_string().into_bytes(),
            ..Message::default()
        };
        let answer = bus.request(asked, Duration::from_secs(10)).await.unwrap();
        let answer: Value = serde_json::from_slice(&answer.payload).unwrap();
        assert_eq!(answer["error"], Value::Null, "{answer:#}");
        bus
    };
    outside::exercise(make).await;
}

#[tokio::test]
async fn leases_claims_presence_and_pointers_hold_over_nats() {
    let servers = Servers::default();
    bus::conformance::layer::exercise(async || servers.make().await).await;
}
