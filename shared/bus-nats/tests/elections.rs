//! What workflows use of NATS, while a stream has no leader.

#![expect(clippy::unwrap_used, reason = "a test ends with the first thing that is wrong")]

use std::time::{Duration, Instant};

use bus::{Content, Outside as _, OutsideError, Put, Wire as _};
use bus_nats::{NatsBus, Options, connect};
use bytes::Bytes;
use protocol::{Message, header};
use serde_json::{Value, json};
use testkit::{TestNats, eventually, nats_cluster};

const BOUND: Duration = Duration::from_secs(30);
const STREAMS: [&str; 3] = ["ORDERS", "KV_stock", "OBJ_labels"];

async fn api(bus: &NatsBus, call: &str, body: Value) -> Option<Value> {
    let asked = Message {
        subject: format!("$JS.API.{call}"),
        payload: body.to_string().into_bytes(),
        ..Message::default()
    };
    let answer = bus.request(asked, Duration::from_secs(3)).await.ok()?;
    let answer: Value = serde_json::from_slice(&answer.payload).unwrap();
    answer.get("error").is_none().then_some(answer)
}

fn order(id: &str) -> Message {
    let mut order = Message { subject: "orders.new".to_owned(), ..Message::default() };
    order.headers.insert(header::MESSAGE_ID.to_owned(), id.to_owned());
    order
}

/// Streams of three copies, all led by the server `n0`.
async fn streams_led_by_one(bus: &NatsBus) {
    for (name, subjects) in STREAMS.into_iter().zip([
        json!(["orders.>"]),
        json!(["$KV.stock.>"]),
        json!(["$O.labels.C.>", "$O.labels.M.>"]),
    ]) {
        let config = json!({"name": name, "subjects": subjects, "num_replicas": 3,
            "allow_rollup_hdrs": true, "allow_direct": true, "discard": "new",
            "max_msgs_per_subject": if name.starts_with("KV") { 1 } else { -1 }});
        let is_made =
            async || api(bus, &format!("STREAM.CREATE.{name}"), config.clone()).await.is_some();
        eventually("the stream is made", BOUND, is_made).await;
        let is_led = async || {
            let info = api(bus, &format!("STREAM.INFO.{name}"), Value::Null).await;
            if info.is_some_and(|info| info["cluster"]["leader"] == "n0") {
                return true;
            }
            let wanted = json!({"placement": {"preferred": "n0"}});
            api(bus, &format!("STREAM.LEADER.STEPDOWN.{name}"), wanted).await;
            false
        };
        eventually("n0 leads the stream", BOUND, is_led).await;
    }
}

#[tokio::test]
async fn a_leader_that_dies_costs_a_workflow_time_and_no_message() {
    let mut cluster = nats_cluster().await;
    let urls: Vec<_> = cluster.iter().map(TestNats::url).collect();
    let bus = connect(Options::new(urls[1..].join(","))).await.unwrap();
    streams_led_by_one(&bus).await;
    cluster[0].server().kill().unwrap();
    let killed = Instant::now();

    let content = Content { bytes: Bytes::from_static(b"label"), content_type: None };
    let (stored, put, removed, object, absent, unknown) = tokio::join!(
        bus.store(order("1"), BOUND),
        bus.set_key("stock", "bolts", Some(Bytes::from_static(b"7")), Some(0), "first"),
        bus.set_key("stock", "nuts", None, None, "second"),
        bus.set_object("labels", "o1", content),
        bus.set_key("nowhere", "bolts", None, None, "third"),
        bus.store(Message { subject: "nowhere.new".to_owned(), ..Message::default() }, BOUND),
    );
    println!("all stored {:?} after the leader was killed", killed.elapsed());
    assert_eq!(stored.unwrap().stream, "ORDERS");
    assert!(matches!(put, Ok(Put::Won(_))), "{put:?}");
    assert!(matches!(removed, Ok(Put::Won(_))), "{removed:?}");
    object.unwrap();
    assert!(matches!(absent, Err(OutsideError::Absent(_))), "{absent:?}");
    assert!(matches!(unknown, Err(OutsideError::NoResponders(_))), "{unknown:?}");

    let kept = bus.key("stock", "bolts").await.unwrap().unwrap();
    assert_eq!(kept.value, Bytes::from_static(b"7"));
    let label = bus.object("labels", "o1", 100).await.unwrap().unwrap();
    assert_eq!(label.bytes, Bytes::from_static(b"label"));
    assert_eq!(bus.store(order("1"), BOUND).await.unwrap().sequence, 1, "stored once");
}

#[tokio::test]
async fn a_stream_that_gets_no_leader_is_not_said_to_be_missing() {
    let mut cluster = nats_cluster().await;
    let urls: Vec<_> = cluster.iter().map(TestNats::url).collect();
    let bus = connect(Options::new(urls[2].clone())).await.unwrap();
    streams_led_by_one(&bus).await;
    for server in &mut cluster[..2] {
        server.server().kill().unwrap();
    }
    let within = Duration::from_secs(6);
    let error = bus.store(order("1"), within).await.unwrap_err();
    assert!(matches!(error, OutsideError::Unavailable(_) | OutsideError::Late(_)), "{error:?}");
}

#[tokio::test]
async fn what_was_written_is_read_also_where_a_copy_is_behind() {
    const KEYS: usize = 200;
    let mut cluster = nats_cluster().await;
    let urls: Vec<_> = cluster.iter().map(TestNats::url).collect();
    let bus = connect(Options::new(urls[0].clone())).await.unwrap();
    let other = connect(Options::new(urls[2].clone())).await.unwrap();
    streams_led_by_one(&bus).await;
    bus.set_key("stock", "first", Some(Bytes::from_static(b"1")), None, "first").await.unwrap();
    assert!(other.key("stock", "first").await.unwrap().is_some());

    cluster[2].server().suspend().unwrap();
    for number in 0..KEYS {
        let (key, value) = (format!("k{number}"), Bytes::from(vec![b'x'; 10_000]));
        bus.set_key("stock", &key, Some(value.clone()), None, &key).await.unwrap();
        let content = Content { bytes: value, content_type: None };
        if number % 20 == 0 {
            bus.set_object("labels", &key, content).await.unwrap();
        }
    }
    cluster[2].server().resume().unwrap();
    for number in (0..KEYS).rev() {
        let key = format!("k{number}");
        assert!(other.key("stock", &key).await.unwrap().is_some(), "{key}");
        if number % 20 == 0 {
            let label = other.object("labels", &key, 20_000).await.unwrap();
            assert!(label.is_some(), "the object {key}");
        }
    }
}
