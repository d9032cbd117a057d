//! The suite of the port, on a real nats-server.

#![expect(clippy::unwrap_used, reason = "a test ends with the first thing that is wrong")]

use std::time::Duration;

use bus::Wire as _;
use bus::conformance::outside;
use bus_nats::{NatsBus, Options, connect};
use protocol::Message;
use serde_json::{Value, json};
use testkit::{TestNats, nats};
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
