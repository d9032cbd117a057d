//! Rows that are of no use any more.

use model::SubStatus;

use super::case::{Subject, cases};
use super::sample::{at, first, publication, schedule, timer, token};
use crate::{Base, Firing, Leftover};

cases![
    expired_tokens_are_cleared_and_no_others,
    a_timer_without_its_instance_is_cleared_and_no_other,
    a_retired_schedule_is_cleared_when_nothing_is_left_of_its_definition,
];

async fn expired_tokens_are_cleared_and_no_others(store: Subject) {
    for (hash, expires_at) in [("a", 10), ("b", 20), ("c", 30)] {
        store.grant(token(hash, "i", at(expires_at))).await.unwrap();
    }
    assert_eq!(store.clear(Leftover::Tokens, at(30), 1).await.unwrap(), 1);
    assert_eq!(store.token("a", at(0)).await.unwrap(), None, "the earliest goes first");
    assert_eq!(store.clear(Leftover::Tokens, at(30), 9).await.unwrap(), 1);
    assert_eq!(store.clear(Leftover::Tokens, at(30), 9).await.unwrap(), 0);
    assert!(store.token("c", at(0)).await.unwrap().is_some());
}

async fn a_timer_without_its_instance_is_cleared_and_no_other(store: Subject) {
    let mut burst = first("a");
    burst.created = vec![
        timer("a", "own", at(10)),
        timer("gone", "g1", at(10)),
        timer("gone", "g2", at(20)),
        timer("gone", "later", at(50)),
    ];
    store.commit(burst).await.unwrap();
    assert_eq!(store.clear(Leftover::Timers, at(50), 1).await.unwrap(), 1);
    assert_eq!(store.clear(Leftover::Timers, at(50), 9).await.unwrap(), 1);
    assert_eq!(store.clear(Leftover::Timers, at(50), 9).await.unwrap(), 0);
    let left = store.due_timers(&super::schedules::all(), at(99), 9).await.unwrap();
    let left: Vec<_> = left.iter().map(|due| due.bookmark_id.as_str()).collect();
    assert_eq!(left, ["own", "later"]);
}

async fn a_retired_schedule_is_cleared_when_nothing_is_left_of_its_definition(store: Subject) {
    let mut published = publication("order", 1);
    published.schedules = vec![schedule(&published.definition, 60, at(10))];
    let clear = async || store.clear(Leftover::Schedules, at(0), 9).await.unwrap();
    store.publish(published.clone()).await.unwrap();
    assert_eq!(clear().await, 0, "it is in use");
    let firing = Firing {
        schedule_id: "order-timer".into(),
        occurrence: 0,
        occurrence_next: 1,
        next_at: Some(at(70)),
        starts: Vec::new(),
        fired_at: Some(at(9)),
        missed: 2,
    };
    assert!(store.fire(firing.clone()).await.unwrap());
    let mut ended = first("i");
    ended.instance.definition_id = "order".into();
    ended.instance.version_id = "order-1".into();
    ended.instance.status = SubStatus::Finished;
    store.commit(ended).await.unwrap();
    store.retract(&"order".into(), &Base::Any).await.unwrap();
    assert_eq!(clear().await, 0, "a version of its definition is there");
    store.delete_definition(&"order".into(), &Base::Any).await.unwrap();
    assert_eq!(clear().await, 0, "an instance is there");
    store.delete(&"i".into()).await.unwrap();
    assert_eq!(clear().await, 1);
    assert_eq!(clear().await, 0);
    let mut again = publication("order", 2);
    again.schedules = vec![schedule(&again.definition, 60, at(10))];
    store.publish(again).await.unwrap();
    assert!(store.fire(firing).await.unwrap(), "its counter begins anew");
}
