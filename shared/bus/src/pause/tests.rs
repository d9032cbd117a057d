use std::time::Duration;

use super::*;
use crate::{Bucket, Bus as _, MemoryBus};

fn nonces() -> Nonces {
    let next = std::sync::atomic::AtomicU64::new(0);
    Arc::new(move || format!("n{}", next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)))
}

fn pause(by: &str) -> Pause {
    Pause { since: Timestamp::from_millis(1), by: by.to_owned(), ..Pause::default() }
}

async fn set(kv: &dyn Kv, nonces: &Nonces, scope: &Scope, wanted: Option<Pause>) {
    let changed: Result<_, Error> = Pauses::change(kv, scope, nonces, |_| Ok(wanted.clone())).await;
    assert_eq!(changed.unwrap(), wanted);
}

async fn until(what: &str, is: impl Fn() -> bool) {
    for _ in 0..1_000 {
        if is() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("not within a second: {what}");
}

#[tokio::test(start_paused = true)]
async fn a_pause_holds_for_its_node_or_for_all_and_for_those_that_join_later() {
    let bus = MemoryBus::starting_at(Timestamp::from_millis(0));
    let (kv, nonces) = (bus.kv(Bucket::Runtime), nonces());
    let pauses = Pauses::start(Arc::clone(&kv)).await.unwrap();
    assert!(!pauses.is_paused("one"));
    let one = Scope::Node("one".to_owned());
    set(&*kv, &nonces, &one, Some(pause("me"))).await;
    until("one is paused", || pauses.is_paused("one")).await;
    assert!(!pauses.is_paused("two"));
    set(&*kv, &nonces, &Scope::Cluster, Some(pause("you"))).await;
    until("all are paused", || pauses.is_paused("two")).await;
    let later = Pauses::start(Arc::clone(&kv)).await.unwrap();
    assert!(later.is_paused("three"));
    let all = Pauses::all(&*kv).await.unwrap();
    assert_eq!(all[&one].0.by, "me");
    assert_eq!(all[&Scope::Cluster].0.by, "you");
    set(&*kv, &nonces, &Scope::Cluster, None).await;
    tokio::time::timeout(Duration::from_secs(1), later.over("three")).await.unwrap();
    assert!(later.is_paused("one"));
    assert!(tokio::time::timeout(Duration::from_secs(1), later.over("one")).await.is_err());
    set(&*kv, &nonces, &one, None).await;
    tokio::time::timeout(Duration::from_secs(1), later.over("one")).await.unwrap();
    // A removed pause can be set again.
    set(&*kv, &nonces, &one, Some(pause("me again"))).await;
    until("one is paused again", || pauses.is_paused("one")).await;
}

#[tokio::test(start_paused = true)]
async fn a_pause_holds_while_the_watch_starts_again_and_what_is_unreadable_holds_too() {
    let bus = MemoryBus::starting_at(Timestamp::from_millis(0));
    let (kv, nonces) = (bus.kv(Bucket::Runtime), nonces());
    set(&*kv, &nonces, &Scope::Cluster, Some(pause("me"))).await;
    let pauses = Pauses::start(Arc::clone(&kv)).await.unwrap();
    for _ in 0..3 {
        bus.reset_watches(Bucket::Runtime);
        assert!(pauses.is_paused("one"));
        tokio::time::sleep(Duration::from_millis(10)).await;
        assert!(pauses.is_paused("one"));
    }
    kv.put_if("node.two", Bytes::from_static(b"?"), 0, None, "x").await.unwrap();
    set(&*kv, &nonces, &Scope::Cluster, None).await;
    until("one goes on", || !pauses.is_paused("one")).await;
    until("two is paused", || pauses.is_paused("two")).await;
    set(&*kv, &nonces, &Scope::Node("two".to_owned()), None).await;
    until("two goes on", || !pauses.is_paused("two")).await;
}

#[tokio::test(start_paused = true)]
async fn of_two_changes_at_once_each_sees_the_other() {
    let bus = MemoryBus::starting_at(Timestamp::from_millis(0));
    let kv = bus.kv(Bucket::Runtime);
    let nonces = nonces();
    let add = |name: &'static str| {
        let (kv, nonces) = (&kv, &nonces);
        async move {
            let joined = |found: Option<Pause>| {
                let by = found.map_or_else(String::new, |found| found.by);
                Ok::<_, Error>(Some(pause(&format!("{by}{name}"))))
            };
            Pauses::change(&**kv, &Scope::Cluster, nonces, joined).await.unwrap();
        }
    };
    tokio::join!(add("a"), add("b"), add("c"));
    let all = Pauses::all(&*kv).await.unwrap();
    let mut by: Vec<_> = all[&Scope::Cluster].0.by.chars().collect();
    by.sort_unstable();
    assert_eq!(by, ['a', 'b', 'c']);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_pause_is_remembered_until_the_next() {
    let bus = MemoryBus::starting_at(Timestamp::from_millis(0));
    let (kv, nonces) = (bus.kv(Bucket::Runtime), nonces());
    let one = Scope::Node("one".to_owned());
    let ended = async |scope: &Scope| Pauses::ended_at(&*kv, scope).await.unwrap();
    assert_eq!(ended(&one).await, None, "it was never paused");
    set(&*kv, &nonces, &one, Some(pause("me"))).await;
    assert_eq!(ended(&one).await, None, "it is paused");
    tokio::time::sleep(Duration::from_secs(5)).await;
    set(&*kv, &nonces, &one, None).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    let end = ended(&one).await.unwrap();
    assert!((5_000..6_000).contains(&end.as_millis()), "{end}");
    assert_eq!(ended(&Scope::Cluster).await, None);
    set(&*kv, &nonces, &one, Some(pause("me"))).await;
    assert_eq!(ended(&one).await, None, "it is paused again");
}

#[test]
fn a_drain_ends_with_its_time() {
    let at = Timestamp::from_millis;
    let drain = |completed_at| Pause {
        drain: Some(Drain { started_at: at(1), until: at(10), completed_at }),
        ..Pause::default()
    };
    assert!(drain(None).is_draining(at(9)));
    assert!(!drain(None).is_draining(at(10)));
    assert!(!drain(Some(at(5))).is_draining(at(9)));
    assert!(!pause("me").is_draining(at(0)));
}
