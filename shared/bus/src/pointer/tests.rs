use std::sync::atomic::{AtomicU64, Ordering};

use model::Timestamp;

use super::*;
use crate::{Bucket, Bus as _, MemoryBus};

fn bus() -> MemoryBus {
    MemoryBus::starting_at(Timestamp::from_millis(0))
}

async fn start(bus: &MemoryBus) -> Pointers {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let nonces: Nonces = Arc::new(|| NEXT.fetch_add(1, Ordering::Relaxed).to_string());
    Pointers::start(bus.kv(Bucket::Definitions), nonces).await.unwrap()
}

fn version(number: u32) -> VersionId {
    VersionId::new(format!("v{number}"))
}

#[test]
fn only_what_is_newer_replaces_a_published_version() {
    let pointer = |id: Option<u32>, number| Pointer {
        version_id: id.map(version),
        version: number,
        revision: 1,
    };
    let value = |id: Option<u32>, number| Value { version_id: id.map(version), version: number };
    for (new, old, expected) in [
        (value(Some(2), 2), pointer(Some(1), 1), true),
        (value(Some(1), 1), pointer(Some(2), 2), false),
        (value(Some(2), 2), pointer(Some(2), 2), false),
        // The same number with another id: the definition was imported anew.
        (value(Some(9), 2), pointer(Some(2), 2), true),
        (value(None, 2), pointer(Some(2), 2), true),
        (value(None, 1), pointer(Some(2), 2), false),
        (value(Some(1), 1), pointer(None, 2), true),
        (value(None, 2), pointer(None, 2), false),
        (value(None, 3), pointer(None, 2), true),
        (value(Some(1), 1), pointer(None, 0), true),
    ] {
        assert_eq!(replaces(&new, &old), expected, "{:?} over {old:?}", new.version_id);
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_wipe_pointers_vanish_and_are_told() {
    let bus = bus();
    let pointers = start(&bus).await;
    let id = DefinitionId::new("a.b c");
    for number in 1..=5 {
        pointers.put(&id, Some(&version(number)), number).await.unwrap();
    }
    // The watch has caught up when it has shown all five.
    let mut changes = pointers.changed();
    bus.wipe();
    let (told, pointer) = changes.recv().await.unwrap();
    assert_eq!((told, pointer.version_id, pointer.revision), (id.clone(), None, 0));
    assert_eq!(pointers.get(&id), None);
    // Revisions start again; a new value is applied all the same.
    let revision = pointers.put(&id, Some(&version(2)), 2).await.unwrap().revision;
    assert_eq!(revision, 1);
    pointers.applied(&id, revision).await;
    assert_eq!(pointers.get(&id).unwrap().version, 2);
    pointers.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_broken_watch_is_resynced_and_loses_nothing() {
    let bus = bus();
    let (one, two) = (start(&bus).await, start(&bus).await);
    let (kept, changed) = (DefinitionId::new("kept"), DefinitionId::new("changed"));
    one.put(&kept, Some(&version(1)), 1).await.unwrap();
    one.put(&changed, Some(&version(1)), 1).await.unwrap();
    bus.reset_watches(Bucket::Definitions);
    let revision = one.put(&changed, Some(&version(2)), 2).await.unwrap().revision;
    two.applied(&changed, revision).await;
    assert!(two.is_synced());
    assert_eq!(two.get(&kept).unwrap().version, 1);
    one.close().await;
    two.close().await;
}

#[tokio::test(start_paused = true)]
async fn publishers_side_by_side_end_with_the_newest() {
    let bus = bus();
    let id = DefinitionId::new("a");
    let pointers = start(&bus).await;
    let puts = (1..=30).rev().map(|number| {
        let (pointers, id) = (pointers.clone(), id.clone());
        async move { pointers.put(&id, Some(&version(number)), number).await.unwrap() }
    });
    futures::future::join_all(puts).await;
    assert_eq!(pointers.get(&id).unwrap().version, 30);
    pointers.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_pointer_that_cannot_be_read_points_to_nothing_until_it_is_replaced() {
    let bus = bus();
    let (one, two) = (start(&bus).await, start(&bus).await);
    let id = DefinitionId::new("a");
    let revision = one.put(&id, Some(&version(2)), 2).await.unwrap().revision;
    two.applied(&id, revision).await;
    for (nonce, garbage) in ["\u{0}\u{1}", "{}", "[1", ""].into_iter().enumerate() {
        let mut changes = two.changed();
        let known = two.get(&id).unwrap().revision;
        let nonce = format!("garbage-{nonce}");
        let put =
            bus.kv(Bucket::Definitions).put_if("a", garbage.into(), known, None, &nonce).await;
        assert!(matches!(put, Ok(Put::Won(_))), "{put:?}");
        // The listener now has to read the database.
        let (_, pointer) = changes.recv().await.unwrap();
        assert_eq!((pointer.version_id, pointer.revision), (None, 0));
        assert_eq!(two.get(&id), None);
        let fresh = start(&bus).await;
        assert_eq!(fresh.get(&id), None);
        let revision = fresh.put(&id, Some(&version(2)), 2).await.unwrap().revision;
        two.applied(&id, revision).await;
        assert_eq!(two.get(&id).unwrap().version_id, Some(version(2)));
        fresh.close().await;
    }
    one.close().await;
    two.close().await;
}
