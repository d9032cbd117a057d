//! Attempts that failed, and those that follow them.

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

/// The line of a failed attempt of this execution.
fn failed(execution: &str, message: &str) -> Entry {
    Entry {
        activity_instance_id: Some(execution.to_owned()),
        what: What::Retrying,
        message: Some(message.to_owned()),
        ..altered()
    }
}

#[test]
fn a_call_that_is_made_again_says_what_failed() {
    let lines = vec![
        failed("i-1:2", "attempt 1 of 5 failed: gone; the next follows in 00:00:01"),
        failed(
            "i-1:2",
            "attempt 2 of 5 failed: the answer has the status code 503; the next follows in \
             00:00:02",
        ),
        failed("i-1:9", "attempt 3 of 5 failed: of another; the next follows in 00:00:02"),
    ];
    let paused = CallFact { attempt: 3, again_at: Some(later(60)), ..call() };
    let facts = Facts { calls: vec![paused], journal: lines.clone(), ..base() };
    let found = findings(&facts);
    let pause = found.iter().find(|one| one.cause == "call-retry").unwrap();
    let said = "Its call POST https://pay of activity charge failed: the answer has the status code \
                503; attempt 3 of 5 is made at ";
    assert!(pause.says.starts_with(said), "{}", pause.says);
    let now = &pause.actions[0];
    assert_eq!(now.what, "make it now");
    let expected = "staunch instance resume i-1 --bookmark b2";
    assert_eq!(now.staunch.as_deref(), Some(expected));
    assert!(now.nats.as_ref().unwrap().starts_with("nats req staunch.api.resume.i-1 "));
    assert!(now.curl.as_ref().unwrap().contains("/workflow-instances/i-1/resume"));

    let facts = Facts { calls: vec![CallFact { attempt: 3, ..call() }], journal: lines, ..base() };
    let found = findings(&facts);
    let made = found.iter().find(|one| one.cause.starts_with("call")).unwrap();
    let said = "(attempt 3 of 5; attempt 2 failed: the answer has the status code 503)";
    assert!(made.says.contains(said), "{}", made.says);
}

#[test]
fn a_task_that_was_handed_out_again_says_what_failed() {
    let task = json!({"TaskId": "t9", "TaskName": "Ship"});
    let line = failed("i-1:1", "attempt 1 of 3 failed: no stock; the next follows in 00:01:00");
    let lost =
        failed("i-1:1", "the broker has lost attempt 2: it is handed out again as attempt 3");
    let facts =
        Facts { waits: vec![bookmark("Elsa.RunTask", task)], journal: vec![line, lost], ..base() };
    let why = explain(facts);
    assert!(why.answer.contains("of type \"Ship\" (attempt 1 failed: no stock)"), "{}", why.answer);
}
