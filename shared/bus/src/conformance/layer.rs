//! The promises of leases, claims, presence and pointers, over any [`Bus`].

#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use model::{DefinitionId, Timestamp, VersionId};
use tokio::time::Instant;

use super::{must, nonces, within};
use crate::{Bucket, Bus, Busy, Claim, Claims, Leases, Member, Pointers, Presence, Terms};

/// Runs every check of this module, each on its own bus.
pub async fn exercise<B: Bus + Clone>(make: impl AsyncFn() -> B) {
    a_lease_has_one_holder_and_is_handed_over_at_once(&make().await).await;
    many_nodes_have_a_lease_in_turns(&make().await).await;
    a_held_lease_is_renewed_and_a_dead_one_expires(&make().await).await;
    the_lease_of_a_departed_node_is_taken_over(&make().await).await;
    a_claim_is_won_once_and_stays_done(&make().await).await;
    nodes_see_each_other_come_and_go(&make().await).await;
    a_pointer_reaches_every_node_and_never_goes_back(&make().await).await;
}

fn terms(ttl: u64) -> Terms {
    Terms {
        ttl: Duration::from_secs(ttl),
        guard: Duration::from_millis(500),
        wait_max: Duration::from_secs(20),
    }
}

fn leases(bus: &impl Bus, owner: &str, ttl: u64) -> Leases {
    Leases::start(bus.kv(Bucket::Leases), owner, terms(ttl), nonces())
}

async fn a_lease_has_one_holder_and_is_handed_over_at_once(bus: &impl Bus) {
    let (one, two) = (leases(bus, "one", 15), leases(bus, "two", 15));
    let first = must("acquire", one.acquire("a").await);
    assert!(first.is_held() && !first.contended());
    let waiting = tokio::spawn({
        let two = two.clone();
        async move { two.acquire("a").await }
    });
    let also_waiting = tokio::spawn({
        let two = two.clone();
        async move { two.acquire("a").await }
    });
    let other = must("acquire another", two.acquire("b").await);
    let token = first.token();
    // Gives both time to wait. If they do not wait yet, this checks less but is still correct.
    tokio::time::sleep(Duration::from_millis(200)).await;
    let released = Instant::now();
    first.release().await;
    let second = must("a task", within("the hand-over", waiting).await);
    let second = must("acquire", second);
    assert!(released.elapsed() < Duration::from_secs(3), "a release wakes who waits");
    assert!(second.contended() && second.token() > token);
    second.release().await;
    let third = must("a task", within("the local hand-over", also_waiting).await);
    drop(must("acquire", third));
    // A dropped lease is released too.
    must("acquire", one.acquire("a").await).release().await;
    other.release().await;
    one.close().await;
    two.close().await;
}

/// Each of five nodes asks for the lease again as soon as it has released it; every node gets its
/// turns.
async fn many_nodes_have_a_lease_in_turns<B: Bus + Clone>(bus: &B) {
    const TURNS: usize = 20;
    let nodes = ["one", "two", "three", "four", "five"];
    let nodes = nodes.map(|node| leases(bus, node, 15).fair(Arc::new(bus.clone())));
    let holders = Arc::new(AtomicUsize::new(0));
    let mut tasks = Vec::new();
    for node in &nodes {
        let (node, holders) = (node.clone(), Arc::clone(&holders));
        tasks.push(tokio::spawn(async move {
            for _ in 0..TURNS {
                let lease = must("acquire", node.acquire("turns").await);
                assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0, "one holder at a time");
                tokio::time::sleep(Duration::from_millis(1)).await;
                assert!(lease.is_held());
                holders.fetch_sub(1, Ordering::SeqCst);
                lease.release().await;
            }
        }));
    }
    for task in tasks {
        must("a task", within("all turns", task).await);
    }
    for node in nodes {
        assert_eq!(node.held(), 0);
        node.close().await;
    }
}

async fn a_held_lease_is_renewed_and_a_dead_one_expires(bus: &impl Bus) {
    let (one, two) = (leases(bus, "one", 3), leases(bus, "two", 3));
    let kept = must("acquire", one.acquire("kept").await);
    let dead = must("acquire", two.acquire("dead").await);
    let started = Instant::now();
    // Node two stops without releasing: nobody renews its lease any more.
    two.close().await;
    let taken = must("acquire", within("the expiry", one.acquire("dead")).await);
    assert!(started.elapsed() > Duration::from_secs(2), "it was not free before it expired");
    within("the loss", dead.lost()).await;
    assert!(!dead.is_held());
    assert!(kept.is_held() && taken.is_held(), "what is renewed is kept");
    kept.release().await;
    taken.release().await;
    one.close().await;
}

async fn the_lease_of_a_departed_node_is_taken_over(bus: &impl Bus) {
    let (one, two) = (leases(bus, "one", 15), leases(bus, "two", 15));
    let held = must("acquire", two.acquire("a").await);
    one.presence_changed(&["one".to_owned(), "two".to_owned()]);
    let waiting = tokio::spawn({
        let one = one.clone();
        async move { one.acquire("a").await }
    });
    let short = Terms { wait_max: Duration::from_millis(300), ..terms(15) };
    let three = Leases::start(bus.kv(Bucket::Leases), "three", short, nonces());
    let busy = three.acquire("a").await;
    assert!(matches!(&busy, Err(Busy::Held { by }) if by == "two"), "{busy:?}");
    let gone = Instant::now();
    one.presence_changed(&["one".to_owned()]);
    let taken = must("acquire", must("a task", within("the takeover", waiting).await));
    assert!(gone.elapsed() < Duration::from_secs(3), "a takeover does not wait for the expiry");
    within("the loss", held.lost()).await;
    drop(held);
    assert!(taken.is_held(), "the loser cannot release what it has lost");
    taken.release().await;
    for leases in [one, two, three] {
        leases.close().await;
    }
}

fn claims(bus: &impl Bus, owner: &str) -> Claims {
    let (claimed, done) = (Duration::from_secs(30), Duration::from_secs(60));
    Claims::new(bus.kv(Bucket::Timers), owner, nonces(), claimed, done)
}

#[expect(clippy::panic, reason = "a suite ends with the first thing that is wrong")]
async fn a_claim_is_won_once_and_stays_done(bus: &impl Bus) {
    let (one, two) = (claims(bus, "one"), claims(bus, "two"));
    let Claim::Won(held) = must("claim", one.claim("t.1", |_| true).await) else {
        panic!("the claim is free");
    };
    let taken = must("claim", two.claim("t.1", |_| true).await);
    assert!(matches!(&taken, Claim::Taken { by } if by == "one"), "{taken:?}");
    must("done", one.done(held).await);
    assert!(matches!(must("claim", two.claim("t.1", |_| true).await), Claim::Done));
    assert!(matches!(must("claim", one.claim("t.1", |_| false).await), Claim::Done));

    let Claim::Won(held) = must("claim", one.claim("t.2", |_| true).await) else {
        panic!("the claim is free");
    };
    let Claim::Won(taken) = must("claim", two.claim("t.2", |owner| owner != "one").await) else {
        panic!("the claim of a dead node is taken over");
    };
    // The dead node was only slow: it finishes its work after all.
    must("done", one.done(held).await);
    two.abandon(taken).await;
    let Claim::Won(held) = must("claim", one.claim("t.2", |_| true).await) else {
        panic!("an abandoned claim is free");
    };
    must("done", one.done(held).await);
}

fn member(node: &str) -> Member {
    Member {
        node: node.to_owned(),
        roles: vec!["executor".to_owned()],
        started_at: Timestamp::from_millis(1),
        address: None,
        version: None,
    }
}

async fn join(bus: &impl Bus, node: &str) -> Presence {
    let joined =
        Presence::join(bus.kv(Bucket::Nodes), member(node), Duration::from_secs(3), nonces());
    must("join", joined.await)
}

async fn wait_live(presence: &Presence, wanted: &[&str]) {
    let mut changed = presence.changed();
    let is_so =
        |live: &Vec<Member>| live.iter().map(|it| it.node.as_str()).eq(wanted.iter().copied());
    let what = format!("live nodes {wanted:?}");
    assert!(within(&what, changed.wait_for(is_so)).await.is_ok());
}

async fn nodes_see_each_other_come_and_go(bus: &impl Bus) {
    let one = join(bus, "node.one").await;
    wait_live(&one, &["node.one"]).await;
    let two = join(bus, "two").await;
    let three = join(bus, "three").await;
    wait_live(&one, &["node.one", "three", "two"]).await;
    assert!(!one.is_cut_off());
    assert_eq!(one.live()[0], member("node.one"));
    two.leave().await;
    wait_live(&one, &["node.one", "three"]).await;
    // Ends without leaving: its key has to expire.
    drop(three);
    wait_live(&one, &["node.one"]).await;
    one.leave().await;
}

async fn a_pointer_reaches_every_node_and_never_goes_back(bus: &impl Bus) {
    let start = || Pointers::start(bus.kv(Bucket::Definitions), nonces());
    let (one, two) = (must("start", start().await), must("start", start().await));
    assert!(two.is_synced());
    let id = DefinitionId::new("Order Approval");
    let version = |number: u32| VersionId::new(format!("v{number}"));
    let mut changes = two.changed();
    let second = must("put", one.put(&id, Some(&version(2)), 2).await).revision;
    within("the pointer", two.applied(&id, second)).await;
    let known = two.get(&id);
    assert_eq!(known.as_ref().map(|it| it.version), Some(2));
    assert_eq!(known.and_then(|it| it.version_id), Some(version(2)));
    let told = within("a change", changes.recv()).await;
    assert_eq!(told.map(|(id, pointer)| (id, pointer.revision)).ok(), Some((id.clone(), second)));

    let older = must("put", two.put(&id, Some(&version(1)), 1).await);
    assert_eq!(older.version, 2, "an older version does not replace a newer one");
    assert_eq!(older.revision, second);
    assert_eq!(must("put", two.put(&id, Some(&version(2)), 2).await).revision, second);
    let retracted = must("put", two.put(&id, None, 2).await);
    assert!(retracted.revision > second);
    let back = must("put", one.put(&id, Some(&version(1)), 1).await);
    assert!(back.revision > retracted.revision, "after a retraction, any version may be published");
    must("replace", two.replace(&id, Some(&version(0)), 0, &retracted).await);
    let kept = must("put", one.put(&id, Some(&version(1)), 1).await);
    assert_eq!(kept, back, "what has changed since it was seen is not replaced");
    must("replace", two.replace(&id, Some(&version(0)), 0, &back).await);
    let replaced = must("put", two.put(&id, Some(&version(0)), 0).await);
    assert!(replaced.revision > back.revision && replaced.version == 0, "{replaced:?}");

    let (eight, nine) = (version(8), version(9));
    let (left, right) = tokio::join!(one.put(&id, Some(&nine), 9), two.put(&id, Some(&eight), 8));
    let last = must("put", left).revision.max(must("put", right).revision);
    within("the pointer", two.applied(&id, last)).await;
    within("the pointer", one.applied(&id, last)).await;
    assert_eq!(one.get(&id).and_then(|it| it.version_id), Some(version(9)));
    let three = must("start", start().await);
    assert_eq!(three.get(&id), one.get(&id));
    for pointers in [one, two, three] {
        pointers.close().await;
    }
}
