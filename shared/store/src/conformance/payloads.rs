//! Payloads.

use model::PayloadHash;

use super::case::{Subject, cases};
use super::sample::{at, first, next, start};
use crate::{Cleared, Nameless, PayloadChanges};

cases![
    a_payload_is_read_once_it_is_complete,
    the_same_bytes_rest_once,
    what_an_instance_uses_stays_and_the_rest_goes,
    a_burst_keeps_what_it_sends_for_a_while,
    a_start_keeps_what_it_names,
    what_is_outside_loses_its_name_first,
    the_same_bytes_outside_rest_once,
    what_cannot_be_read_gives_its_name_away,
];

/// Keeps these bytes as one part.
async fn keep(store: &Subject, id: &str, bytes: &[u8], ms: i64) -> PayloadHash {
    let hash = PayloadHash::of(bytes);
    store.begin_payload(id, None, at(ms)).await.unwrap();
    store.write_payload(id, 0, bytes.to_vec()).await.unwrap();
    store.complete_payload(id, &hash, bytes.len() as u64, at(ms)).await.unwrap();
    hash
}

/// Keeps the row of these bytes; the parts are in a place outside.
async fn keep_outside(store: &Subject, id: &str, bytes: &[u8], ms: i64) -> PayloadHash {
    let hash = PayloadHash::of(bytes);
    store.begin_payload(id, Some("s3://b"), at(ms)).await.unwrap();
    store.complete_payload(id, &hash, bytes.len() as u64, at(ms)).await.unwrap();
    hash
}

async fn a_payload_is_read_once_it_is_complete(store: Subject) {
    let hash = PayloadHash::of(b"abc");
    store.begin_payload("p", None, at(1)).await.unwrap();
    store.write_payload("p", 0, b"ab".to_vec()).await.unwrap();
    store.write_payload("p", 1, b"c".to_vec()).await.unwrap();
    store.write_payload("p", 1, b"other".to_vec()).await.unwrap();
    assert_eq!(store.payload(&hash).await.unwrap(), None);
    assert!(store.complete_payload("p", &hash, 3, at(2)).await.unwrap());
    // The answer may have been lost.
    assert!(store.complete_payload("p", &hash, 3, at(3)).await.unwrap());
    let found = store.payload(&hash).await.unwrap().unwrap();
    assert_eq!((found.size, found.hash, found.touched_at), (3, hash, at(3)));
    assert_eq!(found.place, None);
    assert_eq!(store.payload_part(&found.id, 0).await.unwrap().as_deref(), Some(&b"ab"[..]));
    assert_eq!(store.payload_part(&found.id, 1).await.unwrap().as_deref(), Some(&b"c"[..]));
    assert_eq!(store.payload_part(&found.id, 2).await.unwrap(), None);
    assert_eq!(store.payload(&PayloadHash::of(b"")).await.unwrap(), None);
}

async fn the_same_bytes_rest_once(store: Subject) {
    let hash = keep(&store, "one", b"same", 1).await;
    let other = keep(&store, "two", b"same", 5).await;
    assert_eq!(hash, other);
    let found = store.payload(&hash).await.unwrap().unwrap();
    assert_eq!((found.id.as_str(), found.touched_at), ("one", at(5)));
    assert_eq!(store.payload_part("two", 0).await.unwrap(), None);
}

async fn what_an_instance_uses_stays_and_the_rest_goes(store: Subject) {
    let used = keep(&store, "used", b"used", 1).await;
    let idle = keep(&store, "idle", b"idle", 2).await;
    store.begin_payload("broken", None, at(3)).await.unwrap();
    let fresh = keep(&store, "fresh", b"fresh", 100).await;
    let mut burst = first("i");
    burst.payloads.used = vec![used.clone()];
    store.commit(burst).await.unwrap();
    assert_eq!(store.payload_users(&used, 9).await.unwrap(), ["i".into()]);
    let clear = async |limit| store.clear_payloads(at(50), at(60), limit).await.unwrap();
    let mut all = Cleared::default();
    // The burst may have touched it: then it is not looked at.
    for _ in 0..9 {
        let Cleared { seen, removed, .. } = clear(1).await;
        (all.seen, all.removed) = (all.seen + seen, all.removed + removed);
    }
    assert_eq!(all.removed, 2);
    assert!((2..=3).contains(&all.seen), "{all:?}");
    assert!(store.payload(&used).await.unwrap().is_some());
    assert!(store.payload(&fresh).await.unwrap().is_some());
    assert_eq!(store.payload(&idle).await.unwrap(), None);
    assert_eq!(store.payload_part("idle", 0).await.unwrap(), None);
    assert_eq!(store.payload_part("broken", 0).await.unwrap(), None);
    let lost = store.write_payload("broken", 1, vec![1]).await;
    assert!(lost.is_err() || store.payload_part("broken", 1).await.unwrap().is_none());
    // It goes after its instance.
    store.delete(&"i".into()).await.unwrap();
    assert!(store.payload_users(&used, 9).await.unwrap().is_empty());
    let hour = 3_600_000;
    let cleared = store.clear_payloads(at(30 * hour), at(30 * hour), 9).await.unwrap();
    assert_eq!(cleared, Cleared { seen: 2, removed: 2, ..Cleared::default() });
    assert_eq!(store.payload(&used).await.unwrap(), None);
}

async fn a_burst_keeps_what_it_sends_for_a_while(store: Subject) {
    let sent = keep(&store, "sent", b"sent", 1).await;
    let mut burst = first("i");
    burst.payloads.used = vec![sent.clone()];
    store.commit(burst).await.unwrap();
    let mut burst = next("i", 1);
    burst.instance.updated_at = at(2 * 3_600_000);
    burst.payloads = PayloadChanges { unused: vec![sent.clone()], ..PayloadChanges::none() };
    store.commit(burst).await.unwrap();
    assert!(store.payload_users(&sent, 9).await.unwrap().is_empty());
    let hour = 3_600_000;
    assert_eq!(store.clear_payloads(at(hour), at(hour), 9).await.unwrap(), Cleared::default());
    assert!(store.payload(&sent).await.unwrap().is_some(), "it was used until then");
}

async fn a_start_keeps_what_it_names(store: Subject) {
    let [of_start, of_child] =
        [keep(&store, "start", b"start", 1).await, keep(&store, "child", b"child", 1).await];
    let naming = |id: &str, hash: &PayloadHash| {
        let mut start = start(id);
        start.command.payload = format!("a file {hash}").into_bytes();
        start
    };
    store.accept(naming("i", &of_start)).await.unwrap();
    let mut burst = first("parent");
    burst.starts = vec![naming("j", &of_child)];
    store.commit(burst).await.unwrap();
    assert_eq!(store.payload_users(&of_start, 9).await.unwrap(), ["i".into()]);
    assert_eq!(store.payload_users(&of_child, 9).await.unwrap(), ["j".into()]);
    let year = 365 * 24 * 3_600_000;
    assert_eq!(store.clear_payloads(at(year), at(year), 9).await.unwrap().removed, 0);
    store.delete(&"i".into()).await.unwrap();
    assert_eq!(store.clear_payloads(at(2 * year), at(2 * year), 9).await.unwrap().removed, 1);
    assert!(store.payload(&of_child).await.unwrap().is_some());
}

async fn what_is_outside_loses_its_name_first(store: Subject) {
    let used = keep_outside(&store, "used", b"used", 1).await;
    let idle = keep_outside(&store, "idle", b"idle", 2).await;
    store.begin_payload("broken", Some("nats"), at(3)).await.unwrap();
    let fresh = keep_outside(&store, "fresh", b"fresh", 100).await;
    let found = store.payload(&idle).await.unwrap().unwrap();
    assert_eq!((found.place.as_deref(), found.size), (Some("s3://b"), 4));
    let mut burst = first("i");
    burst.payloads.used = vec![used.clone()];
    store.commit(burst).await.unwrap();
    let of = |id: &str, place: &str| Nameless { id: id.to_owned(), place: place.to_owned() };
    let both = vec![of("broken", "nats"), of("idle", "s3://b")];
    let clear = async |ms| {
        let Cleared { removed, mut nameless, .. } =
            store.clear_payloads(at(ms), at(60), 9).await.unwrap();
        assert_eq!(removed, 0);
        nameless.sort_by(|one, other| one.id.cmp(&other.id));
        nameless
    };
    assert_eq!(clear(50).await, both);
    for (hash, is_there) in [(&used, true), (&fresh, true), (&idle, false)] {
        assert_eq!(store.payload(hash).await.unwrap().is_some(), is_there, "{hash}");
    }
    // It is looked at again, after all that is older.
    assert_eq!(clear(50).await, []);
    assert_eq!(clear(51).await, both);
    // Its writer was slow, and its parts may be gone.
    let late = store.complete_payload("broken", &PayloadHash::of(b"late"), 4, at(70)).await;
    assert!(late.is_err(), "{late:?}");
    for id in ["idle", "broken", "broken", "used", "nobody"] {
        store.forget_payload(id).await.unwrap();
    }
    assert!(store.payload(&used).await.unwrap().is_some(), "it has a name");
    assert_eq!(clear(52).await, []);
    // The bytes may be kept again, here this time.
    keep(&store, "again", b"idle", 60).await;
    let found = store.payload(&idle).await.unwrap().unwrap();
    assert_eq!((found.id.as_str(), found.place), ("again", None));
}

async fn the_same_bytes_outside_rest_once(store: Subject) {
    let hash = keep(&store, "one", b"same", 1).await;
    for _ in 0..2 {
        store.begin_payload("two", Some("nats"), at(2)).await.unwrap();
        assert!(!store.complete_payload("two", &hash, 4, at(5)).await.unwrap());
    }
    let found = store.payload(&hash).await.unwrap().unwrap();
    assert_eq!((found.id.as_str(), found.touched_at), ("one", at(5)));
    let cleared = store.clear_payloads(at(4), at(4), 9).await.unwrap();
    let two = Nameless { id: "two".to_owned(), place: "nats".to_owned() };
    assert_eq!(cleared.nameless, [two], "its parts are still there");
    store.forget_payload("two").await.unwrap();
    assert_eq!(store.clear_payloads(at(5), at(5), 9).await.unwrap(), Cleared::default());
}

async fn what_cannot_be_read_gives_its_name_away(store: Subject) {
    let hash = keep_outside(&store, "lost", b"same", 1).await;
    let here = keep(&store, "here", b"here", 1).await;
    let mut burst = first("i");
    burst.payloads.used = vec![hash.clone()];
    store.commit(burst).await.unwrap();
    let found = async || store.payload(&hash).await.unwrap().map(|found| found.id);
    // Another writer was faster, the name is that of other bytes, or the parts are here.
    for (id, name) in [("other", &hash), ("lost", &here), ("here", &here)] {
        store.unname_payload(id, name).await.unwrap();
    }
    assert_eq!(found().await.as_deref(), Some("lost"));
    assert!(store.payload(&here).await.unwrap().is_some());
    for _ in 0..2 {
        store.unname_payload("lost", &hash).await.unwrap();
    }
    assert_eq!(found().await, None);
    store.begin_payload("again", Some("nats"), at(5)).await.unwrap();
    assert!(store.complete_payload("again", &hash, 4, at(5)).await.unwrap());
    store.unname_payload("lost", &hash).await.unwrap();
    assert_eq!(found().await.as_deref(), Some("again"));
    assert_eq!(store.payload_users(&hash, 9).await.unwrap(), ["i".into()]);
    let late = store.complete_payload("lost", &hash, 4, at(6)).await;
    assert!(late.is_err() || !late.unwrap(), "it has lost its name");
    let cleared = store.clear_payloads(at(3_600_000), at(3_600_000), 9).await.unwrap();
    let lost = Nameless { id: "lost".to_owned(), place: "s3://b".to_owned() };
    assert_eq!(cleared.nameless, [lost], "its parts are still there");
    assert_eq!(found().await.as_deref(), Some("again"), "an instance uses it");
}
