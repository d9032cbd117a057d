//! Accepted commands.

use model::SubStatus;

use super::case::{Subject, at_once, cases};
use super::sample::{at, bookmark, first, id, message, pending, resume, start, subjects};
use crate::{CommandFilter, NewInstance, OutboxRow, PendingCommand};

cases![
    a_command_is_accepted_once,
    one_of_many_same_commands_is_new,
    commands_that_nobody_applied_are_found,
    accepted_commands_are_found_by_instance_and_by_what_they_wait_for,
    a_waiting_command_is_left_alone,
    a_command_may_wait_without_having_been_accepted,
    an_event_is_settled_into_what_follows,
    settling_twice_changes_nothing,
    commands_whose_waker_died_are_found,
    commands_whose_instance_is_over_are_found,
    waiting_commands_expire,
    an_event_is_handed_out_once,
    an_expired_command_is_buried_by_one,
];

async fn a_command_is_accepted_once(store: Subject) {
    assert!(store.accept_command(pending("a", "E", at(0))).await.unwrap());
    let again = PendingCommand { command: message("other"), ..pending("a", "E", at(5)) };
    assert!(!store.accept_command(again).await.unwrap());
    assert_eq!(store.unapplied(at(1), 10).await.unwrap(), [message("a")]);
}

async fn one_of_many_same_commands_is_new(store: Subject) {
    let results = at_once(60, |number| {
        let store = Subject::clone(&store);
        let name = format!("c{}", number % 3);
        async move { store.accept_command(pending(&name, "E", at(0))).await.unwrap() }
    })
    .await;
    for name in 0..3 {
        let new = results.iter().enumerate().filter(|(number, new)| number % 3 == name && **new);
        assert_eq!(new.count(), 1, "command {name}");
    }
    assert_eq!(store.unapplied(at(1), 10).await.unwrap().len(), 3);
}

async fn commands_that_nobody_applied_are_found(store: Subject) {
    for (name, millis) in [("c", 10), ("b", 20), ("a", 20), ("d", 30)] {
        store.accept_command(pending(name, "E", at(millis))).await.unwrap();
    }
    assert_eq!(subjects(&store.unapplied(at(30), 10).await.unwrap()), ["c", "a", "b"]);
    assert_eq!(subjects(&store.unapplied(at(30), 1).await.unwrap()), ["c"]);
}

async fn accepted_commands_are_found_by_instance_and_by_what_they_wait_for(store: Subject) {
    let of = |name: &str, instance: &str, millis| PendingCommand {
        accepted_at: at(millis),
        ..resume(name, instance, None)
    };
    store.accept_command(of("c", "i", 3)).await.unwrap();
    store.accept_command(of("b", "i", 1)).await.unwrap();
    store.accept_command(of("other", "j", 0)).await.unwrap();
    store.wait(of("early", "i", 2)).await.unwrap();
    store.accept_command(pending("event", "E", at(4))).await.unwrap();
    let names = async |instance: Option<&str>, waiting, limit| {
        let filter = CommandFilter { instance_id: instance.map(id), waiting };
        let found = store.accepted(&filter, limit).await.unwrap();
        found.into_iter().map(|command| command.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(Some("i"), None, 10).await, ["b", "early", "c"]);
    assert_eq!(names(Some("i"), None, 2).await, ["b", "early"]);
    assert_eq!(names(Some("i"), Some(true), 10).await, ["early"]);
    assert_eq!(names(Some("nobody"), None, 10).await, Vec::<String>::new());
    assert_eq!(names(None, Some(false), 2).await, ["other", "b"]);
    assert_eq!(names(None, None, 10).await, ["other", "b", "early", "c", "event"]);
    let filter = CommandFilter { instance_id: Some(id("i")), waiting: Some(true) };
    let expected = PendingCommand { waiting: true, ..of("early", "i", 2) };
    assert_eq!(store.accepted(&filter, 1).await.unwrap(), [expected]);
}

async fn a_waiting_command_is_left_alone(store: Subject) {
    store.accept_command(pending("a", "E", at(0))).await.unwrap();
    let found_out = PendingCommand {
        instance_id: Some(id("i")),
        expires_at: Some(at(50)),
        command: message("later"),
        ..pending("a", "F", at(9))
    };
    store.wait(found_out.clone()).await.unwrap();
    assert_eq!(store.unapplied(at(100), 10).await.unwrap(), []);
    // The conditions of the last call count; the command itself stays.
    let expected = PendingCommand {
        waiting: true,
        accepted_at: at(0),
        command: message("a"),
        ..found_out.clone()
    };
    assert_eq!(store.overdue(at(50), 10).await.unwrap(), [expected]);
}

async fn a_command_may_wait_without_having_been_accepted(store: Subject) {
    let command = PendingCommand { expires_at: Some(at(9)), ..pending("a", "E", at(3)) };
    store.wait(command.clone()).await.unwrap();
    store.wait(command.clone()).await.unwrap();
    let expected = PendingCommand { waiting: true, ..command };
    assert_eq!(store.overdue(at(9), 10).await.unwrap(), [expected]);
    assert!(store.bury(&"a".into(), at(9), dead("a")).await.unwrap());
    assert_eq!(store.overdue(at(9), 10).await.unwrap(), []);
}

async fn an_event_is_settled_into_what_follows(store: Subject) {
    store.accept_command(pending("event", "E", at(0))).await.unwrap();
    store.accept_command(pending("known", "E", at(1))).await.unwrap();
    store.accept(start("i1")).await.unwrap();
    let mut again = start("i1");
    again.instance.name = Some("Again".to_owned());
    let changed = PendingCommand { command: message("changed"), ..pending("known", "E", at(0)) };
    let commands = vec![changed, resume("new", "i1", Some("b"))];
    store.settle(&"event".into(), vec![again, start("i2")], commands).await.unwrap();

    assert_eq!(store.unapplied(at(5), 10).await.unwrap(), [message("new"), message("known")]);
    assert_eq!(store.load(&id("i1")).await.unwrap().unwrap().instance.name, None);
    assert!(store.load(&id("i2")).await.unwrap().is_some());
}

async fn settling_twice_changes_nothing(store: Subject) {
    store.accept_command(pending("event", "E", at(0))).await.unwrap();
    for _ in 0..2 {
        let commands = vec![pending("next", "E", at(0))];
        store.settle(&"event".into(), vec![start("i")], commands).await.unwrap();
    }
    assert_eq!(subjects(&store.unapplied(at(1), 10).await.unwrap()), ["next"]);
    store.settle(&"never-kept".into(), Vec::new(), Vec::new()).await.unwrap();

    let with_key =
        |name: &str| NewInstance { activation_key: Some("key".to_owned()), ..start(name) };
    store.settle(&"x".into(), vec![with_key("k1")], Vec::new()).await.unwrap();
    store.settle(&"x".into(), vec![with_key("k1"), with_key("k2")], Vec::new()).await.unwrap();
    assert!(store.load(&id("k2")).await.unwrap().is_some());
}

async fn commands_whose_waker_died_are_found(store: Subject) {
    let mut burst = first("a");
    let mut old = bookmark("a", "old");
    old.bookmark.created_at = at(10);
    old.correlation_id = Some("c".to_owned());
    let mut young = bookmark("a", "young");
    young.bookmark.created_at = at(30);
    burst.created = vec![old, young];
    store.commit(burst).await.unwrap();

    let correlated = |correlation_id: &str| PendingCommand {
        correlation_id: Some(correlation_id.to_owned()),
        ..pending(&format!("of-{correlation_id}"), "old", at(4))
    };
    store.wait(pending("by-hash", "old", at(5))).await.unwrap();
    store.wait(correlated("c")).await.unwrap();
    store.wait(correlated("d")).await.unwrap();
    store.wait(resume("by-bookmark", "a", Some("old"))).await.unwrap();
    store.wait(PendingCommand { accepted_at: at(3), ..resume("any", "a", None) }).await.unwrap();
    store.wait(resume("elsewhere", "b", None)).await.unwrap();
    store.wait(resume("other-bookmark", "a", Some("none"))).await.unwrap();
    store.wait(pending("young", "young", at(5))).await.unwrap();
    store.wait(pending("waits-since-now", "old", at(21))).await.unwrap();
    store.wait(pending("nothing-there", "never", at(5))).await.unwrap();
    store.accept_command(pending("does-not-wait", "old", at(0))).await.unwrap();

    let found = store.wakeable(at(20), 10).await.unwrap();
    let names: Vec<&str> = found.iter().map(|command| command.id.as_str()).collect();
    assert_eq!(names, ["by-bookmark", "any", "of-c", "by-hash"]);
    let expected = PendingCommand { waiting: true, ..pending("by-hash", "old", at(5)) };
    assert_eq!(found[3], expected);
    assert_eq!(store.wakeable(at(20), 2).await.unwrap().len(), 2);
    assert_eq!(store.wakeable(at(9), 10).await.unwrap(), []);
    assert_eq!(store.wakeable(at(30), 10).await.unwrap().len(), 6);
}

async fn commands_whose_instance_is_over_are_found(store: Subject) {
    for (name, status, finished_at) in [
        ("over", SubStatus::Finished, Some(at(10))),
        ("ended-now", SubStatus::Faulted, Some(at(30))),
        ("goes-on", SubStatus::Suspended, None),
    ] {
        let mut burst = first(name);
        burst.instance.status = status;
        burst.instance.finished_at = finished_at;
        store.commit(burst).await.unwrap();
        store.wait(resume(&format!("for-{name}"), name, None)).await.unwrap();
        let event = pending(&format!("event-for-{name}"), "E", at(1));
        store.wait(PendingCommand { instance_id: Some(id(name)), ..event }).await.unwrap();
    }
    store.wait(resume("for-nobody", "absent", None)).await.unwrap();
    store.accept_command(resume("does-not-wait", "over", None)).await.unwrap();
    let found = async |before| {
        let found = store.wakeable(before, 10).await.unwrap();
        found.into_iter().map(|command| command.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(found(at(9)).await, Vec::<String>::new());
    assert_eq!(found(at(20)).await, ["for-over", "event-for-over"]);
    assert_eq!(found(at(30)).await.len(), 4);
}

async fn waiting_commands_expire(store: Subject) {
    let until = |name: &str, millis| PendingCommand {
        expires_at: Some(at(millis)),
        ..pending(name, "E", at(0))
    };
    for (name, millis) in [("c", 10), ("b", 20), ("a", 20), ("d", 30)] {
        store.wait(until(name, millis)).await.unwrap();
    }
    store.wait(pending("for-ever", "E", at(0))).await.unwrap();
    store.accept_command(until("does-not-wait", 5)).await.unwrap();
    let ids = |commands: &[PendingCommand]| -> Vec<String> {
        commands.iter().map(|command| command.id.to_string()).collect()
    };
    assert_eq!(ids(&store.overdue(at(20), 2).await.unwrap()), ["c", "a"]);
    assert_eq!(ids(&store.overdue(at(29), 10).await.unwrap()), ["c", "a", "b"]);
    assert!(store.bury(&"c".into(), at(20), dead("c")).await.unwrap());
    assert!(!store.bury(&"c".into(), at(20), dead("c")).await.unwrap());
    for name in ["d", "for-ever", "does-not-wait", "never-kept"] {
        assert!(!store.bury(&name.into(), at(20), dead(name)).await.unwrap(), "{name}");
    }
    assert_eq!(ids(&store.overdue(at(29), 10).await.unwrap()), ["a", "b"]);
    assert_eq!(store.unpublished(at(100), 10).await.unwrap(), [dead("c")]);
    assert_eq!(subjects(&store.unapplied(at(1), 10).await.unwrap()), ["does-not-wait"]);
}

/// The dead letter of a command that no bookmark waited for.
fn dead(name: &str) -> OutboxRow {
    let name = format!("{name}.dead");
    OutboxRow { instance_id: id("i"), message: message(&name), created_at: at(1), id: name }
}

async fn an_event_is_handed_out_once(store: Subject) {
    let event = &"event".into();
    assert!(!store.is_routed(event).await.unwrap());
    store.accept_command(pending("event", "E", at(0))).await.unwrap();
    let first = vec![pending("first", "E", at(0))];
    assert!(store.route(event, at(3), vec![start("i1")], first).await.unwrap());
    assert!(store.is_routed(event).await.unwrap());
    let second = vec![pending("second", "E", at(0))];
    assert!(!store.route(event, at(4), vec![start("i2")], second).await.unwrap());
    assert_eq!(subjects(&store.unapplied(at(1), 10).await.unwrap()), ["first"]);
    assert!(store.load(&id("i1")).await.unwrap().is_some());
    assert!(store.load(&id("i2")).await.unwrap().is_none());

    let routed = at_once(8, |_| {
        let store = Subject::clone(&store);
        async move { store.route(&"once".into(), at(5), Vec::new(), Vec::new()).await.unwrap() }
    })
    .await;
    assert_eq!(routed.iter().filter(|routed| **routed).count(), 1);
    let late = PendingCommand { expires_at: Some(at(9)), ..pending("once", "E", at(6)) };
    store.wait(late.clone()).await.unwrap();
    store.wait(PendingCommand { id: "other".into(), ..late }).await.unwrap();
    assert_eq!(store.forget_routed(at(5), 10).await.unwrap(), 1);
    let left = store.overdue(at(9), 10).await.unwrap();
    assert_eq!(left.iter().map(|left| left.id.as_str()).collect::<Vec<_>>(), ["other"]);
    assert!(!store.is_routed(event).await.unwrap());
    assert!(store.is_routed(&"once".into()).await.unwrap());
}

async fn an_expired_command_is_buried_by_one(store: Subject) {
    for number in 0..20 {
        let command = pending(&format!("c{number}"), "E", at(0));
        store.wait(PendingCommand { expires_at: Some(at(1)), ..command }).await.unwrap();
    }
    let results = at_once(6, |_| {
        let store = Subject::clone(&store);
        async move {
            let mut count = 0;
            for number in 0..20 {
                let name = format!("c{number}");
                let buried = store.bury(&name.as_str().into(), at(1), dead(&name)).await.unwrap();
                count += usize::from(buried);
            }
            count
        }
    })
    .await;
    assert_eq!(results.iter().sum::<usize>(), 20);
}
