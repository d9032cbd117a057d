//! A panic in each background task of leases, pointers and presence: the task runs again, or
//! another does its work, and nothing is stuck.

#![expect(clippy::unwrap_used, reason = "a test ends with the first thing that is wrong")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bus::{Bucket, Bus as _, Leases, Member, MemoryBus, Nonces, Pointers, Presence, Terms};
use model::{Timestamp, VersionId};

const SECOND: Duration = Duration::from_secs(1);

fn nonces() -> Nonces {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    Arc::new(|| NEXT.fetch_add(1, Ordering::Relaxed).to_string())
}

fn leases(bus: &MemoryBus, node: &str) -> Leases {
    let kv = bus.as_node(node).kv(Bucket::Leases);
    Leases::start(kv, node, Terms::default(), nonces()).fair(Arc::new(bus.as_node(node)))
}

async fn presence(bus: &MemoryBus, node: &str) -> Presence {
    let me = Member {
        node: node.to_owned(),
        roles: Vec::new(),
        started_at: Timestamp::from_millis(0),
        address: None,
        version: None,
    };
    Presence::join(bus.as_node(node).kv(Bucket::Nodes), me, 3 * SECOND, nonces()).await.unwrap()
}

fn panics(task: &str) -> u64 {
    tasks::figures().iter().find(|figure| figure.task == task).map_or(0, |figure| figure.panics)
}

/// Uses everything: a lease is held for long and handed on, a pointer is applied, nodes are seen.
async fn everything_works(bus: &MemoryBus, task: &str) {
    let (one, two) = (leases(bus, "one"), leases(bus, "two"));
    let lease = one.acquire("a").await.unwrap();
    let waiting = {
        let two = two.clone();
        async move { two.acquire("a").await.unwrap() }
    };
    let holding = async {
        tokio::time::sleep(7 * SECOND).await;
        assert!(lease.is_held(), "{task}: the lease was not renewed");
        drop(lease);
    };
    let (handed, ()) = tokio::join!(waiting, holding);
    handed.release().await;

    let pointers = Pointers::start(bus.kv(Bucket::Definitions), nonces()).await.unwrap();
    let (id, version) = ("d".into(), VersionId::new(task));
    let others = Pointers::start(bus.kv(Bucket::Definitions), nonces()).await.unwrap();
    let number = others.get(&id).map_or(1, |pointer| pointer.version + 1);
    let revision = others.put(&id, Some(&version), number).await.unwrap().revision;
    pointers.applied(&id, revision).await;

    let (here, there) = (presence(bus, "one").await, presence(bus, "two").await);
    tokio::time::sleep(20 * SECOND).await;
    assert_eq!((here.live().len(), there.live().len()), (2, 2), "{task}");
    assert!(!here.is_cut_off() && !there.is_cut_off(), "{task}");
    for presence in [here, there] {
        presence.leave().await;
    }
    for pointers in [pointers, others] {
        pointers.close().await;
    }
    for leases in [one, two] {
        tokio::time::timeout(SECOND, leases.close()).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_each_task_is_counted_and_stops_nothing() {
    for task in [
        "leases: watch",
        "leases: keep",
        "leases: hear who waits",
        "leases: renew",
        "leases: give back",
        "pointers: watch",
        "presence: watch",
        "presence: renew",
    ] {
        let bus = MemoryBus::starting_at(Timestamp::from_millis(0));
        tasks::plant(task, 1);
        everything_works(&bus, task).await;
        assert!(panics(task) > 0, "{task} was not struck");
    }
}
