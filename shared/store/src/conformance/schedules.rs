//! Schedules across publications.

use model::{Recurrence, Schedule};

use super::case::{Subject, cases};
use super::sample::{at, publication, schedule};
use crate::{Base, Firing, Publication};

cases![
    schedules_come_with_their_definition,
    an_unchanged_schedule_goes_on_where_it_was,
    a_changed_schedule_begins_anew_and_keeps_its_counter,
    a_one_time_schedule_does_not_fire_again,
    a_schedule_that_comes_back_keeps_its_counter,
];

fn timed(version: u32, seconds: u64, next_at: i64) -> Publication {
    let mut publication = publication("order", version);
    publication.schedules = vec![schedule(&publication.definition, seconds, at(next_at))];
    publication
}

async fn fire(store: &Subject, occurrence: i64, next_at: Option<i64>) {
    let firing = Firing {
        schedule_id: "order-timer".into(),
        occurrence,
        occurrence_next: occurrence + 1,
        next_at: next_at.map(at),
        starts: Vec::new(),
    };
    assert!(store.fire(firing).await.unwrap());
}

async fn only(store: &Subject) -> Schedule {
    let [schedule] = store.schedules().await.unwrap().try_into().unwrap();
    schedule
}

async fn schedules_come_with_their_definition(store: Subject) {
    let mut first = timed(1, 60, 1_000);
    let mut other = first.schedules[0].clone();
    other.id = "cron".into();
    other.recurrence = Recurrence::Cron {
        expression: "0 9 * * MON".to_owned(),
        zone: Some("Europe/Berlin".to_owned()),
    };
    first.schedules.insert(0, other);
    store.publish(first.clone()).await.unwrap();
    assert_eq!(store.schedules().await.unwrap(), first.schedules);
    assert_eq!(store.due_schedules(&all(), at(2_000), 10).await.unwrap(), first.schedules);

    store.publish(publication("order", 2)).await.unwrap();
    assert_eq!(store.schedules().await.unwrap(), []);
    store.publish(timed(3, 60, 1_000)).await.unwrap();
    store.retract(&"order".into(), &Base::Any).await.unwrap();
    assert_eq!(store.schedules().await.unwrap(), []);
    assert_eq!(store.due_schedules(&all(), at(2_000), 10).await.unwrap(), []);
    store.publish(timed(4, 60, 1_000)).await.unwrap();
    store.delete_version(&"order-4".into()).await.unwrap();
    assert_eq!(store.schedules().await.unwrap(), []);
    store.publish(timed(5, 60, 1_000)).await.unwrap();
    store.delete_definition(&"order".into(), &Base::Any).await.unwrap();
    assert_eq!(store.schedules().await.unwrap(), []);
}

pub(super) fn all() -> Vec<i32> {
    (0..model::limits::TIMER_SHARDS).collect()
}

async fn an_unchanged_schedule_goes_on_where_it_was(store: Subject) {
    store.publish(timed(1, 60, 1_000)).await.unwrap();
    fire(&store, 0, Some(61_000)).await;
    store.publish(timed(2, 60, 5_000)).await.unwrap();
    let schedule = only(&store).await;
    assert_eq!((schedule.occurrence, schedule.next_at), (1, Some(at(61_000))));
    assert_eq!(schedule.version_id.as_str(), "order-2");
}

async fn a_changed_schedule_begins_anew_and_keeps_its_counter(store: Subject) {
    store.publish(timed(1, 60, 1_000)).await.unwrap();
    fire(&store, 0, Some(61_000)).await;
    store.publish(timed(2, 30, 5_000)).await.unwrap();
    let schedule = only(&store).await;
    assert_eq!((schedule.occurrence, schedule.next_at), (1, Some(at(5_000))));
    assert_eq!(schedule.recurrence, timed(2, 30, 0).schedules[0].recurrence);
}

async fn a_one_time_schedule_does_not_fire_again(store: Subject) {
    let once = |version, millis| {
        let mut publication = timed(version, 60, millis);
        publication.schedules[0].recurrence = Recurrence::Once { at: at(millis) };
        publication
    };
    store.publish(once(1, 1_000)).await.unwrap();
    fire(&store, 0, None).await;
    assert_eq!(store.due_schedules(&all(), at(9_000), 10).await.unwrap(), []);
    store.publish(once(2, 1_000)).await.unwrap();
    assert_eq!(only(&store).await.next_at, None);
    store.publish(once(3, 2_000)).await.unwrap();
    assert_eq!(only(&store).await.next_at, Some(at(2_000)));
}

async fn a_schedule_that_comes_back_keeps_its_counter(store: Subject) {
    store.publish(timed(1, 60, 1_000)).await.unwrap();
    fire(&store, 0, Some(61_000)).await;
    store.retract(&"order".into(), &Base::Any).await.unwrap();
    store.publish(timed(1, 60, 7_000)).await.unwrap();
    let schedule = only(&store).await;
    assert_eq!((schedule.occurrence, schedule.next_at), (1, Some(at(7_000))));
    fire(&store, 1, Some(67_000)).await;

    store.delete_definition(&"order".into(), &Base::Any).await.unwrap();
    store.publish(timed(1, 60, 9_000)).await.unwrap();
    let schedule = only(&store).await;
    assert_eq!((schedule.occurrence, schedule.next_at), (2, Some(at(9_000))));
}
