//! The number of things that are not done.

use model::SubStatus;

use super::case::{Subject, cases};
use super::sample::{at, command, first, outbox, publication, schedule, start, timer};
use crate::{Census, Unfinished};

cases![
    an_empty_database_has_nothing_to_do,
    what_is_not_done_is_counted_up_to_the_limit,
    unfinished_instances_are_counted_by_definition,
    faulted_instances_are_counted_by_definition_since_a_time,
];

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

async fn unfinished_instances_are_counted_by_definition(store: Subject) {
    assert!(store.unfinished_by_definition(10).await.unwrap().is_empty());
    store.accept(start("p")).await.unwrap();
    for (name, definition, status, millis) in [
        ("a", "order", SubStatus::Suspended, 10),
        ("b", "order", SubStatus::Suspended, 40),
        ("c", "order", SubStatus::Executing, 10),
        ("d", "invoice", SubStatus::Suspended, 30),
        ("e", "invoice", SubStatus::Finished, 50),
        ("f", "refund", SubStatus::Faulted, 50),
        ("g", "refund", SubStatus::Cancelled, 50),
    ] {
        let mut burst = first(name);
        burst.instance.definition_id = definition.into();
        burst.instance.status = status;
        burst.instance.updated_at = at(millis);
        burst.instance.finished_at = status.is_final().then(|| at(millis));
        store.commit(burst).await.unwrap();
    }
    let order = |suspended| Unfinished {
        pending: 1,
        executing: 1,
        suspended,
        ..Unfinished::none_of("order".into())
    };
    let invoice = Unfinished { suspended: 1, ..Unfinished::none_of("invoice".into()) };
    let all = store.unfinished_by_definition(10).await.unwrap();
    assert_eq!(all, [invoice.clone(), order(2)]);
    assert_eq!(all.iter().map(Unfinished::sum).collect::<Vec<_>>(), [1, 4]);
    // Of those that wait, the two that changed last.
    assert_eq!(store.unfinished_by_definition(2).await.unwrap(), [invoice, order(1)]);
    assert!(store.unfinished_by_definition(0).await.unwrap().is_empty());
}

async fn faulted_instances_are_counted_by_definition_since_a_time(store: Subject) {
    assert!(store.faulted_by_definition(at(0), 10).await.unwrap().is_empty());
    for (name, definition, status, millis) in [
        ("a", "order", SubStatus::Faulted, 10),
        ("b", "order", SubStatus::Faulted, 20),
        ("c", "order", SubStatus::Faulted, 40),
        ("d", "order", SubStatus::Cancelled, 40),
        ("e", "invoice", SubStatus::Faulted, 30),
        ("f", "invoice", SubStatus::Suspended, 30),
        ("g", "refund", SubStatus::Finished, 50),
    ] {
        let mut burst = first(name);
        burst.instance.definition_id = definition.into();
        burst.instance.status = status;
        burst.instance.updated_at = at(millis);
        burst.instance.finished_at = status.is_final().then(|| at(millis));
        store.commit(burst).await.unwrap();
    }
    let counts = |invoice, order| [("invoice".into(), invoice), ("order".into(), order)];
    assert_eq!(store.faulted_by_definition(at(20), 10).await.unwrap(), counts(1, 2));
    // Those that changed last.
    assert_eq!(store.faulted_by_definition(at(0), 2).await.unwrap(), counts(1, 1));
    assert!(store.faulted_by_definition(at(41), 10).await.unwrap().is_empty());
}
