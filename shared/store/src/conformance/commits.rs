//! Bursts: all or nothing, one winner, no lost wake-up.

#![expect(clippy::disallowed_methods, reason = "the task of a test ends with its test")]

use std::time::Duration;

use model::{Instance, SubStatus};

use super::case::{Subject, at_once, cases};
use super::sample::{
    after, at, bookmark, entry, first, id, message, next, outbox, pending, resume, start, subjects,
    token,
};
use crate::{
    BookmarkFilter, Burst, Commit, Expected, InstanceFilter, NewInstance, Page, PendingCommand,
    StoredBookmark,
};

cases![
    a_first_burst_inserts_once,
    an_unseen_first_burst_takes_an_accepted_start_over,
    a_burst_commits_only_on_the_version_it_loaded,
    one_of_thirty_bursts_of_a_version_wins,
    losers_are_thrown_out_alone,
    many_bursts_at_once_are_all_kept,
    everything_of_a_burst_is_kept_together,
    nothing_of_a_thrown_out_burst_is_kept,
    a_taken_activation_key_stops_a_burst,
    a_finished_instance_gives_its_activation_key_back,
    children_that_are_there_already_stay,
    a_child_whose_key_is_taken_is_accepted_without_it,
    bookmarks_are_burned_and_created_together,
    the_same_bookmark_is_created_once,
    bookmarks_of_different_instances_may_be_alike,
    a_command_that_waits_is_woken_by_its_bookmark,
    only_what_fits_is_woken,
    a_command_that_comes_later_finds_the_bookmark,
    nobody_misses_the_other,
];

fn done() -> Commit {
    Commit::Done { waiting: Vec::new() }
}

async fn bookmarks(store: &Subject, instance_id: &str) -> Vec<StoredBookmark> {
    let instance_id = Some(id(instance_id));
    store.find(&BookmarkFilter { instance_id, ..BookmarkFilter::default() }, 1_000).await.unwrap()
}

async fn a_first_burst_inserts_once(store: Subject) {
    let mut burst = first("a");
    burst.journal = vec![entry(1, "hello")];
    assert_eq!(store.commit(burst.clone()).await.unwrap(), done());
    assert_eq!(store.commit(burst.clone()).await.unwrap(), Commit::Conflict);
    let loaded = store.load(&id("a")).await.unwrap().unwrap();
    assert_eq!((loaded.instance, loaded.command), (burst.instance, None));
    assert_eq!(store.journal(&id("a"), Page::first()).await.unwrap().total, 1);
}

async fn an_unseen_first_burst_takes_an_accepted_start_over(store: Subject) {
    let unseen = |name| Burst { expected: Expected::Unstarted, ..first(name) };
    let accepted = NewInstance { activation_key: Some("k".to_owned()), ..start("a") };
    store.accept(accepted).await.unwrap();
    let taken = Burst { activation_key: Some("k".to_owned()), ..unseen("b") };
    let holder = Commit::NotAllowed(id("a"));
    assert_eq!(store.commit(taken).await.unwrap(), holder);
    let accepted_at = start("a").instance.created_at;
    let mut own = Burst { activation_key: Some("k".to_owned()), ..unseen("a") };
    own.instance.created_at = accepted_at.after(Duration::from_secs(7));
    assert_eq!(store.commit(own.clone()).await.unwrap(), done());
    let loaded = store.load(&id("a")).await.unwrap().unwrap();
    let expected = Instance { created_at: accepted_at, ..own.instance.clone() };
    assert_eq!((loaded.instance, loaded.command), (expected, None));
    assert_eq!(store.commit(own).await.unwrap(), Commit::Conflict);
    assert_eq!(store.commit(next("a", 1)).await.unwrap(), done());

    assert_eq!(store.commit(unseen("c")).await.unwrap(), done());
    assert_eq!(store.commit(unseen("c")).await.unwrap(), Commit::Conflict);
}

async fn a_burst_commits_only_on_the_version_it_loaded(store: Subject) {
    assert_eq!(store.commit(next("a", 0)).await.unwrap(), Commit::Conflict);
    store.accept(start("a")).await.unwrap();
    assert_eq!(store.commit(next("a", 1)).await.unwrap(), Commit::Conflict);
    assert_eq!(store.commit(next("a", 0)).await.unwrap(), done());
    assert_eq!(store.commit(next("a", 0)).await.unwrap(), Commit::Conflict);
    assert_eq!(store.commit(next("a", 1)).await.unwrap(), done());

    let loaded = store.load(&id("a")).await.unwrap().unwrap().instance;
    assert_eq!(loaded, next("a", 1).instance);
}

async fn one_of_thirty_bursts_of_a_version_wins(store: Subject) {
    store.accept(start("a")).await.unwrap();
    let results = at_once(30, |number| {
        let store = Subject::clone(&store);
        async move {
            let mut burst = next("a", 0);
            burst.instance.state = number.to_string().into_bytes();
            burst.journal = vec![entry(1, &number.to_string())];
            store.commit(burst).await.unwrap()
        }
    })
    .await;
    let winner = results.iter().position(|result| *result == done()).unwrap();
    let conflicts = results.iter().filter(|result| **result == Commit::Conflict).count();
    assert_eq!(conflicts, 29);
    let loaded = store.load(&id("a")).await.unwrap().unwrap().instance;
    assert_eq!((loaded.version, loaded.state), (1, winner.to_string().into_bytes()));
    let journal = store.journal(&id("a"), Page::first()).await.unwrap();
    assert_eq!(journal.items[0].message, Some(winner.to_string()));
    assert_eq!(journal.total, 1);
}

async fn losers_are_thrown_out_alone(store: Subject) {
    for number in 0..32 {
        store.accept(start(&format!("i{number}"))).await.unwrap();
    }
    let results = at_once(96, |number| {
        let store = Subject::clone(&store);
        async move {
            let name = format!("i{}", number % 32);
            let mut burst = next(&name, 0);
            burst.journal = vec![entry(1, &number.to_string())];
            burst.created = vec![bookmark(&name, &format!("b{number}"))];
            burst.outbox = vec![outbox(&format!("o{number}"), at(0))];
            burst.commands = vec![pending(&format!("c{number}"), "x", at(0))];
            store.commit(burst).await.unwrap()
        }
    })
    .await;
    let mut outboxes = Vec::new();
    for number in 0..32 {
        let tries = [number, number + 32, number + 64];
        let winners: Vec<_> = tries.into_iter().filter(|at| results[*at] == done()).collect();
        assert_eq!(winners.len(), 1, "instance {number}");
        let found = bookmarks(&store, &format!("i{number}")).await;
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].bookmark.id.as_str(), format!("b{}", winners[0]));
        outboxes.push(format!("o{}", winners[0]));
    }
    outboxes.sort();
    let kept = store.unpublished(at(1), 1_000).await.unwrap();
    assert_eq!(kept.into_iter().map(|row| row.id).collect::<Vec<_>>(), outboxes);
    assert_eq!(store.unapplied(at(1), 1_000).await.unwrap().len(), 32);
}

async fn many_bursts_at_once_are_all_kept(store: Subject) {
    const INSTANCES: usize = 100;
    at_once(INSTANCES, |number| {
        let store = Subject::clone(&store);
        async move {
            let name = format!("i{number}");
            store.accept(start(&name)).await.unwrap();
            for version in 0..5 {
                let mut burst = next(&name, version);
                burst.journal = vec![entry(u64::try_from(version).unwrap() + 1, "on")];
                burst.created = vec![bookmark(&name, &format!("b{version}"))];
                burst.burned = vec![format!("b{}", version - 1).into()];
                assert_eq!(store.commit(burst).await.unwrap(), done());
            }
        }
    })
    .await;
    let listed = store.list(&InstanceFilter::default(), Page::first()).await.unwrap();
    assert_eq!(listed.total, u64::try_from(INSTANCES).unwrap());
    assert!(listed.items.iter().all(|instance| instance.version == 5));
    for number in 0..INSTANCES {
        let name = format!("i{number}");
        assert_eq!(store.journal(&id(&name), Page::first()).await.unwrap().total, 5);
        assert_eq!(bookmarks(&store, &name).await.len(), 1);
    }
}

fn full(name: &str) -> Burst {
    let mut burst = next(name, 0);
    burst.created = vec![bookmark(name, "b1"), bookmark(name, "b2")];
    burst.journal = vec![entry(1, "one"), entry(2, "two")];
    burst.starts = vec![start("child-1"), start("child-2")];
    burst.commands = vec![resume("cmd-1", "other", None), pending("cmd-2", "E", at(0))];
    burst.outbox = vec![outbox("out-1", at(0)), outbox("out-2", at(0))];
    burst.tokens = vec![token("t1", name, at(10)), token("t2", name, at(10))];
    burst.settles = vec!["settled".into(), "never-kept".into()];
    burst
}

async fn everything_of_a_burst_is_kept_together(store: Subject) {
    store.accept(start("a")).await.unwrap();
    store.accept_command(pending("settled", "E", at(0))).await.unwrap();
    let burst = full("a");
    assert_eq!(store.commit(burst.clone()).await.unwrap(), done());

    assert_eq!(store.load(&id("a")).await.unwrap().unwrap().instance, burst.instance);
    assert_eq!(bookmarks(&store, "a").await, burst.created);
    assert_eq!(store.journal(&id("a"), Page::first()).await.unwrap().items, burst.journal);
    for child in &burst.starts {
        let loaded = store.load(&child.instance.id).await.unwrap().unwrap();
        assert_eq!(
            (&loaded.instance, loaded.command.as_ref()),
            (&child.instance, Some(&child.command))
        );
    }
    assert_eq!(store.unapplied(at(1), 10).await.unwrap(), [message("cmd-1"), message("cmd-2")]);
    assert_eq!(store.unpublished(at(1), 10).await.unwrap(), burst.outbox);
    assert_eq!(store.token("t1", at(0)).await.unwrap().as_ref(), burst.tokens.first());
    assert_eq!(store.token("t2", at(0)).await.unwrap().as_ref(), burst.tokens.last());
}

async fn nothing_of_a_thrown_out_burst_is_kept(store: Subject) {
    store.accept(start("a")).await.unwrap();
    store.commit(next("a", 0)).await.unwrap();
    store.accept_command(pending("settled", "E", at(0))).await.unwrap();
    assert_eq!(store.commit(full("a")).await.unwrap(), Commit::Conflict);

    assert_eq!(bookmarks(&store, "a").await, []);
    assert_eq!(store.journal(&id("a"), Page::first()).await.unwrap().total, 0);
    assert_eq!(store.load(&id("child-1")).await.unwrap(), None);
    assert_eq!(store.unapplied(at(1), 10).await.unwrap(), [message("settled")]);
    assert_eq!(store.unpublished(at(1), 10).await.unwrap(), []);
    assert_eq!(store.token("t1", at(0)).await.unwrap(), None);
}

async fn a_taken_activation_key_stops_a_burst(store: Subject) {
    let key = Some("key".to_owned());
    let mut holder = first("a");
    holder.activation_key = key.clone();
    store.commit(holder).await.unwrap();

    let mut new = first("b");
    new.activation_key = key.clone();
    new.outbox = vec![outbox("o", at(0))];
    assert_eq!(store.commit(new).await.unwrap(), Commit::NotAllowed(id("a")));
    assert_eq!(store.load(&id("b")).await.unwrap(), None);

    store.accept(start("c")).await.unwrap();
    let mut later = next("c", 0);
    later.activation_key = key.clone();
    assert_eq!(store.commit(later.clone()).await.unwrap(), Commit::NotAllowed(id("a")));
    later.expected = Expected::Version(7);
    assert_eq!(store.commit(later).await.unwrap(), Commit::Conflict);
    assert_eq!(store.unpublished(at(1), 10).await.unwrap(), []);

    let mut again = first("a");
    again.activation_key = key.clone();
    assert_eq!(store.commit(again).await.unwrap(), Commit::Conflict);
    let mut own = next("a", 1);
    own.activation_key = key;
    assert_eq!(store.commit(own).await.unwrap(), done());
}

async fn a_finished_instance_gives_its_activation_key_back(store: Subject) {
    let key = Some("key".to_owned());
    let mut holder = first("a");
    holder.activation_key = key.clone();
    store.commit(holder).await.unwrap();
    let mut over = next("a", 1);
    over.instance.status = SubStatus::Cancelled;
    over.activation_key = key.clone();
    store.commit(over).await.unwrap();

    let mut new = first("b");
    new.activation_key = key.clone();
    assert_eq!(store.commit(new).await.unwrap(), done());
    // A child that ends at once may not run beside the holder either.
    let mut brief = first("c");
    brief.activation_key = key;
    brief.instance.status = SubStatus::Finished;
    assert_eq!(store.commit(brief.clone()).await.unwrap(), Commit::NotAllowed(id("b")));
    brief.activation_key = Some("other".to_owned());
    assert_eq!(store.commit(brief.clone()).await.unwrap(), done());
    let mut free = first("d");
    free.activation_key = brief.activation_key;
    assert_eq!(store.commit(free).await.unwrap(), done());
}

async fn children_that_are_there_already_stay(store: Subject) {
    let mut known = start("child");
    known.activation_key = Some("key".to_owned());
    known.instance.name = Some("First".to_owned());
    store.accept(known.clone()).await.unwrap();
    let mut burst = first("a");
    burst.starts = vec![
        NewInstance { activation_key: Some("key".to_owned()), ..start("child") },
        start("other"),
    ];
    assert_eq!(store.commit(burst).await.unwrap(), done());
    let child = store.load(&id("child")).await.unwrap().unwrap();
    assert_eq!((child.instance, child.command), (known.instance, Some(known.command)));
    assert!(store.load(&id("other")).await.unwrap().is_some());
}

async fn a_child_whose_key_is_taken_is_accepted_without_it(store: Subject) {
    let with_key = |name: &str| {
        let mut new = start(name);
        new.activation_key = Some("key".to_owned());
        new
    };
    let mut burst = first("a");
    burst.starts = vec![with_key("child-1"), with_key("child-2")];
    assert_eq!(store.commit(burst).await.unwrap(), done());
    // The first child gets the key; the first burst of the second is not allowed.
    for (name, expected) in [("child-2", Commit::NotAllowed(id("child-1"))), ("child-1", done())] {
        let mut burst = next(name, 0);
        burst.activation_key = Some("key".to_owned());
        assert_eq!(store.commit(burst).await.unwrap(), expected);
    }
}

async fn bookmarks_are_burned_and_created_together(store: Subject) {
    let mut burst = first("a");
    burst.created = vec![bookmark("a", "b1"), bookmark("a", "b2")];
    store.commit(burst).await.unwrap();
    let mut burst = next("a", 1);
    // The same bookmark may be created again at once.
    let mut again = bookmark("a", "b3");
    again.bookmark.hash = bookmark("a", "b1").bookmark.hash;
    again.bookmark.activity_instance_id = bookmark("a", "b1").bookmark.activity_instance_id;
    burst.burned = vec!["b1".into(), "unknown".into()];
    burst.created = vec![again.clone()];
    store.commit(burst).await.unwrap();
    assert_eq!(bookmarks(&store, "a").await, [bookmark("a", "b2"), again]);
}

async fn the_same_bookmark_is_created_once(store: Subject) {
    let mut twice = bookmark("a", "b2");
    twice.bookmark.hash = bookmark("a", "b1").bookmark.hash;
    twice.bookmark.activity_instance_id = bookmark("a", "b1").bookmark.activity_instance_id;
    let mut burst = first("a");
    burst.created = vec![bookmark("a", "b1"), twice.clone()];
    assert_eq!(store.commit(burst).await.unwrap(), done());
    assert_eq!(bookmarks(&store, "a").await, [bookmark("a", "b1")]);

    let mut burst = next("a", 1);
    burst.created = vec![twice, bookmark("a", "b1")];
    assert_eq!(store.commit(burst).await.unwrap(), done());
    assert_eq!(bookmarks(&store, "a").await, [bookmark("a", "b1")]);
}

async fn bookmarks_of_different_instances_may_be_alike(store: Subject) {
    for name in ["a", "b"] {
        let mut burst = first(name);
        burst.created = vec![bookmark(name, "same")];
        store.commit(burst).await.unwrap();
    }
    let mut burst = next("a", 1);
    burst.burned = vec!["same".into()];
    store.commit(burst).await.unwrap();
    assert_eq!(bookmarks(&store, "a").await, []);
    assert_eq!(bookmarks(&store, "b").await, [bookmark("b", "same")]);
}

async fn a_command_that_waits_is_woken_by_its_bookmark(store: Subject) {
    store.accept(start("a")).await.unwrap();
    store.wait(pending("by-hash", "b1", at(3))).await.unwrap();
    store.wait(resume("by-bookmark", "a", Some("b1"))).await.unwrap();
    let any = PendingCommand { accepted_at: at(2), ..resume("by-instance", "a", None) };
    store.wait(any).await.unwrap();

    let mut burst = next("a", 0);
    burst.created = vec![bookmark("a", "b1"), bookmark("a", "b2")];
    let Commit::Done { waiting } = store.commit(burst).await.unwrap() else {
        panic!("it commits");
    };
    assert_eq!(subjects(&waiting), ["by-bookmark", "by-instance", "by-hash"]);

    // The commands wait until they are settled.
    let mut burst = next("a", 1);
    burst.created = vec![bookmark("a", "b1")];
    burst.settles = vec!["by-bookmark".into(), "by-instance".into()];
    let Commit::Done { waiting } = store.commit(burst).await.unwrap() else {
        panic!("it commits");
    };
    assert_eq!(subjects(&waiting), ["by-hash"]);
}

async fn only_what_fits_is_woken(store: Subject) {
    let correlated = |id: &str, correlation_id: &str| PendingCommand {
        correlation_id: Some(correlation_id.to_owned()),
        ..pending(id, "b1", at(0))
    };
    store.wait(correlated("same", "c1")).await.unwrap();
    store.wait(correlated("other", "c2")).await.unwrap();
    store.wait(pending("other-event", "b2", at(0))).await.unwrap();
    store.wait(resume("other-instance", "b", None)).await.unwrap();
    store.wait(resume("other-bookmark", "a", Some("b9"))).await.unwrap();
    let mut both = resume("both", "a", Some("b1"));
    both.hash = pending("x", "b1", at(0)).hash;
    store.wait(both).await.unwrap();
    store.accept_command(pending("does-not-wait", "b1", at(0))).await.unwrap();
    let nothing = PendingCommand { hash: None, ..pending("aims-at-nothing", "", at(0)) };
    store.wait(nothing).await.unwrap();

    let mut burst = first("a");
    burst.created =
        vec![StoredBookmark { correlation_id: Some("c1".to_owned()), ..bookmark("a", "b1") }];
    let Commit::Done { waiting } = store.commit(burst).await.unwrap() else {
        panic!("it commits");
    };
    assert_eq!(subjects(&waiting), ["both", "same"]);
}

async fn a_command_that_comes_later_finds_the_bookmark(store: Subject) {
    let mut burst = first("a");
    burst.created = vec![bookmark("a", "b1")];
    assert_eq!(store.commit(burst).await.unwrap(), done());
    let command = pending("late", "b1", at(0));
    store.wait(command.clone()).await.unwrap();
    let filter = BookmarkFilter { hash: command.hash, ..BookmarkFilter::default() };
    assert_eq!(store.find(&filter, 10).await.unwrap().len(), 1);
}

/// Both sides write first and look second: at least one of them sees the other.
async fn nobody_misses_the_other(store: Subject) {
    for number in 0..40 {
        let (instance_id, event) = (format!("i{number}"), format!("e{number}"));
        let (committer, waiter) = (Subject::clone(&store), Subject::clone(&store));
        let mut burst = first(&instance_id);
        burst.created = vec![bookmark(&instance_id, &event)];
        let commits = tokio::spawn(async move { committer.commit(burst).await.unwrap() });
        let command = pending(&format!("c{number}"), &event, at(0));
        let looks = tokio::spawn(async move {
            waiter.wait(command.clone()).await.unwrap();
            let filter = BookmarkFilter { hash: command.hash, ..BookmarkFilter::default() };
            waiter.find(&filter, 10).await.unwrap()
        });
        let Commit::Done { waiting } = commits.await.unwrap() else { panic!("it commits") };
        let found = looks.await.unwrap();
        assert!(!waiting.is_empty() || !found.is_empty(), "round {number}");
        let loaded = store.load(&id(&instance_id)).await.unwrap().unwrap();
        assert_eq!(after(&loaded).instance.version, 2);
    }
}
