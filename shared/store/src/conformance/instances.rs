//! Starts, lists, journals.

use model::{Parent, SubStatus, Timestamp, limits};

use super::case::{Subject, at_once, cases};
use super::sample::{
    after, at, bookmark, entry, first, id, ids, instance, next, resume, start, subjects, token,
};
use crate::{
    Accepted, BookmarkFilter, Commit, Error, InstanceFilter, InstanceOrder, LoadedWithin, Page,
    TimeColumn, TimeFilter, TimeOperator, check,
};

cases![
    an_accepted_start_is_there_at_once,
    a_start_that_is_there_already_is_given_back,
    one_of_many_same_starts_is_new,
    an_activation_key_is_held_until_the_end,
    one_of_many_starts_gets_the_activation_key,
    starts_that_nobody_runs_are_found,
    unfinished_instances_are_found,
    instances_are_filtered,
    instances_are_ordered_and_paged,
    no_number_is_too_large_for_a_page_or_a_limit,
    times_are_compared,
    a_search_looks_for_the_text_as_it_is,
    odd_characters_survive,
    what_cannot_be_kept_is_refused,
    times_are_kept_to_the_millisecond,
    large_states_survive,
    a_state_is_read_within_a_limit,
    a_journal_is_read_in_pages_across_bursts,
    a_deleted_instance_leaves_nothing,
];

async fn an_accepted_start_is_there_at_once(store: Subject) {
    let mut new = start("a");
    new.instance.correlation_id = Some("c".to_owned());
    new.instance.name = Some("A name".to_owned());
    new.instance.parent = Some(Parent {
        instance_id: id("p"),
        bookmark_id: Some("b".into()),
        activity_instance_id: None,
    });
    assert_eq!(store.accept(new.clone()).await.unwrap(), Accepted::New);

    let loaded = store.load(&id("a")).await.unwrap().unwrap();
    assert_eq!(loaded.instance, new.instance);
    assert_eq!(loaded.command, Some(new.command));
    assert_eq!(store.load(&id("b")).await.unwrap(), None);
}

async fn a_start_that_is_there_already_is_given_back(store: Subject) {
    let mut new = start("a");
    new.activation_key = Some("key".to_owned());
    store.accept(new.clone()).await.unwrap();
    let mut again = new.clone();
    again.instance.name = Some("Another".to_owned());
    assert_eq!(store.accept(again).await.unwrap(), Accepted::Exists(Box::new(new.instance)));

    store.commit(next("a", 0)).await.unwrap();
    let Accepted::Exists(known) = store.accept(start("a")).await.unwrap() else {
        panic!("it is there");
    };
    assert_eq!((known.version, known.state.as_slice()), (1, b"state 1".as_slice()));
}

async fn one_of_many_same_starts_is_new(store: Subject) {
    let results = at_once(30, |number| {
        let store = Subject::clone(&store);
        async move {
            let mut new = start("a");
            new.instance.name = Some(number.to_string());
            store.accept(new).await.unwrap()
        }
    })
    .await;
    let kept = store.load(&id("a")).await.unwrap().unwrap().instance;
    assert_eq!(results.iter().filter(|result| **result == Accepted::New).count(), 1);
    let same = Accepted::Exists(Box::new(kept));
    assert_eq!(results.iter().filter(|result| **result == same).count(), 29);
}

async fn an_activation_key_is_held_until_the_end(store: Subject) {
    let with_key = |id: &str| {
        let mut new = start(id);
        new.activation_key = Some("order:42".to_owned());
        new
    };
    assert_eq!(store.accept(with_key("a")).await.unwrap(), Accepted::New);
    assert_eq!(store.accept(with_key("b")).await.unwrap(), Accepted::NotAllowed(id("a")));
    assert_eq!(store.load(&id("b")).await.unwrap(), None);

    let mut suspended = next("a", 0);
    suspended.activation_key = Some("order:42".to_owned());
    store.commit(suspended).await.unwrap();
    assert_eq!(store.accept(with_key("b")).await.unwrap(), Accepted::NotAllowed(id("a")));

    let mut finished = next("a", 1);
    finished.activation_key = Some("order:42".to_owned());
    finished.instance.status = SubStatus::Faulted;
    store.commit(finished).await.unwrap();
    assert_eq!(store.accept(with_key("b")).await.unwrap(), Accepted::New);
}

async fn one_of_many_starts_gets_the_activation_key(store: Subject) {
    let results = at_once(20, |number| {
        let store = Subject::clone(&store);
        async move {
            let mut new = start(&format!("i{number}"));
            new.activation_key = Some("key".to_owned());
            store.accept(new).await.unwrap()
        }
    })
    .await;
    let winner = results.iter().position(|result| *result == Accepted::New).unwrap();
    for (number, result) in results.iter().enumerate() {
        if number != winner {
            assert_eq!(*result, Accepted::NotAllowed(format!("i{winner}").into()));
        }
    }
    assert_eq!(store.list(&InstanceFilter::default(), Page::first()).await.unwrap().total, 1);
}

async fn starts_that_nobody_runs_are_found(store: Subject) {
    for (name, millis) in [("c", 10), ("b", 20), ("a", 20), ("d", 30)] {
        let mut new = start(name);
        new.instance.created_at = at(millis);
        store.accept(new).await.unwrap();
    }
    let found = store.unstarted(at(30), 10).await.unwrap();
    assert_eq!(subjects(&found), ["start-c", "start-a", "start-b"]);
    assert_eq!(store.unstarted(at(30), 2).await.unwrap().len(), 2);

    store.commit(next("c", 0)).await.unwrap();
    assert_eq!(store.load(&id("c")).await.unwrap().unwrap().command, None);
    assert_eq!(subjects(&store.unstarted(at(30), 10).await.unwrap()), ["start-a", "start-b"]);
}

async fn unfinished_instances_are_found(store: Subject) {
    for (name, status, millis) in [
        ("late", SubStatus::Executing, 50),
        ("b", SubStatus::Executing, 20),
        ("a", SubStatus::Executing, 10),
        ("waits", SubStatus::Suspended, 10),
        ("over", SubStatus::Finished, 10),
    ] {
        let mut burst = first(name);
        burst.instance.status = status;
        burst.instance.updated_at = at(millis);
        store.commit(burst).await.unwrap();
    }
    assert_eq!(store.unfinished(at(50), 10).await.unwrap(), [id("a"), id("b")]);
    assert_eq!(store.unfinished(at(50), 1).await.unwrap(), [id("a")]);
}

async fn instances_are_filtered(store: Subject) {
    for name in ["a", "b", "c"] {
        store.accept(start(name)).await.unwrap();
    }
    let mut other = first("d");
    other.instance.definition_id = "invoice".into();
    other.instance.version_id = "invoice-7".into();
    other.instance.definition_version = 7;
    other.instance.status = SubStatus::Faulted;
    other.instance.incidents = 2;
    other.instance.correlation_id = Some("Kunde-Ä".to_owned());
    other.instance.name = Some("Rechnung".to_owned());
    other.instance.parent =
        Some(Parent { instance_id: id("a"), bookmark_id: None, activity_instance_id: None });
    store.commit(other).await.unwrap();

    let check = async |expected: &[&str], filter: InstanceFilter| {
        let ordered = InstanceFilter {
            order: Some(InstanceOrder { by: Some(TimeColumn::CreatedAt), ascending: true }),
            ..filter
        };
        let found = store.list(&ordered, Page::first()).await.unwrap();
        assert_eq!(ids(&found.items), expected, "{ordered:?}");
        assert_eq!(found.total, u64::try_from(expected.len()).unwrap());
        assert_eq!(store.count(&ordered, 9).await.unwrap(), found.total, "{ordered:?}");
        assert_eq!(store.count(&ordered, 2).await.unwrap(), found.total.min(2));
    };
    let any = InstanceFilter::default;
    check(&["a", "b", "c", "d"], any()).await;
    check(&["a", "c"], InstanceFilter { ids: vec![id("c"), id("a"), id("x")], ..any() }).await;
    let definition_ids = vec!["invoice".into()];
    check(&["d"], InstanceFilter { definition_ids, ..any() }).await;
    let excluded_definition_ids = vec!["invoice".into(), "none".into()];
    check(&["a", "b", "c"], InstanceFilter { excluded_definition_ids, ..any() }).await;
    check(&["d"], InstanceFilter { version_id: Some("invoice-7".into()), ..any() }).await;
    check(&["d"], InstanceFilter { definition_version: Some(7), ..any() }).await;
    let sub_statuses = vec![SubStatus::Faulted, SubStatus::Cancelled];
    check(&["d"], InstanceFilter { sub_statuses, ..any() }).await;
    check(&["d"], InstanceFilter { correlation_id: Some("Kunde-Ä".to_owned()), ..any() }).await;
    check(&[], InstanceFilter { correlation_id: Some("kunde-ä".to_owned()), ..any() }).await;
    check(&["d"], InstanceFilter { name: Some("Rechnung".to_owned()), ..any() }).await;
    check(&["d"], InstanceFilter { parent_id: Some(id("a")), ..any() }).await;
    check(&[], InstanceFilter { parent_id: Some(id("d")), ..any() }).await;
    check(&["d"], InstanceFilter { has_incidents: Some(true), ..any() }).await;
    check(&["a", "b", "c"], InstanceFilter { has_incidents: Some(false), ..any() }).await;
    for text in ["rechn", "KUNDE-ä", "invoi"] {
        check(&["d"], InstanceFilter { search: Some(text.to_owned()), ..any() }).await;
    }
    let sub_statuses = vec![SubStatus::Faulted];
    let both = InstanceFilter { has_incidents: Some(false), sub_statuses, ..any() };
    check(&[], both).await;
}

async fn no_number_is_too_large_for_a_page_or_a_limit(store: Subject) {
    store.accept(start("a")).await.unwrap();
    let all = InstanceFilter::default();
    for far in [Page::new(u64::MAX, u64::MAX), Page::numbered(u64::MAX, 7)] {
        let found = store.list(&all, far).await.unwrap();
        assert_eq!((found.items.len(), found.total), (0, 1), "{far:?}");
        assert!(store.journal(&id("a"), far).await.unwrap().items.is_empty());
        assert!(store.audits(&crate::AuditFilter::default(), far).await.unwrap().items.is_empty());
        let definitions = store.definitions(&crate::DefinitionFilter::default(), far).await;
        assert!(definitions.unwrap().items.is_empty());
    }
    let none = store.list(&all, Page::new(0, 0)).await.unwrap();
    assert_eq!((none.items.len(), none.total), (0, 1), "a page of none has the total");
    assert_eq!(Page::numbered(2, 7), Page::new(14, 7));
    assert_eq!(store.list(&all, Page::new(0, u64::MAX)).await.unwrap().items.len(), 1);
    let (soon, most) = (at(60_000), u64::MAX);
    assert_eq!(store.unstarted(soon, most).await.unwrap().len(), 1);
    assert!(store.unfinished(soon, most).await.unwrap().is_empty());
    assert!(store.unapplied(soon, most).await.unwrap().is_empty());
    assert!(store.wakeable(soon, most).await.unwrap().is_empty());
    assert!(store.overdue(soon, most).await.unwrap().is_empty());
    assert!(store.unpublished(soon, most).await.unwrap().is_empty());
    assert!(store.route_templates(most).await.unwrap().is_empty());
    assert!(store.due_timers(&[0], soon, most).await.unwrap().is_empty());
    assert!(store.due_schedules(&[0], soon, most).await.unwrap().is_empty());
    assert_eq!(store.forget_routed(soon, most).await.unwrap(), 0);
    let filter = BookmarkFilter { hash: Some("h".to_owned()), ..BookmarkFilter::default() };
    assert!(store.find(&filter, most).await.unwrap().is_empty());
}

async fn instances_are_ordered_and_paged(store: Subject) {
    for (name, called, created, finished) in [
        ("a", None, 30, None),
        ("b", Some("Zoe"), 10, Some(9)),
        ("c", Some("adam"), 20, Some(5)),
        ("d", Some("Zoe"), 20, None),
    ] {
        let mut burst = first(name);
        burst.instance.name = called.map(str::to_owned);
        burst.instance.created_at = at(created);
        burst.instance.finished_at = finished.map(at);
        store.commit(burst).await.unwrap();
    }
    let check = async |order: Option<InstanceOrder>, expected: &[&str]| {
        let filter = InstanceFilter { order, ..InstanceFilter::default() };
        let found = store.list(&filter, Page::first()).await.unwrap();
        assert_eq!(ids(&found.items), expected, "{order:?}");
        let page = store.list(&filter, Page::new(1, 2)).await.unwrap();
        assert_eq!((ids(&page.items).as_slice(), page.total), (&expected[1..3], 4), "{order:?}");
        for (place, instance) in found.items.iter().enumerate() {
            let after = Some(order.unwrap_or(InstanceOrder::NEWEST).place(instance));
            let filter = InstanceFilter { after, ..filter.clone() };
            let rest = store.list(&filter, Page::first()).await.unwrap();
            assert_eq!(ids(&rest.items), expected[place + 1..], "{order:?} after {place}");
            assert_eq!(rest.total, 4);
        }
    };
    let by = |by, ascending| Some(InstanceOrder { by, ascending });
    check(None, &["a", "d", "c", "b"]).await;
    check(by(Some(TimeColumn::CreatedAt), true), &["b", "c", "d", "a"]).await;
    check(by(Some(TimeColumn::FinishedAt), true), &["a", "d", "c", "b"]).await;
    check(by(Some(TimeColumn::FinishedAt), false), &["b", "c", "d", "a"]).await;
    // By bytes: capital letters first.
    check(by(None, true), &["a", "b", "d", "c"]).await;
    check(by(None, false), &["c", "d", "b", "a"]).await;

    let found = store.list(&InstanceFilter::default(), Page::new(9, 10)).await.unwrap();
    assert_eq!((found.items.len(), found.total), (0, 4));
    let found = store.list(&InstanceFilter::default(), Page::first()).await.unwrap();
    assert!(found.items.iter().all(|instance| instance.state.is_empty()));
}

async fn times_are_compared(store: Subject) {
    for (name, finished) in [("a", None), ("b", Some(10)), ("c", Some(20))] {
        let mut burst = first(name);
        burst.instance.finished_at = finished.map(at);
        store.commit(burst).await.unwrap();
    }
    let check = async |operator, expected: &[&str]| {
        let times = vec![TimeFilter { column: TimeColumn::FinishedAt, operator, at: at(10) }];
        let filter = InstanceFilter {
            times,
            order: Some(InstanceOrder { by: Some(TimeColumn::CreatedAt), ascending: true }),
            ..InstanceFilter::default()
        };
        let found = store.list(&filter, Page::first()).await.unwrap();
        assert_eq!(ids(&found.items), expected, "{operator:?}");
    };
    check(TimeOperator::Is, &["b"]).await;
    check(TimeOperator::IsNot, &["a", "c"]).await;
    check(TimeOperator::LessThan, &[]).await;
    check(TimeOperator::LessThanOrEqual, &["b"]).await;
    check(TimeOperator::GreaterThan, &["c"]).await;
    check(TimeOperator::GreaterThanOrEqual, &["b", "c"]).await;
}

async fn a_search_looks_for_the_text_as_it_is(store: Subject) {
    for (name, called) in
        [("a", "100% sure"), ("b", "under_score"), ("c", r"back\slash"), ("d", "1000")]
    {
        let mut new = start(name);
        new.instance.name = Some(called.to_owned());
        store.accept(new).await.unwrap();
    }
    for (text, expected) in [("0%", "a"), ("r_s", "b"), (r"k\s", "c"), ("SURE", "a")] {
        let filter = InstanceFilter { search: Some(text.to_owned()), ..InstanceFilter::default() };
        let found = store.list(&filter, Page::first()).await.unwrap();
        assert_eq!(ids(&found.items), [expected], "{text}");
    }
}

async fn odd_characters_survive(store: Subject) {
    let odd =
        "'; DROP TABLE instances; -- \"\\ \u{1}\u{7f}\r\n\t é 🦀 \u{202e} {} [] $1 ?1 %s \u{ffff}";
    let results = at_once(8, |number| {
        let store = Subject::clone(&store);
        async move {
            let mut burst = first(&format!("i{number}"));
            burst.instance.name = Some(odd.to_owned());
            burst.instance.correlation_id = Some(odd.to_owned());
            burst.journal = vec![entry(1, &format!("{odd}\0"))];
            let mut stored = bookmark(&format!("i{number}"), "b");
            stored.bookmark.payload = serde_json::json!({ "EventName": format!("{odd}\0") });
            stored.correlation_id = Some(odd.to_owned());
            burst.created = vec![stored];
            store.commit(burst.clone()).await.unwrap();
            burst
        }
    })
    .await;
    for burst in results {
        let loaded = store.load(&burst.instance.id).await.unwrap().unwrap();
        assert_eq!(loaded.instance, burst.instance);
        let journal = store.journal(&burst.instance.id, Page::first()).await.unwrap();
        assert_eq!(journal.items, burst.journal);
        let filter =
            BookmarkFilter { instance_id: Some(burst.instance.id), ..BookmarkFilter::default() };
        assert_eq!(store.find(&filter, 10).await.unwrap(), burst.created);
    }
    let filter =
        InstanceFilter { correlation_id: Some(odd.to_owned()), ..InstanceFilter::default() };
    assert_eq!(store.list(&filter, Page::first()).await.unwrap().total, 8);
}

async fn what_cannot_be_kept_is_refused(store: Subject) {
    let mut nul = start("a");
    nul.instance.name = Some("a\0b".to_owned());
    let result = store.accept(nul).await;
    assert!(matches!(result, Err(Error::Refused(_))), "{result:?}");

    let mut long = first("a");
    long.instance.correlation_id = Some("x".repeat(check::KEY_BYTES_MAX + 1));
    let result = store.commit(long.clone()).await;
    assert!(matches!(result, Err(Error::Refused(_))), "{result:?}");
    assert_eq!(store.load(&id("a")).await.unwrap(), None);

    long.instance.correlation_id = Some("x".repeat(check::KEY_BYTES_MAX));
    let result = store.commit(long).await.unwrap();
    assert_eq!(result, Commit::Done { waiting: Vec::new() });
}

async fn times_are_kept_to_the_millisecond(store: Subject) {
    for (name, millis) in [("a", -1), ("b", 253_402_300_799_999), ("c", 1_709_164_799_987)] {
        let mut burst = first(name);
        let time = Timestamp::from_millis(millis);
        burst.instance.created_at = time;
        burst.instance.updated_at = time;
        burst.instance.finished_at = Some(time);
        burst.journal = vec![entry(1, "at that time")];
        burst.journal[0].timestamp = time;
        store.commit(burst.clone()).await.unwrap();
        let loaded = store.load(&id(name)).await.unwrap().unwrap();
        assert_eq!(loaded.instance, burst.instance);
        assert_eq!(store.journal(&id(name), Page::first()).await.unwrap().items, burst.journal);
    }
}

async fn large_states_survive(store: Subject) {
    let state = |number: usize| -> Vec<u8> {
        (0..1024 * 1024_usize)
            .map(|byte| u8::try_from((byte * 31 + number) % 256).unwrap())
            .collect()
    };
    at_once(4, |number| {
        let store = Subject::clone(&store);
        async move {
            let name = format!("i{number}");
            store.accept(start(&name)).await.unwrap();
            let mut burst = next(&name, 0);
            burst.instance.state = state(number);
            assert_eq!(store.commit(burst).await.unwrap(), Commit::Done { waiting: Vec::new() });
        }
    })
    .await;
    for number in 0..4 {
        let loaded = store.load(&format!("i{number}").into()).await.unwrap().unwrap();
        assert!(loaded.instance.state == state(number), "the state of instance {number}");
    }
}

async fn a_state_is_read_within_a_limit(store: Subject) {
    const LIMIT: usize = 64 * 1024;
    const SIZES: [(&str, usize); 4] =
        [("a", 7), ("b", LIMIT), ("c", LIMIT + 1), ("d", limits::STATE_BYTES_MAX)];
    for (name, bytes) in SIZES {
        let mut burst = first(name);
        burst.instance.state = vec![255; bytes];
        store.commit(burst).await.unwrap();
    }
    // At the same time and with other limits, as the loads of one statement are.
    at_once(SIZES.len() * 4, |number| {
        let store = Subject::clone(&store);
        async move {
            let (name, state_bytes) = SIZES[number % SIZES.len()];
            let max = if number < SIZES.len() * 2 { LIMIT } else { state_bytes };
            match store.load_within(&id(name), max).await.unwrap().unwrap() {
                LoadedWithin::Whole(loaded) => {
                    assert!(state_bytes <= max, "{name} has {state_bytes} bytes");
                    assert_eq!(loaded.instance.id, id(name));
                    assert!(loaded.instance.state == vec![255; state_bytes], "{name}");
                }
                large => {
                    assert!(state_bytes > max, "{name} has {state_bytes} bytes");
                    assert_eq!(large, LoadedWithin::TooLarge { state_bytes });
                }
            }
        }
    })
    .await;
    store.accept(start("e")).await.unwrap();
    let pending = store.load_within(&id("e"), 0).await.unwrap();
    let Some(LoadedWithin::Whole(pending)) = pending else { panic!("{pending:?}") };
    assert_eq!((pending.instance.state.len(), pending.command), (0, Some(start("e").command)));
    assert_eq!(store.load_within(&id("f"), 0).await.unwrap(), None);
}

async fn a_journal_is_read_in_pages_across_bursts(store: Subject) {
    let mut sequence = 0;
    let mut entries = |count: u64| {
        let from = sequence;
        sequence += count;
        (from + 1..=sequence).map(|number| entry(number, &format!("line {number}"))).collect()
    };
    let mut burst = first("a");
    burst.journal = entries(3);
    store.commit(burst).await.unwrap();
    for (version, count) in [(1, 0), (2, 1), (3, 4), (4, 2)] {
        let mut burst = next("a", version);
        burst.journal = entries(count);
        store.commit(burst).await.unwrap();
    }
    for skip in 0..=11 {
        for take in 0..=11 {
            let found = store.journal(&id("a"), Page::new(skip, take)).await.unwrap();
            let numbers: Vec<u64> = found.items.iter().map(|entry| entry.sequence).collect();
            let expected: Vec<u64> = (skip + 1..=10.min(skip + take)).collect();
            assert_eq!((numbers, found.total), (expected, 10), "{skip} {take}");
        }
    }
    let none = store.journal(&id("b"), Page::first()).await.unwrap();
    assert_eq!((none.items.len(), none.total), (0, 0));
}

async fn a_deleted_instance_leaves_nothing(store: Subject) {
    for name in ["a", "b"] {
        store.accept(start(name)).await.unwrap();
        let loaded = store.load(&id(name)).await.unwrap().unwrap();
        let mut burst = after(&loaded);
        burst.created = vec![bookmark(name, "b")];
        burst.journal = vec![entry(1, "hello")];
        burst.tokens = vec![token(&format!("t{name}"), name, at(1_000))];
        burst.commands = vec![resume(&format!("r{name}"), name, None)];
        store.commit(burst).await.unwrap();
    }
    assert!(store.delete(&id("a")).await.unwrap());
    assert!(!store.delete(&id("a")).await.unwrap());

    assert_eq!(store.load(&id("a")).await.unwrap(), None);
    assert_eq!(store.journal(&id("a"), Page::first()).await.unwrap().total, 0);
    assert_eq!(store.token("ta", at(0)).await.unwrap(), None);
    assert_eq!(subjects(&store.unapplied(at(1), 10).await.unwrap()), ["rb"]);
    let filter = BookmarkFilter { id: Some("b".into()), ..BookmarkFilter::default() };
    let left = store.find(&filter, 10).await.unwrap();
    assert_eq!(left.iter().map(|row| row.instance_id.as_str()).collect::<Vec<_>>(), ["b"]);
    assert_eq!(store.load(&id("b")).await.unwrap().unwrap().instance.version, 1);
    assert_eq!(store.accept(start("a")).await.unwrap(), Accepted::New);
    assert_eq!(instance("a"), store.load(&id("a")).await.unwrap().unwrap().instance);
}
