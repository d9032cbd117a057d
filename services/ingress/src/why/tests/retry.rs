//! The pause between two attempts of a task.

use super::*;

/// The first attempt has failed; the second one begins at this time.
fn paused(due_at: Timestamp) -> Facts {
    let task = json!({"TaskId": "t9", "TaskName": "Ship"});
    let pause = bookmark("TaskRetry", json!({"TaskId": "t9", "Attempt": 2}));
    let limit = bookmark("TaskTimeout", json!({"TaskId": "t9"}));
    let said = "attempt 1 of 3 failed: no stock; the next follows in 60 s";
    let line = Entry {
        activity_instance_id: Some("i-1:1".to_owned()),
        what: What::Retrying,
        message: Some(said.to_owned()),
        ..altered()
    };
    Facts {
        waits: vec![
            bookmark("Elsa.RunTask", task),
            Bookmark { id: "b3".into(), due_at: Some(later(600)), ..limit },
            Bookmark { id: "b2".into(), due_at: Some(due_at), ..pause },
        ],
        journal: vec![line],
        ..base()
    }
}

#[test]
fn the_pause_of_a_task_says_what_failed_and_when_the_next_attempt_begins() {
    let why = explain(paused(later(60)));
    let said = "Attempt 1 of the task of activity a1 failed: no stock, and attempt 2 begins at ";
    assert!(why.answer.starts_with(&format!("{said}{}", later(60))), "{}", why.answer);
    let found = |cause: &str| why.findings.iter().find(|one| one.cause == cause).unwrap();
    let pause = found("task-retry");
    assert_eq!((pause.weight, &pause.until), (Waits, &Some(later(60).to_string())));
    assert_eq!(pause.actions[0].what, "begin attempt 2 now");
    assert!(pause.actions[0].staunch.as_ref().unwrap().contains("--bookmark b2"));
    let none = format!("(attempt 2 begins at {}: no worker has it before then)", later(60));
    assert!(found("task").says.contains(&none), "{}", found("task").says);
    let limit = found("timer");
    assert!(limit.says.starts_with("The time of activity a1 is over at"), "{}", limit.says);
    assert_eq!(why.findings.len(), 3);
}

#[test]
fn a_pause_that_is_over_is_not_the_end_of_the_task() {
    let mut facts = paused(ago(60));
    facts.journal.clear();
    let found = findings(&facts);
    let pause = found.iter().find(|one| one.cause == "timer-overdue").unwrap();
    let said = "Attempt 1 of the task of activity a1 failed, and attempt 2 was due at ";
    assert!(pause.says.starts_with(said), "{}", pause.says);
    assert!(!pause.actions.is_empty());
}
