use std::sync::atomic::{AtomicU64, Ordering};

use model::Timestamp;

use super::*;
use crate::{Bucket, Bus as _, Fault, Faults, MemoryBus, Operation, ServerClock};

struct Once(Mutex<Option<Fault>>);

impl Faults for Once {
    fn on(&self, _node: &str, operation: &Operation<'_>) -> Fault {
        if !matches!(operation, Operation::PutIf { .. }) {
            return Fault::None;
        }
        lock(&self.0).take().unwrap_or_default()
    }
}

fn bus(fault: Fault) -> MemoryBus {
    let clock: ServerClock = Arc::new(|| Timestamp::from_millis(0));
    MemoryBus::with_faults(clock, Arc::new(Once(Mutex::new(Some(fault)))))
}

fn claims(bus: &MemoryBus, owner: &str) -> Claims {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let nonces: Nonces = Arc::new(|| NEXT.fetch_add(1, Ordering::Relaxed).to_string());
    let (claimed, done) = (Duration::from_secs(30), Duration::from_secs(60));
    Claims::new(bus.kv(Bucket::Timers), owner, nonces, claimed, done)
}

async fn win(claims: &Claims, key: &str) -> Claimed {
    match claims.claim(key, |_| true).await.unwrap() {
        Claim::Won(claimed) => claimed,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_claim_whose_answer_is_lost_is_won() {
    for fault in [Fault::AnswerLost, Fault::Unavailable, Fault::Lost, Fault::Refused] {
        let bus = bus(fault);
        let one = claims(&bus, "one");
        let claimed = win(&one, "t").await;
        one.done(claimed).await.unwrap();
        assert!(matches!(one.claim("t", |_| true).await.unwrap(), Claim::Done), "{fault:?}");
        assert!(lock(&one.active).is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_claim_of_ones_own_that_was_given_up_is_taken_over() {
    let bus = bus(Fault::AnswerLost);
    let one = claims(&bus, "one");
    // Dropped while it waits for its next try; its first write was stored.
    let given_up = one.claim("t", |_| true);
    assert!(tokio::time::timeout(Duration::from_millis(1), given_up).await.is_err());
    let two = claims(&bus, "two");
    assert!(matches!(two.claim("t", |_| true).await.unwrap(), Claim::Taken { .. }));
    one.done(win(&one, "t").await).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn of_many_replicas_one_wins() {
    let bus = bus(Fault::None);
    let tries = (0..20).map(|number| {
        let claims = claims(&bus, &format!("node-{number}"));
        async move { claims.claim("t", |_| true).await.unwrap() }
    });
    let results = futures::future::join_all(tries).await;
    let wins = results.iter().filter(|claim| matches!(claim, Claim::Won(_))).count();
    assert_eq!(wins, 1);
}

#[tokio::test(start_paused = true)]
async fn a_claim_expires_and_so_does_its_memory() {
    let bus = bus(Fault::None);
    let (one, two) = (claims(&bus, "one"), claims(&bus, "two"));
    win(&one, "t").await;
    tokio::time::sleep(Duration::from_secs(31)).await;
    two.done(win(&two, "t").await).await.unwrap();
    tokio::time::sleep(Duration::from_secs(59)).await;
    assert!(matches!(one.claim("t", |_| true).await.unwrap(), Claim::Done));
    tokio::time::sleep(Duration::from_secs(2)).await;
    win(&one, "t").await;
}

#[tokio::test(start_paused = true)]
async fn a_claim_that_cannot_be_read_is_taken_over() {
    let bus = bus(Fault::None);
    for (key, garbage) in [("a", "\u{0}\u{1}"), ("b", "{}"), ("c", "[]"), ("d", "")] {
        let put = bus.kv(Bucket::Timers).put_if(key, garbage.into(), 0, None, key).await.unwrap();
        assert!(matches!(put, Put::Won(_)));
        let one = claims(&bus, "one");
        one.done(win(&one, key).await).await.unwrap();
        assert!(matches!(claims(&bus, "two").claim(key, |_| true).await.unwrap(), Claim::Done));
    }
}
