//! The promises of [`Kv`].

#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::{change, change_of, must, nonces, synced};
use crate::{Bucket, Bus, Change, Entry, Kv, Put, Revision, Watch};

/// Runs every check of this module, each on its own bus.
pub async fn exercise<B: Bus + Clone>(make: impl AsyncFn() -> B) {
    a_swap_wins_only_from_where_the_key_is(&*leases(&make().await)).await;
    a_repeated_nonce_finds_out_that_it_had_won(&*leases(&make().await)).await;
    a_purge_leaves_a_tombstone(&*leases(&make().await)).await;
    a_value_expires_where_watches_see_it(&*leases(&make().await)).await;
    an_expiry_is_renewed_and_taken_back(&*leases(&make().await)).await;
    entries_are_what_has_a_value(&*leases(&make().await)).await;
    a_removal_has_a_time_and_every_write_a_revision(&*leases(&make().await)).await;
    a_watch_begins_with_a_snapshot(&*leases(&make().await)).await;
    one_of_many_writers_wins(leases(&make().await)).await;
    buckets_are_separate(&make().await).await;
}

fn leases(bus: &impl Bus) -> Arc<dyn Kv> {
    bus.kv(Bucket::Leases)
}

#[expect(clippy::panic, reason = "a suite ends with the first thing that is wrong")]
async fn put(kv: &dyn Kv, key: &str, value: &str, at: Revision, ttl: Option<u64>) -> Revision {
    let value = Bytes::from(value.to_owned());
    let ttl = ttl.map(Duration::from_secs);
    match must("put", kv.put_if(key, value, at, ttl, &nonces()()).await) {
        Put::Won(revision) => revision,
        Put::Lost(other) => panic!("{key} is at {other:?}, not {at}"),
    }
}

async fn try_put(kv: &dyn Kv, key: &str, at: Revision) -> Put {
    must("put", kv.put_if(key, Bytes::from_static(b"x"), at, None, &nonces()()).await)
}

async fn get(kv: &dyn Kv, key: &str) -> Option<Entry> {
    must("get", kv.get(key).await)
}

async fn a_swap_wins_only_from_where_the_key_is(kv: &dyn Kv) {
    assert_eq!(get(kv, "a").await, None);
    let first = put(kv, "a", "1", 0, None).await;
    assert_eq!(try_put(kv, "a", 0).await, Put::Lost(Some(first)));
    assert_eq!(try_put(kv, "a", first + 7).await, Put::Lost(Some(first)));
    assert_eq!(try_put(kv, "missing", 3).await, Put::Lost(Some(0)));
    let second = put(kv, "a", "2", first, None).await;
    assert!(second > first);
    let other = put(kv, "b.c", "3", 0, None).await;
    assert!(other > second, "revisions grow over the whole bucket");
    let entry = Entry { value: Some(Bytes::from_static(b"2")), revision: second };
    assert_eq!(get(kv, "a").await, Some(entry));
}

async fn entries_are_what_has_a_value(kv: &dyn Kv) {
    assert_eq!(must("entries", kv.entries().await), []);
    let first = put(kv, "a", "1", 0, None).await;
    let second = put(kv, "b.c", "2", 0, Some(30)).await;
    let purged = put(kv, "d", "3", 0, None).await;
    must("purge", kv.purge_if("d", purged, &nonces()()).await);
    let fourth = put(kv, "a", "4", first, None).await;
    let mut entries = must("entries", kv.entries().await);
    entries.sort_by_key(|(_, entry)| entry.revision);
    let entry = |key: &str, value: &'static str, revision| {
        (key.to_owned(), Entry { value: Some(Bytes::from(value)), revision })
    };
    assert_eq!(entries, [entry("b.c", "2", second), entry("a", "4", fourth)]);
}

async fn a_removal_has_a_time_and_every_write_a_revision(kv: &dyn Kv) {
    let revision = async || must("revision", kv.revision().await);
    let removed = async |key: &'static str| must("removed_at", kv.removed_at(key).await);
    let first = put(kv, "a", "1", 0, None).await;
    assert_eq!(revision().await, first);
    let second = put(kv, "b", "1", 0, None).await;
    assert_eq!(revision().await, second);
    assert_eq!((removed("a").await, removed("missing").await), (None, None));
    let purged = must("purge", kv.purge_if("a", first, &nonces()()).await);
    assert_eq!(purged, Put::Won(revision().await), "a tombstone is a write");
    must("purge", kv.purge_if("b", second, &nonces()()).await);
    let (before, after) = (removed("a").await, removed("b").await);
    assert!(before.is_some() && before <= after, "{before:?} {after:?}");
    let Put::Won(tombstone) = purged else { return };
    put(kv, "a", "2", tombstone, None).await;
    assert_eq!(removed("a").await, None, "it is there again");
}

async fn a_repeated_nonce_finds_out_that_it_had_won(kv: &dyn Kv) {
    let nonce = nonces()();
    let put_it = || kv.put_if("a", Bytes::from_static(b"1"), 0, None, &nonce);
    let Put::Won(revision) = must("put", put_it().await) else {
        return assert!(false_claim(), "the key was free");
    };
    assert_eq!(must("put", put_it().await), Put::Won(revision));
    let nonce = nonces()();
    let purge_it = || kv.purge_if("a", revision, &nonce);
    let purged = must("purge", purge_it().await);
    assert!(matches!(purged, Put::Won(_)));
    assert_eq!(must("purge", purge_it().await), purged);
}

/// Keeps `assert!` where a branch must not be reached.
fn false_claim() -> bool {
    false
}

async fn a_purge_leaves_a_tombstone(kv: &dyn Kv) {
    let mut watch = must("watch", kv.watch().await);
    synced(&mut watch).await;
    let first = put(kv, "a", "1", 0, None).await;
    // A watch is owed only the newest of a key's changes, so it sees this one before the next is made.
    assert_eq!(change_of(&mut watch, "a").await, (true, first));
    let lost = must("purge", kv.purge_if("a", first + 1, &nonces()()).await);
    assert_eq!(lost, Put::Lost(Some(first)));
    let purged = must("purge", kv.purge_if("a", first, &nonces()()).await);
    let Put::Won(tombstone) = purged else {
        return assert!(false_claim(), "the purge is at the key's revision");
    };
    assert_eq!(change_of(&mut watch, "a").await, (false, tombstone));
    assert_eq!(get(kv, "a").await, Some(Entry { value: None, revision: tombstone }));
    assert_eq!(try_put(kv, "a", 0).await, Put::Lost(Some(tombstone)));
    put(kv, "a", "2", tombstone, None).await;
}

async fn a_value_expires_where_watches_see_it(kv: &dyn Kv) {
    let mut watch = must("watch", kv.watch().await);
    synced(&mut watch).await;
    let first = put(kv, "a", "1", 0, Some(1)).await;
    let tombstone = expiry_of(&mut watch, "a", first).await;
    let again = put(kv, "a", "2", tombstone, Some(1)).await;
    // A key that was created again expires too.
    expiry_of(&mut watch, "a", again).await;
}

/// The revision at which the watch shows that the value of `set` is gone. It may show the value
/// before, or may not: it came too late for it then.
async fn expiry_of(watch: &mut Watch, key: &str, set: Revision) -> Revision {
    loop {
        match change_of(watch, key).await {
            (false, revision) if revision > set => return revision,
            (_, revision) => assert!(revision <= set, "only the expiry comes after the value"),
        }
    }
}

async fn an_expiry_is_renewed_and_taken_back(kv: &dyn Kv) {
    let mut watch = must("watch", kv.watch().await);
    let first = put(kv, "kept", "1", 0, Some(1)).await;
    let kept = put(kv, "kept", "2", first, None).await;
    let first = put(kv, "renewed", "1", 0, Some(1)).await;
    let renewed = put(kv, "renewed", "2", first, Some(30)).await;
    let short = put(kv, "short", "1", 0, Some(2)).await;
    expiry_of(&mut watch, "short", short).await;
    let revision =
        |entry: Option<Entry>| entry.filter(|it| it.value.is_some()).map(|it| it.revision);
    assert_eq!(revision(get(kv, "kept").await), Some(kept));
    assert_eq!(revision(get(kv, "renewed").await), Some(renewed));
}

async fn a_watch_begins_with_a_snapshot(kv: &dyn Kv) {
    let a = put(kv, "a", "1", 0, None).await;
    let b = put(kv, "b", "1", 0, None).await;
    let gone = put(kv, "gone", "1", 0, None).await;
    must("purge", kv.purge_if("gone", gone, &nonces()()).await);
    let b = put(kv, "b", "2", b, None).await;
    // The second watch begins while the first is still starting.
    let mut first = must("watch", kv.watch().await);
    let mut live = Vec::new();
    for round in 0..2 {
        let mut second = must("watch", kv.watch().await);
        let watch = if round == 0 { &mut first } else { &mut second };
        assert_eq!(change(watch).await, Change::Reset);
        live.clear();
        loop {
            match change(watch).await {
                Change::Set { key, value: Some(value), revision } => {
                    live.push((key, value, revision));
                }
                Change::Set { value: None, .. } => {}
                Change::Reset => live.clear(),
                Change::Synced => break,
            }
        }
        live.sort();
        let expected = [
            ("a".to_owned(), Bytes::from_static(b"1"), a),
            ("b".to_owned(), Bytes::from_static(b"2"), b),
        ];
        assert_eq!(live, expected);
    }
    let c = put(kv, "c", "1", 0, None).await;
    let expected =
        Change::Set { key: "c".to_owned(), value: Some(Bytes::from_static(b"1")), revision: c };
    assert_eq!(change(&mut first).await, expected);
}

async fn one_of_many_writers_wins(kv: Arc<dyn Kv>) {
    let tries = (0..16).map(|_| {
        let kv = Arc::clone(&kv);
        tokio::spawn(async move {
            let nonce = nonces()();
            loop {
                let put = kv.put_if("a", Bytes::from_static(b"1"), 0, None, &nonce).await;
                match must("put", put) {
                    // Another write is in progress: its result is not known yet.
                    Put::Lost(None) => tokio::task::yield_now().await,
                    put => return put,
                }
            }
        })
    });
    let mut wins = 0;
    for result in futures::future::join_all(tries).await {
        wins += usize::from(matches!(must("a task", result), Put::Won(_)));
    }
    assert_eq!(wins, 1);
}

async fn buckets_are_separate(bus: &impl Bus) {
    put(&*bus.kv(Bucket::Leases), "a", "1", 0, None).await;
    put(&*bus.kv(Bucket::Timers), "a", "1", 0, None).await;
    assert_eq!(get(&*bus.kv(Bucket::Definitions), "a").await, None);
}
