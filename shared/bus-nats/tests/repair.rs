//! Buckets in memory that get no leader, since servers that were restarted have lost their copies.

#![expect(clippy::unwrap_used, reason = "a test ends with the first thing that is wrong")]

use std::time::Duration;

use bus::{Bucket, Bus as _, Error, Put};
use bus_nats::{NatsBus, Options, connect};
use bytes::Bytes;
use testkit::{TestNats, eventually, nats_cluster};

/// Elections, and the time after which a leader without the others no longer is one.
const BOUND: Duration = Duration::from_secs(90);
const IN_MEMORY: [&str; 2] = ["KV_staunch_leases", "KV_staunch_nodes"];
const ALL: usize = 12;

/// Three servers with everything in three copies. Those whose numbers are 1 and 2 are asked.
async fn provisioned() -> (Vec<TestNats>, NatsBus) {
    let cluster = nats_cluster().await;
    let urls: Vec<_> = cluster[1..].iter().map(TestNats::url).collect();
    let bus = connect(Options::new(urls.join(","))).await.unwrap();
    bus.provision(3).await.unwrap();
    (cluster, bus)
}

/// The streams without a leader; none while not all questions are answered.
async fn leaderless(bus: &NatsBus) -> Option<Vec<String>> {
    let streams = bus.inspect(&["executor"]).await.unwrap().streams;
    if streams.len() < ALL || streams.iter().any(|stream| stream.unanswered.is_some()) {
        return None;
    }
    let streams = streams.into_iter().filter(|stream| stream.has_no_leader);
    Some(streams.map(|stream| stream.name).collect())
}

/// Waits until this many streams have no leader; returns them.
async fn until_leaderless(bus: &NatsBus, what: &str, count: usize) -> Vec<String> {
    let mut found = None;
    let is_so = async || {
        found = leaderless(bus).await.filter(|streams| streams.len() == count);
        found.is_some()
    };
    eventually(what, BOUND, is_so).await;
    found.unwrap_or_default()
}

/// Leases and presence can be written.
async fn are_written(bus: &NatsBus, key: &str) -> bool {
    for bucket in [Bucket::Leases, Bucket::Nodes] {
        let put = bus.kv(bucket).put_if(key, Bytes::from_static(b"x"), 0, None, key).await;
        if !matches!(put, Ok(Put::Won(_))) {
            return false;
        }
    }
    true
}

#[tokio::test]
async fn buckets_in_memory_without_a_leader_are_made_anew_and_nothing_else_is() {
    let (mut cluster, bus) = provisioned().await;
    assert!(bus.repair().await.unwrap().is_empty(), "each has a leader");
    for server in &mut cluster[..2] {
        server.server().kill().unwrap();
    }
    until_leaderless(&bus, "no stream has a leader", ALL).await;
    let refused = bus.repair().await.unwrap_err();
    assert!(matches!(refused, Error::Unavailable(_)), "{refused:?}");
    let said = refused.to_string();
    assert!(said.contains("STAUNCH_COMMANDS, which is in files, has no leader either"), "{said}");
    assert!(said.contains("nothing was removed"), "{said}");
    let error = bus.check_answers().await.unwrap_err();
    assert!(error.is_passing(), "{error}");

    cluster[1].server().restart().await.unwrap();
    let left = until_leaderless(&bus, "the streams in files have one", IN_MEMORY.len()).await;
    assert_eq!(left, IN_MEMORY);
    assert!(!are_written(&bus, "before").await);
    let error = bus.check_answers().await.unwrap_err();
    assert!(error.to_string().contains("the bucket staunch_leases has no leader"), "{error}");

    let repaired = bus.repair().await.unwrap();
    let names: Vec<_> = repaired.iter().map(|one| one.stream.as_str()).collect();
    assert_eq!(names, IN_MEMORY);
    assert!(repaired.iter().all(|one| !one.has_one_copy), "{repaired:?}");
    until_leaderless(&bus, "all have a leader", 0).await;
    eventually("they are written", BOUND, async || are_written(&bus, "after").await).await;
    bus.verify().await.unwrap();
    bus.check_answers().await.unwrap();

    cluster[0].server().restart().await.unwrap();
    let have_all = async || {
        let streams = bus.inspect(&["executor"]).await.unwrap().streams;
        streams.len() == ALL && streams.iter().all(|one| one.replicas == 3 && one.behind.is_empty())
    };
    eventually("the third server has its copies", BOUND, have_all).await;
    assert!(bus.repair().await.unwrap().is_empty());
}

#[tokio::test]
async fn where_the_third_server_is_not_known_the_buckets_get_one_copy_until_it_is() {
    let (mut cluster, bus) = provisioned().await;
    for server in &mut cluster {
        server.server().kill().unwrap();
    }
    for server in &mut cluster[1..] {
        server.server().restart().await.unwrap();
    }
    until_leaderless(&bus, "the streams in files have a leader", IN_MEMORY.len()).await;
    let repaired = bus.repair().await.unwrap();
    let names: Vec<_> = repaired.iter().map(|one| one.stream.as_str()).collect();
    assert_eq!(names, IN_MEMORY);
    assert!(repaired.iter().all(|one| one.has_one_copy), "{repaired:?}");
    eventually("they are written", BOUND, async || are_written(&bus, "after").await).await;

    cluster[0].server().restart().await.unwrap();
    let are_three = async || bus.provision(3).await.is_ok();
    eventually("they have three copies again", BOUND, are_three).await;
    let status = bus.status().await.unwrap();
    assert!(status.streams.iter().all(|stream| stream.replicas == 3), "{status:#?}");
}
