//! A lease that an operator takes away.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_lease_that_is_taken_away_is_lost_and_free() {
    let bus = MemoryBus::new(Arc::new(|| Timestamp::from_millis(0)));
    let (one, two) = (start(&bus, "one"), start(&bus, "two"));
    let lease = one.acquire("a").await.unwrap();
    let kv = bus.as_node("operator").kv(Bucket::Leases);
    let taken = take_away(&*kv, "a", &nonces("operator")).await.unwrap();
    assert_eq!(taken.map(|held| held.owner).as_deref(), Some("one"));
    lease.lost().await;
    assert!(!lease.is_held());
    let other = two.acquire("a").await.unwrap();
    // The release of the one that lost it leaves the other's alone.
    lease.release().await;
    assert!(other.is_held());
    other.release().await;
    assert_eq!(take_away(&*kv, "a", &nonces("late")).await.unwrap(), None);
    one.close().await;
    two.close().await;
}
