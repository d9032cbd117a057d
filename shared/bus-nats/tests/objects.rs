//! Objects that change while they are read, against a real server.

#![expect(clippy::unwrap_used, reason = "a test ends with the first thing that is wrong")]

use std::time::Duration;

use bus::{Content, Outside as _, Wire as _};
use bus_nats::{NatsBus, Options, connect};
use futures::StreamExt as _;
use protocol::Message;
use serde_json::{Value, json};
use testkit::{eventually, nats};

const SOON: Duration = Duration::from_secs(10);

async fn api(bus: &NatsBus, call: &str, body: Value) -> Value {
    let subject = format!("$JS.API.{call}");
    let payload = body.to_string().into_bytes();
    let answer = bus.request(Message { subject, payload, ..Message::default() }, SOON).await;
    let answer: Value = serde_json::from_slice(&answer.unwrap().payload).unwrap();
    assert_eq!(answer["error"], Value::Null, "{call}: {answer:#}");
    answer
}

/// The bytes of an object that is removed go before its reader has them.
#[tokio::test]
async fn an_object_that_is_removed_while_it_is_read_is_not_waited_for() {
    const STORE: &str = "staunch_payloads";
    let server = nats().await;
    let bus = connect(Options::new(server.url())).await.unwrap();
    bus.provision(1).await.unwrap();
    let context = async_nats::jetstream::new(async_nats::connect(server.url()).await.unwrap());
    let objects = context.get_object_store(STORE).await.unwrap();
    let purge_chunks = async || {
        let nuid = objects.info("a").await.unwrap().nuid;
        let filter = json!({"filter": format!("$O.{STORE}.C.{nuid}")});
        api(&bus, "STREAM.PURGE.OBJ_staunch_payloads", filter).await;
    };
    let is_read = async || {
        let stream = api(&bus, "STREAM.INFO.OBJ_staunch_payloads", Value::Null).await;
        stream["state"]["consumer_count"] == 1
    };
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|at| (at % 251) as u8).collect();
    let content = Content::from(bytes);
    bus.set_object(STORE, "a", content.clone()).await.unwrap();
    purge_chunks().await;
    let reading = bus.object(STORE, "a", 1 << 23);
    let removing = async {
        eventually("the object is read", SOON, is_read).await;
        objects.delete("a").await.unwrap();
    };
    let (found, ()) = tokio::join!(reading, removing);
    assert_eq!(found.unwrap(), None);

    bus.set_object(STORE, "a", content.clone()).await.unwrap();
    purge_chunks().await;
    let opened = bus.open_object(STORE, "a").await.unwrap().unwrap();
    let writing = bus.set_object(STORE, "a", content.clone());
    let (parts, written) = tokio::join!(opened.parts.collect::<Vec<_>>(), writing);
    written.unwrap();
    let error = parts.into_iter().find_map(Result::err).unwrap().to_string();
    assert!(error.contains("written anew"), "{error}");
    assert_eq!(bus.object(STORE, "a", 1 << 23).await.unwrap(), Some(content));
}
