//! Searchable values: written with bursts, compared, removed with their instance.

use std::collections::{BTreeMap, BTreeSet};

use model::{Definition, SearchKey, Searchable};
use serde_json::{Value, json};

use super::case::{Subject, at_once, cases};
use super::sample::{bookmark, first, id, ids, next, start};
use crate::{
    Base, Burst, Commit, Expected, InstanceFilter, Page, SearchableFilter, ValueChanges,
    ValueFilter, ValueOperator,
};

cases![
    values_are_written_with_their_burst,
    a_burst_that_loses_writes_no_values,
    values_of_many_bursts_are_written_together,
    values_are_compared_within_their_kind,
    several_comparisons_hold_together,
    a_long_text_is_found_by_its_beginning_and_as_a_whole,
    values_go_with_their_instance,
    definitions_name_what_is_searchable,
];

fn key(value: &Value) -> SearchKey {
    let mut kinds = Searchable::ALL.into_iter().filter(|kind| match value {
        Value::String(text) if text.starts_with("20") => *kind == Searchable::Time,
        _ => true,
    });
    kinds.find_map(|kind| kind.key(value)).unwrap()
}

fn keys(values: &Value) -> BTreeMap<String, SearchKey> {
    let members = values.as_object().unwrap().iter();
    members.map(|(name, value)| (name.clone(), key(value))).collect()
}

fn set(values: &Value) -> ValueChanges {
    ValueChanges { set: keys(values), ..ValueChanges::default() }
}

fn done(commit: Commit) {
    assert!(matches!(commit, Commit::Done { .. }), "{commit:?}");
}

async fn put(store: &Subject, name: &str, values: &Value) {
    done(store.commit(Burst { values: set(values), ..first(name) }).await.unwrap());
}

fn compared(name: &str, operator: ValueOperator, value: &Value) -> ValueFilter {
    ValueFilter { name: name.to_owned(), operator, keys: vec![key(value)] }
}

/// The ids of the instances that fulfil all of these, in order.
async fn found(store: &Subject, values: Vec<ValueFilter>) -> Vec<String> {
    let filter = InstanceFilter { values, ..InstanceFilter::default() };
    let found = store.list(&filter, Page::first()).await.unwrap();
    assert_eq!(found.total, found.items.len() as u64);
    let ids: BTreeSet<String> = found.items.iter().map(|one| one.id.to_string()).collect();
    ids.into_iter().collect()
}

async fn values_are_written_with_their_burst(store: Subject) {
    put(&store, "a", &json!({"Amount": 1, "Customer": "Muster", "Paid": false})).await;
    put(&store, "b", &json!({"Amount": 2})).await;
    let expected = keys(&json!({"Amount": 1, "Customer": "Muster", "Paid": false}));
    assert_eq!(store.values(&id("a")).await.unwrap(), expected);

    let removed = BTreeSet::from(["Customer".to_owned(), "Unknown".to_owned()]);
    let values =
        ValueChanges { removed, ..set(&json!({"Amount": 7, "Due": "2026-01-31T08:00:00Z"})) };
    // A bookmark that is burned and another that is created: the statements of such a batch differ.
    let mut burst = Burst { values, ..next("a", 1) };
    burst.created = vec![bookmark("a", "x")];
    done(store.commit(burst).await.unwrap());
    let expected = keys(&json!({"Amount": 7, "Paid": false, "Due": "2026-01-31T08:00:00Z"}));
    assert_eq!(store.values(&id("a")).await.unwrap(), expected);

    let mut burst = next("a", 2);
    burst.burned = vec!["x".into()];
    burst.created = vec![bookmark("a", "y")];
    burst.values = ValueChanges { replaces: true, ..set(&json!({"Amount": 8, "Due": true})) };
    done(store.commit(burst).await.unwrap());
    let expected = keys(&json!({"Amount": 8, "Due": true}));
    assert_eq!(store.values(&id("a")).await.unwrap(), expected);

    done(store.commit(next("a", 3)).await.unwrap());
    assert_eq!(store.values(&id("a")).await.unwrap(), expected);
    assert_eq!(store.values(&id("b")).await.unwrap(), keys(&json!({"Amount": 2})));
    assert_eq!(store.values(&id("c")).await.unwrap(), BTreeMap::new());
}

async fn a_burst_that_loses_writes_no_values(store: Subject) {
    put(&store, "a", &json!({"Amount": 1})).await;
    let late = [
        Burst { values: set(&json!({"Amount": 2})), ..next("a", 5) },
        Burst { values: set(&json!({"Amount": 2})), ..first("a") },
        Burst {
            values: ValueChanges { replaces: true, ..ValueChanges::default() },
            expected: Expected::Unstarted,
            ..first("a")
        },
    ];
    for burst in late {
        assert_eq!(store.commit(burst).await.unwrap(), Commit::Conflict);
        assert_eq!(store.values(&id("a")).await.unwrap(), keys(&json!({"Amount": 1})));
    }
}

async fn values_of_many_bursts_are_written_together(store: Subject) {
    let commits = |version: i64| {
        let store = Subject::clone(&store);
        at_once(60, move |number| {
            let store = Subject::clone(&store);
            let name = format!("i{number}");
            async move {
                let loaded = if number % 7 == 0 && version > 0 { 99 } else { version };
                let burst = if version == 0 { first(&name) } else { next(&name, loaded) };
                let values = match number % 3 {
                    0 => ValueChanges::default(),
                    1 => set(&json!({"Amount": number, "Round": version})),
                    _ => ValueChanges {
                        removed: BTreeSet::from(["Amount".to_owned()]),
                        ..set(&json!({"Round": version}))
                    },
                };
                store.commit(Burst { values, ..burst }).await.unwrap()
            }
        })
    };
    commits(0).await;
    let second = commits(1).await;
    for (number, commit) in second.into_iter().enumerate() {
        let round = if number % 7 == 0 { 0 } else { 1 };
        assert_eq!(commit == Commit::Conflict, round == 0, "{number}");
        let expected = match number % 3 {
            0 => json!({}),
            1 => json!({"Amount": number, "Round": round}),
            _ => json!({"Round": round}),
        };
        assert_eq!(store.values(&format!("i{number}").into()).await.unwrap(), keys(&expected));
    }
}

async fn values_are_compared_within_their_kind(store: Subject) {
    for (name, value) in [
        ("n1", json!(-5)),
        ("n2", json!(99.5)),
        ("n3", json!(100)),
        ("n4", json!(9_007_199_254_740_993_i64)),
        ("t1", json!("100")),
        ("t2", json!("Muster & Söhne")),
        ("t3", json!("Mut")),
        ("w1", json!("2026-01-31T08:00:00Z")),
        ("w2", json!("2027-01-31T08:00:00Z")),
        ("y1", json!(false)),
        ("y2", json!(true)),
    ] {
        put(&store, name, &json!({"Value": value, "Other": 100})).await;
    }
    put(&store, "none", &json!({"Other": 100})).await;
    done(store.commit(first("bare")).await.unwrap());
    use ValueOperator::{
        BeginsWith, GreaterThan, GreaterThanOrEqual, Is, IsNot, LessThan, LessThanOrEqual,
    };
    let cases: [(ValueOperator, Value, &[&str]); 17] = [
        (Is, json!(100), &["n3"]),
        (Is, json!(100.0), &["n3"]),
        (Is, json!(9_007_199_254_740_992_i64), &[]),
        (IsNot, json!(100), &["n1", "n2", "n4"]),
        (LessThan, json!(100), &["n1", "n2"]),
        (LessThanOrEqual, json!(100), &["n1", "n2", "n3"]),
        (GreaterThan, json!(100), &["n4"]),
        (GreaterThanOrEqual, json!(99.5), &["n2", "n3", "n4"]),
        (Is, json!("100"), &["t1"]),
        (IsNot, json!("100"), &["t2", "t3"]),
        (GreaterThan, json!("Mus"), &["t2", "t3"]),
        (BeginsWith, json!("Muster & S"), &["t2"]),
        (BeginsWith, json!("Mu"), &["t2", "t3"]),
        (BeginsWith, json!("mu"), &[]),
        (GreaterThan, json!("2026-01-31T07:00:00-01:00"), &["w2"]),
        (LessThanOrEqual, json!("2026-01-31T09:00:00+01:00"), &["w1"]),
        (IsNot, json!(true), &["y1"]),
    ];
    for (operator, value, expected) in cases {
        let found = found(&store, vec![compared("Value", operator, &value)]).await;
        assert_eq!(found, expected, "{operator:?} {value}");
    }
    let both = ValueFilter {
        name: "Value".to_owned(),
        operator: Is,
        keys: vec![key(&json!(100)), key(&json!("100"))],
    };
    assert_eq!(found(&store, vec![both]).await, ["n3", "t1"]);
    let none = ValueFilter { name: "Value".to_owned(), operator: Is, keys: Vec::new() };
    assert_eq!(found(&store, vec![none]).await, [""; 0]);
    assert_eq!(found(&store, vec![compared("value", Is, &json!(100))]).await, [""; 0]);
}

async fn several_comparisons_hold_together(store: Subject) {
    put(&store, "a", &json!({"Amount": 1, "Customer": "Muster"})).await;
    put(&store, "b", &json!({"Amount": 5, "Customer": "Muster"})).await;
    put(&store, "c", &json!({"Amount": 5, "Customer": "Doe"})).await;
    let mut other = Burst { values: set(&json!({"Amount": 5})), ..first("d") };
    other.instance.definition_id = "invoice".into();
    done(store.commit(other).await.unwrap());
    let large = || compared("Amount", ValueOperator::GreaterThan, &json!(2));
    let muster = || compared("Customer", ValueOperator::Is, &json!("Muster"));
    assert_eq!(found(&store, vec![large(), muster()]).await, ["b"]);
    assert_eq!(found(&store, vec![large()]).await, ["b", "c", "d"]);
    let between = compared("Amount", ValueOperator::LessThan, &json!(5));
    assert_eq!(found(&store, vec![large(), between]).await, [""; 0]);
    for (definition, expected) in [("order", vec!["b", "c"]), ("invoice", vec!["d"])] {
        let filter = InstanceFilter {
            definition_ids: vec![definition.into()],
            values: vec![large()],
            ..InstanceFilter::default()
        };
        let listed = store.list(&filter, Page::first()).await.unwrap();
        assert_eq!(
            ids(&listed.items).into_iter().collect::<BTreeSet<_>>(),
            expected.into_iter().collect()
        );
    }
}

async fn a_long_text_is_found_by_its_beginning_and_as_a_whole(store: Subject) {
    let long = |end: &str| json!(format!("{}{end}", "ä".repeat(5_000)));
    put(&store, "a", &json!({"Text": long("1")})).await;
    put(&store, "b", &json!({"Text": long("2")})).await;
    let is = |value: &Value| vec![compared("Text", ValueOperator::Is, value)];
    assert_eq!(found(&store, is(&long("1"))).await, ["a"]);
    assert_eq!(found(&store, is(&long("2"))).await, ["b"]);
    assert_eq!(found(&store, is(&long("3"))).await, [""; 0]);
    let begin = compared("Text", ValueOperator::BeginsWith, &json!("ä".repeat(125)));
    assert_eq!(found(&store, vec![begin]).await, ["a", "b"]);
}

async fn values_go_with_their_instance(store: Subject) {
    for name in ["a", "b"] {
        put(&store, name, &json!({"Amount": 1})).await;
    }
    assert!(store.delete(&id("a")).await.unwrap());
    assert_eq!(store.values(&id("a")).await.unwrap(), BTreeMap::new());
    let one = || vec![compared("Amount", ValueOperator::Is, &json!(1))];
    assert_eq!(found(&store, one()).await, ["b"]);
    // An instance with the same id begins without the values of the earlier one.
    store.accept(start("a")).await.unwrap();
    done(store.commit(Burst { expected: Expected::Unstarted, ..first("a") }).await.unwrap());
    assert_eq!(store.values(&id("a")).await.unwrap(), BTreeMap::new());
    assert_eq!(found(&store, one()).await, ["b"]);
}

async fn definitions_name_what_is_searchable(store: Subject) {
    let save = async |id: &str, version: u32, variables: Value| {
        let document = json!({"id": format!("{id}-{version}"), "definitionId": id,
            "version": version, "variables": variables, "isLatest": true});
        let definition: Definition = serde_json::from_value(document).unwrap();
        store.save(&definition, &Base::Any).await.unwrap();
    };
    let variable = |name: &str, kind: &str| json!({"id": name, "name": name, "searchable": kind});
    save("order", 1, json!([variable("Amount", "text")])).await;
    save("order", 2, json!([variable("Amount", "number"), variable("Customer", "text")])).await;
    save("invoice", 1, json!([variable("Paid", "boolean"), {"id": "x", "name": "Plain"}])).await;
    save("plain", 1, json!([{"id": "x", "name": "Plain"}])).await;
    let check = async |filter: SearchableFilter, expected: Value| {
        let found = store.searchable(&filter).await.unwrap();
        assert_eq!(json!(found), expected, "{filter:?}");
    };
    let any = SearchableFilter::default;
    let both = json!(["text", "number"]);
    let all = json!({"Amount": both, "Customer": ["text"], "Paid": ["boolean"]});
    check(any(), all).await;
    let order = json!({"Amount": both, "Customer": ["text"]});
    check(SearchableFilter { definition_ids: vec!["order".into()], ..any() }, order.clone()).await;
    check(SearchableFilter { excluded_definition_ids: vec!["invoice".into()], ..any() }, order)
        .await;
    let first = json!({"Amount": ["text"]});
    check(SearchableFilter { version_id: Some("order-1".into()), ..any() }, first).await;
    let second = json!({"Amount": ["number"], "Customer": ["text"]});
    check(SearchableFilter { version: Some(2), ..any() }, second).await;
    check(SearchableFilter { definition_ids: vec!["plain".into()], ..any() }, json!({})).await;
    // A draft that names it no longer.
    save("order", 2, json!([variable("Customer", "text")])).await;
    let order = json!({"Amount": ["text"], "Customer": ["text"]});
    check(SearchableFilter { definition_ids: vec!["order".into()], ..any() }, order).await;
}
