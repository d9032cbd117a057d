//! Streams that somebody deletes and makes anew while the nodes stay connected: the new one gives the
//! numbers of the earlier messages to others.

#![expect(clippy::unwrap_used, reason = "a test ends with the first thing that is wrong")]

use std::time::Duration;

use bus::{From, Outside as _, Place, Queue as _, Stream, Wire as _};
use bus_nats::{NatsBus, Options, connect};
use futures::StreamExt as _;
use protocol::{Message, header};
use serde_json::{Value, json};
use testkit::{eventually, nats, unique, within};

const BOUND: Duration = Duration::from_secs(30);
/// After this time an acknowledgement is a late one.
const LATE: Duration = Duration::from_secs(2);

async fn api(bus: &NatsBus, call: &str, body: Value) -> Value {
    // Some calls take no body at all.
    let payload = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let message = Message { subject: format!("$JS.API.{call}"), payload, ..Message::default() };
    let answer = bus.request(message, BOUND).await.unwrap();
    let answer: Value = serde_json::from_slice(&answer.payload).unwrap();
    assert_eq!(answer["error"], Value::Null, "{call}");
    answer
}

#[tokio::test]
async fn a_late_acknowledgement_settles_no_command_of_a_stream_that_was_made_anew() {
    let server = nats().await;
    let bus = connect(Options::new(server.url())).await.unwrap();
    let take = async || {
        let headers = [(header::MESSAGE_ID.to_owned(), unique("c"))].into();
        let subject = "staunch.cmd.start.a".to_owned();
        bus.publish(Message { subject, headers, payload: Vec::new() }).await.unwrap();
        bus.pull(1, BOUND).await.unwrap().pop().unwrap()
    };
    bus.provision(1).await.unwrap();
    let early = take().await;
    api(&bus, "STREAM.DELETE.STAUNCH_COMMANDS", json!({})).await;
    bus.provision(1).await.unwrap();
    let taken = take().await;
    assert_eq!(taken.sequence, early.sequence, "the number means another command");

    tokio::time::sleep(LATE).await;
    early.settle.ack().await.unwrap();
    // Acknowledgements are handled in their order: the one before was, once this one was.
    take().await.settle.ack().await.unwrap();
    eventually("the command of the new stream is left", BOUND, async || {
        let left = bus.span(Stream::Commands).await.unwrap();
        (left.first, left.messages) == (taken.sequence, 1)
    })
    .await;
    // Its own acknowledgement, which is late as well, settles it.
    taken.settle.ack().await.unwrap();
    eventually("it is settled", BOUND, async || bus.backlog().await.unwrap() == 0).await;
}

#[tokio::test]
async fn a_late_acknowledgement_settles_nothing_of_a_users_stream_that_was_made_anew() {
    let server = nats().await;
    let bus = connect(Options::new(server.url())).await.unwrap();
    let config = json!({"name": "ORDERS", "subjects": ["orders.>"], "storage": "file"});
    let place = Place {
        name: "staunch-test".to_owned(),
        stream: "ORDERS".to_owned(),
        subject: "orders.*".to_owned(),
        from: Some(From::All),
        one_by_one: false,
    };
    let take = async || {
        let subject = "orders.new".to_owned();
        let message = Message { subject, payload: b"1".to_vec(), ..Message::default() };
        bus.store(message, BOUND).await.unwrap();
        let mut messages = bus.follow(&place).await.unwrap();
        within("the message", BOUND, messages.next()).await.unwrap().unwrap()
    };
    let unsettled = async || {
        let info = api(&bus, "CONSUMER.INFO.ORDERS.staunch-test", Value::Null).await;
        (info["num_ack_pending"].as_u64().unwrap(), info["ack_floor"]["stream_seq"].clone())
    };
    api(&bus, "STREAM.CREATE.ORDERS", config.clone()).await;
    let early = take().await;
    api(&bus, "STREAM.DELETE.ORDERS", json!({})).await;
    api(&bus, "STREAM.CREATE.ORDERS", config).await;
    let taken = take().await;
    assert_eq!(taken.sequence, early.sequence, "the number means another message");

    tokio::time::sleep(LATE).await;
    early.settle.await;
    // Acknowledgements are handled in their order: the one before was, once this one was.
    take().await.settle.await;
    eventually("the second is settled", BOUND, async || unsettled().await.0 == 1).await;
    assert_eq!(unsettled().await, (1, json!(0)), "the first of the new stream is not");
    // Its own acknowledgement, which is late as well, settles it.
    taken.settle.await;
    eventually("both are settled", BOUND, async || unsettled().await == (0, json!(2))).await;
}
