//! Tasks that no worker has taken yet, and those that one has.

use super::super::facts::{PoolFact, TaskFact};
use super::*;

/// The task t9 of this version of its type, which was handed out 180 s ago.
pub(super) fn of(version: u32) -> TaskFact {
    TaskFact {
        kind: ("Ship".to_owned(), version),
        attempt: 1,
        message_id: "t9.1".to_owned(),
        handed_out_at: ago(180),
        is_published: true,
    }
}

/// A consumer with one task that waits, since this time, and with one in progress.
fn pool(oldest_waiting: Timestamp) -> PoolFact {
    PoolFact {
        waiting: 1,
        in_progress: 1,
        oldest_waiting: Some(oldest_waiting),
        first_waiting: ["t8.1".to_owned()].into(),
        made_at: Some(ago(900)),
        ack_wait: Duration::from_secs(30),
    }
}

/// A consumer that has handed out all that it had.
fn without_waiting(in_progress: u64) -> PoolFact {
    PoolFact {
        waiting: 0,
        in_progress,
        oldest_waiting: None,
        first_waiting: BTreeSet::new(),
        ..pool(ago(0))
    }
}

/// What is said of an instance that waits for this task.
fn said(task: TaskFact, pool: PoolFact) -> String {
    let mut facts = base();
    facts.waits = vec![bookmark("Elsa.RunTask", json!({"TaskId": "t9", "TaskName": "Ship"}))];
    facts.tasks.open.insert("b1".into(), task);
    facts.tasks.pools.insert(("Ship".to_owned(), 1), pool);
    explain(facts).answer
}

fn says_nothing_more(says: &str) {
    let is_one = says.starts_with("It waits for a worker") && says.matches(". ").count() == 0;
    assert!(is_one && says.ends_with(" (3 min)."), "{says}");
}

#[test]
fn a_task_behind_one_that_waits_is_not_taken() {
    for oldest in [ago(181), ago(180)] {
        let says = said(of(1), pool(oldest));
        assert!(says.ends_with(" No worker has taken it yet."), "{says}");
    }
    let unpublished = TaskFact { is_published: false, ..of(1) };
    let says = said(unpublished, pool(ago(200)));
    assert!(says.ends_with(" No worker has taken it yet."), "{says}");
    says_nothing_more(&said(of(1), pool(ago(179))));
}

/// The consumer before this one may have handed it out.
#[test]
fn nothing_is_said_of_a_task_that_is_older_than_its_consumer() {
    for (made_at, is_sure) in [(Some(ago(181)), true), (Some(ago(179)), false), (None, false)] {
        let says = said(of(1), PoolFact { made_at, ..pool(ago(200)) });
        if is_sure {
            assert!(says.ends_with(" No worker has taken it yet."), "{says}");
        } else {
            says_nothing_more(&says);
        }
    }
}

#[test]
fn a_task_that_is_among_those_that_wait_is_not_taken() {
    let first = PoolFact { first_waiting: ["t9.1".to_owned()].into(), ..pool(ago(179)) };
    let says = said(of(1), first.clone());
    assert!(says.ends_with(" No worker has taken it yet."), "{says}");
    let third = TaskFact { attempt: 3, message_id: "t9.3".to_owned(), ..of(1) };
    says_nothing_more(&said(third.clone(), first));
    let says = said(third, pool(ago(200)));
    assert!(says.ends_with(" No worker has taken attempt 3 yet."), "{says}");
}

#[test]
fn a_task_is_taken_where_none_waits_and_some_are_in_progress() {
    let says = said(of(1), without_waiting(1));
    let goes_on = "; if that one dies, the task goes to the next that asks, 30 s (ack_wait) after its \
                   last sign of life.";
    assert!(says.ends_with(&format!(" A worker has taken it{goes_on}")), "{says}");
    let says = said(TaskFact { attempt: 2, ..of(1) }, without_waiting(1));
    assert!(says.ends_with(&format!(" A worker has taken attempt 2{goes_on}")), "{says}");
    says_nothing_more(&said(of(1), without_waiting(0)));
    // It may be in the outbox still.
    says_nothing_more(&said(TaskFact { is_published: false, ..of(1) }, without_waiting(1)));
}

#[test]
fn nothing_is_said_of_the_tasks_of_another_version_or_in_the_pause_before_an_attempt() {
    says_nothing_more(&said(of(2), pool(ago(200))));
    let mut facts = base();
    let pause = bookmark("TaskRetry", json!({"TaskId": "t9", "Attempt": 2}));
    facts.waits = vec![
        bookmark("Elsa.RunTask", json!({"TaskId": "t9", "TaskName": "Ship"})),
        Bookmark { id: "b2".into(), due_at: Some(later(60)), ..pause },
    ];
    facts.tasks.open.insert("b1".into(), TaskFact { attempt: 2, ..of(1) });
    facts.tasks.pools.insert(("Ship".to_owned(), 1), pool(ago(200)));
    let found = findings(&facts);
    assert!(found.iter().all(|one| !one.says.contains("taken")), "{found:?}");
}
