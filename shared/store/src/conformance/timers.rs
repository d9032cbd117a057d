//! Due timers.

use model::{ScheduleId, limits};

use super::case::{Subject, at_once, cases};
use super::sample::{at, first, id, publication, schedule, start, timer};
use crate::{Base, DueTimer, Firing, InstanceFilter, Page, shard_of};

cases![
    the_clock_goes_on,
    due_timers_come_earliest_first,
    timers_are_divided_by_shard,
    due_schedules_come_earliest_first,
    one_of_many_fires_an_occurrence,
    a_schedule_that_is_gone_does_not_fire,
    a_start_that_is_there_does_not_stop_a_schedule,
];

fn all() -> Vec<i32> {
    (0..limits::TIMER_SHARDS).collect()
}

async fn the_clock_goes_on(store: Subject) {
    let first = store.clock().await.unwrap();
    let second = store.clock().await.unwrap();
    assert!(second >= first);
    let year_2020 = 1_577_836_800_000;
    let year_2200 = 7_258_118_400_000;
    assert!((year_2020..year_2200).contains(&first.as_millis()), "{first}");
}

async fn due_timers_come_earliest_first(store: Subject) {
    let mut burst = first("a");
    burst.created = vec![
        timer("a", "b3", at(30)),
        timer("a", "b1", at(10)),
        timer("a", "b4", at(40)),
        super::sample::bookmark("a", "no-timer"),
    ];
    store.commit(burst).await.unwrap();
    let mut burst = first("b");
    burst.created = vec![timer("b", "b2", at(10))];
    store.commit(burst).await.unwrap();

    let due = |instance_id: &str, bookmark_id: &str, millis| DueTimer {
        due_at: at(millis),
        instance_id: id(instance_id),
        bookmark_id: bookmark_id.into(),
        shard: shard_of(instance_id),
    };
    let expected = [due("a", "b1", 10), due("b", "b2", 10), due("a", "b3", 30)];
    assert_eq!(store.due_timers(&all(), at(40), 10).await.unwrap(), expected);
    assert_eq!(store.due_timers(&all(), at(40), 2).await.unwrap(), expected[..2]);

    let mut burst = super::sample::next("a", 1);
    burst.burned = vec!["b1".into()];
    store.commit(burst).await.unwrap();
    assert_eq!(store.due_timers(&all(), at(40), 10).await.unwrap(), expected[1..]);
}

async fn timers_are_divided_by_shard(store: Subject) {
    for number in 0..20 {
        let name = format!("i{number}");
        let mut burst = first(&name);
        burst.created = vec![timer(&name, "b", at(0))];
        store.commit(burst).await.unwrap();
    }
    let mut found = 0;
    for shard in all() {
        let due = store.due_timers(&[shard], at(1), 100).await.unwrap();
        assert!(due.iter().all(|timer| timer.shard == shard));
        found += due.len();
    }
    assert_eq!(found, 20);
    assert_eq!(store.due_timers(&[], at(1), 100).await.unwrap(), []);
}

async fn due_schedules_come_earliest_first(store: Subject) {
    for (name, millis) in [("c", 10), ("b", 20), ("a", 20), ("d", 30)] {
        let mut publication = publication(name, 1);
        publication.schedules = vec![schedule(&publication.definition, 60, at(millis))];
        store.publish(publication).await.unwrap();
    }
    let due = store.due_schedules(&all(), at(30), 10).await.unwrap();
    let ids: Vec<&str> = due.iter().map(|schedule| schedule.id.as_str()).collect();
    assert_eq!(ids, ["c-timer", "a-timer", "b-timer"]);
    assert_eq!(store.due_schedules(&all(), at(30), 1).await.unwrap().len(), 1);
    assert_eq!(store.due_schedules(&[due[0].shard], at(11), 10).await.unwrap(), due[..1]);
    assert_eq!(store.due_schedules(&[], at(30), 10).await.unwrap(), []);
}

fn firing(id: impl Into<ScheduleId>, occurrence: i64, started: &str) -> Firing {
    Firing {
        schedule_id: id.into(),
        occurrence,
        occurrence_next: occurrence + 2,
        next_at: Some(at(70_000)),
        starts: vec![start(&format!("{started}-1")), start(&format!("{started}-2"))],
        fired_at: None,
        missed: 0,
    }
}

async fn one_of_many_fires_an_occurrence(store: Subject) {
    let mut publication = publication("order", 1);
    publication.schedules = vec![schedule(&publication.definition, 60, at(0))];
    store.publish(publication).await.unwrap();
    let results = at_once(20, |number| {
        let store = Subject::clone(&store);
        async move { store.fire(firing("order-timer", 0, &format!("n{number}"))).await.unwrap() }
    })
    .await;
    let winner = results.iter().position(|fired| *fired).unwrap();
    assert_eq!(results.iter().filter(|fired| **fired).count(), 1);
    let listed = store.list(&InstanceFilter::default(), Page::first()).await.unwrap();
    assert_eq!(listed.total, 2);
    assert!(store.load(&format!("n{winner}-2").into()).await.unwrap().is_some());

    let schedules = store.schedules().await.unwrap();
    assert_eq!((schedules[0].occurrence, schedules[0].next_at), (2, Some(at(70_000))));
    assert!(!store.fire(firing("order-timer", 0, "late")).await.unwrap());
    assert!(store.fire(Firing { next_at: None, ..firing("order-timer", 2, "x") }).await.unwrap());
    assert_eq!(store.due_schedules(&all(), at(i64::from(i32::MAX)), 10).await.unwrap(), []);
    assert_eq!(store.schedules().await.unwrap()[0].next_at, None);
}

async fn a_schedule_that_is_gone_does_not_fire(store: Subject) {
    assert!(!store.fire(firing("never", 0, "a")).await.unwrap());
    let mut publication = publication("order", 1);
    publication.schedules = vec![schedule(&publication.definition, 60, at(0))];
    store.publish(publication).await.unwrap();
    store.retract(&"order".into(), &Base::Any).await.unwrap();
    assert!(!store.fire(firing("order-timer", 0, "a")).await.unwrap());
    assert_eq!(store.load(&id("a-1")).await.unwrap(), None);
}

async fn a_start_that_is_there_does_not_stop_a_schedule(store: Subject) {
    let mut publication = publication("order", 1);
    publication.schedules = vec![schedule(&publication.definition, 60, at(0))];
    store.publish(publication).await.unwrap();
    store.accept(start("a-1")).await.unwrap();
    store.commit(super::sample::next("a-1", 0)).await.unwrap();
    assert!(store.fire(firing("order-timer", 0, "a")).await.unwrap());
    assert_eq!(store.load(&id("a-1")).await.unwrap().unwrap().instance.version, 1);
    assert!(store.load(&id("a-2")).await.unwrap().is_some());
}
