//! API keys and the audit log.

use super::case::{Subject, cases};
use super::sample::at;
use crate::{ApiKey, Audit, AuditFilter, AuditOutcome, Page};

cases![keys_are_found_by_their_hash, the_audit_log_is_read_backwards, a_store_answers];

fn key(id: &str, hash: &str) -> ApiKey {
    ApiKey {
        id: id.to_owned(),
        name: format!("The key {id}"),
        hash: hash.to_owned(),
        permissions: vec!["read:*".to_owned(), "*".to_owned()],
        created_at: at(0),
        expires_at: Some(at(5)),
        user_id: None,
    }
}

async fn keys_are_found_by_their_hash(store: Subject) {
    store.save_key(key("b", "h1")).await.unwrap();
    store.save_key(ApiKey { expires_at: None, ..key("a", "h2") }).await.unwrap();
    store.save_key(ApiKey { created_at: at(-1), ..key("c", "h3") }).await.unwrap();
    assert_eq!(store.key("h1").await.unwrap(), Some(key("b", "h1")));
    assert_eq!(store.key("h9").await.unwrap(), None);
    let ids: Vec<String> = store.keys().await.unwrap().into_iter().map(|key| key.id).collect();
    assert_eq!(ids, ["c", "a", "b"]);

    let replaced = ApiKey {
        name: "New".to_owned(),
        permissions: Vec::new(),
        user_id: Some("1".to_owned()),
        ..key("b", "h4")
    };
    store.save_key(replaced.clone()).await.unwrap();
    assert_eq!(store.key("h1").await.unwrap(), None);
    assert_eq!(store.key("h4").await.unwrap(), Some(replaced));
    assert!(store.delete_key("b").await.unwrap());
    assert!(!store.delete_key("b").await.unwrap());
    assert_eq!(store.keys().await.unwrap().len(), 2);
}

async fn the_audit_log_is_read_backwards(store: Subject) {
    let entry = |what: &str, millis| Audit {
        at: at(millis),
        who: "key:a".to_owned(),
        what: what.to_owned(),
        target: "instance:1".to_owned(),
        details: serde_json::json!({"b": 1, "a": ["é\u{0}"]}),
        address: (what == "second").then(|| "10.1.2.3".to_owned()),
        outcome: match what {
            "second" => AuditOutcome::Refused,
            "last" => AuditOutcome::Accepted,
            _ => AuditOutcome::Done,
        },
    };
    for (what, millis) in [("first", 1), ("second", 1), ("earlier", 0), ("last", 2)] {
        store.audit(entry(what, millis)).await.unwrap();
    }
    let all = AuditFilter::default();
    let listed = store.audits(&all, Page::first()).await.unwrap();
    let expected = [entry("last", 2), entry("second", 1), entry("first", 1), entry("earlier", 0)];
    assert_eq!((listed.items.as_slice(), listed.total), (expected.as_slice(), 4));
    let page = store.audits(&all, Page::new(1, 2)).await.unwrap();
    assert_eq!((page.items.as_slice(), page.total), (&expected[1..3], 4));
    let text = |text: &str| Some(text.to_owned());
    let none = AuditFilter::default();
    let ended = |outcome| AuditFilter { outcome: Some(outcome), ..AuditFilter::default() };
    for (filter, found) in [
        (AuditFilter { what: text("first"), ..none.clone() }, vec!["first"]),
        (AuditFilter { who: text("key:b"), ..none.clone() }, vec![]),
        (
            AuditFilter { target: text("instance:1"), ..ended(AuditOutcome::Refused) },
            vec!["second"],
        ),
        (ended(AuditOutcome::Accepted), vec!["last"]),
        (ended(AuditOutcome::Done), vec!["first", "earlier"]),
        (
            AuditFilter { from: Some(at(1)), until: Some(at(2)), ..none.clone() },
            vec!["second", "first"],
        ),
    ] {
        let listed = store.audits(&filter, Page::new(0, 5)).await.unwrap();
        let what: Vec<_> = listed.items.iter().map(|entry| entry.what.as_str()).collect();
        assert_eq!((what, listed.total), (found.clone(), found.len() as u64), "{filter:?}");
    }
}

async fn a_store_answers(store: Subject) {
    store.ping().await.unwrap();
}
