//! Definition versions, and what starts them.

use model::{Definition, Stimulus};

use super::sample::{at, draft, id, publication, trigger};
use super::{Subject, at_once, cases};
use crate::{DefinitionFilter, Error, Page, Publication, Published, VersionOption};

cases![
    a_draft_is_read_as_it_was_saved,
    the_latest_version_is_one,
    a_published_version_is_not_changed_by_a_draft,
    a_number_belongs_to_one_version,
    every_version_option_finds_its_versions,
    publishing_replaces_what_was_published,
    a_route_belongs_to_one_definition,
    one_of_many_gets_the_route,
    retracting_takes_everything_back,
    a_deleted_definition_leaves_nothing,
    a_deleted_latest_version_has_a_successor,
    definitions_are_filtered_ordered_and_paged,
];

async fn find(store: &Subject, version: VersionOption) -> Option<u32> {
    let found = store.definition(&"order".into(), version).await.unwrap();
    found.map(|definition| definition.version)
}

async fn a_draft_is_read_as_it_was_saved(store: Subject) {
    let mut new = draft("order", 1);
    new.extra.insert("toolVersion".to_owned(), serde_json::json!({"z": [1, null], "a": 2.5}));
    store.save(&new).await.unwrap();
    assert_eq!(store.version(&new.id).await.unwrap(), Some(new.clone()));
    assert_eq!(store.version(&"other".into()).await.unwrap(), None);

    // Whatever the document says, a draft is not published.
    new.description = Some("Changed".to_owned());
    new.is_published = true;
    store.save(&new).await.unwrap();
    new.is_published = false;
    let found = store.definition(&"order".into(), VersionOption::Latest).await.unwrap();
    assert_eq!(found, Some(new));
}

async fn the_latest_version_is_one(store: Subject) {
    store.save(&draft("order", 1)).await.unwrap();
    store.save(&draft("invoice", 1)).await.unwrap();
    store.save(&draft("order", 2)).await.unwrap();
    let older = store.version(&"order-1".into()).await.unwrap().unwrap();
    assert!(!older.is_latest);
    assert_eq!(find(&store, VersionOption::Latest).await, Some(2));
    let other = store.version(&"invoice-1".into()).await.unwrap().unwrap();
    assert!(other.is_latest);

    let not_latest = Definition { is_latest: false, ..draft("order", 3) };
    store.save(&not_latest).await.unwrap();
    assert_eq!(find(&store, VersionOption::Latest).await, Some(2));
}

async fn a_published_version_is_not_changed_by_a_draft(store: Subject) {
    store.publish(publication("order", 1)).await.unwrap();
    let result = store.save(&Definition { description: None, ..draft("order", 1) }).await;
    assert!(matches!(result, Err(Error::Refused(_))), "{result:?}");
    store.save(&draft("order", 2)).await.unwrap();
    assert_eq!(find(&store, VersionOption::Published).await, Some(1));
}

async fn a_number_belongs_to_one_version(store: Subject) {
    store.save(&draft("order", 1)).await.unwrap();
    let other = Definition { id: "x".into(), ..draft("order", 1) };
    let result = store.save(&other).await;
    assert!(matches!(result, Err(Error::Refused(_))), "{result:?}");
    let publication =
        Publication { definition: other, triggers: Vec::new(), schedules: Vec::new() };
    let result = store.publish(publication).await;
    assert!(matches!(result, Err(Error::Refused(_))), "{result:?}");
    let stolen = Definition { definition_id: "invoice".into(), ..draft("order", 1) };
    let result = store.save(&stolen).await;
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
    store.save(&draft("order", 3)).await.unwrap();

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
    // Once more changes nothing.
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

    store.retract(&"order".into()).await.unwrap();
    assert_eq!(store.publish(with_route("invoice", 1)).await.unwrap(), Published::Done);
    // Events may be received by many.
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
    assert_eq!(store.retract(&"order".into()).await.unwrap(), None);
    store.publish(with_route("order", 1)).await.unwrap();
    store.save(&draft("order", 2)).await.unwrap();
    let retracted = store.retract(&"order".into()).await.unwrap().unwrap();
    assert_eq!((retracted.version, retracted.is_published), (1, false));
    assert_eq!(store.version(&"order-1".into()).await.unwrap(), Some(retracted));
    assert_eq!(store.triggers_named("Elsa.HttpEndpoint").await.unwrap(), []);
    assert_eq!(store.retract(&"order".into()).await.unwrap(), None);
    assert_eq!(find(&store, VersionOption::Latest).await, Some(2));
}

async fn a_deleted_definition_leaves_nothing(store: Subject) {
    store.publish(with_route("order", 1)).await.unwrap();
    store.save(&draft("order", 2)).await.unwrap();
    store.save(&draft("invoice", 1)).await.unwrap();
    assert_eq!(store.delete_definition(&"order".into()).await.unwrap(), 2);
    assert_eq!(store.delete_definition(&"order".into()).await.unwrap(), 0);
    assert_eq!(find(&store, VersionOption::All).await, None);
    assert_eq!(store.triggers_named("Elsa.HttpEndpoint").await.unwrap(), []);
    assert!(store.version(&"invoice-1".into()).await.unwrap().is_some());
}

async fn a_deleted_latest_version_has_a_successor(store: Subject) {
    store.save(&draft("order", 1)).await.unwrap();
    store.publish(with_route("order", 2)).await.unwrap();
    store.save(&draft("order", 3)).await.unwrap();
    assert!(store.delete_version(&"order-3".into()).await.unwrap());
    assert!(!store.delete_version(&"order-3".into()).await.unwrap());
    assert_eq!(find(&store, VersionOption::LatestAndPublished).await, Some(2));
    assert_eq!(store.triggers_named("Elsa.HttpEndpoint").await.unwrap().len(), 1);
    assert!(store.delete_version(&"order-2".into()).await.unwrap());
    assert_eq!(store.triggers_named("Elsa.HttpEndpoint").await.unwrap(), []);
    assert_eq!(find(&store, VersionOption::Latest).await, Some(1));
    assert!(store.delete_version(&"order-1".into()).await.unwrap());
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
            created_at: millis.map(at),
            is_system,
            ..draft(name, 1)
        };
        store.save(&definition).await.unwrap();
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
    };
    let any = DefinitionFilter::default;
    check(any(), &["b", "d", "a", "c"]).await;
    check(DefinitionFilter { by_name: true, ..any() }, &["b", "a", "d", "c"]).await;
    check(DefinitionFilter { is_system: Some(false), ..any() }, &["b", "a", "c"]).await;
    check(DefinitionFilter { search: Some("äPF".to_owned()), ..any() }, &["c"]).await;
    check(DefinitionFilter { search: Some("l_1".to_owned()), ..any() }, &["c"]).await;
    check(DefinitionFilter { name: Some("apple".to_owned()), ..any() }, &["d"]).await;
    let definition_ids = vec!["a".into(), "b".into(), "x".into()];
    check(DefinitionFilter { definition_ids, ..any() }, &["b", "a"]).await;
    let version_ids = vec!["c-1".into()];
    check(DefinitionFilter { version_ids, ..any() }, &["c"]).await;
    assert_eq!(store.load(&id("a")).await.unwrap(), None);
}
