//! What statements take, by their texts.

use store::conformance::start;
use store::{Definitions as _, Instances as _, Labels as _, Page, Store as _};
use store_sql::{Options, connect};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statements_are_counted_by_their_texts_without_parameters() {
    let options = Options { migrate: true, ..Options::default() };
    let store = connect("sqlite::memory:", options).await.unwrap();
    for number in 0..3 {
        store.label(&format!("a-secret-parameter-{number}")).await.unwrap();
        store.accept(start(&format!("i-{number}"))).await.unwrap();
    }
    for length in [1, 2, 30] {
        let versions: Vec<_> = (0..length).map(|number| format!("v-{number}").into()).collect();
        store.labels_of(&versions).await.unwrap();
    }
    store.definitions(&store::DefinitionFilter::default(), Page::first()).await.unwrap();

    let found = store.statements();
    let of = |parts: &[&str]| {
        let fits =
            |one: &&store::StatementFigures| parts.iter().all(|part| one.text.contains(part));
        found.iter().find(fits).unwrap_or_else(|| panic!("no {parts:?} in {found:#?}"))
    };
    let label = of(&["SELECT", r#"FROM "labels" WHERE"#]);
    assert_eq!((label.count, label.rows), (3, None));
    assert!(label.max <= label.total && !label.max.is_zero(), "{label:?}");
    let listed = of(&["SELECT", r#"FROM "definition_labels" WHERE"#, "IN (?)"]);
    assert_eq!(listed.count, 3, "lists of any length are one statement");
    let accepted = of(&["INSERT INTO instances", "{rows}", "DO NOTHING RETURNING id"]);
    assert!((1..=3).contains(&accepted.count), "{accepted:?}");
    assert_eq!(accepted.rows, Some(3));
    assert!(!format!("{found:?}").contains("a-secret-parameter"), "{found:#?}");
    store.close().await;
}
