//! The number of things that are not done.

use super::case::{Subject, cases};
use super::sample::{at, command, first, outbox, publication, schedule, start, timer};
use crate::Census;

cases![an_empty_database_has_nothing_to_do, what_is_not_done_is_counted_up_to_the_limit];

async fn an_empty_database_has_nothing_to_do(store: Subject) {
    assert_eq!(store.census(at(1_000), 10).await.unwrap(), Census::default());
}

async fn what_is_not_done_is_counted_up_to_the_limit(store: Subject) {
    for name in ["p1", "p2", "p3"] {
        store.accept(start(name)).await.unwrap();
    }
    let mut burst = first("a");
    burst.created =
        vec![timer("a", "b1", at(10)), timer("a", "b2", at(20)), timer("a", "b3", at(30))];
    burst.outbox = vec![outbox("o1", at(10)), outbox("o2", at(10))];
    store.commit(burst).await.unwrap();
    let mut publication = publication("order", 1);
    publication.schedules = vec![schedule(&publication.definition, 60, at(0))];
    store.publish(publication).await.unwrap();
    store.accept_command(command("c1")).await.unwrap();

    let expected = Census {
        pending: 3,
        executing: 0,
        suspended: 1,
        timers: 3,
        timers_overdue: 2,
        schedules: 1,
        outbox: 2,
        commands: 1,
    };
    assert_eq!(store.census(at(30), 100).await.unwrap(), expected);

    let limited = store.census(at(30), 2).await.unwrap();
    assert_eq!((limited.pending, limited.timers, limited.timers_overdue), (2, 2, 2));

    store.retract(&"order".into(), &crate::Base::Any).await.unwrap();
    assert_eq!(store.census(at(0), 100).await.unwrap().schedules, 0);
    assert_eq!(store.census(at(0), 100).await.unwrap().timers_overdue, 0);
}
