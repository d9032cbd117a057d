//! Removal of what is no longer needed.

use model::{InstanceId, Parent, SubStatus, Timestamp};
use serde_json::Value;

use super::case::{Subject, cases};
use super::sample::{at, bookmark, entry, first, id, next, resume, start, token};
use crate::{
    Audit, AuditFilter, AuditOutcome, Burst, Ended, EndedFilter, Expected, Owned, Page, Walked,
};

cases![
    ended_instances_are_found_by_definition_state_and_time,
    they_are_found_in_parts,
    an_ended_instance_goes_with_all_that_belongs_to_it,
    what_has_changed_meanwhile_stays,
    relatives_that_run_hold_an_instance,
    rows_without_their_instance_are_found_and_removed,
    old_audit_entries_are_removed,
];

/// The burst that ends an instance at this time.
fn ending(name: &str, status: SubStatus, ended_at: Timestamp) -> Burst {
    let mut burst = first(name);
    burst.instance.status = status;
    burst.instance.updated_at = ended_at;
    burst.instance.finished_at = status.is_final().then_some(ended_at);
    burst
}

async fn ended(store: &Subject, name: &str, status: SubStatus, ended_at: i64) {
    store.commit(ending(name, status, at(ended_at))).await.unwrap();
}

fn filter(status: SubStatus, before: i64) -> EndedFilter {
    EndedFilter { definition_id: "order".into(), status, before: at(before) }
}

fn names(found: &[Ended]) -> Vec<&str> {
    found.iter().map(|ended| ended.id.as_str()).collect()
}

fn child_of(mut burst: Burst, parent: &str) -> Burst {
    let bookmark_id = Some("join".into());
    burst.instance.parent =
        Some(Parent { instance_id: parent.into(), bookmark_id, activity_instance_id: None });
    burst
}

async fn ended_instances_are_found_by_definition_state_and_time(store: Subject) {
    for (name, status, ended_at) in [
        ("late", SubStatus::Finished, 300),
        ("b", SubStatus::Finished, 200),
        ("a", SubStatus::Finished, 200),
        ("faulted", SubStatus::Faulted, 100),
        ("waits", SubStatus::Suspended, 100),
    ] {
        ended(&store, name, status, ended_at).await;
    }
    let mut other = ending("other", SubStatus::Finished, at(100));
    other.instance.definition_id = "paint".into();
    store.commit(other).await.unwrap();

    let mut definitions = Vec::new();
    while let Some(next) = store.ended_definition(definitions.last()).await.unwrap() {
        definitions.push(next);
    }
    let definitions: Vec<_> = definitions.iter().map(|id| id.as_str()).collect();
    assert_eq!(definitions, ["order", "paint"]);
    let found = store.ended(&filter(SubStatus::Finished, 300), None, 10).await.unwrap();
    assert_eq!(names(&found), ["a", "b"], "the oldest first, ties by id, and nothing younger");
    assert!(found.iter().all(|ended| !ended.is_held && ended.updated_at == at(200)));
    let found = store.ended(&filter(SubStatus::Faulted, 300), None, 10).await.unwrap();
    assert_eq!(names(&found), ["faulted"]);
}

async fn they_are_found_in_parts(store: Subject) {
    for (name, ended_at) in [("a", 1), ("b", 1), ("c", 1), ("d", 2)] {
        ended(&store, name, SubStatus::Finished, ended_at).await;
    }
    let filter = filter(SubStatus::Finished, 10);
    let part = store.ended(&filter, None, 2).await.unwrap();
    assert_eq!(names(&part), ["a", "b"]);
    let part = store.ended(&filter, part.last(), 2).await.unwrap();
    assert_eq!(names(&part), ["c", "d"]);
    assert_eq!(store.ended(&filter, part.last(), 2).await.unwrap(), []);
}

async fn an_ended_instance_goes_with_all_that_belongs_to_it(store: Subject) {
    for name in ["gone", "kept"] {
        let mut burst = ending(name, SubStatus::Finished, at(5));
        burst.journal = vec![entry(1, "x")];
        burst.created = vec![bookmark(name, "open")];
        burst.tokens = vec![token(&format!("hash-{name}"), name, at(1_000))];
        store.commit(burst).await.unwrap();
        store.accept_command(resume(&format!("r-{name}"), name, None)).await.unwrap();
    }
    let found = store.ended(&filter(SubStatus::Finished, 10), None, 10).await.unwrap();
    assert_eq!(found.iter().map(|ended| ended.journal_rows).collect::<Vec<_>>(), [1, 1]);
    let gone = store.remove_ended(&[id("gone"), id("unknown")], at(10)).await.unwrap();
    assert_eq!(gone, [id("gone")]);
    assert_eq!(store.remove_ended(&[id("gone")], at(10)).await.unwrap(), [] as [InstanceId; 0]);
    for (name, rows) in [("gone", 0), ("kept", 1)] {
        assert_eq!(store.load(&id(name)).await.unwrap().is_some(), rows == 1, "{name}");
        assert_eq!(store.journal(&id(name), Page::first()).await.unwrap().total, rows, "{name}");
        let hash = format!("hash-{name}");
        assert_eq!(store.token(&hash, at(0)).await.unwrap().is_some(), rows == 1, "{name}");
    }
    let kept = store.unapplied(at(1), 10).await.unwrap();
    assert_eq!(super::sample::subjects(&kept), ["r-kept"]);
    for table in Owned::ALL {
        assert_eq!(store.orphans(table, None, 10).await.unwrap(), Walked::default(), "{table:?}");
    }
    assert_eq!(store.remove_ended(&[], at(10)).await.unwrap(), [] as [InstanceId; 0]);
}

async fn what_has_changed_meanwhile_stays(store: Subject) {
    ended(&store, "again", SubStatus::Faulted, 5).await;
    ended(&store, "younger", SubStatus::Faulted, 5).await;
    store.commit(Burst { expected: Expected::Version(1), ..next("again", 1) }).await.unwrap();
    let mut later = ending("younger", SubStatus::Faulted, at(20));
    later.expected = Expected::Version(1);
    later.instance.version = 2;
    store.commit(later).await.unwrap();
    store.accept(start("pending")).await.unwrap();
    let ids = [id("again"), id("younger"), id("pending")];
    assert_eq!(store.remove_ended(&ids, at(10)).await.unwrap(), [] as [InstanceId; 0]);
    for id in ids {
        assert!(store.load(&id).await.unwrap().is_some(), "{id}");
    }
}

async fn relatives_that_run_hold_an_instance(store: Subject) {
    ended(&store, "parent-runs", SubStatus::Suspended, 5).await;
    ended(&store, "parent-ended", SubStatus::Finished, 5).await;
    for (child, parent, status) in [
        ("child-1", "parent-runs", SubStatus::Finished),
        ("child-2", "parent-ended", SubStatus::Suspended),
        ("child-3", "nobody", SubStatus::Finished),
    ] {
        store.commit(child_of(ending(child, status, at(5)), parent)).await.unwrap();
    }
    let finished = filter(SubStatus::Finished, 10);
    let held = |found: &[Ended]| -> Vec<(String, bool)> {
        found.iter().map(|ended| (ended.id.to_string(), ended.is_held)).collect()
    };
    let found = store.ended(&finished, None, 10).await.unwrap();
    let expected =
        [("child-1".to_owned(), true), ("child-3".into(), false), ("parent-ended".into(), true)];
    assert_eq!(held(&found), expected);
    let ids = [id("child-1"), id("child-3"), id("parent-ended")];
    assert_eq!(store.remove_ended(&ids, at(10)).await.unwrap(), [id("child-3")]);

    // Both end: nothing holds the others any more.
    for (name, parent) in [("parent-runs", None), ("child-2", Some("parent-ended"))] {
        let mut end = ending(name, SubStatus::Finished, at(6));
        end.expected = Expected::Version(1);
        end.instance.version = 2;
        let end = parent.map_or(end.clone(), |parent| child_of(end, parent));
        store.commit(end).await.unwrap();
    }
    let mut gone = store.remove_ended(&ids, at(10)).await.unwrap();
    gone.sort();
    assert_eq!(gone, [id("child-1"), id("parent-ended")]);
}

async fn rows_without_their_instance_are_found_and_removed(store: Subject) {
    for name in ["a", "b", "c"] {
        let mut burst = ending(name, SubStatus::Finished, at(5));
        burst.journal = vec![entry(1, "x")];
        store.commit(burst).await.unwrap();
    }
    // Nothing but a grant can come after the end of its instance.
    for name in ["d", "e", "a"] {
        store.grant(token(name, name, at(1_000))).await.unwrap();
    }
    let part = store.orphans(Owned::Tokens, None, 2).await.unwrap();
    assert_eq!(part, Walked { orphans: vec![id("d")], last: Some(id("d")) });
    let rest = store.orphans(Owned::Tokens, part.last.as_ref(), 2).await.unwrap();
    assert_eq!(rest, Walked { orphans: vec![id("e")], last: None });
    assert_eq!(store.orphans(Owned::Journal, None, 10).await.unwrap(), Walked::default());

    store.accept(start("e")).await.unwrap();
    let ids = [id("d"), id("e"), id("a")];
    assert_eq!(store.remove_orphans(Owned::Tokens, &ids).await.unwrap(), 1, "e came back");
    assert_eq!(store.token("d", at(0)).await.unwrap(), None);
    assert!(store.token("e", at(0)).await.unwrap().is_some());
    assert_eq!(store.remove_orphans(Owned::Journal, &ids).await.unwrap(), 0);
}

async fn old_audit_entries_are_removed(store: Subject) {
    for millis in [3, 1, 2, 4] {
        let entry = Audit {
            at: at(millis),
            who: "somebody".to_owned(),
            what: "instance.cancel".to_owned(),
            target: format!("i{millis}"),
            details: Value::Null,
            address: None,
            outcome: AuditOutcome::Done,
        };
        store.audit(entry).await.unwrap();
    }
    assert_eq!(store.forget_audit(at(4), 2).await.unwrap(), 2);
    let left = store.audits(&AuditFilter::default(), Page::first()).await.unwrap().items;
    assert_eq!(left.iter().map(|entry| entry.target.as_str()).collect::<Vec<_>>(), ["i4", "i3"]);
    assert_eq!(store.forget_audit(at(4), 2).await.unwrap(), 1);
    assert_eq!(store.forget_audit(at(4), 2).await.unwrap(), 0);
}
