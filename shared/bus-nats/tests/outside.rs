//! What workflows use of NATS, against a real server: requests, streams, keys and objects.

#![expect(clippy::unwrap_used, reason = "a test ends with the first thing that is wrong")]

use std::time::Duration;

use bus::{Content, From, Outside as _, OutsideError, Place, Put, Wire as _};
use bus_nats::{NatsBus, Options, connect};
use bytes::Bytes;
use futures::StreamExt as _;
use protocol::Message;
use serde_json::{Value, json};
use testkit::{eventually, nats, within};

const SOON: Duration = Duration::from_secs(10);

fn message(subject: &str, payload: &[u8]) -> Message {
    Message { subject: subject.to_owned(), payload: payload.to_vec(), ..Message::default() }
}

async fn api(bus: &NatsBus, call: &str, body: Value) -> Value {
    let asked = message(&format!("$JS.API.{call}"), body.to_string().as_bytes());
    let answer = bus.request(asked, SOON).await.unwrap();
    let answer: Value = serde_json::from_slice(&answer.payload).unwrap();
    assert_eq!(answer["error"], Value::Null, "{call}: {answer:#}");
    answer
}

/// A bucket or an object store, as the `nats` command makes it.
async fn bucket(bus: &NatsBus, name: &str) {
    let stream = format!("KV_{name}");
    let config = json!({"name": stream, "subjects": [format!("$KV.{name}.>")],
        "max_msgs_per_subject": 8, "allow_rollup_hdrs": true, "deny_delete": true,
        "allow_direct": true, "discard": "new", "num_replicas": 1, "storage": "memory"});
    api(bus, &format!("STREAM.CREATE.{stream}"), config).await;
}

#[tokio::test]
async fn requests_and_messages_reach_whoever_listens() {
    let server = nats().await;
    let bus = connect(Options::new(server.url())).await.unwrap();
    let nobody = bus.ask(message("math.double", b"4"), SOON).await.unwrap_err();
    assert!(matches!(nobody, OutsideError::NoResponders(_)), "{nobody}");
    let mut requests = bus.subscribe("math.*").await.unwrap();
    let answering = async {
        let request = requests.next().await.unwrap();
        let mut answer = message(&request.reply.unwrap(), b"8");
        answer.headers.insert("X-Unit".to_owned(), "m".to_owned());
        bus.send(answer).await.unwrap();
        request.message
    };
    let (answer, request) = tokio::join!(bus.ask(message("math.double", b"4"), SOON), answering);
    let answer = answer.unwrap();
    assert_eq!((answer.payload.as_slice(), answer.header("X-Unit")), (&b"8"[..], Some("m")));
    assert_eq!(request.payload, b"4");
    let late = bus.ask(message("math.double", b"4"), Duration::from_millis(50)).await.unwrap_err();
    assert!(matches!(late, OutsideError::Late(_)), "{late}");
    assert!(requests.next().await.is_some());
    bus.tell(message("math.told", b"1")).await.unwrap();
    assert_eq!(requests.next().await.unwrap().message.subject, "math.told");
    let huge = vec![0; 2 << 20];
    let refused = bus.ask(message("math.double", &huge), SOON).await.unwrap_err();
    assert!(matches!(refused, OutsideError::Refused(_)), "{refused}");
}

#[tokio::test]
async fn a_stream_stores_a_message_once() {
    let server = nats().await;
    let bus = connect(Options::new(server.url())).await.unwrap();
    let unknown = bus.store(message("orders.new", b"1"), SOON).await.unwrap_err();
    assert!(matches!(unknown, OutsideError::NoResponders(_)), "{unknown}");
    let config = json!({"name": "ORDERS", "subjects": ["orders.>"], "storage": "memory"});
    api(&bus, "STREAM.CREATE.ORDERS", config).await;
    let mut order = message("orders.new", b"1");
    order.headers.insert("Nats-Msg-Id".to_owned(), "once".to_owned());
    for _ in 0..3 {
        let stored = bus.store(order.clone(), SOON).await.unwrap();
        assert_eq!((stored.stream.as_str(), stored.sequence), ("ORDERS", 1));
    }
    let info = api(&bus, "STREAM.INFO.ORDERS", Value::Null).await;
    assert_eq!(info["state"]["messages"], 1);
}

#[tokio::test]
async fn keys_are_compared_and_swapped_and_a_repeat_has_no_second_effect() {
    let server = nats().await;
    let bus = connect(Options::new(server.url())).await.unwrap();
    let absent = bus.key("config", "a").await.unwrap_err();
    assert!(matches!(absent, OutsideError::Absent(_)), "{absent}");
    let put = |value: &'static str, expected: Option<u64>, nonce: &'static str| {
        let bus = bus.clone();
        async move { bus.set_key("config", "a.b", Some(value.into()), expected, nonce).await }
    };
    assert!(matches!(put("1", None, "n0").await.unwrap_err(), OutsideError::Absent(_)));
    bucket(&bus, "config").await;
    assert_eq!(bus.key("config", "a.b").await.unwrap(), None);
    assert_eq!(put("1", Some(0), "n1").await.unwrap(), Put::Won(1));
    assert_eq!(put("1", Some(0), "n1").await.unwrap(), Put::Won(1), "the same write again");
    assert_eq!(put("2", Some(0), "n2").await.unwrap(), Put::Lost(Some(1)));
    assert_eq!(put("2", Some(1), "n3").await.unwrap(), Put::Won(2));
    assert_eq!(put("3", None, "n4").await.unwrap(), Put::Won(3));
    let found = bus.key("config", "a.b").await.unwrap().unwrap();
    assert_eq!((found.value, found.revision), (Bytes::from("3"), 3));
    let deleted = bus.set_key("config", "a.b", None, Some(2), "n5").await.unwrap();
    assert_eq!(deleted, Put::Lost(Some(3)));
    let deleted = bus.set_key("config", "a.b", None, Some(3), "n6").await.unwrap();
    assert_eq!(deleted, Put::Won(4));
    assert_eq!(bus.key("config", "a.b").await.unwrap(), None);
}

#[tokio::test]
async fn objects_are_written_and_read() {
    const MAX: usize = 1 << 20;
    let server = nats().await;
    let bus = connect(Options::new(server.url())).await.unwrap();
    let absent = bus.set_object("uploads", "a", Bytes::from("x").into()).await.unwrap_err();
    assert!(matches!(absent, OutsideError::Absent(_)), "{absent}");
    let config = json!({"name": "OBJ_uploads", "subjects": ["$O.uploads.C.>", "$O.uploads.M.>"],
        "allow_rollup_hdrs": true, "allow_direct": true, "discard": "new", "storage": "memory"});
    api(&bus, "STREAM.CREATE.OBJ_uploads", config).await;
    assert_eq!(bus.object("uploads", "a", MAX).await.unwrap(), None);
    let bytes = Bytes::from((0..600_000_u32).map(|at| (at % 251) as u8).collect::<Vec<_>>());
    let image = Content { bytes, content_type: Some("image/png".to_owned()) };
    bus.set_object("uploads", "a file", image.clone()).await.unwrap();
    assert_eq!(bus.object("uploads", "a file", MAX).await.unwrap(), Some(image));
    let new = Content::from(Bytes::from("new"));
    bus.set_object("uploads", "a file", new.clone()).await.unwrap();
    assert_eq!(bus.object("uploads", "a file", MAX).await.unwrap(), Some(new));
    let large = bus.object("uploads", "a file", 2).await.unwrap_err();
    assert!(matches!(large, OutsideError::Refused(_)), "{large}");
}

#[tokio::test]
async fn a_large_object_is_read_in_parts_and_removed_without_a_trace() {
    let server = nats().await;
    let bus = connect(Options::new(server.url())).await.unwrap();
    bus.provision(1).await.unwrap();
    let messages = async || {
        api(&bus, "STREAM.INFO.OBJ_staunch_payloads", Value::Null).await["state"]["messages"]
            .as_u64()
            .unwrap()
    };
    let store = "staunch_payloads";
    assert!(bus.open_object(store, "a/0").await.unwrap().is_none());
    bus.remove_object(store, "a/0").await.unwrap();
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|at| (at % 251) as u8).collect();
    for (name, bytes) in [("a/0", bytes.as_slice()), ("empty", &[])] {
        bus.set_object(store, name, Bytes::copy_from_slice(bytes).into()).await.unwrap();
        let object = bus.open_object(store, name).await.unwrap().unwrap();
        assert_eq!((object.size, object.content_type), (bytes.len() as u64, None));
        let parts: Vec<_> = object.parts.collect().await;
        let parts: Vec<Bytes> = parts.into_iter().collect::<Result<_, _>>().unwrap();
        assert!(parts.iter().all(|part| part.len() <= 1 << 20));
        assert!(parts.concat() == bytes, "{name}");
    }
    let objects = async_nats::jetstream::new(async_nats::connect(server.url()).await.unwrap());
    let objects = objects.get_object_store(store).await.unwrap();
    let target = objects.info("a/0").await.unwrap();
    objects.add_link("link", &target).await.unwrap();
    let link = bus.open_object(store, "link").await;
    assert!(matches!(link.map(drop), Err(OutsideError::Refused(_))));
    objects.delete("link").await.unwrap();
    for name in ["link", "a/0", "a/0", "empty"] {
        bus.remove_object(store, name).await.unwrap();
        assert!(bus.open_object(store, name).await.unwrap().is_none());
    }
    assert_eq!(messages().await, 0);
    let absent = bus.open_object("nowhere", "a").await;
    assert!(matches!(absent.map(drop), Err(OutsideError::Absent(_))));
}

/// What the libraries of workers write: the parts, and then what says of them.
#[tokio::test]
async fn an_object_of_a_worker_is_read_and_its_digest_is_compared() {
    let server = nats().await;
    let bus = connect(Options::new(server.url())).await.unwrap();
    bus.provision(1).await.unwrap();
    // The digest of `{"a": 1}`, and that of nothing.
    let good = "SHA-256=-dhgKMbg1k4iUYb5astpM4ssWXZN95FiEH9cS7NNExA=";
    let wrong = "SHA-256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU=";
    for (name, token, digest) in [("a", "YQ==", good), ("b", "Yg==", wrong)] {
        for part in [&b"{\"a\""[..], b": 1}"] {
            let part = message(&format!("$O.staunch_payloads.C.n-{name}"), part);
            bus.store(part, SOON).await.unwrap();
        }
        let about = json!({"name": name, "bucket": "staunch_payloads", "nuid": format!("n-{name}"),
            "size": 8, "chunks": 2, "digest": digest, "options": {"max_chunk_size": 131_072}});
        let subject = format!("$O.staunch_payloads.M.{token}");
        let mut about = message(&subject, about.to_string().as_bytes());
        about.headers.insert("Nats-Rollup".to_owned(), "sub".to_owned());
        bus.store(about, SOON).await.unwrap();
        let object = bus.open_object("staunch_payloads", name).await.unwrap().unwrap();
        assert_eq!(object.size, 8);
        let parts: Vec<_> = object.parts.collect().await;
        let parts: Result<Vec<Bytes>, _> = parts.into_iter().collect();
        match parts {
            Ok(parts) => assert_eq!((name, &*parts.concat()), ("a", &b"{\"a\": 1}"[..])),
            Err(error) => assert!(name == "b" && error.to_string().contains("digest"), "{error}"),
        }
    }
}

#[tokio::test]
async fn one_by_one_a_message_comes_when_the_one_before_is_settled() {
    let server = nats().await;
    let bus = connect(Options::new(server.url())).await.unwrap();
    let config = json!({"name": "ORDERS", "subjects": ["orders.>"], "storage": "memory"});
    api(&bus, "STREAM.CREATE.ORDERS", config).await;
    let place = Place {
        name: "staunch-ordered".to_owned(),
        stream: "ORDERS".to_owned(),
        subject: "orders.*".to_owned(),
        from: Some(From::All),
        one_by_one: true,
    };
    for number in 1..=10 {
        bus.store(message("orders.new", number.to_string().as_bytes()), SOON).await.unwrap();
    }
    let mut readers = [bus.follow(&place).await.unwrap(), bus.follow(&place).await.unwrap()];
    for number in 1..=10 {
        let [first, second] = &mut readers;
        let taken = tokio::select! {
            taken = first.next() => taken,
            taken = second.next() => taken,
        };
        let taken = taken.unwrap().unwrap();
        assert_eq!(taken.sequence, number);
        // Nobody gets the next one yet.
        let [first, second] = &mut readers;
        let next = async {
            tokio::select! {
                taken = first.next() => taken,
                taken = second.next() => taken,
            }
        };
        let early = tokio::time::timeout(Duration::from_millis(50), next).await;
        assert!(early.is_err(), "message {number} is not settled");
        taken.settle.await;
    }
}

#[tokio::test]
async fn a_place_in_a_stream_is_shared_and_goes_on_where_it_was() {
    let server = nats().await;
    let bus = connect(Options::new(server.url())).await.unwrap();
    let place = |from: Option<From>| Place {
        name: "staunch-test".to_owned(),
        stream: "ORDERS".to_owned(),
        subject: "orders.*".to_owned(),
        from,
        one_by_one: false,
    };
    let absent = bus.follow(&place(Some(From::New))).await.err().unwrap();
    assert!(matches!(absent, OutsideError::Absent(_)), "{absent}");
    let config = json!({"name": "ORDERS", "subjects": ["orders.>"], "storage": "memory"});
    api(&bus, "STREAM.CREATE.ORDERS", config).await;
    for number in 1..=20 {
        bus.store(message("orders.new", number.to_string().as_bytes()), SOON).await.unwrap();
        bus.store(message("orders.new.deep", b"no"), SOON).await.unwrap();
    }
    let mut seen = Vec::new();
    let mut first = bus.follow(&place(Some(From::All))).await.unwrap();
    for _ in 0..10 {
        let taken = first.next().await.unwrap().unwrap();
        assert_eq!(taken.message.subject, "orders.new");
        assert!(taken.stored_nanos > 0);
        seen.push(taken.sequence);
        taken.settle.await;
    }
    drop(first);
    let other = connect(Options::new(server.url())).await.unwrap();
    let mut second = other.follow(&place(Some(From::New))).await.unwrap();
    while seen.len() < 20 {
        let taken = second.next().await.unwrap().unwrap();
        seen.push(taken.sequence);
        taken.settle.await;
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen, (0..20).map(|at| 2 * at + 1).collect::<Vec<_>>());
    let mut group = Vec::new();
    for bus in [&bus, &other] {
        group.push(bus.listen("told.*", "group").await.unwrap());
    }
    bus.tell(message("told.x", b"1")).await.unwrap();
    let [one, two] = group.as_mut_slice() else { unreachable!() };
    let heard = futures::future::select(one.next(), two.next()).await.factor_first().0.unwrap();
    assert_eq!(heard.subject, "told.x");
}

/// A broker that has lost its store has a stream of the same name, with the same numbers: what it gives
/// is not taken for messages of the earlier one.
#[tokio::test]
async fn messages_of_a_stream_that_was_made_anew_are_not_taken_for_those_of_the_earlier_one() {
    let mut server = nats().await;
    let place = |from: From| Place {
        name: "staunch-test".to_owned(),
        stream: "ORDERS".to_owned(),
        subject: "orders.*".to_owned(),
        from: Some(from),
        one_by_one: false,
    };
    let config = json!({"name": "ORDERS", "subjects": ["orders.>"], "storage": "file"});
    let bus = connect(Options::new(server.url())).await.unwrap();
    api(&bus, "STREAM.CREATE.ORDERS", config.clone()).await;
    bus.store(message("orders.new", b"1"), SOON).await.unwrap();
    let mut early = bus.follow(&place(From::All)).await.unwrap();
    let taken = early.next().await.unwrap().unwrap();
    let (before, sequence) = (taken.stored_nanos, taken.sequence);
    taken.settle.await;

    server.wipe().await;
    let late = connect(Options::new(server.url())).await.unwrap();
    api(&late, "STREAM.CREATE.ORDERS", config).await;
    // Another one makes the consumer, which the early one still pulls from.
    drop(late.follow(&place(From::All)).await.unwrap());
    let ended = within("the early pull ends", Duration::from_secs(60), async {
        loop {
            late.store(message("orders.new", b"2"), SOON).await.unwrap();
            let next = tokio::time::timeout(Duration::from_millis(100), early.next());
            match next.await {
                Ok(Some(Ok(taken))) => {
                    assert_ne!(taken.stored_nanos, before, "{}", taken.sequence);
                }
                Ok(Some(Err(error))) => break error,
                Ok(None) => panic!("the pull ends without a reason"),
                Err(_) => {}
            }
        }
    });
    assert!(matches!(ended.await, OutsideError::Unavailable(_)));
    let mut again = bus.follow(&place(From::All)).await.unwrap();
    let taken = again.next().await.unwrap().unwrap();
    assert_ne!(taken.stored_nanos, before);
    println!(
        "G3: number {sequence} of the earlier stream is another message than {}",
        taken.sequence
    );
}

/// A backup that is restored has another time of creation, and the same messages.
#[tokio::test]
async fn a_message_of_a_stream_that_is_restored_is_the_same() {
    let server = nats().await;
    let bus = connect(Options::new(server.url())).await.unwrap();
    let config = json!({"name": "ORDERS", "subjects": ["orders.>"], "storage": "file"});
    let made = api(&bus, "STREAM.CREATE.ORDERS", config).await;
    let place = Place {
        name: "staunch-test".to_owned(),
        stream: "ORDERS".to_owned(),
        subject: "orders.*".to_owned(),
        from: Some(From::All),
        one_by_one: false,
    };
    let take = async || {
        let mut messages = bus.follow(&place).await.unwrap();
        let mut taken = Vec::new();
        for _ in 0..3 {
            let next = within("a message", SOON, messages.next()).await.unwrap().unwrap();
            taken.push((next.sequence, next.stored_nanos, next.message));
            next.settle.await;
        }
        taken
    };
    for number in 1..=3 {
        bus.store(message("orders.new", number.to_string().as_bytes()), SOON).await.unwrap();
    }
    let before = take().await;
    assert!(before.is_sorted_by(|one, next| one.1 < next.1), "{before:?}");

    let mut parts = bus.subscribe("backup.orders").await.unwrap();
    let asked = json!({"deliver_subject": "backup.orders", "no_consumers": true});
    let backup = api(&bus, "STREAM.SNAPSHOT.ORDERS", asked).await;
    let mut archive = Vec::new();
    loop {
        let part = within("a part", SOON, parts.next()).await.unwrap().message.payload;
        archive.push(part);
        // An empty one is the end, also of what is given back.
        if archive.last().is_some_and(Vec::is_empty) {
            break;
        }
    }
    api(&bus, "STREAM.DELETE.ORDERS", json!({})).await;
    let restore = json!({"config": backup["config"], "state": backup["state"]});
    let restore = api(&bus, "STREAM.RESTORE.ORDERS", restore).await;
    let to = restore["deliver_subject"].as_str().unwrap();
    for part in archive {
        bus.request(message(to, &part), SOON).await.unwrap();
    }
    let restored = api(&bus, "STREAM.INFO.ORDERS", Value::Null).await;
    assert_ne!(restored["created"], made["created"]);
    assert_eq!(take().await, before);
}

/// The acknowledgement of a message of an earlier stream settles no message of the new one.
#[tokio::test]
async fn a_late_acknowledgement_settles_nothing_of_a_stream_that_was_made_anew() {
    let mut server = nats().await;
    let config = json!({"name": "ORDERS", "subjects": ["orders.>"], "storage": "file"});
    let place = Place {
        name: "staunch-test".to_owned(),
        stream: "ORDERS".to_owned(),
        subject: "orders.*".to_owned(),
        from: Some(From::All),
        one_by_one: false,
    };
    let in_hand = async |bus: &NatsBus| {
        let figures = bus.place_figures("ORDERS", "staunch-test").await;
        figures.ok().flatten().map(|figures| figures.in_hand)
    };
    // No message of the place, which this one waits for.
    let connected = async |bus: &NatsBus| {
        eventually("it is connected", Duration::from_secs(60), async || {
            bus.store(message("orders.other.x", b""), SOON).await.is_ok()
        })
        .await;
    };
    let take = async |bus: &NatsBus| {
        bus.store(message("orders.new", b"1"), SOON).await.unwrap();
        let mut messages = bus.follow(&place).await.unwrap();
        within("the message", SOON, messages.next()).await.unwrap().unwrap()
    };
    let bus = connect(Options::new(server.url())).await.unwrap();
    api(&bus, "STREAM.CREATE.ORDERS", config.clone()).await;
    let early = take(&bus).await;

    server.wipe().await;
    let late = connect(Options::new(server.url())).await.unwrap();
    api(&late, "STREAM.CREATE.ORDERS", config).await;
    let taken = take(&late).await;
    assert_eq!(taken.sequence, early.sequence, "the number means another message");
    connected(&bus).await;
    assert_eq!(in_hand(&late).await, Some(1));
    early.settle.await;
    connected(&bus).await;
    assert_eq!(in_hand(&late).await, Some(1), "it is not settled");
    taken.settle.await;
    eventually("it is settled", SOON, async || in_hand(&late).await == Some(0)).await;

    // A broker that comes back with its store has the same stream. It ends in order: one that is killed may
    // have forgotten what it handed out last.
    let kept = take(&late).await;
    server.server().stop().await.unwrap();
    server.server().restart().await.unwrap();
    connected(&late).await;
    kept.settle.await;
    eventually("it is settled", SOON, async || in_hand(&late).await == Some(0)).await;
}

/// A broker that comes back with its store has the same stream: the pull goes on.
#[tokio::test]
async fn a_pull_outlives_a_restart_of_the_broker() {
    let mut server = nats().await;
    let bus = connect(Options::new(server.url())).await.unwrap();
    let config = json!({"name": "ORDERS", "subjects": ["orders.>"], "storage": "file"});
    api(&bus, "STREAM.CREATE.ORDERS", config).await;
    let place = Place {
        name: "staunch-test".to_owned(),
        stream: "ORDERS".to_owned(),
        subject: "orders.*".to_owned(),
        from: Some(From::All),
        one_by_one: false,
    };
    let mut taken = bus.follow(&place).await.unwrap();
    for number in 1..=4 {
        if number == 3 {
            server.server().kill().unwrap();
            server.server().restart().await.unwrap();
        }
        eventually("it is stored", Duration::from_secs(60), async || {
            bus.store(message("orders.new", b"1"), SOON).await.is_ok()
        })
        .await;
        let next = within("the message", Duration::from_secs(60), taken.next()).await;
        let next = next.unwrap().unwrap();
        assert!(next.stored_nanos > 0);
        next.settle.await;
    }
}
