//! Labels of definitions.

use std::collections::BTreeMap;

use model::limits;

use super::case::{Subject, at_once, cases};
use super::sample::{draft, publication};
use crate::{
    Base, DefinitionFilter, Error, Label, LabelKept, Page, Publication, Published, VersionOption,
};

cases![
    a_label_has_one_name_in_any_case,
    a_label_within_bounds_is_kept,
    of_labels_made_at_once_one_gets_the_name,
    a_version_has_the_labels_that_it_was_given,
    a_new_version_takes_the_labels_along,
    publications_that_are_taken_back_leave_no_labels,
    labels_go_with_their_versions,
    definitions_are_found_by_their_labels,
];

fn label(id: &str, name: &str) -> Label {
    Label {
        id: id.to_owned(),
        name: name.to_owned(),
        description: Some("Of the shop".to_owned()),
        color: Some("#1a7f37".to_owned()),
    }
}

fn ids(labels: &[&str]) -> Vec<String> {
    labels.iter().map(|label| (*label).to_owned()).collect()
}

async fn with_labels(store: &Subject) {
    for (id, name) in [("l1", "Shop"), ("l2", "billing"), ("l3", "Archive")] {
        assert_eq!(store.create_label(&label(id, name)).await.unwrap(), LabelKept::Done);
    }
}

async fn of(store: &Subject, version: &str) -> Vec<String> {
    let found = store.labels_of(&[version.into()]).await.unwrap();
    found.into_values().next().unwrap_or_default()
}

async fn a_label_has_one_name_in_any_case(store: Subject) {
    with_labels(&store).await;
    let names: Vec<_> = store.labels().await.unwrap().into_iter().map(|label| label.name).collect();
    assert_eq!(names, ["Archive", "billing", "Shop"]);
    assert_eq!(store.label("l1").await.unwrap(), Some(label("l1", "Shop")));
    assert_eq!(store.label("l9").await.unwrap(), None);

    assert_eq!(store.create_label(&label("l4", "SHOP")).await.unwrap(), LabelKept::NameTaken);
    let renamed = Label { description: None, color: None, ..label("l1", "SHOP") };
    assert_eq!(store.replace_label(&renamed).await.unwrap(), LabelKept::Done);
    assert_eq!(store.label("l1").await.unwrap(), Some(renamed.clone()));
    assert_eq!(store.replace_label(&label("l1", "Billing")).await.unwrap(), LabelKept::NameTaken);
    assert_eq!(store.replace_label(&label("l9", "Other")).await.unwrap(), LabelKept::Unknown);
    assert_eq!(store.label("l1").await.unwrap(), Some(renamed));

    assert!(store.delete_label("l1").await.unwrap());
    assert!(!store.delete_label("l1").await.unwrap());
    assert_eq!(store.create_label(&label("l4", "shop")).await.unwrap(), LabelKept::Done);
}

async fn a_label_within_bounds_is_kept(store: Subject) {
    let long = "ä".repeat(limits::LABEL_NAME_CHARS_MAX);
    assert_eq!(store.create_label(&label("l1", &long)).await.unwrap(), LabelKept::Done);
    let too_long = "x".repeat(limits::LABEL_DESCRIPTION_BYTES_MAX + 1);
    for wrong in [
        label("l2", &format!("{long}x")),
        label("l2", ""),
        label("l2", " a"),
        label("l2", "a\nb"),
        Label { description: Some(too_long), ..label("l2", "a") },
        Label { color: Some("red".to_owned()), ..label("l2", "a") },
        Label { color: Some("#12345".to_owned()), ..label("l2", "a") },
        Label { color: Some("#12345g".to_owned()), ..label("l2", "a") },
    ] {
        let refused = store.create_label(&wrong).await;
        assert!(matches!(refused, Err(Error::Refused(_))), "{wrong:?}: {refused:?}");
        let wrong = Label { id: "l1".to_owned(), ..wrong };
        let refused = store.replace_label(&wrong).await;
        assert!(matches!(refused, Err(Error::Refused(_))), "{wrong:?}: {refused:?}");
    }
    for number in 1..limits::LABELS_MAX {
        let one = label(&format!("m{number}"), &format!("name {number}"));
        assert_eq!(store.create_label(&one).await.unwrap(), LabelKept::Done);
    }
    assert_eq!(store.create_label(&label("last", "last")).await.unwrap(), LabelKept::TooMany);
    assert_eq!(store.labels().await.unwrap().len(), limits::LABELS_MAX);
}

async fn of_labels_made_at_once_one_gets_the_name(store: Subject) {
    let kept = at_once(4, |number| {
        let store = Subject::clone(&store);
        async move { store.create_label(&label(&format!("l{number}"), "Shop")).await.unwrap() }
    })
    .await;
    assert_eq!(kept.iter().filter(|one| **one == LabelKept::Done).count(), 1, "{kept:?}");
    assert_eq!(kept.iter().filter(|one| **one == LabelKept::NameTaken).count(), 3, "{kept:?}");
    assert_eq!(store.labels().await.unwrap().len(), 1);
}

async fn a_version_has_the_labels_that_it_was_given(store: Subject) {
    with_labels(&store).await;
    store.save(&draft("order", 1), &Base::Any).await.unwrap();
    let version = "order-1".into();
    assert_eq!(store.labels_of(&[version]).await.unwrap(), BTreeMap::new());

    let version = "order-1".into();
    let given = store.set_labels(&version, &ids(&["l2", "l9", "l1", "l2"])).await.unwrap();
    assert_eq!(given, Some(ids(&["l1", "l2"])), "an id without a label is left out");
    assert_eq!(of(&store, "order-1").await, ["l1", "l2"]);
    assert_eq!(store.set_labels(&version, &ids(&["l3"])).await.unwrap(), Some(ids(&["l3"])));
    assert_eq!(of(&store, "order-1").await, ["l3"]);
    assert_eq!(store.set_labels(&version, &[]).await.unwrap(), Some(Vec::new()));
    assert_eq!(of(&store, "order-1").await, ids(&[]));
    assert_eq!(store.set_labels(&"other-1".into(), &ids(&["l1"])).await.unwrap(), None);

    let many: Vec<_> =
        (0..=limits::VERSION_LABELS_MAX).map(|number| format!("m{number}")).collect();
    let refused = store.set_labels(&version, &many).await;
    assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");
}

async fn a_new_version_takes_the_labels_along(store: Subject) {
    with_labels(&store).await;
    store.save(&draft("order", 1), &Base::Any).await.unwrap();
    store.save(&draft("invoice", 1), &Base::Any).await.unwrap();
    store.set_labels(&"order-1".into(), &ids(&["l1", "l2"])).await.unwrap();

    // A draft that is saved again, and published, keeps its own.
    store.save(&draft("order", 1), &Base::Any).await.unwrap();
    assert_eq!(store.publish(publication("order", 1)).await.unwrap(), Published::Done);
    assert_eq!(of(&store, "order-1").await, ["l1", "l2"]);

    store.save(&draft("order", 2), &Base::Any).await.unwrap();
    assert_eq!(of(&store, "order-2").await, ["l1", "l2"]);
    store.set_labels(&"order-2".into(), &ids(&["l3"])).await.unwrap();
    assert_eq!(store.publish(publication("order", 3)).await.unwrap(), Published::Done);
    assert_eq!(of(&store, "order-3").await, ["l3"]);
    assert_eq!(of(&store, "order-1").await, ["l1", "l2"], "a version keeps its own");
    assert_eq!(of(&store, "invoice-1").await, ids(&[]));
}

async fn publications_that_are_taken_back_leave_no_labels(store: Subject) {
    with_labels(&store).await;
    store.save(&draft("order", 1), &Base::Any).await.unwrap();
    store.set_labels(&"order-1".into(), &ids(&["l1"])).await.unwrap();
    let stale = Publication {
        base: Base::Version {
            id: "other".into(),
            content_hash: String::new(),
            is_immutable: false,
        },
        ..publication("invoice", 1)
    };
    let both = store.publish_all(vec![publication("order", 2), stale]).await.unwrap();
    assert!(matches!(both, Published::Overtaken { .. }), "{both:?}");
    assert_eq!(of(&store, "order-2").await, ids(&[]));
}

async fn labels_go_with_their_versions(store: Subject) {
    with_labels(&store).await;
    for (name, number) in [("order", 1), ("order", 2), ("invoice", 1)] {
        store.save(&draft(name, number), &Base::Any).await.unwrap();
        store.set_labels(&draft(name, number).id, &ids(&["l1", "l2"])).await.unwrap();
    }
    assert!(store.delete_label("l2").await.unwrap());
    assert_eq!(of(&store, "order-2").await, ["l1"]);

    store.delete_version(&"order-2".into()).await.unwrap();
    assert_eq!(of(&store, "order-2").await, ids(&[]));
    assert_eq!(of(&store, "order-1").await, ["l1"]);
    store.delete_definition(&"order".into(), &Base::Any).await.unwrap();
    assert_eq!(of(&store, "order-1").await, ids(&[]));
    assert_eq!(of(&store, "invoice-1").await, ["l1"]);

    // A definition that is made anew begins without labels.
    store.save(&draft("order", 1), &Base::Any).await.unwrap();
    assert_eq!(of(&store, "order-1").await, ids(&[]));
}

async fn definitions_are_found_by_their_labels(store: Subject) {
    with_labels(&store).await;
    for (name, labels) in [("a", &["l1", "l2"][..]), ("b", &["l2"]), ("c", &[])] {
        store.save(&draft(name, 1), &Base::Any).await.unwrap();
        store.set_labels(&draft(name, 1).id, &ids(labels)).await.unwrap();
    }
    store.save(&draft("b", 2), &Base::Any).await.unwrap();
    let check = async |labels: &[&str], version: VersionOption, expected: &[&str]| {
        let filter =
            DefinitionFilter { labels: ids(labels), version, ..DefinitionFilter::default() };
        let found = store.definitions(&filter, Page::first()).await.unwrap();
        let mut versions: Vec<&str> = found.items.iter().map(|one| one.id.as_str()).collect();
        versions.sort_unstable();
        assert_eq!(versions, expected, "{labels:?}");
        assert_eq!(found.total, expected.len() as u64, "{labels:?}");
    };
    let (latest, all) = (VersionOption::Latest, VersionOption::All);
    check(&[], latest, &["a-1", "b-2", "c-1"]).await;
    check(&["l1"], latest, &["a-1"]).await;
    check(&["l1", "l2"], latest, &["a-1", "b-2"]).await;
    check(&["l2"], all, &["a-1", "b-1", "b-2"]).await;
    check(&["l3"], latest, &[]).await;
    check(&["l9"], latest, &[]).await;
}
