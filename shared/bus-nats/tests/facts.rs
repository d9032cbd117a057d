//! The behaviour of nats-server and async-nats on which Staunch relies. Each test prints its
//! observations; `docs/nats-behaviour.md` records them. Run with `--nocapture`.

#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test ends with the first thing that is wrong"
)]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use async_nats::jetstream::consumer::{AckPolicy, pull};
use async_nats::jetstream::kv::{Operation, Store};
use async_nats::jetstream::{self, AckKind, Context, kv, stream};
use async_nats::{HeaderMap, Request};
use futures::StreamExt as _;
use serde_json::{Value, json};
use testkit::{TestNats, eventually, nats, nats_cluster, within};

const BOUND: Duration = Duration::from_secs(30);

async fn context(server: &TestNats) -> Context {
    let client = async_nats::connect(server.url()).await.unwrap();
    println!("nats-server {}", client.server_info().version);
    jetstream::new(client)
}

async fn bucket(context: &Context, name: &str, markers: Option<u64>, replicas: usize) -> Store {
    let config = kv::Config {
        bucket: name.to_owned(),
        history: 1,
        num_replicas: replicas,
        limit_markers: markers.map(Duration::from_secs),
        ..kv::Config::default()
    };
    let give_up = Instant::now() + BOUND;
    loop {
        match context.create_key_value(config.clone()).await {
            Ok(store) => return store,
            // A cluster elects its leader first.
            Err(error) => assert!(Instant::now() < give_up, "no bucket: {error}"),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

async fn work_queue(context: &Context) -> stream::Stream {
    let config = stream::Config {
        name: "s".to_owned(),
        retention: stream::RetentionPolicy::WorkQueue,
        ..stream::Config::default()
    };
    context.create_stream(config).await.unwrap()
}

/// A raw write to a bucket, and the answer of JetStream.
async fn write(context: &Context, subject: &str, headers: &[(&'static str, String)]) -> Value {
    let mut all = HeaderMap::new();
    for (name, value) in headers {
        all.insert(*name, value.as_str());
    }
    let request = Request::new().headers(all).payload("x".into());
    let answer = context.client().send_request(subject.to_owned(), request).await.unwrap();
    serde_json::from_slice(&answer.payload).unwrap()
}

fn expected(sequence: u64) -> (&'static str, String) {
    ("Nats-Expected-Last-Subject-Sequence", sequence.to_string())
}

fn id(text: &str) -> (&'static str, String) {
    ("Nats-Msg-Id", text.to_owned())
}

fn ttl(seconds: u64) -> (&'static str, String) {
    ("Nats-TTL", seconds.to_string())
}

/// The expiry that the stored message has.
async fn stored_ttl(store: &Store, key: &str) -> Option<String> {
    let subject = format!("$KV.{}.{key}", store.name);
    let message = store.stream.get_last_raw_message_by_subject(&subject).await.unwrap();
    message.headers.get("Nats-TTL").map(ToString::to_string)
}

/// Checks 1 and 2.
#[tokio::test]
async fn the_clients_own_calls_lose_the_expiry() {
    let server = nats().await;
    let context = context(&server).await;
    let store = bucket(&context, "b", Some(10), 1).await;
    let second = Duration::from_secs(1);
    store.create_with_ttl("a", "1".into(), second).await.unwrap();
    let first = stored_ttl(&store, "a").await;
    store.delete("a").await.unwrap();
    store.create_with_ttl("a", "2".into(), second).await.unwrap();
    let after_delete = stored_ttl(&store, "a").await;

    store.create_with_ttl("e", "1".into(), second).await.unwrap();
    eventually("the key expires", BOUND, async || store.get("e").await.unwrap().is_none()).await;
    store.create_with_ttl("e", "2".into(), second).await.unwrap();
    let after_expiry = stored_ttl(&store, "e").await;

    let revision = store.create_with_ttl("u", "1".into(), second).await.unwrap();
    store.update("u", "2".into(), revision).await.unwrap();
    let after_update = stored_ttl(&store, "u").await;
    println!(
        "expiry of create_with_ttl: {first:?}, after a delete {after_delete:?}, after an expiry \
         {after_expiry:?}; after an update {after_update:?}"
    );
    assert!(first.is_some());
    assert_eq!((after_delete, after_expiry, after_update), (None, None, None));
}

/// Check 3.
#[tokio::test]
async fn writers_of_one_key_are_refused_without_a_number_in_a_cluster() {
    let (one, three) = (nats().await, nats_cluster().await);
    for (server, replicas) in [(&one, 1), (&three[0], 3)] {
        let context = context(server).await;
        bucket(&context, "b", Some(10), replicas).await;
        let writers = (0..8).map(|writer| {
            let context = context.clone();
            tokio::spawn(async move {
                let mut outcomes: BTreeMap<u64, u32> = BTreeMap::new();
                let mut at = 0;
                for round in 0..100 {
                    let id = id(&format!("{writer}-{round}"));
                    let answer = write(&context, "$KV.b.a", &[expected(at), id]).await;
                    let error = &answer["error"];
                    *outcomes.entry(error["err_code"].as_u64().unwrap_or(0)).or_default() += 1;
                    let said = error["description"].as_str().unwrap_or_default();
                    let number = said.rsplit_once(' ').and_then(|(_, it)| it.parse().ok());
                    at = answer["seq"].as_u64().filter(|seq| *seq > 0).or(number).unwrap_or(at);
                }
                outcomes
            })
        });
        let mut all: BTreeMap<u64, u32> = BTreeMap::new();
        for outcomes in futures::future::join_all(writers).await {
            for (code, count) in outcomes.unwrap() {
                *all.entry(code).or_default() += count;
            }
        }
        println!("8 writers, {replicas} replicas, 800 swaps by error number (0: won): {all:?}");
        assert!(all[&0] > 0);
    }
}

/// Check 4.
#[tokio::test]
async fn keys_expire_up_to_some_seconds_late() {
    let server = nats().await;
    let context = context(&server).await;
    for markers in [None, Some(10)] {
        let name = if markers.is_some() { "with" } else { "without" };
        let store = match markers {
            Some(_) => bucket(&context, name, markers, 1).await,
            None => {
                // The client cannot make a bucket that has expiry but no markers.
                let config = stream::Config {
                    name: format!("KV_{name}"),
                    subjects: vec![format!("$KV.{name}.>")],
                    max_messages_per_subject: 1,
                    allow_rollup: true,
                    allow_direct: true,
                    allow_message_ttl: true,
                    ..stream::Config::default()
                };
                context.create_stream(config).await.unwrap();
                context.get_key_value(name).await.unwrap()
            }
        };
        let mut watch = store.watch_all().await.unwrap();
        let mut delays: BTreeMap<u64, Vec<u128>> = BTreeMap::new();
        let mut written: BTreeMap<String, (Instant, u64)> = BTreeMap::new();
        for number in 0..40_u64 {
            let seconds = 1 + number % 4;
            let key = format!("k{number}");
            write(&context, &format!("$KV.{name}.{key}"), &[ttl(seconds)]).await;
            written.insert(key, (Instant::now(), seconds));
            tokio::time::sleep(Duration::from_millis(37)).await;
        }
        while !written.is_empty() {
            if markers.is_some() {
                let entry = within("an expiry", BOUND, watch.next()).await.unwrap().unwrap();
                if entry.operation == Operation::Put {
                    continue;
                }
                let (at, seconds) = written.remove(&entry.key).unwrap();
                let late = at.elapsed().saturating_sub(Duration::from_secs(seconds));
                delays.entry(seconds).or_default().push(late.as_millis());
                continue;
            }
            for key in written.keys().cloned().collect::<Vec<_>>() {
                if store.get(&key).await.unwrap().is_none() {
                    let (at, seconds) = written.remove(&key).unwrap();
                    let late = at.elapsed().saturating_sub(Duration::from_secs(seconds));
                    delays.entry(seconds).or_default().push(late.as_millis());
                }
            }
        }
        for (seconds, mut late) in delays {
            late.sort_unstable();
            let (first, last) = (late[0], late[late.len() - 1]);
            let middle = late[late.len() / 2];
            println!(
                "{name} markers, expiry {seconds} s: late by {first} to {last} ms, median {middle}"
            );
            assert!(last < 5_000);
        }
    }
}

/// Check 8.
#[tokio::test]
async fn a_repeated_swap_is_recognised_by_a_cluster_and_not_by_every_single_server() {
    let (one, three) = (nats().await, nats_cluster().await);
    for (server, replicas) in [(&one, 1), (&three[0], 3)] {
        let context = context(server).await;
        bucket(&context, "b", Some(10), replicas).await;
        let swap = [expected(0), id("one")];
        let first = write(&context, "$KV.b.a", &swap).await;
        let again = write(&context, "$KV.b.a", &swap).await;
        let plain = write(&context, "$KV.b.a", &[id("one")]).await;
        println!("{replicas} replicas: first {first}, again {again}, without a number {plain}");
        assert_eq!(first["seq"], 1);
        assert_eq!(plain["duplicate"], true);
        // From 2.12 on, a single server compares revisions before it looks for the message id.
        if replicas == 3 || again["error"]["err_code"] != 10071 {
            assert_eq!((&again["seq"], &again["duplicate"]), (&1.into(), &true.into()));
        }
    }
}

/// Check 9, and the effects of answers to old deliveries.
#[tokio::test]
async fn a_late_answer_counts() {
    let server = nats().await;
    let context = context(&server).await;
    let mut stream = work_queue(&context).await;
    let config = pull::Config {
        durable_name: Some("c".to_owned()),
        ack_policy: AckPolicy::Explicit,
        ack_wait: Duration::from_secs(1),
        ..pull::Config::default()
    };
    let consumer = stream.create_consumer(config).await.unwrap();
    let next = async || {
        let mut batch = consumer.batch().max_messages(1).expires(BOUND).messages().await.unwrap();
        batch.next().await.unwrap().unwrap()
    };
    context.publish("s", "1".into()).await.unwrap().await.unwrap();
    let first = next().await;
    let second = next().await;
    assert_eq!(second.info().unwrap().delivered, 2);
    first.ack_with(AckKind::Nak(None)).await.unwrap();
    let third = next().await;
    println!("a late nak makes a third delivery: {}", third.info().unwrap().delivered == 3);
    first.ack().await.unwrap();
    eventually("the message is gone", BOUND, async || {
        stream.info().await.unwrap().state.messages == 0
    })
    .await;
    println!("a late ack removes a message that was delivered again");
}

/// The end of a pull that has a limit in bytes.
#[tokio::test]
async fn a_pull_with_a_bound_of_bytes_ends_with_a_status() {
    let server = nats().await;
    let context = context(&server).await;
    let stream = work_queue(&context).await;
    let config = pull::Config {
        durable_name: Some("c".to_owned()),
        ack_policy: AckPolicy::Explicit,
        ..pull::Config::default()
    };
    stream.create_consumer(config).await.unwrap();
    for _ in 0..5 {
        context.publish("s", vec![b'x'; 1_000].into()).await.unwrap().await.unwrap();
    }
    let client = context.client();
    let pulled = async |batch: usize, max_bytes: usize| {
        let inbox = client.new_inbox();
        let mut answers = client.subscribe(inbox.clone()).await.unwrap();
        let pull = json!({ "batch": batch, "max_bytes": max_bytes, "no_wait": true });
        let call = "$JS.API.CONSUMER.MSG.NEXT.s.c";
        client.publish_with_reply(call, inbox, pull.to_string().into()).await.unwrap();
        let mut messages = 0;
        loop {
            let answer = within("the end", BOUND, answers.next()).await.unwrap();
            match answer.status {
                None => messages += 1,
                Some(_) => return (messages, answer.description.unwrap()),
            }
        }
    };
    let whole = pulled(2, 100_000).await;
    let cut = pulled(3, 2_500).await;
    println!("all that was asked for: {whole:?}; more than the bytes: {cut:?}");
    assert_eq!(whole, (2, "Batch Completed".to_owned()));
    assert_eq!(cut, (2, "Message Size Exceeds MaxBytes".to_owned()));
}

/// Check 10.
#[tokio::test]
async fn a_watch_for_new_values_after_a_restart() {
    let mut server = nats().await;
    let context = context(&server).await;
    let store = bucket(&context, "b", Some(10), 1).await;
    store.put("old", "1".into()).await.unwrap();
    let mut watch = store.watch_all().await.unwrap();
    server.server().kill().unwrap();
    server.server().restart().await.unwrap();
    eventually("the client is back", BOUND, async || store.put("new", "2".into()).await.is_ok())
        .await;
    let mut seen = Vec::new();
    while !seen.iter().any(|it| it == "new") {
        match within("a change", BOUND, watch.next()).await {
            Some(Ok(entry)) => seen.push(entry.key),
            Some(Err(error)) => seen.push(format!("(error: {error})")),
            None => break,
        }
    }
    println!("after a restart, a watch for new values shows {seen:?}");
}

/// A tombstone that expires leaves nothing: the next write starts from sequence 0.
#[tokio::test]
async fn a_tombstone_with_an_expiry_vanishes_without_another_one() {
    let server = nats().await;
    let context = context(&server).await;
    let store = bucket(&context, "b", Some(2), 1).await;
    write(&context, "$KV.b.a", &[]).await;
    let purge = [
        expected(1),
        ttl(1),
        ("KV-Operation", "PURGE".to_owned()),
        ("Nats-Rollup", "sub".to_owned()),
    ];
    let purged = write(&context, "$KV.b.a", &purge).await;
    assert_eq!(purged["seq"], 2);
    write(&context, "$KV.b.e", &[ttl(1)]).await;
    let mut stream = store.stream.clone();
    eventually("the bucket is empty", BOUND, async || {
        stream.info().await.unwrap().state.messages == 0
    })
    .await;
    let last = stream.cached_info().state.last_sequence;
    let refused = write(&context, "$KV.b.a", &[expected(2)]).await;
    let anew = write(&context, "$KV.b.a", &[expected(0)]).await;
    println!(
        "after a purge with an expiry and an expiry with a marker the last sequence is {last}"
    );
    println!("from the tombstone's sequence: {refused}; from nothing: {anew}");
    assert_eq!(last, 4, "a value, its tombstone, a value, its marker");
    assert_eq!(refused["error"]["err_code"], 10071);
    assert_eq!(anew["seq"], 5);
}

/// A crash makes the server rebuild a bucket from its files, where a purged value is still written.
#[tokio::test]
async fn a_purged_value_comes_back_after_a_crash_unless_its_tombstone_is_there() {
    let mut server = nats().await;
    let context = context(&server).await;
    let store = bucket(&context, "b", Some(10), 1).await;
    let purge = [("KV-Operation", "PURGE".to_owned()), ("Nats-Rollup", "sub".to_owned())];
    for (key, expiry) in [("vanished", None), ("stays", None), ("expires", Some(ttl(60)))] {
        let subject = format!("$KV.b.{key}");
        write(&context, &subject, &expiry.into_iter().collect::<Vec<_>>()).await;
        let short = (key != "stays").then(|| ttl(1));
        let purge: Vec<_> = purge.iter().cloned().chain(short).collect();
        write(&context, &subject, &purge).await;
    }
    let mut stream = store.stream.clone();
    eventually("two tombstones have vanished", BOUND, async || {
        stream.info().await.unwrap().state.messages == 1
    })
    .await;
    server.server().kill().unwrap();
    server.server().restart().await.unwrap();
    eventually("the client is back", BOUND, async || store.get("stays").await.is_ok()).await;
    let back = async |key: &str| store.get(key).await.unwrap().is_some();
    let (vanished, expires) = (back("vanished").await, back("expires").await);
    println!("after a crash a purged value is back: {vanished}; one with an expiry: {expires}");
    if expires {
        assert_eq!(stored_ttl(&store, "expires").await.as_deref(), Some("60"));
    }
    assert!(!back("stays").await, "its tombstone is newer");
}
