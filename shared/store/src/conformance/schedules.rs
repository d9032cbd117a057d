//! Schedules across publications.

use model::{Recurrence, Schedule};

use super::case::{Subject, cases};
use super::sample::{at, publication, schedule};
use crate::{Base, Firing, Page, Publication, ScheduleFilter, SchedulePause};

cases![
    schedules_come_with_their_definition,
    an_unchanged_schedule_goes_on_where_it_was,
    a_changed_schedule_begins_anew_and_keeps_its_counter,
    a_one_time_schedule_does_not_fire_again,
    a_schedule_that_comes_back_keeps_its_counter,
    a_paused_schedule_does_not_fire,
    a_pause_stays_until_someone_ends_it,
    what_a_schedule_has_done_is_kept,
    schedules_are_listed_by_their_next_time,
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
        fired_at: Some(at(9)),
        missed: 2,
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

fn pause(millis: i64) -> SchedulePause {
    SchedulePause { since: at(millis), by: "ann".to_owned() }
}

async fn fires(store: &Subject, occurrence: i64) -> bool {
    let firing = Firing {
        schedule_id: "order-timer".into(),
        occurrence,
        occurrence_next: occurrence + 1,
        next_at: Some(at(99_000)),
        starts: Vec::new(),
        fired_at: None,
        missed: 0,
    };
    store.fire(firing).await.unwrap()
}

async fn a_paused_schedule_does_not_fire(store: Subject) {
    let id = "order-timer".into();
    assert!(!store.pause_schedule(&id, &pause(5)).await.unwrap(), "there is none");
    store.publish(timed(1, 60, 1_000)).await.unwrap();
    assert!(store.pause_schedule(&id, &pause(5)).await.unwrap());
    assert!(!store.pause_schedule(&id, &pause(6)).await.unwrap(), "it is paused");
    let paused = store.schedule(&id).await.unwrap().unwrap();
    assert_eq!(paused.pause, Some(pause(5)));
    assert_eq!(store.due_schedules(&all(), at(2_000), 10).await.unwrap(), []);
    assert!(!fires(&store, 0).await, "a timer that has read it before the pause");

    let other = Schedule { version_id: "order-9".into(), ..paused.schedule.clone() };
    assert!(!store.resume_schedule(&other, Some(at(61_000))).await.unwrap());
    assert!(store.resume_schedule(&paused.schedule, Some(at(61_000))).await.unwrap());
    assert!(!store.resume_schedule(&paused.schedule, None).await.unwrap(), "it is not paused");
    assert!(!fires(&store, 0).await, "a timer that still has the time of before the pause");
    let resumed = store.schedule(&id).await.unwrap().unwrap();
    assert_eq!((resumed.pause, resumed.schedule.next_at), (None, Some(at(61_000))));
    assert_eq!(store.due_schedules(&all(), at(61_001), 10).await.unwrap().len(), 1);
    assert!(fires(&store, resumed.schedule.occurrence).await);
}

async fn a_pause_stays_until_someone_ends_it(store: Subject) {
    let id = "order-timer".into();
    store.publish(timed(1, 60, 1_000)).await.unwrap();
    store.pause_schedule(&id, &pause(5)).await.unwrap();
    let now = async || store.schedule(&id).await.unwrap().map(|status| status.pause);
    store.publish(timed(2, 60, 1_000)).await.unwrap();
    assert_eq!(now().await, Some(Some(pause(5))));
    store.publish(timed(3, 30, 1_000)).await.unwrap();
    assert_eq!(now().await, Some(Some(pause(5))), "with another recurrence, too");
    store.retract(&"order".into(), &Base::Any).await.unwrap();
    assert_eq!(now().await, None);
    let read = timed(3, 30, 1_000).schedules.remove(0);
    assert!(!store.resume_schedule(&read, None).await.unwrap(), "it is retired");
    store.publish(timed(4, 30, 1_000)).await.unwrap();
    assert_eq!(now().await, Some(Some(pause(5))));
    store.delete_definition(&"order".into(), &Base::Any).await.unwrap();
    store.publish(timed(1, 60, 1_000)).await.unwrap();
    assert_eq!(now().await, Some(None), "the definition is another one");
}

async fn what_a_schedule_has_done_is_kept(store: Subject) {
    let id = "order-timer".into();
    store.publish(timed(1, 60, 1_000)).await.unwrap();
    let done = async || {
        let status = store.schedule(&id).await.unwrap().unwrap();
        (status.last_at, status.missed)
    };
    assert_eq!(done().await, (None, 0));
    fire(&store, 0, Some(61_000)).await;
    fire(&store, 1, Some(121_000)).await;
    assert_eq!(done().await, (Some(at(9)), 4));
    store.publish(timed(2, 60, 1_000)).await.unwrap();
    assert_eq!(done().await, (Some(at(9)), 4));
    assert!(fires(&store, 2).await);
    assert_eq!(done().await, (Some(at(9)), 4), "nothing was started");
}

async fn schedules_are_listed_by_their_next_time(store: Subject) {
    for (name, millis) in [("c", 10), ("b", 20), ("a", 20), ("d", 5)] {
        let mut publication = publication(name, 1);
        publication.schedules = vec![schedule(&publication.definition, 60, at(millis))];
        store.publish(publication).await.unwrap();
    }
    // A pause moves a schedule to no other place.
    store.pause_schedule(&"d-timer".into(), &pause(1)).await.unwrap();
    let listed = async |filter: &ScheduleFilter, page: Page| {
        let listed = store.schedule_page(filter, page).await.unwrap();
        let ids = listed.items.into_iter().map(|status| status.schedule.id.to_string());
        (ids.collect::<Vec<_>>().join(" "), listed.total)
    };
    let every = ScheduleFilter::default();
    let all = "d-timer c-timer a-timer b-timer".to_owned();
    assert_eq!(listed(&every, Page::first()).await, (all, 4));
    assert_eq!(listed(&every, Page::new(1, 2)).await, ("c-timer a-timer".to_owned(), 4));
    let paused = |is_paused| ScheduleFilter { is_paused, ..ScheduleFilter::default() };
    assert_eq!(listed(&paused(Some(true)), Page::first()).await, ("d-timer".to_owned(), 1));
    assert_eq!(listed(&paused(Some(false)), Page::first()).await.1, 3);
    let of = ScheduleFilter { definition_id: Some("a".into()), ..ScheduleFilter::default() };
    assert_eq!(listed(&of, Page::first()).await, ("a-timer".to_owned(), 1));
    store.retract(&"a".into(), &Base::Any).await.unwrap();
    assert_eq!(listed(&of, Page::first()).await, (String::new(), 0));
}
