use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::*;
use crate::{Bucket, Bus as _, Fault, Faults, MemoryBus, Operation, ServerClock};

const TTL: Duration = Duration::from_secs(3);

/// Cuts one node off.
#[derive(Default)]
struct Cut(Arc<AtomicBool>);

impl Faults for Cut {
    fn on(&self, node: &str, _operation: &Operation<'_>) -> Fault {
        let is_cut = node == "one" && self.0.load(Ordering::Relaxed);
        if is_cut { Fault::Unavailable } else { Fault::None }
    }
}

/// Delays everything that one node sees.
struct LateForTwo(AtomicU64);

const LATE_MS: u64 = 200;

impl Faults for LateForTwo {
    fn on(&self, _node: &str, _operation: &Operation<'_>) -> Fault {
        Fault::None
    }

    fn lag(&self, node: &str, _bucket: Bucket) -> Duration {
        if node == "two" {
            Duration::from_millis(self.0.load(Ordering::Relaxed))
        } else {
            Duration::ZERO
        }
    }
}

fn bus() -> (MemoryBus, Arc<AtomicBool>) {
    let cut = Arc::new(AtomicBool::new(false));
    let clock: ServerClock = Arc::new(|| Timestamp::from_millis(0));
    (MemoryBus::with_faults(clock, Arc::new(Cut(Arc::clone(&cut)))), cut)
}

fn bus_late_for_two() -> (MemoryBus, Arc<LateForTwo>) {
    let late = Arc::new(LateForTwo(LATE_MS.into()));
    let clock: ServerClock = Arc::new(|| Timestamp::from_millis(0));
    (MemoryBus::with_faults(clock, Arc::clone(&late) as Arc<dyn Faults>), late)
}

async fn join(bus: &MemoryBus, node: &str) -> Presence {
    join_at(bus, node, 0).await
}

/// Joins as a process that started at this time.
async fn join_at(bus: &MemoryBus, node: &str, started_at: i64) -> Presence {
    join_as(bus, node, started_at, &[]).await
}

/// Joins with these roles.
async fn join_as(bus: &MemoryBus, node: &str, started_at: i64, roles: &[&str]) -> Presence {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let nonces: Nonces = Arc::new(|| NEXT.fetch_add(1, Ordering::Relaxed).to_string());
    let me = Member {
        node: node.to_owned(),
        roles: roles.iter().map(|role| (*role).to_owned()).collect(),
        started_at: Timestamp::from_millis(started_at),
        address: Some("http://127.0.0.1:1".to_owned()),
        version: Some("0.1.0".to_owned()),
    };
    Presence::join(bus.as_node(node).kv(Bucket::Nodes), me, TTL, nonces).await.unwrap()
}

fn nodes(presence: &Presence) -> Vec<String> {
    presence.live().into_iter().map(|member| member.node).collect()
}

#[tokio::test(start_paused = true)]
async fn a_node_that_is_cut_off_knows_it_when_the_others_do_and_comes_back() {
    let (bus, cut) = bus();
    let (one, two) = (join(&bus, "one").await, join(&bus, "two").await);
    tokio::time::sleep(TTL * 10).await;
    assert!(!one.is_cut_off() && !two.is_cut_off());
    assert_eq!(nodes(&two), ["one", "two"]);
    let before = (one.standing().live_since(), two.standing().live_since());
    assert!(before.0.elapsed() >= TTL * 10);
    cut.store(true, Ordering::Relaxed);
    tokio::time::sleep(TTL + Duration::from_millis(10)).await;
    assert!(one.is_cut_off() && !two.is_cut_off());
    assert_eq!(nodes(&two), ["two"]);
    cut.store(false, Ordering::Relaxed);
    tokio::time::sleep(TTL).await;
    assert!(!one.is_cut_off());
    assert_eq!(nodes(&two), ["one", "two"]);
    // Its list from before may lack nodes that the others have seen meanwhile.
    assert!(one.standing().live_since().elapsed() <= TTL);
    assert_eq!(two.standing().live_since(), before.1);
    one.leave().await;
    two.leave().await;
}

#[tokio::test(start_paused = true)]
async fn after_a_wipe_everyone_is_there_again_soon() {
    let (bus, _) = bus();
    let (one, two) = (join(&bus, "one").await, join(&bus, "two").await);
    tokio::time::sleep(TTL).await;
    bus.wipe();
    tokio::time::sleep(TTL).await;
    assert_eq!(nodes(&one), ["one", "two"]);
    assert_eq!(nodes(&two), ["one", "two"]);
    assert!(!one.is_cut_off());
}

#[tokio::test(start_paused = true)]
async fn a_wipe_hides_no_node_that_lives_and_keeps_none_that_does_not() {
    let (bus, cut) = bus();
    let (_one, two) = (join(&bus, "one").await, join(&bus, "two").await);
    tokio::time::sleep(TTL * 2).await;
    cut.store(true, Ordering::Relaxed);
    bus.wipe();
    let mut live = two.changed();
    let wiped = Instant::now();
    while nodes(&two).contains(&"one".to_owned()) {
        live.changed().await.unwrap();
        assert!(nodes(&two).contains(&"two".to_owned()));
    }
    assert!(wiped.elapsed() >= TTL, "it may believe that it lives for {:?}", wiped.elapsed());
    assert!(wiped.elapsed() <= TTL * 2);
}

#[tokio::test(start_paused = true)]
async fn a_look_finds_whom_the_watch_has_not_shown() {
    let (bus, _) = bus_late_for_two();
    let two = join(&bus, "two").await;
    let one = join(&bus, "one").await;
    assert_eq!(nodes(&two), ["two"]);
    two.look().await.unwrap();
    assert_eq!(nodes(&two), ["one", "two"]);
    tokio::time::sleep(TTL * 2).await;
    assert_eq!(nodes(&two), ["one", "two"]);
    let mut live = two.changed();
    live.mark_unchanged();
    one.leave().await;
    tokio::time::timeout(TTL, live.changed()).await.unwrap().unwrap();
    assert_eq!(nodes(&two), ["two"]);
}

#[tokio::test(start_paused = true)]
async fn a_look_holds_however_far_the_watch_is_behind() {
    let (bus, late) = bus_late_for_two();
    let two = join(&bus, "two").await;
    late.0.store(60_000, Ordering::Relaxed);
    let _one = join(&bus, "one").await;
    two.look().await.unwrap();
    let mut live = two.changed();
    live.mark_unchanged();
    let hidden = live.wait_for(|live| live.len() < 2);
    assert!(tokio::time::timeout(TTL * 4, hidden).await.is_err(), "the other node lives");
}

#[tokio::test(start_paused = true)]
async fn a_look_is_not_undone_by_older_news() {
    let (bus, _) = bus_late_for_two();
    let (one, two) = (join(&bus, "one").await, join(&bus, "two").await);
    tokio::time::sleep(TTL).await;
    one.leave().await;
    let _again = join(&bus, "one").await;
    two.look().await.unwrap();
    let mut live = two.changed();
    live.mark_unchanged();
    let hidden = live.wait_for(|live| live.len() < 2);
    assert!(tokio::time::timeout(TTL * 2, hidden).await.is_err(), "it has left and come back");
}

#[tokio::test(start_paused = true)]
async fn presence_ends_with_its_last_handle() {
    let (bus, _) = bus();
    let one = join(&bus, "one").await;
    let inner = Arc::downgrade(&one.inner);
    let another = one.clone();
    drop(one);
    assert!(!another.is_cut_off());
    drop(another);
    while inner.upgrade().is_some() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_node_that_cannot_join_says_so() {
    let (bus, cut) = bus();
    cut.store(true, Ordering::Relaxed);
    let me = Member {
        node: "one".to_owned(),
        roles: Vec::new(),
        started_at: Timestamp::from_millis(0),
        address: None,
        version: None,
    };
    let nonces: Nonces = Arc::new(|| "x".to_owned());
    let kv = bus.as_node("one").kv(Bucket::Nodes);
    let joined = Presence::join(kv, me, TTL, nonces).await;
    assert!(matches!(joined, Err(Error::Unavailable(_))), "{joined:?}");
}

#[tokio::test(start_paused = true)]
async fn a_node_whose_key_is_overwritten_with_garbage_stays_live() {
    let (bus, _) = bus();
    let (one, two) = (join(&bus, "one").await, join(&bus, "two").await);
    let mut changes = two.changed();
    for (nonce, garbage) in ["\u{0}\u{1}", "{}", "[1", ""].into_iter().enumerate() {
        for key in ["one", "nobody"] {
            let kv = bus.kv(Bucket::Nodes);
            let at = kv.get(key).await.unwrap().map_or(0, |entry| entry.revision);
            let nonce = format!("{key}-{nonce}");
            let put = kv.put_if(key, garbage.into(), at, None, &nonce).await.unwrap();
            assert!(matches!(put, Put::Won(_)), "{put:?}");
        }
        tokio::time::sleep(TTL * 3).await;
        assert!(!changes.has_changed().unwrap() || nodes(&two) == ["one", "two"]);
        changes.mark_unchanged();
        // It has written its key again.
        let entry = bus.kv(Bucket::Nodes).get("one").await.unwrap().unwrap();
        assert!(read("one", &entry.value.unwrap()).is_some());
        assert!(!one.is_cut_off());
    }
    one.leave().await;
    tokio::time::sleep(TTL / 3).await;
    assert_eq!(nodes(&two), ["two"]);
}

#[tokio::test(start_paused = true)]
async fn the_earlier_of_two_processes_of_one_name_has_to_leave() {
    let (bus, _) = bus();
    let one = join(&bus, "one").await;
    let is_displaced =
        async |of: &Presence| tokio::time::timeout(TTL / 6, of.displaced()).await.is_ok();
    assert!(!is_displaced(&one).await);
    let later = join_at(&bus, "one", 7).await;
    assert!(is_displaced(&one).await && !is_displaced(&later).await);
    // It does not take the key of the other with it.
    one.leave().await;
    tokio::time::sleep(TTL * 2).await;
    assert_eq!(nodes(&later), ["one"]);
    assert!(!is_displaced(&later).await);
}

#[tokio::test(start_paused = true)]
async fn a_role_that_nobody_has_is_known_since_its_last_node_went() {
    let (bus, _) = bus();
    let gateway = join_as(&bus, "one", 0, &["ingress"]).await;
    tokio::time::sleep(TTL).await;
    // Nobody has had it since this node joined.
    let since = gateway.without_since("executor").unwrap();
    assert!(since.elapsed() >= TTL, "{:?}", since.elapsed());
    assert_eq!(gateway.without_since("ingress"), None);
    let shown = Duration::from_millis(100);
    let first = join_as(&bus, "two", 0, &["executor", "timer"]).await;
    let second = join_as(&bus, "three", 0, &["executor"]).await;
    tokio::time::sleep(shown).await;
    assert_eq!(gateway.without_since("executor"), None);
    first.leave().await;
    tokio::time::sleep(TTL).await;
    assert_eq!(gateway.without_since("executor"), None);
    assert!(gateway.without_since("timer").is_some_and(|since| since.elapsed() >= TTL - shown));
    second.leave().await;
    tokio::time::sleep(shown).await;
    let since = gateway.without_since("executor").unwrap();
    assert!(since.elapsed() <= shown, "{:?}", since.elapsed());
    // Other changes do not begin the time anew, and a node that comes ends it.
    let timer = join_as(&bus, "two", 1, &["timer"]).await;
    tokio::time::sleep(shown).await;
    assert_eq!(gateway.without_since("executor"), Some(since));
    assert_eq!(gateway.without_since("timer"), None);
    let third = join_as(&bus, "three", 1, &["executor"]).await;
    tokio::time::sleep(shown).await;
    assert_eq!(gateway.without_since("executor"), None);
    drop((timer, third));
}

#[tokio::test(start_paused = true)]
async fn a_node_that_does_not_say_its_version_is_read() {
    let (bus, _) = bus();
    let kv = bus.kv(Bucket::Nodes);
    let early = r#"{"node":"early","roles":["timer"],"startedAt":"2023-11-14T22:13:20.000Z"}"#;
    kv.put_if("early", early.into(), 0, None, "early").await.unwrap();
    let one = join(&bus, "one").await;
    let said = |members: Vec<Member>| -> Vec<_> {
        members.into_iter().map(|member| (member.node, member.version)).collect()
    };
    let expected = [("early".to_owned(), None), ("one".to_owned(), Some("0.1.0".to_owned()))];
    assert_eq!(said(one.live()), expected);
    assert_eq!(said(members(&*kv).await.unwrap()), expected);
}
