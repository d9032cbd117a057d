//! The entries of buckets, and the messages of nodes about leases: written by the real code over
//! the twin of the bus, and given to the real code to read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bus::{
    Bucket, Bus as _, Busy, Claim, Claims, Drain, Error, Leases, Member, MemoryBus, Pause, Pauses,
    Pointers, Presence, Scope, Terms, Wire as _,
};
use futures::StreamExt as _;
use model::{Timestamp, VersionId};
use serde_json::Value;

use crate::files::{every, must_be_newest, with_unknown_members};

const LEASE: &str = "bucket-lease.json";
const LEASE_HANDED: &str = "bucket-lease-handed-on.json";
const LEASE_WANTED: &str = "lease-wanted.json";
const CLAIM: &str = "bucket-timer-claimed.json";
const CLAIM_DONE: &str = "bucket-timer-done.json";
const POINTER: &str = "bucket-definition-published.json";
const POINTER_GONE: &str = "bucket-definition-retracted.json";
const NODE: &str = "bucket-node.json";
const PAUSE: &str = "bucket-pause.json";
pub(crate) const NAMES: [&str; 9] =
    [LEASE, LEASE_HANDED, LEASE_WANTED, CLAIM, CLAIM_DONE, POINTER, POINTER_GONE, NODE, PAUSE];

const START: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const TTL: Duration = Duration::from_secs(3);

fn bus() -> MemoryBus {
    MemoryBus::starting_at(START)
}

fn nonces(node: &str) -> bus::Nonces {
    let (node, next) = (node.to_owned(), AtomicU64::new(1));
    Arc::new(move || format!("{node}-{}", next.fetch_add(1, Ordering::Relaxed)))
}

fn leases(bus: &MemoryBus, node: &str) -> Leases {
    let terms = Terms { wait_max: Duration::from_secs(5), ..Terms::default() };
    let kv = bus.as_node(node).kv(Bucket::Leases);
    Leases::start(kv, node, terms, nonces(node)).fair(Arc::new(bus.as_node(node)))
}

fn claims(bus: &MemoryBus, node: &str) -> Claims {
    let second = Duration::from_secs(1);
    Claims::new(bus.kv(Bucket::Timers), node, nonces(node), 30 * second, 60 * second)
}

async fn pointers(bus: &MemoryBus) -> Pointers {
    Pointers::start(bus.kv(Bucket::Definitions), nonces("p")).await.unwrap()
}

fn member() -> Member {
    Member {
        node: "node-1".to_owned(),
        roles: vec!["ingress".to_owned(), "executor".to_owned()],
        started_at: START,
        address: Some("http://127.0.0.1:5001".to_owned()),
        version: Some("0.1.0".to_owned()),
    }
}

/// The bytes of a key.
async fn bytes(bus: &MemoryBus, bucket: Bucket, key: &str) -> Vec<u8> {
    bus.kv(bucket).get(key).await.unwrap().unwrap().value.unwrap().to_vec()
}

/// Buckets that have the key with the bytes of each version, and those of a later version.
async fn given(name: &str, bucket: Bucket, key: &str, ours: &[&str]) -> Vec<MemoryBus> {
    let mut versions: Vec<_> = every(name).into_iter().map(|(_, bytes)| bytes).collect();
    let newest: Value = serde_json::from_slice(versions.last().unwrap()).unwrap();
    versions.push(with_unknown_members(&newest, ours).to_string().into_bytes());
    let mut buses = Vec::new();
    for bytes in versions {
        let bus = bus();
        bus.kv(bucket).put_if(key, bytes.into(), 0, None, "given").await.unwrap();
        buses.push(bus);
    }
    buses
}

#[tokio::test(start_paused = true)]
async fn leases_are_written_as_in_the_newest_version() {
    let bus = bus();
    let mut wanted = bus.subscribe("staunch.lease.wanted.*").await.unwrap();
    let (one, two, three) = (leases(&bus, "one"), leases(&bus, "two"), leases(&bus, "three"));
    let lease = one.acquire("i-1").await.unwrap();
    must_be_newest(LEASE, &bytes(&bus, Bucket::Leases, "i-1").await);
    let moment = Duration::from_millis(10);
    let second = async {
        let lease = two.acquire("i-1").await.unwrap();
        must_be_newest(LEASE_HANDED, &bytes(&bus, Bucket::Leases, "i-1").await);
        tokio::time::sleep(moment).await;
        lease.release().await;
    };
    let third = async {
        tokio::time::sleep(moment).await;
        three.acquire("i-1").await.unwrap().release().await;
    };
    let first = async {
        let want = wanted.next().await.unwrap();
        must_be_newest(LEASE_WANTED, &want.message.payload);
        wanted.next().await.unwrap();
        tokio::time::sleep(moment).await;
        lease.release().await;
    };
    tokio::join!(first, second, third);
}

#[tokio::test(start_paused = true)]
async fn leases_of_every_version_are_read() {
    for (name, owner, ours) in [(LEASE, "one", &[""][..]), (LEASE_HANDED, "two", &["", "/next/0"])]
    {
        for bus in given(name, Bucket::Leases, "i-1", ours).await {
            let busy = leases(&bus, "nine").acquire("i-1").await;
            assert!(matches!(&busy, Err(Busy::Held { by }) if by == owner), "{name}: {busy:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_nodes_say_about_leases_is_read_in_every_version() {
    let newest: Value = serde_json::from_slice(&every(LEASE_WANTED).last().unwrap().1).unwrap();
    let later = with_unknown_members(&newest, &["", "/waiter"]).to_string().into_bytes();
    let versions = every(LEASE_WANTED).into_iter().map(|(_, bytes)| bytes);
    for payload in versions.chain([later]) {
        let bus = bus();
        let one = leases(&bus, "one");
        let lease = one.acquire("i-1").await.unwrap();
        // Gives the node time to subscribe.
        tokio::time::sleep(Duration::from_millis(10)).await;
        let subject = protocol::subject::lease_wanted("one");
        bus.send(protocol::Message { subject, payload, ..Default::default() }).await.unwrap();
        tokio::time::sleep(Duration::from_millis(10)).await;
        lease.release().await;
        // The lease was handed on to the waiting node.
        let handed = bytes(&bus, Bucket::Leases, "i-1").await;
        assert!(String::from_utf8_lossy(&handed).contains("\"two\""), "{handed:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn claims_are_written_as_in_the_newest_version_and_read_in_all() {
    let bus = bus();
    let one = claims(&bus, "one");
    let Claim::Won(claimed) = one.claim("t.1", |_| true).await.unwrap() else { panic!("lost") };
    must_be_newest(CLAIM, &bytes(&bus, Bucket::Timers, "t.1").await);
    one.done(claimed).await.unwrap();
    must_be_newest(CLAIM_DONE, &bytes(&bus, Bucket::Timers, "t.1").await);
    for bus in given(CLAIM, Bucket::Timers, "t.1", &[""]).await {
        let claim = claims(&bus, "two").claim("t.1", |_| true).await.unwrap();
        assert!(matches!(&claim, Claim::Taken { by } if by == "one"), "{claim:?}");
    }
    for bus in given(CLAIM_DONE, Bucket::Timers, "t.1", &[""]).await {
        let claim = claims(&bus, "two").claim("t.1", |_| true).await.unwrap();
        assert!(matches!(claim, Claim::Done), "{claim:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn pointers_are_written_as_in_the_newest_version_and_read_in_all() {
    let bus = bus();
    let (id, version) = ("a".into(), VersionId::new("v-1"));
    let own = pointers(&bus).await;
    own.put(&id, Some(&version), 4).await.unwrap();
    must_be_newest(POINTER, &bytes(&bus, Bucket::Definitions, "a").await);
    own.put(&id, None, 4).await.unwrap();
    must_be_newest(POINTER_GONE, &bytes(&bus, Bucket::Definitions, "a").await);
    for (name, expected) in [(POINTER, Some(version)), (POINTER_GONE, None)] {
        for bus in given(name, Bucket::Definitions, "a", &[""]).await {
            let pointer = pointers(&bus).await.get(&id).unwrap();
            assert_eq!((pointer.version_id, pointer.version), (expected.clone(), 4), "{name}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn nodes_are_written_as_in_the_newest_version_and_read_in_all() {
    let bus = bus();
    let joined = Presence::join(bus.kv(Bucket::Nodes), member(), TTL, nonces("p")).await.unwrap();
    must_be_newest(NODE, &bytes(&bus, Bucket::Nodes, "node-1").await);
    drop(joined);
    for bus in given(NODE, Bucket::Nodes, "node-1", &[""]).await {
        let me = Member { node: "node-2".to_owned(), ..member() };
        let two = Presence::join(bus.kv(Bucket::Nodes), me, TTL, nonces("p")).await.unwrap();
        assert!(two.live().contains(&member()), "{:?}", two.live());
    }
}

#[tokio::test(start_paused = true)]
async fn pauses_are_written_as_in_the_newest_version_and_read_in_all() {
    let until = START.after(TTL);
    let pause = Pause {
        since: START,
        by: "key-1".to_owned(),
        reason: Some("maintenance".to_owned()),
        drain: Some(Drain { started_at: START, until, completed_at: Some(until) }),
    };
    let (bus, one) = (bus(), Scope::Node("node-1".to_owned()));
    let kv = bus.kv(Bucket::Runtime);
    let nonces = nonces("p");
    let set = Pauses::change(&*kv, &one, &nonces, |_| Ok::<_, Error>(Some(pause.clone())));
    set.await.unwrap();
    must_be_newest(PAUSE, &bytes(&bus, Bucket::Runtime, "node.node-1").await);
    for bus in given(PAUSE, Bucket::Runtime, "node.node-1", &["", "/drain"]).await {
        let kv = bus.kv(Bucket::Runtime);
        assert_eq!(Pauses::all(&*kv).await.unwrap()[&one].0, pause);
        assert!(Pauses::start(kv).await.unwrap().is_paused("node-1"));
    }
}
