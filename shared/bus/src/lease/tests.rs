#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]

use std::collections::BTreeMap;
use std::time::Duration;

use model::Timestamp;
use tokio::time::Instant;

use super::holder::{Holder, parse};
use super::*;
use crate::{Bucket, Bus as _, Entry, Fault, Faults, MemoryBus, Operation, Put, ServerClock};

mod taken;

const SECOND: Duration = Duration::from_secs(1);

fn nonces(node: &str) -> Nonces {
    let (node, next) = (node.to_owned(), Mutex::new(0));
    Arc::new(move || {
        let mut next = lock(&next);
        *next += 1;
        format!("{node}-{next}")
    })
}

fn start(bus: &MemoryBus, node: &str) -> Leases {
    let kv = bus.as_node(node).kv(Bucket::Leases);
    Leases::start(kv, node, Terms::default(), nonces(node))
}

/// The faults to come, in order, and the number of calls of each operation.
#[derive(Default)]
struct Script {
    faults: Mutex<Vec<(&'static str, Fault)>>,
    swaps: Mutex<BTreeMap<String, u32>>,
}

impl Script {
    fn next(&self, node: &'static str, fault: Fault) {
        lock(&self.faults).push((node, fault));
    }

    fn swaps(&self, node: &str) -> u32 {
        lock(&self.swaps).get(node).copied().unwrap_or_default()
    }
}

struct Scripted(Arc<Script>);

impl Faults for Scripted {
    fn on(&self, node: &str, operation: &Operation<'_>) -> Fault {
        if !matches!(operation, Operation::PutIf { .. } | Operation::PurgeIf { .. }) {
            return Fault::None;
        }
        *lock(&self.0.swaps).entry(node.to_owned()).or_default() += 1;
        let mut faults = lock(&self.0.faults);
        let found = faults.iter().position(|(of, _)| *of == node);
        found.map_or(Fault::None, |at| faults.remove(at).1)
    }
}

fn scripted() -> (MemoryBus, Arc<Script>) {
    let script = Arc::new(Script::default());
    let clock: ServerClock = Arc::new(|| Timestamp::from_millis(0));
    (MemoryBus::with_faults(clock, Arc::new(Scripted(Arc::clone(&script)))), script)
}

async fn value(bus: &MemoryBus, key: &str) -> Option<Holder> {
    let entry = bus.as_node("reader").kv(Bucket::Leases).get(key).await.unwrap();
    entry.and_then(|Entry { value, .. }| parse(value.as_ref()))
}

#[tokio::test(start_paused = true)]
async fn an_acquisition_whose_answer_is_lost_has_won() {
    let (bus, script) = scripted();
    let one = start(&bus, "one");
    script.next("one", Fault::AnswerLost);
    let lease = one.acquire("a").await.unwrap();
    assert!(lease.is_held());
    let kv = bus.as_node("reader").kv(Bucket::Leases);
    let held = look(&*kv, "a").await.unwrap().unwrap();
    assert_eq!((held.owner.as_str(), held.next.as_slice()), ("one", &[] as &[String]));
    lease.release().await;
    assert_eq!(look(&*kv, "a").await.unwrap(), None);
    one.close().await;
}

#[tokio::test(start_paused = true)]
async fn an_acquisition_whose_answers_are_all_lost_is_seen_in_the_watch() {
    let (bus, script) = scripted();
    let one = start(&bus, "one");
    for _ in 0..1_000 {
        script.next("one", Fault::AnswerLost);
    }
    let lease = one.acquire("a").await.unwrap();
    assert!(lease.is_held());
    assert_eq!(value(&bus, "a").await.unwrap().owner, "one");
    lock(&script.faults).clear();
    one.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_given_up_acquisition_that_is_written_later_is_released() {
    let (bus, script) = scripted();
    let one = start(&bus, "one");
    for _ in 0..1_000 {
        script.next("one", Fault::Unavailable);
    }
    let busy = one.acquire("a").await;
    assert!(matches!(busy, Err(Busy::Unavailable(_))), "{busy:?}");
    lock(&script.faults).clear();
    // A write that was sent long ago arrives at last.
    let zombie = Holder { owner: "one".to_owned(), nonce: "one-1".to_owned(), ..Holder::default() };
    let bytes = serde_json::to_vec(&zombie).unwrap().into();
    let kv = bus.as_node("network").kv(Bucket::Leases);
    let ttl = Some(Terms::default().ttl);
    assert_eq!(kv.put_if("a", bytes, 0, ttl, "one-1").await.unwrap(), Put::Won(1));
    let started = Instant::now();
    while value(&bus, "a").await.is_some() {
        assert!(started.elapsed() < SECOND, "a lease that nobody wants stays");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    one.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_dropped_acquisition_that_wins_later_is_released() {
    let (bus, script) = scripted();
    let one = start(&bus, "one");
    script.next("one", Fault::AnswerLost);
    // Dropped while it waits for its next try; its first write was stored.
    assert!(tokio::time::timeout(Duration::from_millis(1), one.acquire("a")).await.is_err());
    let started = Instant::now();
    while value(&bus, "a").await.is_some() {
        assert!(started.elapsed() < 3 * SECOND, "a lease that nobody wants stays");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    one.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_lost_in_time_when_it_cannot_be_renewed() {
    let (bus, script) = scripted();
    let one = start(&bus, "one");
    let started = Instant::now();
    let lease = one.acquire("a").await.unwrap();
    for _ in 0..10_000 {
        script.next("one", Fault::Unavailable);
    }
    lease.lost().await;
    let terms = Terms::default();
    assert!(started.elapsed() <= terms.ttl - terms.guard + Duration::from_millis(20));
    assert!(started.elapsed() >= terms.ttl - terms.guard - Duration::from_millis(20));
    assert!(!lease.is_held());
    lock(&script.faults).clear();
    one.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_renewal_whose_answer_is_lost_keeps_the_lease() {
    let (bus, script) = scripted();
    let one = start(&bus, "one");
    let lease = one.acquire("a").await.unwrap();
    for _ in 0..5 {
        script.next("one", Fault::AnswerLost);
    }
    script.next("one", Fault::Refused);
    tokio::time::sleep(60 * SECOND).await;
    assert!(lease.is_held());
    assert_eq!(value(&bus, "a").await.unwrap().owner, "one");
    lease.release().await;
    assert_eq!(value(&bus, "a").await, None);
    one.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_another_writes_is_lost_at_once() {
    let (bus, _) = scripted();
    let one = start(&bus, "one");
    let lease = one.acquire("a").await.unwrap();
    let kv = bus.kv(Bucket::Leases);
    let theirs = Holder { owner: "two".to_owned(), nonce: "x".to_owned(), ..Holder::default() };
    let bytes = serde_json::to_vec(&theirs).unwrap().into();
    assert!(matches!(kv.put_if("a", bytes, lease.token(), None, "x").await.unwrap(), Put::Won(_)));
    let started = Instant::now();
    lease.lost().await;
    assert!(started.elapsed() < SECOND);
    lease.release().await;
    assert_eq!(value(&bus, "a").await, Some(theirs), "a release touches nothing that is not ours");
    one.close().await;
}

#[tokio::test(start_paused = true)]
async fn many_waiters_of_one_node_are_one_contender() {
    let (bus, script) = scripted();
    let (one, two) = (start(&bus, "one"), start(&bus, "two"));
    let held = one.acquire("a").await.unwrap();
    let order = Arc::new(Mutex::new(Vec::new()));
    let waiters = (0..100).map(|number| {
        let (two, order) = (two.clone(), Arc::clone(&order));
        tokio::spawn(async move {
            let lease = two.acquire("a").await.unwrap();
            lock(&order).push(number);
            lease.release().await;
        })
    });
    let waiters: Vec<_> = waiters.collect();
    tokio::time::sleep(SECOND).await;
    assert_eq!(script.swaps("two"), 0, "who sees that a lease is held does not ask for it");
    held.release().await;
    for waiter in waiters {
        waiter.await.unwrap();
    }
    assert_eq!(*lock(&order), (0..100).collect::<Vec<_>>());
    assert_eq!(script.swaps("two"), 200, "one acquisition and one release each");
    assert!(two.inner.queue.is_empty());
    one.close().await;
    two.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_is_free_costs_one_write_each_time() {
    let (bus, script) = scripted();
    let one = start(&bus, "one");
    for round in 1..=20_u32 {
        one.acquire("a").await.unwrap().release().await;
        assert_eq!(script.swaps("one"), round * 2);
    }
    one.close().await;
}

#[tokio::test(start_paused = true)]
async fn after_a_wipe_leases_are_lost_and_can_be_had_again() {
    let (bus, _) = scripted();
    let (one, two) = (start(&bus, "one"), start(&bus, "two"));
    for _ in 0..10 {
        one.acquire("other").await.unwrap().release().await;
    }
    let lease = one.acquire("a").await.unwrap();
    bus.wipe();
    let theirs = two.acquire("a").await.unwrap();
    lease.lost().await;
    drop(lease);
    assert!(theirs.is_held());
    theirs.release().await;
    two.acquire("other").await.unwrap().release().await;
    one.acquire("other").await.unwrap().release().await;
    one.close().await;
    two.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_node_that_starts_again_releases_what_it_held() {
    let (bus, _) = scripted();
    let before = start(&bus, "one");
    let lease = before.acquire("a").await.unwrap();
    before.close().await;
    std::mem::forget(lease);
    let bus = bus.as_node("restarted");
    let after = Leases::start(bus.kv(Bucket::Leases), "one", Terms::default(), nonces("again"));
    let started = Instant::now();
    after.acquire("a").await.unwrap().release().await;
    assert!(started.elapsed() < SECOND);
    after.close().await;
}

#[tokio::test(start_paused = true)]
async fn the_lease_of_a_node_that_was_never_seen_alive_is_taken_after_a_grace() {
    let (bus, _) = scripted();
    let (one, gone) = (start(&bus, "one"), start(&bus, "gone"));
    std::mem::forget(gone.acquire("a").await.unwrap());
    gone.close().await;
    // A list without this node is ignored.
    one.presence_changed(&["two".to_owned()]);
    one.presence_changed(&["one".to_owned()]);
    let started = Instant::now();
    one.acquire("a").await.unwrap().release().await;
    assert!(started.elapsed() >= 3 * SECOND && started.elapsed() < 4 * SECOND);
    one.close().await;
}

#[tokio::test(start_paused = true)]
async fn nothing_is_kept_of_what_is_over() {
    let (bus, _) = scripted();
    let one = start(&bus, "one");
    for number in 0..100 {
        one.acquire(&format!("key-{number}")).await.unwrap().release().await;
    }
    tokio::time::sleep(crate::TOMBSTONE_TTL * 2).await;
    assert_eq!(one.held(), 0);
    assert!(lock(&one.inner.view).is_empty());
    assert!(one.inner.queue.is_empty());
    assert!(lock(&one.inner.trying).is_empty());
    one.close().await;
    // The tasks ended: only this handle is left.
    assert_eq!(Arc::strong_count(&one.inner), 1);
}

fn start_fair(bus: &MemoryBus, node: &str) -> Leases {
    start(bus, node).fair(Arc::new(bus.as_node(node)))
}

/// The number of waiting nodes that the holder knows.
fn waiting(leases: &Leases) -> usize {
    lock(&leases.inner.waiting).values().map(Vec::len).sum()
}

async fn until(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < 10 * SECOND, "not in time: {what}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn nodes_have_a_lease_in_the_order_they_came_for_one_write_each() {
    let (bus, script) = scripted();
    let names = ["one", "two", "three", "four", "five"];
    let nodes = names.map(|name| start_fair(&bus, name));
    tokio::time::sleep(SECOND).await;
    let held = nodes[0].acquire("a").await.unwrap();
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut waiters = Vec::new();
    for (number, node) in nodes.iter().enumerate().skip(1) {
        let (node, order) = (node.clone(), Arc::clone(&order));
        waiters.push(tokio::spawn(async move {
            let lease = node.acquire("a").await.unwrap();
            assert!(lease.contended() && lease.is_held());
            lock(&order).push(number);
            tokio::time::sleep(Duration::from_millis(2)).await;
            lease.release().await;
        }));
        until("the holder knows", || waiting(&nodes[0]) == number).await;
    }
    let wanted = [("a".to_owned(), names[1..].iter().map(|name| (*name).to_owned()).collect())];
    assert_eq!(nodes[0].wanted(10), wanted.into());
    assert!(nodes[0].wanted(0).is_empty() && nodes[1].wanted(10).is_empty());
    held.release().await;
    // A node that asks again while others wait is the last.
    let again = nodes[0].acquire("a").await.unwrap();
    assert_eq!(*lock(&order), [1, 2, 3, 4]);
    again.release().await;
    for waiter in waiters {
        waiter.await.unwrap();
    }
    for name in &names[1..] {
        assert_eq!(script.swaps(name), 1, "a hand-over is one write");
    }
    assert_eq!(value(&bus, "a").await, None);
    for node in nodes {
        assert_eq!(waiting(&node), 0);
        node.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_is_handed_to_one_who_waits_no_more_is_given_on() {
    let (bus, _) = scripted();
    let (one, two) = (start_fair(&bus, "one"), start_fair(&bus, "two"));
    let three = start_fair(&bus, "three");
    tokio::time::sleep(SECOND).await;
    let held = one.acquire("a").await.unwrap();
    let gives_up = tokio::spawn({
        let two = two.clone();
        async move { two.acquire("a").await }
    });
    until("two waits", || waiting(&one) == 1).await;
    gives_up.abort();
    assert!(gives_up.await.is_err());
    // Long enough for the node to have forgotten its waiters.
    tokio::time::sleep(100 * SECOND).await;
    let waits = tokio::spawn({
        let three = three.clone();
        async move { three.acquire("a").await }
    });
    until("three waits", || waiting(&one) == 2).await;
    let released = Instant::now();
    held.release().await;
    let lease = waits.await.unwrap().unwrap();
    assert!(released.elapsed() < SECOND, "after {:?}", released.elapsed());
    lease.release().await;
    assert_eq!(value(&bus, "a").await, None);
    for node in [one, two, three] {
        node.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_that_has_gone_is_handed_nothing() {
    let (bus, _) = scripted();
    let (one, two) = (start_fair(&bus, "one"), start_fair(&bus, "two"));
    tokio::time::sleep(SECOND).await;
    one.presence_changed(&["one".to_owned(), "two".to_owned()]);
    let held = one.acquire("a").await.unwrap();
    let waits = tokio::spawn({
        let two = two.clone();
        async move { two.acquire("a").await }
    });
    until("two waits", || waiting(&one) == 1).await;
    waits.abort();
    two.close().await;
    one.presence_changed(&["one".to_owned()]);
    held.release().await;
    assert_eq!(value(&bus, "a").await, None);
    one.close().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_handed_on_after_a_long_wait_lasts_its_whole_time() {
    let (bus, script) = scripted();
    let (one, two) = (start_fair(&bus, "one"), start_fair(&bus, "two"));
    tokio::time::sleep(SECOND).await;
    let held = one.acquire("a").await.unwrap();
    let waits = tokio::spawn({
        let two = two.clone();
        async move { two.acquire("a").await }
    });
    tokio::time::sleep(20 * SECOND).await;
    held.release().await;
    let lease = waits.await.unwrap().unwrap();
    assert_eq!(script.swaps("two"), 1, "it is written again by who has it");
    let terms = Terms::default();
    let lasts = lock(&lease.held.times).deadline - Instant::now();
    assert!(lasts + SECOND > terms.ttl - terms.guard, "{lasts:?}");
    tokio::time::sleep(60 * SECOND).await;
    assert!(lease.is_held());
    lease.release().await;
    one.close().await;
    two.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_hand_over_whose_answer_is_lost_has_happened() {
    let (bus, script) = scripted();
    let (one, two) = (start_fair(&bus, "one"), start_fair(&bus, "two"));
    tokio::time::sleep(SECOND).await;
    let held = one.acquire("a").await.unwrap();
    let waits = tokio::spawn({
        let two = two.clone();
        async move { two.acquire("a").await }
    });
    until("two waits", || waiting(&one) == 1).await;
    script.next("one", Fault::AnswerLost);
    held.release().await;
    let lease = waits.await.unwrap().unwrap();
    assert!(lease.is_held());
    assert_eq!(value(&bus, "a").await.unwrap().owner, "two");
    lease.release().await;
    assert_eq!(value(&bus, "a").await, None);
    one.close().await;
    two.close().await;
}

#[tokio::test(start_paused = true)]
async fn an_entry_that_cannot_be_read_is_removed_and_one_without_expiry_ends() {
    let bus = MemoryBus::starting_at(Timestamp::from_millis(0));
    let stranger = bus.as_node("stranger").kv(Bucket::Leases);
    for (key, garbage) in [("a", "\u{0}\u{1}"), ("b", "{}"), ("c", "[1"), ("d", "")] {
        stranger.put_if(key, garbage.into(), 0, None, key).await.unwrap();
    }
    let forged = Holder { owner: "two".to_owned(), nonce: "x".to_owned(), ..Holder::default() };
    stranger.put_if("forged", forged.bytes(), 0, None, "forged").await.unwrap();
    let (one, two) = (start(&bus, "one"), start(&bus, "two"));
    let live = ["one".to_owned(), "two".to_owned()];
    one.presence_changed(&live);
    for key in ["a", "b", "c", "d"] {
        let started = Instant::now();
        one.acquire(key).await.unwrap().release().await;
        assert!(started.elapsed() < SECOND, "{key}: {:?}", started.elapsed());
    }
    // While it is held, and the value after that.
    let lease = one.acquire("a").await.unwrap();
    stranger.put_if("a", "junk".into(), lease.token(), None, "junk").await.unwrap();
    lease.lost().await;
    drop(lease);
    two.acquire("a").await.unwrap().release().await;

    let started = Instant::now();
    let lease = one.acquire("forged").await.unwrap();
    let ttl = Terms::default().ttl;
    assert!(started.elapsed() < ttl * 3 / 2, "{:?}", started.elapsed());
    assert!(lease.is_held());
    // A holder that renews its lease may keep it without a limit.
    let busy = two.acquire("forged").await;
    assert!(matches!(&busy, Err(Busy::Held { by }) if by == "one"), "{busy:?}");
    assert!(lease.is_held());
    lease.release().await;
    one.close().await;
    two.close().await;
}
