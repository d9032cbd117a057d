//! Definition versions, and their triggers.

use model::{Definition, Stimulus};

use super::case::{Subject, at_once, cases};
use super::sample::{at, draft, id, publication, trigger};
use crate::{
    Base, DefinitionColumn, DefinitionFilter, DefinitionOrder, Deleted, Error, Page, Publication,
    Published, Retracted, Saved, VersionOption,
};

cases![
    a_draft_is_read_as_it_was_saved,
    the_latest_version_is_one,
    a_published_version_is_not_changed_by_a_draft,
    a_published_version_keeps_its_content,
    a_draft_that_is_kept_for_runs_never_changes,
    an_older_publication_does_not_replace_a_newer_one,
    a_change_needs_its_base,
    concurrent_publications_happen_one_after_the_other,
    a_number_belongs_to_one_version,
    every_version_option_finds_its_versions,
    publishing_replaces_what_was_published,
    a_route_belongs_to_one_definition,
    one_of_many_gets_the_route,
    retracting_takes_everything_back,
    a_stale_base_retracts_and_deletes_nothing,
    versions_are_published_together_or_not_at_all,
    a_deleted_definition_leaves_nothing,
    a_deleted_latest_version_has_a_successor,
    definitions_are_filtered_ordered_and_paged,
];

async fn save(store: &Subject, definition: &Definition) -> Result<Saved, Error> {
    store.save(definition, &Base::Any).await
}

async fn find(store: &Subject, version: VersionOption) -> Option<u32> {
    let found = store.definition(&"order".into(), version).await.unwrap();
    found.map(|definition| definition.version)
}

async fn a_draft_is_read_as_it_was_saved(store: Subject) {
    let mut new = draft("order", 1);
    new.extra.insert("toolVersion".to_owned(), serde_json::json!({"z": [1, null], "a": 2.5}));
    save(&store, &new).await.unwrap();
    assert_eq!(store.version(&new.id).await.unwrap(), Some(new.clone()));
    assert_eq!(store.version(&"other".into()).await.unwrap(), None);

    // A draft is not published, whatever its document says.
    new.description = Some("Changed".to_owned());
    new.is_published = true;
    save(&store, &new).await.unwrap();
    new.is_published = false;
    let found = store.definition(&"order".into(), VersionOption::Latest).await.unwrap();
    assert_eq!(found, Some(new));
}

async fn the_latest_version_is_one(store: Subject) {
    save(&store, &draft("order", 1)).await.unwrap();
    save(&store, &draft("invoice", 1)).await.unwrap();
    save(&store, &draft("order", 2)).await.unwrap();
    let older = store.version(&"order-1".into()).await.unwrap().unwrap();
    assert!(!older.is_latest);
    assert_eq!(find(&store, VersionOption::Latest).await, Some(2));
    let other = store.version(&"invoice-1".into()).await.unwrap().unwrap();
    assert!(other.is_latest);

    let not_latest = Definition { is_latest: false, ..draft("order", 3) };
    save(&store, &not_latest).await.unwrap();
    assert_eq!(find(&store, VersionOption::Latest).await, Some(2));
}

async fn a_published_version_is_not_changed_by_a_draft(store: Subject) {
    store.publish(publication("order", 1)).await.unwrap();
    let result = save(&store, &Definition { description: None, ..draft("order", 1) }).await;
    assert!(matches!(result, Err(Error::Refused(_))), "{result:?}");
    save(&store, &draft("order", 2)).await.unwrap();
    assert_eq!(find(&store, VersionOption::Published).await, Some(1));
}

/// Other content under the id of a version that was published once is refused; the same content is
/// published again, also after the version was retracted.
async fn a_published_version_keeps_its_content(store: Subject) {
    store.publish(publication("order", 1)).await.unwrap();
    let stored = store.version(&"order-1".into()).await.unwrap();
    let mut changed = publication("order", 1);
    changed.definition.description = Some("Changed".to_owned());
    for is_retracted in [false, true] {
        if is_retracted {
            store.retract(&"order".into(), &Base::Any).await.unwrap();
        }
        let result = store.publish(changed.clone()).await;
        assert!(matches!(result, Err(Error::Refused(_))), "{result:?}");
        let result = save(&store, &changed.definition).await;
        assert!(matches!(result, Err(Error::Refused(_))), "{result:?}");
    }
    let mut again = publication("order", 1);
    again.definition.created_at = Some(at(77));
    again.definition.published_at = Some(at(78));
    assert_eq!(store.publish(again).await.unwrap(), Published::Done);
    assert_eq!(store.version(&"order-1".into()).await.unwrap(), stored);

    let unmarked = Definition { published_at: None, ..publication("order", 2).definition };
    let unmarked = Publication { definition: unmarked, ..publication("order", 2) };
    let result = store.publish(unmarked).await;
    assert!(matches!(result, Err(Error::Refused(_))), "{result:?}");
}

async fn a_draft_that_is_kept_for_runs_never_changes(store: Subject) {
    let kept = Definition { published_at: Some(at(9)), ..draft("order", 1) };
    save(&store, &kept).await.unwrap();
    assert_eq!(store.version(&"order-1".into()).await.unwrap().as_ref(), Some(&kept));
    assert_eq!(find(&store, VersionOption::Published).await, None);
    assert_eq!(store.triggers_named("Elsa.HttpEndpoint").await.unwrap(), []);
    let result = save(&store, &draft("order", 1)).await;
    assert!(matches!(result, Err(Error::Refused(_))), "{result:?}");
    save(&store, &draft("order", 2)).await.unwrap();
    assert_eq!(store.version(&"order-1".into()).await.unwrap().unwrap().published_at, Some(at(9)));
}

async fn an_older_publication_does_not_replace_a_newer_one(store: Subject) {
    save(&store, &draft("order", 3)).await.unwrap();
    store.publish(with_route("order", 4)).await.unwrap();
    let newer = store.version(&"order-4".into()).await.unwrap().unwrap();
    let result = store.publish(publication("order", 3)).await.unwrap();
    assert_eq!(result, Published::Overtaken { by: Some(Box::new(newer)) });
    assert_eq!(find(&store, VersionOption::LatestAndPublished).await, Some(4));
    assert_eq!(store.triggers_named("Elsa.HttpEndpoint").await.unwrap().len(), 1);
    // Once the newer version is retracted, the older one may be published.
    store.retract(&"order".into(), &Base::Any).await.unwrap();
    assert_eq!(store.publish(publication("order", 3)).await.unwrap(), Published::Done);
    assert_eq!(find(&store, VersionOption::Published).await, Some(3));
}

async fn a_change_needs_its_base(store: Subject) {
    let first = draft("order", 1);
    assert_eq!(store.save(&first, &Base::Nothing).await.unwrap(), Saved::Done);
    let overtaken = |by: &Definition| Some(Box::new(by.clone()));
    let result = store.save(&draft("order", 2), &Base::Nothing).await.unwrap();
    assert_eq!(result, Saved::Overtaken { by: overtaken(&first) });

    let base = Base::of(Some(&first));
    let changed = Definition { description: Some("Changed".to_owned()), ..first.clone() };
    assert_eq!(store.save(&changed, &base).await.unwrap(), Saved::Done);
    assert_eq!(
        store.save(&first, &base).await.unwrap(),
        Saved::Overtaken { by: overtaken(&changed) }
    );
    let stale = Publication { base: base.clone(), ..publication("order", 1) };
    assert_eq!(
        store.publish(stale).await.unwrap(),
        Published::Overtaken { by: overtaken(&changed) }
    );
    assert_eq!(find(&store, VersionOption::Published).await, None);

    // The same content, but published in the meantime.
    let base = Base::of(Some(&changed));
    let published_at = Some(at(9));
    let definition = Definition { published_at, ..changed };
    let publication = Publication { definition, base, ..publication("order", 1) };
    assert_eq!(store.publish(publication.clone()).await.unwrap(), Published::Done);
    let latest = store.version(&"order-1".into()).await.unwrap().unwrap();
    assert_eq!(
        store.publish(publication).await.unwrap(),
        Published::Overtaken { by: overtaken(&latest) }
    );
    let gone = Base::of(Some(&latest));
    store.delete_definition(&"order".into(), &Base::Any).await.unwrap();
    assert_eq!(store.save(&draft("order", 2), &gone).await.unwrap(), Saved::Overtaken { by: None });
    assert_eq!(find(&store, VersionOption::All).await, None);
}

/// Eight publishers, each with its own content, each starting from the latest version that it
/// reads.
async fn concurrent_publications_happen_one_after_the_other(store: Subject) {
    save(&store, &draft("order", 1)).await.unwrap();
    let published = at_once(8, |number| {
        let store = Subject::clone(&store);
        async move {
            for _ in 0..64 {
                let latest =
                    store.definition(&"order".into(), VersionOption::Latest).await.unwrap();
                let latest = latest.unwrap();
                let next = latest.version + u32::from(latest.is_immutable());
                let mut mine = publication("order", next);
                mine.definition.description = Some(number.to_string());
                mine.base = Base::of(Some(&latest));
                let definition = mine.definition.clone();
                if store.publish(mine).await.unwrap() == Published::Done {
                    return (definition.version, definition);
                }
            }
            panic!("publisher {number} was overtaken 64 times by 7 others");
        }
    })
    .await;
    let mut numbers: Vec<u32> = published.iter().map(|(number, _)| *number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=8).collect::<Vec<_>>());
    for (_, definition) in published {
        let stored = store.version(&definition.id).await.unwrap().unwrap();
        assert!(stored.has_content_of(&definition), "{stored:?}");
    }
    assert_eq!(find(&store, VersionOption::LatestAndPublished).await, Some(8));
}

async fn a_number_belongs_to_one_version(store: Subject) {
    save(&store, &draft("order", 1)).await.unwrap();
    let other = Definition { id: "x".into(), ..draft("order", 1) };
    let result = save(&store, &other).await;
    assert!(matches!(result, Err(Error::Refused(_))), "{result:?}");
    let publication = Publication { definition: other, ..publication("order", 1) };
    let result = store.publish(publication).await;
    assert!(matches!(result, Err(Error::Refused(_))), "{result:?}");
    let stolen = Definition { definition_id: "invoice".into(), ..draft("order", 1) };
    let result = save(&store, &stolen).await;
    assert!(matches!(result, Err(Error::Refused(_))), "{result:?}");
}

async fn every_version_option_finds_its_versions(store: Subject) {
    use VersionOption::{
        All, Draft, Latest, LatestAndPublished, LatestOrPublished, Number, Published,
    };
    store.publish(publication("order", 1)).await.unwrap();
    assert_eq!(find(&store, LatestAndPublished).await, Some(1));
    assert_eq!(find(&store, Draft).await, None);
    store.publish(publication("order", 2)).await.unwrap();
    save(&store, &draft("order", 3)).await.unwrap();

    for (option, newest, all) in [
        (Latest, Some(3), vec![3]),
        (Published, Some(2), vec![2]),
        (Draft, Some(3), vec![3]),
        (LatestOrPublished, Some(3), vec![3, 2]),
        (LatestAndPublished, None, vec![]),
        (All, Some(3), vec![3, 2, 1]),
        (Number(1), Some(1), vec![1]),
        (Number(9), None, vec![]),
    ] {
        assert_eq!(find(&store, option).await, newest, "{option:?}");
        let filter = DefinitionFilter { version: option, ..DefinitionFilter::default() };
        let listed = store.definitions(&filter, Page::first()).await.unwrap();
        let numbers: Vec<u32> = listed.items.iter().map(|found| found.version).collect();
        assert_eq!((numbers, listed.total), (all.clone(), all.len() as u64), "{option:?}");
    }
    assert_eq!(store.definition(&"none".into(), All).await.unwrap(), None);
}

async fn publishing_replaces_what_was_published(store: Subject) {
    let mut first = publication("order", 1);
    first.triggers = vec![
        trigger(&first.definition, "b", Stimulus::event("Paid")),
        trigger(&first.definition, "a", Stimulus::event("Paid")),
        trigger(&first.definition, "a", Stimulus::event("Sent")),
    ];
    assert_eq!(store.publish(first.clone()).await.unwrap(), Published::Done);
    let paid = Stimulus::event("Paid").hash();
    let found = store.triggers(&paid).await.unwrap();
    assert_eq!(found, [first.triggers[1].clone(), first.triggers[0].clone()]);
    assert_eq!(store.triggers_named("Elsa.Event").await.unwrap().len(), 3);

    let mut second = publication("order", 2);
    second.triggers = vec![trigger(&second.definition, "a", Stimulus::event("Sent"))];
    assert_eq!(store.publish(second.clone()).await.unwrap(), Published::Done);
    assert_eq!(store.triggers(&paid).await.unwrap(), []);
    assert_eq!(store.triggers_named("Elsa.Event").await.unwrap(), second.triggers);

    let first = store.version(&"order-1".into()).await.unwrap().unwrap();
    assert!(!first.is_latest && !first.is_published);
    let second = store.version(&"order-2".into()).await.unwrap().unwrap();
    assert!(second.is_latest && second.is_published);
    // A repeat changes nothing.
    assert_eq!(store.publish(publication("order", 2)).await.unwrap(), Published::Done);
    assert_eq!(find(&store, VersionOption::LatestAndPublished).await, Some(2));
}

fn with_route(definition_id: &str, version: u32) -> Publication {
    let mut publication = publication(definition_id, version);
    let route = Stimulus::http("orders/{id}", "GET");
    publication.triggers = vec![trigger(&publication.definition, "http", route)];
    publication
}

async fn a_route_belongs_to_one_definition(store: Subject) {
    let first = with_route("order", 1);
    store.publish(first.clone()).await.unwrap();
    store.publish(with_route("order", 2)).await.unwrap();
    let by = Box::new(with_route("order", 2).triggers[0].clone());
    let refused = store.publish(with_route("invoice", 1)).await.unwrap();
    assert_eq!(refused, Published::RouteTaken { by });
    assert_eq!(store.version(&"invoice-1".into()).await.unwrap(), None);

    // Another name of the parameter does not make another route.
    let mut renamed = with_route("invoice", 1);
    let stimulus = Stimulus::http("Orders/{number?}", "get");
    renamed.triggers = vec![trigger(&renamed.definition, "h", stimulus)];
    assert!(matches!(store.publish(renamed).await.unwrap(), Published::RouteTaken { .. }));

    store.retract(&"order".into(), &Base::Any).await.unwrap();
    assert_eq!(store.publish(with_route("invoice", 1)).await.unwrap(), Published::Done);
    // Several definitions may receive the same event.
    for definition_id in ["a", "b"] {
        let mut publication = publication(definition_id, 1);
        publication.triggers = vec![trigger(&publication.definition, "e", Stimulus::event("E"))];
        assert_eq!(store.publish(publication).await.unwrap(), Published::Done);
    }
    assert_eq!(store.triggers(&Stimulus::event("E").hash()).await.unwrap().len(), 2);
}

async fn one_of_many_gets_the_route(store: Subject) {
    let results = at_once(8, |number| {
        let store = Subject::clone(&store);
        async move { store.publish(with_route(&format!("d{number}"), 1)).await.unwrap() }
    })
    .await;
    assert_eq!(results.iter().filter(|result| **result == Published::Done).count(), 1);
    let route = Stimulus::http("orders/{id}", "GET").hash();
    assert_eq!(store.triggers(&route).await.unwrap().len(), 1);
}

async fn retracting_takes_everything_back(store: Subject) {
    let retract = async || store.retract(&"order".into(), &Base::Any).await.unwrap();
    assert_eq!(retract().await, Retracted::NotPublished);
    store.publish(with_route("order", 1)).await.unwrap();
    save(&store, &draft("order", 2)).await.unwrap();
    let Retracted::Done(retracted) = retract().await else { panic!("it was published") };
    assert_eq!((retracted.version, retracted.is_published), (1, false));
    assert_eq!(store.version(&"order-1".into()).await.unwrap(), Some(*retracted));
    assert_eq!(store.triggers_named("Elsa.HttpEndpoint").await.unwrap(), []);
    assert_eq!(retract().await, Retracted::NotPublished);
    assert_eq!(find(&store, VersionOption::Latest).await, Some(2));
}

/// Of several versions that are published together, all are published or none.
async fn versions_are_published_together_or_not_at_all(store: Subject) {
    store.publish(with_route("order", 1)).await.unwrap();
    let overtaken = Publication { base: Base::Nothing, ..publication("order", 2) };
    let taken = with_route("invoice", 1);
    let others = || vec![publication("a", 1), publication("b", 1)];
    for last in [overtaken, taken] {
        let all = others().into_iter().chain([last]).collect();
        assert_ne!(store.publish_all(all).await.unwrap(), Published::Done);
        assert!(store.version(&"a-1".into()).await.unwrap().is_none());
        assert!(store.version(&"b-1".into()).await.unwrap().is_none());
    }
    assert_eq!(store.publish_all(others()).await.unwrap(), Published::Done);
    assert_eq!(store.published_versions().await.unwrap().len(), 3);
    assert_eq!(find(&store, VersionOption::Published).await, Some(1));
}

/// Nothing is retracted or deleted when another change was faster.
async fn a_stale_base_retracts_and_deletes_nothing(store: Subject) {
    store.publish(with_route("order", 1)).await.unwrap();
    let base = Base::of(store.version(&"order-1".into()).await.unwrap().as_ref());
    save(&store, &draft("order", 2)).await.unwrap();
    for base in [&base, &Base::Nothing] {
        assert_eq!(store.retract(&"order".into(), base).await.unwrap(), Retracted::Overtaken);
        let deleted = store.delete_definition(&"order".into(), base).await.unwrap();
        assert_eq!(deleted, Deleted::Overtaken);
    }
    assert_eq!(find(&store, VersionOption::Published).await, Some(1));
    assert_eq!(store.triggers_named("Elsa.HttpEndpoint").await.unwrap().len(), 1);
    let base = Base::of(store.version(&"order-2".into()).await.unwrap().as_ref());
    let retracted = store.retract(&"order".into(), &base).await.unwrap();
    assert!(matches!(retracted, Retracted::Done(_)));
    let deleted = store.delete_definition(&"order".into(), &base).await.unwrap();
    assert_eq!(deleted, Deleted::Done { versions: 2 });
}

async fn a_deleted_definition_leaves_nothing(store: Subject) {
    store.publish(with_route("order", 1)).await.unwrap();
    save(&store, &draft("order", 2)).await.unwrap();
    save(&store, &draft("invoice", 1)).await.unwrap();
    let delete = async || store.delete_definition(&"order".into(), &Base::Any).await.unwrap();
    assert_eq!(delete().await, Deleted::Done { versions: 2 });
    assert_eq!(delete().await, Deleted::Done { versions: 0 });
    assert_eq!(find(&store, VersionOption::All).await, None);
    assert_eq!(store.triggers_named("Elsa.HttpEndpoint").await.unwrap(), []);
    assert!(store.version(&"invoice-1".into()).await.unwrap().is_some());
}

async fn a_deleted_latest_version_has_a_successor(store: Subject) {
    save(&store, &draft("order", 1)).await.unwrap();
    store.publish(with_route("order", 2)).await.unwrap();
    save(&store, &draft("order", 3)).await.unwrap();
    let delete = async |id: &str| store.delete_version(&id.into()).await.unwrap();
    assert_eq!(delete("order-3").await, Deleted::Done { versions: 1 });
    assert_eq!(delete("order-3").await, Deleted::Done { versions: 0 });
    assert_eq!(find(&store, VersionOption::LatestAndPublished).await, Some(2));
    assert_eq!(store.triggers_named("Elsa.HttpEndpoint").await.unwrap().len(), 1);
    assert_eq!(delete("order-2").await, Deleted::Done { versions: 1 });
    assert_eq!(store.triggers_named("Elsa.HttpEndpoint").await.unwrap(), []);
    assert_eq!(find(&store, VersionOption::Latest).await, Some(1));
    assert_eq!(delete("order-1").await, Deleted::Done { versions: 1 });
    assert_eq!(find(&store, VersionOption::Latest).await, None);
}

async fn definitions_are_filtered_ordered_and_paged(store: Subject) {
    for (name, called, millis, is_system) in [
        ("a", Some("Zebra"), Some(10), false),
        ("b", None, Some(30), false),
        ("c", Some("Äpfel_1"), None, false),
        ("d", Some("apple"), Some(20), true),
    ] {
        let definition = Definition {
            name: called.map(str::to_owned),
            description: (name == "b").then(|| "Ships Things".to_owned()),
            created_at: millis.map(at),
            is_system,
            ..draft(name, 1)
        };
        save(&store, &definition).await.unwrap();
    }
    let check = async |filter: DefinitionFilter, expected: &[&str]| {
        let found = store.definitions(&filter, Page::first()).await.unwrap();
        let ids: Vec<&str> = found.items.iter().map(|found| found.definition_id.as_str()).collect();
        assert_eq!(ids, expected, "{filter:?}");
        let page = store.definitions(&filter, Page::new(1, 1)).await.unwrap();
        let one: Vec<&str> = page.items.iter().map(|found| found.definition_id.as_str()).collect();
        assert_eq!(
            (one.as_slice(), page.total),
            (&expected[1..2.min(expected.len())], found.total)
        );
        let none = store.definitions(&filter, Page::new(0, 0)).await.unwrap();
        assert_eq!((none.items.len(), none.total), (0, found.total));
    };
    let any = DefinitionFilter::default;
    check(any(), &["b", "d", "a", "c"]).await;
    let by = |by, ascending| DefinitionFilter { order: DefinitionOrder { by, ascending }, ..any() };
    check(by(DefinitionColumn::Name, true), &["b", "a", "d", "c"]).await;
    check(by(DefinitionColumn::Name, false), &["c", "d", "a", "b"]).await;
    check(by(DefinitionColumn::CreatedAt, true), &["c", "a", "d", "b"]).await;
    check(by(DefinitionColumn::Version, true), &["a", "b", "c", "d"]).await;
    check(DefinitionFilter { is_system: Some(false), ..any() }, &["b", "a", "c"]).await;
    check(DefinitionFilter { search: Some("äPF".to_owned()), ..any() }, &["c"]).await;
    check(DefinitionFilter { search: Some("l_1".to_owned()), ..any() }, &["c"]).await;
    check(DefinitionFilter { search: Some("ships th".to_owned()), ..any() }, &["b"]).await;
    check(DefinitionFilter { name: Some("apple".to_owned()), ..any() }, &["d"]).await;
    let definition_ids = vec!["a".into(), "b".into(), "x".into()];
    check(DefinitionFilter { definition_ids, ..any() }, &["b", "a"]).await;
    let version_ids = vec!["c-1".into()];
    check(DefinitionFilter { version_ids, ..any() }, &["c"]).await;
    assert_eq!(store.load(&id("a")).await.unwrap(), None);
}
