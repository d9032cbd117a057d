//! The behaviour of the adapter when a server crashes, is wiped, is cut off, or differs from the
//! topology.

#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test ends with the first thing that is wrong"
)]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bus::{
    Bucket, Bus as _, Change, Endpoint, Error, Kv, Leases, Put, Queue as _, Stream, TOMBSTONE_TTL,
    TaskAnswer, Tasks as _, Terms, Watch, Wire as _,
};
use bus_nats::{NatsBus, Options, Topology, connect};
use bytes::Bytes;
use futures::StreamExt as _;
use protocol::{Message, header};
use testkit::{TestNats, eventually, nats, nats_cluster, nats_with, nonces, within};

const BOUND: Duration = Duration::from_secs(30);

async fn bus_on(server: &TestNats) -> NatsBus {
    let bus = connect(Options::new(server.url())).await.unwrap();
    bus.provision(1).await.unwrap();
    bus
}

fn command(id: &str) -> Message {
    let headers = [(header::MESSAGE_ID.to_owned(), id.to_owned())].into();
    Message { subject: "staunch.cmd.start.a".to_owned(), headers, payload: Vec::new() }
}

async fn put(kv: &dyn Kv, key: &str, at: u64) -> u64 {
    let nonce = nonces()();
    loop {
        match kv.put_if(key, Bytes::from_static(b"x"), at, None, &nonce).await {
            Ok(Put::Won(revision)) => return revision,
            Ok(Put::Lost(other)) => panic!("{key} is at {other:?}"),
            Err(error) => assert!(error.is_passing(), "{error}"),
        }
    }
}

/// The contents of the watch when it is next synced.
async fn snapshot(watch: &mut Watch) -> BTreeMap<String, u64> {
    let mut live = BTreeMap::new();
    loop {
        match within("a change", BOUND, watch.next()).await.unwrap() {
            Change::Reset => live.clear(),
            Change::Set { key, value: Some(_), revision } => drop(live.insert(key, revision)),
            Change::Set { key, value: None, .. } => drop(live.remove(&key)),
            Change::Synced => return live,
        }
    }
}

#[tokio::test]
async fn a_publish_and_a_pull_outlive_a_crash_of_the_server() {
    let mut server = nats().await;
    let bus = bus_on(&server).await;
    let pulling = tokio::spawn({
        let bus = bus.clone();
        async move {
            loop {
                match bus.pull(10, Duration::from_secs(5)).await {
                    Ok(pulled) if pulled.is_empty() => {}
                    Ok(mut pulled) => return pulled.remove(0),
                    Err(error) => assert!(error.is_passing(), "{error}"),
                }
            }
        }
    });
    server.server().kill().unwrap();
    eventually("the loss is noticed", BOUND, async || !bus.is_connected()).await;
    let publishing = tokio::spawn({
        let bus = bus.clone();
        async move { bus.publish(command("x")).await }
    });
    server.server().restart().await.unwrap();
    let restarted = Instant::now();
    publishing.await.unwrap().unwrap();
    let delivery = within("the delivery", BOUND, pulling).await.unwrap();
    println!("delivered {:?} after the restart", restarted.elapsed());
    assert!(restarted.elapsed() < Duration::from_secs(10));
    assert_eq!(delivery.message, command("x"));
    assert!(bus.publish(command("x")).await.unwrap().duplicate);
    delivery.settle.ack().await.unwrap();
    eventually("the command is gone", BOUND, async || bus.backlog().await.unwrap() == 0).await;
}

/// Files of this process may not become larger, as on a full disk.
#[cfg(target_os = "linux")]
fn limit_files(server: &mut TestNats, bytes: &str) {
    let pid = server.server().pid().unwrap().to_string();
    let set = std::process::Command::new("prlimit")
        .args(["--pid", &pid, &format!("--fsize={bytes}")])
        .status();
    assert!(set.unwrap().success());
}

/// The server gets the first try when it goes on, and has the message when the second one comes.
#[tokio::test]
async fn a_message_that_an_earlier_try_has_stored_is_no_duplicate() {
    let mut server = nats().await;
    let bus = bus_on(&server).await;
    server.server().suspend().unwrap();
    // A request that is sent after the first try, and waits as long, has no answer either.
    let later = async {
        let kv = bus.kv(Bucket::Leases);
        let lost = kv.put_if("a", Bytes::new(), 0, None, &nonces()()).await;
        assert!(matches!(lost, Err(Error::Unknown(_))), "{lost:?}");
        server.server().resume().unwrap();
    };
    let (receipt, ()) = futures::join!(bus.publish(command("x")), later);
    let receipt = receipt.unwrap();
    assert!(!receipt.duplicate, "{receipt:?}");
    assert_eq!(bus.backlog().await.unwrap(), 1);
    let again = bus.publish(command("x")).await.unwrap();
    assert_eq!(again.sequence, receipt.sequence);
    assert!(again.duplicate);
}

/// A nats-server that could not write once stores nothing until it is restarted.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_of_the_server_is_told_until_a_message_is_stored_again() {
    let mut server = nats().await;
    let bus = bus_on(&server).await;
    bus.publish(command("before")).await.unwrap();
    bus.ping().await.unwrap();
    limit_files(&mut server, "1");
    eventually("the server stores nothing", BOUND, async || {
        bus.publish(command("lost")).await.is_err()
    })
    .await;
    let error = bus.ping().await.unwrap_err().to_string();
    assert!(error.contains("no message has been stored"), "{error}");
    server.server().kill().unwrap();
    server.server().restart().await.unwrap();
    bus.publish(command("after")).await.unwrap();
    bus.ping().await.unwrap();
}

#[tokio::test]
async fn a_watch_starts_again_from_a_snapshot_after_a_crash() {
    let mut server = nats().await;
    let bus = bus_on(&server).await;
    let kv = bus.kv(Bucket::Definitions);
    let kept = put(&*kv, "kept", 0).await;
    put(&*kv, "gone", 0).await;
    let mut watch = kv.watch().await.unwrap();
    assert_eq!(snapshot(&mut watch).await.len(), 2);
    server.server().kill().unwrap();
    server.server().restart().await.unwrap();
    assert_eq!(snapshot(&mut watch).await.len(), 2);
    // A key that vanishes while no watch runs is missing from the next snapshot.
    server.wipe().await;
    let other = connect(Options::new(server.url())).await.unwrap();
    other.provision(1).await.unwrap();
    put(&*other.kv(Bucket::Definitions), "new", 0).await;
    // The key may come with the snapshot or after it.
    let mut seen: Vec<String> = vec!["kept".to_owned(), "gone".to_owned()];
    while seen != ["new"] {
        match within("a change", BOUND, watch.next()).await.unwrap() {
            Change::Reset => seen.clear(),
            Change::Set { key, value: Some(_), .. } => seen.push(key),
            Change::Set { .. } | Change::Synced => {}
        }
    }
    assert!(kept > 0);
}

#[tokio::test]
async fn all_followers_of_a_bucket_share_one_consumer() {
    let server = nats().await;
    let bus = bus_on(&server).await;
    let kv = bus.kv(Bucket::Nodes);
    put(&*kv, "a", 0).await;
    let mut watches = Vec::new();
    for _ in 0..5 {
        let mut watch = kv.watch().await.unwrap();
        assert_eq!(snapshot(&mut watch).await.len(), 1);
        watches.push(watch);
    }
    put(&*kv, "b", 0).await;
    for watch in &mut watches {
        let change = within("a change", BOUND, watch.next()).await.unwrap();
        assert!(matches!(change, Change::Set { key, .. } if key == "b"));
    }
    let client = async_nats::connect(server.url()).await.unwrap();
    let context = async_nats::jetstream::new(client);
    let mut stream = context.get_stream("KV_staunch_nodes").await.unwrap();
    assert_eq!(stream.info().await.unwrap().state.consumer_count, 1);
}

#[tokio::test]
async fn leases_are_lost_and_had_again_when_their_bucket_is_lost() {
    let mut server = nats().await;
    let bus = bus_on(&server).await;
    let terms =
        Terms { ttl: Duration::from_secs(6), guard: Duration::from_secs(1), wait_max: BOUND };
    let leases = Leases::start(bus.kv(Bucket::Leases), "one", terms, nonces());
    let lease = leases.acquire("a").await.unwrap();
    // The bucket is in memory: it does not outlive the server.
    server.server().kill().unwrap();
    server.server().restart().await.unwrap();
    connect(Options::new(server.url())).await.unwrap().verify().await.unwrap();
    within("the loss", BOUND, lease.lost()).await;
    drop(lease);
    let again = within("the lease", BOUND, leases.acquire("a")).await.unwrap();
    assert!(again.is_held());
    again.release().await;
    leases.close().await;
}

#[tokio::test]
async fn a_suspended_server_is_noticed_and_forgiven() {
    let mut server = nats().await;
    let bus = bus_on(&server).await;
    let kv = bus.kv(Bucket::Leases);
    server.server().suspend().unwrap();
    let nonce = nonces()();
    let lost = kv.put_if("a", Bytes::new(), 0, None, &nonce).await;
    assert!(matches!(lost, Err(Error::Unknown(_))), "{lost:?}");
    let noticed = Instant::now();
    eventually("the connection counts as lost", BOUND, async || !bus.is_connected()).await;
    println!("a suspended server is noticed after about {:?}", noticed.elapsed());
    server.server().resume().unwrap();
    eventually("the write gets through", BOUND, async || {
        match kv.put_if("a", Bytes::new(), 0, None, &nonce).await {
            Ok(put) => matches!(put, Put::Won(_)) || panic!("{put:?}"),
            Err(_) => false,
        }
    })
    .await;
}

#[tokio::test]
async fn what_is_missing_or_different_is_named() {
    let server = nats().await;
    let bus = connect(Options::new(server.url())).await.unwrap();
    let error = bus.verify().await.unwrap_err().to_string();
    for name in ["STAUNCH_COMMANDS is missing", "consumer executor", "bucket staunch_leases"] {
        assert!(error.contains(name), "{error}");
    }
    assert!(error.contains("staunch provision"), "{error}");
    let published = bus.publish(command("x")).await;
    assert!(matches!(published, Err(Error::NotProvisioned(_))), "{published:?}");
    let pulled = bus.pull(1, Duration::from_millis(100)).await;
    assert!(matches!(pulled, Err(Error::NotProvisioned(_))), "{pulled:?}");

    bus.provision(1).await.unwrap();
    bus.provision(1).await.unwrap();
    bus.verify().await.unwrap();
    let client = async_nats::connect(server.url()).await.unwrap();
    let context = async_nats::jetstream::new(client);
    let mut stream = context.get_stream("STAUNCH_DEAD").await.unwrap();
    let mut config = stream.info().await.unwrap().config.clone();
    config.discard = async_nats::jetstream::stream::DiscardPolicy::New;
    config.max_bytes = 512 * 1024 * 1024;
    context.update_stream(&config).await.unwrap();
    let error = bus.verify().await.unwrap_err().to_string();
    assert!(error.contains("STAUNCH_DEAD has discard"), "{error}");
    assert!(!error.contains("max_bytes"), "limits may differ: {error}");
    bus.provision(1).await.unwrap();
    bus.verify().await.unwrap();
    let config = stream.info().await.unwrap().config.clone();
    assert_eq!(config.discard, async_nats::jetstream::stream::DiscardPolicy::Old);
    assert_eq!(config.max_bytes, 512 * 1024 * 1024, "a limit that was raised stays");
    let lowered = async_nats::jetstream::stream::Config { max_bytes: 1_024, ..config };
    context.update_stream(&lowered).await.unwrap();
    bus.provision(1).await.unwrap();
    let config = stream.info().await.unwrap().config.clone();
    assert_eq!(config.max_bytes, 256 * 1024 * 1024, "one that was lowered does not");
    let status = bus.status().await.unwrap();
    assert_eq!(status.streams.len(), 12);
    assert!(status.is_connected && status.round_trip < BOUND);
    assert_eq!(status.version, bus.server_version());
}

#[tokio::test]
async fn a_server_without_room_for_the_streams_says_how_to_get_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nats.conf");
    std::fs::write(&path, "jetstream { max_file_store: 1MB }").unwrap();
    let server = nats_with(|options| options.config = Some(path)).await;
    let bus = connect(Options::new(server.url())).await.unwrap();
    let error = bus.provision(1).await.unwrap_err().to_string();
    assert!(error.contains("give JetStream more with max_file_store"), "{error}");
}

#[tokio::test]
async fn a_full_queue_refuses_and_loses_nothing() {
    let server = nats().await;
    let bus = connect(Options::new(server.url())).await.unwrap();
    let text = include_str!("../../../nats/topology.toml").replace("1_073_741_824", "10_000");
    let text = text.replace("message_bytes_max = 1_048_576", "message_bytes_max = 9_000");
    bus.provision_as(&Topology::parse(&text).unwrap(), &1.into()).await.unwrap();
    let mut stored = 0;
    let refused = loop {
        let message = Message { payload: vec![0; 3_000], ..command(&stored.to_string()) };
        match bus.publish(message).await {
            Ok(_) => stored += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, Error::Full(_)), "{refused}");
    assert!(refused.is_passing());
    assert_eq!(bus.backlog().await.unwrap(), stored);
    let large = Message { payload: vec![0; 9_500], ..command("large") };
    let large = bus.publish(large).await;
    assert!(matches!(large, Err(Error::TooLarge(_))), "{large:?}");
}

#[tokio::test]
async fn a_server_that_is_not_there_or_has_no_jetstream_is_named() {
    let options = Options {
        connect_max: Duration::from_millis(300),
        ..Options::new(format!("nats://u:secret@127.0.0.1:{}", testkit::free_port()))
    };
    let error = connect(options).await.unwrap_err();
    assert!(matches!(error, Error::Unavailable(_)), "{error}");
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[tokio::test]
async fn a_closed_bus_ends_what_listens() {
    let server = nats().await;
    let bus = bus_on(&server).await;
    let mut heard = bus.subscribe("a").await.unwrap();
    let endpoint = Endpoint { name: "get".to_owned(), subject: "staunch.api.get.*".to_owned() };
    let mut served = bus.serve("staunch-test", "0.1.0", "a test", vec![endpoint]).await.unwrap();
    let mut watch = bus.kv(Bucket::Leases).watch().await.unwrap();
    snapshot(&mut watch).await;
    bus.close().await;
    bus.closed().await;
    assert_eq!(within("the end", BOUND, heard.next()).await, None);
    assert_eq!(within("the end", BOUND, served.next()).await, None);
    within("the end", BOUND, async { while watch.next().await.is_some() {} }).await;
    assert!(matches!(bus.publish(command("x")).await, Err(Error::Closed)));
}

#[tokio::test]
async fn a_wiped_server_is_provisioned_again_where_that_is_asked_for() {
    let mut server = nats().await;
    let options = Options { keep_provisioned: true, ..Options::new(server.url()) };
    let bus = connect(options).await.unwrap();
    bus.provision(1).await.unwrap();
    let kv = bus.kv(Bucket::Definitions);
    put(&*kv, "a", 0).await;
    let mut watch = kv.watch().await.unwrap();
    assert_eq!(snapshot(&mut watch).await.len(), 1);
    server.wipe().await;
    eventually("commands flow again", BOUND, async || {
        bus.publish(command("x")).await.is_ok()
            && !bus.pull(1, Duration::from_secs(1)).await.unwrap_or_default().is_empty()
    })
    .await;
    eventually("the watch has noticed", BOUND, async || snapshot(&mut watch).await.is_empty())
        .await;
    put(&*kv, "a", 0).await;
    eventually("everything is there", BOUND, async || {
        put(&*bus.kv(Bucket::Timers), &testkit::unique("t"), 0).await;
        bus.kv(Bucket::Leases).get("a").await.is_ok()
            && bus.kv(Bucket::Nodes).get("a").await.is_ok()
    })
    .await;
}

/// A broker that has lost its store gives the numbers of the earlier messages to others: a late
/// acknowledgement settles neither a command nor a task of the new streams.
#[tokio::test]
async fn a_late_acknowledgement_settles_nothing_of_a_new_broker() {
    let mut server = nats().await;
    let kind = [("a".to_owned(), 1)];
    let take = async |bus: &NatsBus| {
        bus.provide("a", 1).await.unwrap();
        bus.publish(command(&testkit::unique("c"))).await.unwrap();
        let task =
            Message { subject: "staunch.task.a.1".to_owned(), ..command(&testkit::unique("t")) };
        bus.publish(task).await.unwrap();
        let commands = bus.pull(1, BOUND).await.unwrap();
        let tasks = bus.take_tasks(&kind, 1, BOUND).await.unwrap();
        (commands.into_iter().next().unwrap(), tasks.into_iter().next().unwrap())
    };
    let left = async |bus: &NatsBus| {
        let of = async |stream| bus.span(stream).await.map(|span| span.messages).ok();
        (of(Stream::Commands).await, of(Stream::Tasks).await)
    };
    let bus = bus_on(&server).await;
    let early = take(&bus).await;

    server.wipe().await;
    let late = bus_on(&server).await;
    let (command, task) = take(&late).await;
    assert_eq!(command.sequence, early.0.sequence, "the number means another command");
    eventually("it is connected", BOUND, async || bus.ping().await.is_ok()).await;
    early.0.settle.ack().await.unwrap();
    bus.answer_task(&early.1.address, TaskAnswer::Done).await.unwrap();
    // What is sent after them on the same connection is answered after them.
    eventually("it is connected", BOUND, async || bus.ping().await.is_ok()).await;
    assert_eq!(left(&late).await, (Some(1), Some(1)), "neither is settled");
    println!("G1: late acknowledgements of a command and of a task settled none of the new broker");
    command.settle.ack().await.unwrap();
    late.answer_task(&task.address, TaskAnswer::Done).await.unwrap();
    eventually("both are settled", BOUND, async || left(&late).await == (Some(0), Some(0))).await;

    // A broker that comes back with its store has the same streams.
    let (command, task) = take(&late).await;
    server.server().stop().await.unwrap();
    server.server().restart().await.unwrap();
    eventually("it is connected", BOUND, async || late.ping().await.is_ok()).await;
    command.settle.ack().await.unwrap();
    late.answer_task(&task.address, TaskAnswer::Done).await.unwrap();
    eventually("both are settled", BOUND, async || left(&late).await == (Some(0), Some(0))).await;
}

/// A server that has crashed rebuilds a bucket from its files: a purged value is in it again once the
/// tombstone has vanished.
#[tokio::test]
async fn what_has_no_expiry_stays_purged_when_the_server_crashes() {
    let mut server = nats().await;
    let bus = bus_on(&server).await;
    let buckets = [Bucket::Runtime, Bucket::Activities, Bucket::Definitions];
    for bucket in buckets {
        let kv = bus.kv(bucket);
        put(&*kv, "kept", 0).await;
        let at = put(&*kv, "ended", 0).await;
        let purged = kv.purge_if("ended", at, &nonces()()).await.unwrap();
        assert!(matches!(purged, Put::Won(_)), "{purged:?}");
    }
    tokio::time::sleep(TOMBSTONE_TTL + Duration::from_secs(2)).await;
    server.server().kill().unwrap();
    server.server().restart().await.unwrap();
    for bucket in buckets {
        let kv = bus.kv(bucket);
        eventually("the server is back", BOUND, async || kv.entries().await.is_ok()).await;
        let entries = kv.entries().await.unwrap();
        let keys: Vec<_> = entries.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["kept"], "{bucket:?}");
    }
}

/// Check 7: the time without a delivery after the consumer's leader dies.
#[tokio::test]
async fn a_cluster_that_loses_a_server_goes_on() {
    let mut cluster = nats_cluster().await;
    let urls: Vec<_> = cluster.iter().map(TestNats::url).collect();
    let bus = connect(Options::new(urls.join(","))).await.unwrap();
    bus.provision(3).await.unwrap();
    bus.verify().await.unwrap();
    for number in 0..50 {
        bus.publish(command(&number.to_string())).await.unwrap();
    }
    let taking = tokio::spawn({
        let bus = bus.clone();
        async move {
            let (mut seen, mut last, mut gap) = (0, Instant::now(), Duration::ZERO);
            while seen < 100 {
                for delivery in bus.pull(5, Duration::from_secs(5)).await.unwrap_or_default() {
                    if delivery.settle.ack().await.is_ok() {
                        seen += 1;
                        gap = gap.max(last.elapsed());
                        last = Instant::now();
                    }
                }
            }
            gap
        }
    });
    let status = bus.status().await.unwrap();
    let leader = status.streams[0].leader.clone().unwrap();
    println!("killing {leader}, the leader of {}", status.streams[0].name);
    let number: usize = leader[1..].parse().unwrap();
    cluster[number].server().kill().unwrap();
    let killed = Instant::now();
    for number in 50..100 {
        bus.publish(command(&number.to_string())).await.unwrap();
    }
    println!("published 50 more within {:?}", killed.elapsed());
    let gap = within("all deliveries", BOUND * 2, taking).await.unwrap();
    println!("the longest gap between deliveries: {gap:?}");
    assert!(gap < Duration::from_secs(20));
}
