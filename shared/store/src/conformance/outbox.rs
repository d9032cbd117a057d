//! Messages to publish.

use super::case::{Subject, cases, soon};
use super::sample::{at, first, next, outbox};
use crate::OutboxPlace;

cases![
    unpublished_rows_come_oldest_first,
    the_places_of_unpublished_rows_come_in_parts,
    published_rows_go_soon,
];

async fn unpublished_rows_come_oldest_first(store: Subject) {
    let mut burst = first("a");
    burst.outbox = vec![outbox("c", at(10)), outbox("b", at(20)), outbox("a", at(20))];
    store.commit(burst.clone()).await.unwrap();
    let mut later = next("a", 1);
    later.outbox = vec![outbox("d", at(30))];
    store.commit(later).await.unwrap();

    let [c, b, a] = burst.outbox.try_into().unwrap();
    assert_eq!(store.unpublished(at(30), 10).await.unwrap(), [c.clone(), a, b]);
    assert_eq!(store.unpublished(at(30), 1).await.unwrap(), [c]);
    assert_eq!(store.unpublished(at(10), 10).await.unwrap(), []);
}

async fn the_places_of_unpublished_rows_come_in_parts(store: Subject) {
    let mut burst = first("a");
    let rows = [("c", 10), ("b", 20), ("a", 20), ("d", 20), ("e", 30)];
    burst.outbox = rows.map(|(id, time)| outbox(id, at(time))).into();
    store.commit(burst).await.unwrap();
    let mut found = Vec::new();
    let mut after: Option<OutboxPlace> = None;
    loop {
        let part = store.unpublished_places(at(30), after.as_ref(), 3).await.unwrap();
        assert!(part.len() <= 3);
        let Some(last) = part.last() else { break };
        after = Some(last.clone());
        found.extend(part.into_iter().map(|place| (place.id, place.created_at)));
    }
    let expected = [("c", 10), ("a", 20), ("b", 20), ("d", 20)];
    assert_eq!(found, expected.map(|(id, time)| (id.to_owned(), at(time))));

    let ids = ["e", "unknown", "b", "c"].map(str::to_owned);
    let expected = [("c", 10), ("b", 20), ("e", 30)].map(|(id, time)| outbox(id, at(time)));
    assert_eq!(store.outbox_rows(&ids).await.unwrap(), expected);
    assert_eq!(store.outbox_rows(&[]).await.unwrap(), []);
}

async fn published_rows_go_soon(store: Subject) {
    let mut burst = first("a");
    burst.outbox = (0..50).map(|number| outbox(&format!("o{number:02}"), at(number))).collect();
    store.commit(burst).await.unwrap();
    let ids = (1..50).map(|number| format!("o{number:02}")).collect();
    store.published(ids).await.unwrap();
    store.published(vec!["unknown".to_owned()]).await.unwrap();
    soon(async || {
        let left = store.unpublished(at(100), 100).await.unwrap();
        left.iter().map(|row| row.id.as_str()).eq(["o00"])
    })
    .await;

    store.published(vec!["o00".to_owned()]).await.unwrap();
    // With the next transaction.
    store.commit(next("a", 1)).await.unwrap();
    soon(async || store.unpublished(at(100), 100).await.unwrap().is_empty()).await;
}
