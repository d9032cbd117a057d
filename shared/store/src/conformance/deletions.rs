//! Deletions of definitions against starts: one transaction decides.

use model::SubStatus;

use super::case::{Subject, at_once, cases};
use super::sample::{first, id, publication, start};
use crate::{Accepted, Base, Burst, Commit, Deleted, Expected, InstanceFilter, NewInstance, Page};

cases![
    a_definition_with_unfinished_instances_stays,
    a_start_of_a_deleted_version_is_refused,
    a_child_of_a_deleted_version_is_kept_for_its_first_burst,
    either_the_start_or_the_deletion_wins,
];

fn of_version(name: &str, definition: &str, version: u32) -> NewInstance {
    let mut start = start(name);
    start.instance.definition_id = definition.into();
    start.instance.version_id = format!("{definition}-{version}").into();
    start
}

/// The first burst of that start; it ends the instance.
fn ends(start: &NewInstance, expected: Expected) -> Burst {
    let mut burst = first(start.instance.id.as_str());
    burst.expected = expected;
    burst.instance.definition_id = start.instance.definition_id.clone();
    burst.instance.version_id = start.instance.version_id.clone();
    burst.instance.status = SubStatus::Finished;
    burst
}

async fn a_definition_with_unfinished_instances_stays(store: Subject) {
    store.publish(publication("order", 1)).await.unwrap();
    store.publish(publication("order", 2)).await.unwrap();
    let running = of_version("a", "order", 1);
    assert_eq!(store.accept(running.clone()).await.unwrap(), Accepted::New);
    let in_use = Deleted::InUse { instances: 1 };
    assert_eq!(store.delete_definition(&"order".into(), &Base::Any).await.unwrap(), in_use);
    assert_eq!(store.delete_version(&"order-1".into()).await.unwrap(), in_use);
    // Nothing runs the other version.
    let gone = Deleted::Done { versions: 1 };
    assert_eq!(store.delete_version(&"order-2".into()).await.unwrap(), gone);
    let done = Commit::Done { waiting: Vec::new() };
    assert_eq!(store.commit(ends(&running, Expected::Unstarted)).await.unwrap(), done);
    assert_eq!(store.delete_definition(&"order".into(), &Base::Any).await.unwrap(), gone);
    assert!(store.load(&id("a")).await.unwrap().is_some());
}

async fn a_start_of_a_deleted_version_is_refused(store: Subject) {
    store.publish(publication("order", 1)).await.unwrap();
    let before = of_version("before", "order", 1);
    store.accept(before.clone()).await.unwrap();
    store.commit(ends(&before, Expected::Unstarted)).await.unwrap();
    store.delete_definition(&"order".into(), &Base::Any).await.unwrap();

    let late = of_version("late", "order", 1);
    assert_eq!(store.accept(late.clone()).await.unwrap(), Accepted::Gone);
    for expected in [Expected::Unstarted, Expected::Absent] {
        let refused = Commit::Gone("order-1".into());
        assert_eq!(store.commit(ends(&late, expected)).await.unwrap(), refused);
    }
    assert_eq!(store.load(&id("late")).await.unwrap(), None);
    // A repeat of an accepted start finds the instance.
    assert!(matches!(store.accept(before.clone()).await.unwrap(), Accepted::Exists(_)));
    let again = store.commit(ends(&before, Expected::Unstarted)).await.unwrap();
    assert_eq!(again, Commit::Conflict);

    // A version that was published again can be started again.
    store.publish(publication("order", 1)).await.unwrap();
    assert_eq!(store.accept(late).await.unwrap(), Accepted::New);
}

async fn a_child_of_a_deleted_version_is_kept_for_its_first_burst(store: Subject) {
    store.publish(publication("child", 1)).await.unwrap();
    store.delete_version(&"child-1".into()).await.unwrap();
    let child = of_version("child", "child", 1);
    let parent = Burst { starts: vec![child.clone()], ..first("parent") };
    assert_eq!(store.commit(parent).await.unwrap(), Commit::Done { waiting: Vec::new() });
    let kept = store.load(&id("child")).await.unwrap().unwrap();
    assert_eq!(kept.instance.status, SubStatus::Pending);
    let refused = store.commit(ends(&child, Expected::Unstarted)).await.unwrap();
    assert_eq!(refused, Commit::Gone("child-1".into()));
}

/// Starts arrive while the definition is deleted, again and again. An instance never exists without
/// its definition.
async fn either_the_start_or_the_deletion_wins(store: Subject) {
    for round in 0..12 {
        let definition = format!("d{round}");
        store.publish(publication(&definition, 1)).await.unwrap();
        let ends = at_once(6, |number| {
            let (store, definition) = (Subject::clone(&store), definition.clone());
            async move {
                let mut start = of_version(&format!("{definition}-i{number}"), &definition, 1);
                start.instance.created_at = store.clock().await.unwrap();
                for _ in 0..number {
                    tokio::task::yield_now().await;
                }
                match number {
                    3 => {
                        match store.delete_definition(&definition.into(), &Base::Any).await.unwrap()
                        {
                            Deleted::Done { versions } => ("deleted", versions),
                            Deleted::InUse { instances } => ("in use", instances),
                            Deleted::Overtaken => panic!("without a base"),
                        }
                    }
                    0 | 1 => match store.accept(start).await.unwrap() {
                        Accepted::New => ("started", 1),
                        other => {
                            assert_eq!(other, Accepted::Gone);
                            ("refused", 1)
                        }
                    },
                    _ => {
                        let mut burst = ends(&start, Expected::Unstarted);
                        burst.instance.created_at = start.instance.created_at;
                        burst.instance.status = SubStatus::Suspended;
                        match store.commit(burst).await.unwrap() {
                            Commit::Done { .. } => ("started", 1),
                            other => {
                                assert_eq!(other, Commit::Gone(start.instance.version_id));
                                ("refused", 1)
                            }
                        }
                    }
                }
            }
        })
        .await;
        let started = ends.iter().filter(|end| end.0 == "started").count();
        let is_deleted = ends.contains(&("deleted", 1));
        assert_eq!(is_deleted, started == 0, "{ends:?}");
        let filter = InstanceFilter {
            definition_ids: vec![definition.as_str().into()],
            ..InstanceFilter::default()
        };
        let rows = store.list(&filter, Page::first()).await.unwrap().total;
        assert_eq!(rows, started as u64, "{ends:?}");
    }
}
