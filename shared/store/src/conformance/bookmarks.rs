//! Look-ups of bookmarks.

use super::case::{Subject, cases};
use super::sample::{at, bookmark, first, http, id};
use crate::{Awaited, BookmarkFilter, LISTED, StoredBookmark};

cases![
    bookmarks_are_found_by_every_member,
    the_oldest_are_found_first,
    route_templates_are_listed_once,
    bookmarks_of_a_name_are_listed_in_parts,
    what_is_awaited_is_listed_once_for_each_definition,
];

async fn keep(store: &Subject, instance_id: &str, created: Vec<StoredBookmark>) {
    let mut burst = first(instance_id);
    burst.created = created;
    store.commit(burst).await.unwrap();
}

async fn found(store: &Subject, filter: BookmarkFilter) -> Vec<String> {
    let found = store.find(&filter, 100).await.unwrap();
    found.into_iter().map(|row| format!("{}/{}", row.instance_id, row.bookmark.id)).collect()
}

async fn bookmarks_are_found_by_every_member(store: Subject) {
    let correlated =
        StoredBookmark { correlation_id: Some("c".to_owned()), ..bookmark("b", "paid") };
    keep(&store, "a", vec![bookmark("a", "paid"), http("a", "route", "x")]).await;
    keep(&store, "b", vec![correlated.clone()]).await;

    let any = BookmarkFilter::default;
    let hash = Some(correlated.bookmark.hash.clone());
    assert!(found(&store, any()).await.is_empty());
    let filter = BookmarkFilter { id: Some("paid".into()), ..any() };
    assert_eq!(found(&store, filter.clone()).await, ["a/paid", "b/paid"]);
    let filter = BookmarkFilter { instance_id: Some(id("b")), ..filter };
    assert_eq!(found(&store, filter).await, ["b/paid"]);
    let filter = BookmarkFilter { hash, ..any() };
    assert_eq!(found(&store, filter.clone()).await, ["a/paid", "b/paid"]);
    let filter = BookmarkFilter { correlation_id: Some("c".to_owned()), ..filter };
    assert_eq!(found(&store, filter.clone()).await, ["b/paid"]);
    assert_eq!(store.find(&filter, 100).await.unwrap(), [correlated]);
    let filter = BookmarkFilter { name: Some("Elsa.HttpEndpoint".to_owned()), ..any() };
    assert_eq!(found(&store, filter.clone()).await, ["a/route"]);
    let filter = BookmarkFilter { instance_id: Some(id("b")), ..filter };
    assert!(found(&store, filter).await.is_empty());
}

async fn the_oldest_are_found_first(store: Subject) {
    let of_age = |name: &str, millis| {
        let mut stored = bookmark("a", name);
        stored.bookmark.created_at = at(millis);
        stored
    };
    keep(&store, "a", vec![of_age("c", 1), of_age("a", 2), of_age("b", 2), of_age("d", 0)]).await;
    let filter = BookmarkFilter { instance_id: Some(id("a")), ..BookmarkFilter::default() };
    assert_eq!(found(&store, filter.clone()).await, ["a/d", "a/c", "a/a", "a/b"]);
    assert_eq!(store.find(&filter, 2).await.unwrap().len(), 2);
}

async fn route_templates_are_listed_once(store: Subject) {
    let mut event = bookmark("a", "e");
    event.bookmark.payload = serde_json::json!({"Path": "/events/{id}"});
    keep(&store, "a", vec![http("a", "r1", "z/{id}"), http("a", "r2", "plain"), event]).await;
    keep(&store, "b", vec![http("b", "r1", "z/{id}"), http("b", "r2", "a/{b}/c")]).await;
    assert_eq!(store.route_templates(10).await.unwrap(), ["/a/{b}/c", "/z/{id}"]);
    assert_eq!(store.route_templates(1).await.unwrap(), ["/a/{b}/c"]);
}

async fn bookmarks_of_a_name_are_listed_in_parts(store: Subject) {
    let task = |instance: &str, name: &str, millis| {
        let mut stored = bookmark(instance, name);
        stored.bookmark.name = LISTED[0].to_owned();
        stored.bookmark.created_at = at(millis);
        stored
    };
    keep(&store, "a", vec![task("a", "x", 5), task("a", "y", 3), bookmark("a", "event")]).await;
    keep(&store, "b", vec![task("b", "x", 5), task("b", "z", 9), task("b", "w", 5)]).await;
    let list = async |before: i64, limit: u64| {
        let mut listed: Vec<StoredBookmark> = Vec::new();
        loop {
            let part = store.listed(LISTED[0], at(before), listed.last(), limit).await.unwrap();
            if part.is_empty() {
                break;
            }
            assert!(part.len() as u64 <= limit);
            listed.extend(part);
        }
        let name = |row: StoredBookmark| format!("{}/{}", row.instance_id, row.bookmark.id);
        listed.into_iter().map(name).collect::<Vec<_>>()
    };
    let all = ["a/y", "b/w", "a/x", "b/x", "b/z"];
    for limit in [1, 2, 100] {
        assert_eq!(list(10, limit).await, all, "{limit}");
    }
    assert_eq!(list(9, 2).await, all[..4]);
    assert!(list(3, 2).await.is_empty());
}

async fn what_is_awaited_is_listed_once_for_each_definition(store: Subject) {
    let waits = |instance: &str, id: &str, definition: &str, hash: &str| {
        let mut stored = bookmark(instance, id);
        stored.definition_id = definition.into();
        stored.bookmark.name = LISTED[1].to_owned();
        stored.bookmark.hash = hash.to_owned();
        stored.bookmark.payload = serde_json::json!({"subject": hash});
        stored
    };
    for (instance, definition, hash, since) in [
        ("a", "d", "h", 9),
        ("b", "d", "h", 7),
        ("c", "e", "h", 8),
        ("d", "c", "i", 3),
        ("e", "d", "g", 4),
    ] {
        let mut waiting = waits(instance, "w", definition, hash);
        waiting.bookmark.created_at = at(since);
        keep(&store, instance, vec![waiting]).await;
    }
    keep(&store, "f", vec![bookmark("f", "event")]).await;
    for limit in [1, 2, 100] {
        let mut listed: Vec<Awaited> = Vec::new();
        loop {
            let part = store.awaited(LISTED[1], listed.last(), limit).await.unwrap();
            if part.is_empty() {
                break;
            }
            assert!(part.len() as u64 <= limit);
            listed.extend(part);
        }
        let wanted = [("g", "d", 4, 1), ("h", "d", 7, 2), ("h", "e", 8, 1), ("i", "c", 3, 1)];
        let wanted = wanted.map(|(hash, definition, since, waiting)| {
            let payload = serde_json::json!({"subject": hash});
            let (hash, definition_id) = (hash.to_owned(), definition.into());
            Awaited { hash, definition_id, payload, since: at(since), waiting }
        });
        assert_eq!(listed, wanted, "{limit}");
    }
}
