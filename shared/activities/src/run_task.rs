//! RunTask: hands a task to a worker and waits until it is done.
//!
//! The execution remembers the task with the number of its current attempt. It waits at up to three
//! bookmarks: for the report of a worker, for the time limit, and for the end of a pause between two
//! attempts. The first one stays open in a pause, so that a late report finds the instance.

use std::time::Duration;

use engine::{
    Activity, Decision, Descriptor, Effect, Failure, Next, OpenTask, Resumed, Step, Type,
};
use model::activity_type::VERSION_MAX;
use model::{Stimulus, TaskReport, TaskStatus, limits};
use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::shown;

/// `Elsa.RunTask`
pub(crate) struct RunTask;

/// The codes of failures that the worker does not name.
const TIMEOUT: &str = "TaskTimeout";
const FAILED: &str = "TaskFailed";
const CANCELLED: &str = "TaskCancelled";
/// The only outcome.
const DONE: &str = "Done";
/// Characters of the code of a worker that an incident keeps.
const CODE_CHARS_MAX: usize = 200;

impl Activity for RunTask {
    fn descriptor(&self) -> Descriptor {
        let what = "Hands a task to a worker and waits until it is done.";
        Descriptor::new("Elsa.RunTask", "Primitives", what)
            .called("Run Task")
            .calls()
            .input("taskName", Type::String, "The task's type.")
            .required()
            .input("payload", Type::Dictionary, "The worker's input.")
            .input("taskVersion", Type::Integer(32), "The version of the task's type.")
            .default(1)
            .ordinal()
            .input("timeout", Type::TimeSpan, "The time limit of all attempts together.")
            .output("taskId", Type::String, "The task's id.")
            .output("result", Type::Object, "The worker's result.")
            .outcomes(&[DONE])
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let task_name = step.required("taskName")?;
        shown::check("taskName", Some(&task_name))?;
        let payload = Value::Object(step.object("payload")?);
        let task_version = version(step)?;
        let timeout = step.span("timeout")?;
        let task_id = hand_over(step, task_name, task_version, payload, timeout)?;
        step.set_output("taskId", task_id.into())?;
        Ok(Next::Wait)
    }

    fn resume(&self, step: &mut Step<'_, '_>, resumed: Resumed) -> Decision {
        let Some((result, outcome)) = report_of(step, resumed)? else { return Ok(Next::Wait) };
        if let Some(other) = outcome.filter(|outcome| outcome != DONE) {
            let message = format!("RunTask has no outcome {other}: it has {DONE}");
            return Err(Failure::new("InvalidTaskResult", message).in_category("Task"));
        }
        step.set_output("result", result)?;
        Ok(Next::done())
    }
}

/// Begins a task, whose id is returned.
pub(crate) fn hand_over(
    step: &mut Step<'_, '_>,
    task_name: String,
    task_version: u32,
    payload: Value,
    timeout: Option<Duration>,
) -> Result<String, Failure> {
    let deadline = timeout.map(|limit| step.now().after(limit));
    let retry = step.retries()?.map(Box::new);
    let task_id = step.new_id();
    let shown = json!({"TaskId": task_id, "TaskName": task_name});
    step.wait(&Stimulus::task(&task_id), shown, None)?;
    let open = OpenTask {
        task_id: task_id.clone(),
        task_name,
        task_version,
        handed_out_at: Some(step.now()),
        deadline,
        retry,
        payload,
        ..OpenTask::default()
    };
    if deadline.is_some() {
        let limit = open.limit();
        step.wait(&limit, limit.payload.clone(), deadline)?;
    }
    remember(step, &open);
    hand_out(step, &open);
    Ok(task_id)
}

/// The result of a task, and the outcome that its worker names; none when the task goes on.
pub(crate) fn report_of(
    step: &mut Step<'_, '_>,
    mut resumed: Resumed,
) -> Result<Option<(Value, Option<String>)>, Failure> {
    let mut open = remembered(step);
    if OpenTask::is_lost(&resumed.input) {
        replace(step, open);
        return Ok(None);
    }
    let stimulus = resumed.stimulus.as_deref();
    if stimulus == Some(open.limit().name.as_str()) {
        let message = format!(
            "the task {} of type {} was not done in time: its last attempt was {}",
            open.task_id, open.task_name, open.attempt
        );
        return Err(Failure::new(TIMEOUT, message).in_category("Task"));
    }
    if stimulus == Some(open.pause().name.as_str()) {
        open.handed_out_at = Some(step.now());
        remember(step, &open);
        hand_out(step, &open);
        return Ok(None);
    }
    let report = TaskReport::of_input(&resumed.input)
        .map_err(|reason| Failure::new("InvalidTaskReport", reason).in_category("Task"))?;
    if report.status == TaskStatus::Completed {
        return Ok(Some((TaskReport::result_of(&mut resumed.input), report.outcome)));
    }
    let chance = step.chance();
    match open.next(&report, step.now(), chance) {
        Some(pause) => again(step, open, &report, pause).map(|_| None),
        None => Err(failure(&open, &report)),
    }
}

fn version(step: &mut Step<'_, '_>) -> Result<u32, Failure> {
    let Some(number) = step.integer("taskVersion")? else { return Ok(1) };
    let version = u32::try_from(number).ok().filter(|version| *version > 0);
    version.ok_or_else(|| {
        let flaw = format!("{number} is not a whole number from 1 to {VERSION_MAX}");
        Failure::input("taskVersion", flaw)
    })
}

fn remember(step: &mut Step<'_, '_>, open: &OpenTask) {
    if let Some(memory) = step.memory() {
        // It has no value that JSON does not have.
        *memory = serde_json::to_value(open).unwrap_or_default();
    }
}

/// The task; of one that an earlier version handed out only the defaults.
fn remembered(step: &mut Step<'_, '_>) -> OpenTask {
    let memory = step.memory();
    memory.and_then(|memory| OpenTask::deserialize(&*memory).ok()).unwrap_or_default()
}

/// Asks for the current attempt.
fn hand_out(step: &mut Step<'_, '_>, open: &OpenTask) {
    let task = open.handed_out(step.activity_id().clone());
    step.emit(Effect::Task(task));
}

/// Hands out the next attempt in the place of one whose message the broker has lost. A result of that
/// one is late from now on. The bookmark for reports stays the same.
fn replace(step: &mut Step<'_, '_>, mut open: OpenTask) {
    let lost = open.attempt;
    let message = format!(
        "the broker has lost attempt {lost}: it is handed out again as attempt {}",
        lost + 1
    );
    step.retrying(message, json!({"attempt": lost, "key": open.task_id, "lost": true}));
    step.wait_again();
    open.attempt += 1;
    open.lost += 1;
    open.handed_out_at = Some(step.now());
    remember(step, &open);
    hand_out(step, &open);
}

/// Pauses before the next attempt. The bookmark for reports stays the same.
fn again(
    step: &mut Step<'_, '_>,
    mut open: OpenTask,
    report: &TaskReport,
    pause: Duration,
) -> Decision {
    let (attempt, attempts) = (open.attempt, open.attempts());
    let message = format!(
        "attempt {attempt} of {attempts} failed: {}; the next follows in {}",
        reason(report),
        model::span::text(pause)
    );
    let millis = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
    let details = json!({"attempt": attempt, "pauseMilliseconds": millis, "key": open.task_id});
    step.retrying(message, details);
    step.wait_again();
    open.attempt += 1;
    remember(step, &open);
    let stimulus = open.pause();
    step.wait(&stimulus, stimulus.payload.clone(), Some(step.now().after(pause)))?;
    Ok(Next::Wait)
}

/// The failure of the last attempt, with the words of the worker.
fn failure(open: &OpenTask, report: &TaskReport) -> Failure {
    let by_default = match report.status {
        TaskStatus::Cancelled => CANCELLED,
        TaskStatus::Completed | TaskStatus::Failed => FAILED,
    };
    let given = text(report, "type").filter(|kind| *kind != "about:blank");
    let code: String = given.unwrap_or(by_default).chars().take(CODE_CHARS_MAX).collect();
    let mut message = reason(report);
    if open.attempts() > 1 {
        let is_late = open.may_have_another(report);
        let limit = if is_late { "; its timeout comes before the next one" } else { "" };
        message = format!("{message} (attempt {} of {}{limit})", open.attempt, open.attempts());
    }
    let failure = Failure::new(&code, message).in_category("Task");
    Failure { kind: "Business".to_owned(), ..failure }
}

/// The reason in the words of the worker.
fn reason(report: &TaskReport) -> String {
    let words = match (text(report, "title"), text(report, "detail")) {
        (Some(title), Some(detail)) => format!("{title}: {detail}"),
        (Some(one), None) | (None, Some(one)) => one.to_owned(),
        (None, None) if report.status == TaskStatus::Cancelled => {
            "the worker has given the task up".to_owned()
        }
        (None, None) => "the worker gave no reason".to_owned(),
    };
    words.chars().take(limits::JOURNAL_MESSAGE_BYTES_MAX).collect()
}

fn text<'r>(report: &'r TaskReport, member: &str) -> Option<&'r str> {
    report.error.get(member).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use engine::testing::Player;
    use engine::{Task, TaskCancel};
    use model::{SubStatus, What};
    use serde_json::json;

    use super::*;
    use crate::tests::player;

    const WAIT: &str = "Elsa.RunTask";

    fn tasks(player: &Player<'_>) -> Vec<Task> {
        let task = |effect: &Effect| match effect {
            Effect::Task(task) => Some(task.clone()),
            _ => None,
        };
        player.effects.iter().filter_map(task).collect()
    }

    fn cancels(player: &Player<'_>) -> Vec<TaskCancel> {
        let cancel = |effect: &Effect| match effect {
            Effect::CancelTask(cancel) => Some(cancel.clone()),
            _ => None,
        };
        player.effects.iter().filter_map(cancel).collect()
    }

    fn started(more: Value) -> Player<'static> {
        let mut node = json!({"type": "RunTask", "id": "task", "taskName": "Ship"});
        for (name, value) in more.as_object().unwrap() {
            node[name] = value.clone();
        }
        let mut player = player(node);
        player.start(json!({}));
        player
    }

    fn failed(more: Value) -> Value {
        let mut report = json!({"status": "failed"});
        for (name, value) in more.as_object().unwrap() {
            report[name] = value.clone();
        }
        json!({"RunTaskInput": null, "RunTaskReport": report})
    }

    fn retry(value: Value) -> Value {
        json!({"customProperties": {"retry": value}})
    }

    fn incident(player: &Player<'_>) -> (String, String) {
        let incident = &player.state().incidents[0];
        (incident.code.clone(), incident.message.clone())
    }

    #[test]
    fn the_task_and_its_bookmark_have_the_same_id() {
        let mut player = player(json!({
            "outputs": [{"name": "Got"}],
            "root": {"type": "RunTask", "taskName": "Ship", "payload": {"order": 7},
                "result": {"typeName": "Object", "memoryReference": {"id": "Got"}}}
        }));
        player.start(json!({}));
        let task = tasks(&player).remove(0);
        assert_eq!((task.task_name.as_str(), &task.payload), ("Ship", &json!({"order": 7})));
        assert_eq!((task.task_version, task.attempt, task.deadline), (1, 1, None));
        let bookmark = player.state().bookmarks.values().next().unwrap();
        assert_eq!(bookmark.hash, Stimulus::task(&task.task_id).hash());
        assert!(player.resume(WAIT, json!({"RunTaskInput": "shipped"})));
        assert_eq!(player.state().output["Got"], json!("shipped"));
        assert_eq!(cancels(&player), []);
    }

    #[test]
    fn an_outcome_that_it_does_not_have_is_an_incident() {
        let completed = |outcome: &str| {
            let report = json!({"status": "completed", "outcome": outcome});
            json!({"RunTaskInput": 1, "RunTaskReport": report})
        };
        let mut player = started(json!({}));
        assert!(player.resume(WAIT, completed("Done")));
        assert_eq!(player.status(), SubStatus::Finished);
        let mut player = started(json!({}));
        assert!(player.resume(WAIT, completed("Nope")));
        let (code, message) = incident(&player);
        assert_eq!(code, "InvalidTaskResult");
        assert_eq!(message, "RunTask has no outcome Nope: it has Done");
    }

    #[test]
    fn a_failed_attempt_is_followed_by_another_one_of_the_same_task() {
        let mut player = started(json!({"payload": {"order": 7}, "customProperties":
            {"retry": {"attempts": 3, "delay": "1m"}}}));
        for attempt in 1..=2 {
            assert!(player.resume(WAIT, failed(json!({"error": {"title": "no stock"}}))));
            assert_eq!(player.status(), SubStatus::Suspended);
            assert_eq!(tasks(&player).len(), attempt, "none before the pause is over");
            assert!(player.fire_timer());
        }
        let handed_out = tasks(&player);
        let attempts: Vec<_> = handed_out.iter().map(|task| task.attempt).collect();
        assert_eq!(attempts, [1, 2, 3]);
        assert!(handed_out.iter().all(|task| task.task_id == handed_out[0].task_id));
        assert!(handed_out.iter().all(|task| task.payload == json!({"order": 7})));
        let retries = player.journal.iter().filter(|entry| entry.what == What::Retrying);
        let retries: Vec<_> = retries.filter_map(|entry| entry.message.as_deref()).collect();
        let follows = |attempt, pause| {
            format!("attempt {attempt} of 3 failed: no stock; the next follows in {pause}")
        };
        assert_eq!(retries, [follows(1, "00:01:00"), follows(2, "00:02:00")]);
        assert!(player.resume(WAIT, json!({"RunTaskInput": "shipped"})));
        assert_eq!(player.status(), SubStatus::Finished);
    }

    #[test]
    fn the_last_failure_is_an_incident_in_the_words_of_the_worker() {
        let check = |more: Value, report: Value, code: &str, message: &str| {
            let mut player = started(more);
            player.resume(WAIT, failed(report));
            assert_eq!(player.status(), SubStatus::Faulted);
            assert_eq!(incident(&player), (code.to_owned(), message.to_owned()));
            assert!(player.state().bookmarks.is_empty());
        };
        let declined = json!({"type": "card-declined", "title": "declined", "detail": "by bank"});
        check(json!({}), json!({"error": declined}), "card-declined", "declined: by bank");
        check(json!({}), json!({}), "TaskFailed", "the worker gave no reason");
        let blank = json!({"error": {"type": "about:blank", "detail": "late"}});
        check(json!({}), blank, "TaskFailed", "late");
        let for_good = json!({"error": declined, "retryable": false});
        let three = retry(json!({"attempts": 3}));
        let said = "declined: by bank (attempt 1 of 3)";
        check(three.clone(), for_good, "card-declined", said);
        let said = "the worker has given the task up (attempt 1 of 3)";
        check(three, json!({"status": "cancelled"}), "TaskCancelled", said);
        let mut late = retry(json!({"attempts": 3, "delay": "1h"}));
        late["timeout"] = json!("00:01:00");
        let said = "none left (attempt 1 of 3; its timeout comes before the next one)";
        check(late, json!({"error": {"title": "none left"}}), "TaskFailed", said);
    }

    #[test]
    fn the_worker_may_ask_for_a_longer_pause() {
        let mut player = started(retry(json!({"attempts": 2, "delay": "1s"})));
        player.resume(WAIT, failed(json!({"retryAfter": 30})));
        let pause = player.state().bookmarks.values().find_map(|open| open.due_at);
        assert_eq!(pause, Some(engine::testing::env(30_000).now));
    }

    #[test]
    fn a_task_that_is_late_fails_and_is_cancelled() {
        let mut player = started(json!({"taskVersion": 2, "timeout": "00:01:00"}));
        let task = tasks(&player).remove(0);
        assert_eq!(task.deadline, Some(engine::testing::env(60_000).now));
        assert!(player.fire_timer());
        assert_eq!(player.status(), SubStatus::Faulted);
        assert_eq!(incident(&player).0, "TaskTimeout");
        let cancel =
            TaskCancel { task_id: task.task_id, task_name: "Ship".to_owned(), task_version: 2 };
        assert_eq!(cancels(&player), [cancel]);
    }

    #[test]
    fn a_time_limit_ends_with_the_task() {
        let mut player = started(json!({"timeout": "00:01:00"}));
        player.resume(WAIT, json!({"RunTaskInput": 1}));
        assert_eq!(player.status(), SubStatus::Finished);
        assert_eq!(cancels(&player), []);
    }

    #[test]
    fn a_cancelled_instance_does_not_want_its_task_any_more() {
        let mut player = started(json!({}));
        let task = tasks(&player).remove(0);
        player.give(engine::Input::Cancel { reason: None });
        assert_eq!(player.status(), SubStatus::Cancelled);
        let ids: Vec<_> = cancels(&player).into_iter().map(|cancel| cancel.task_id).collect();
        assert_eq!(ids, [task.task_id]);
    }

    #[test]
    fn a_lost_attempt_is_handed_out_again_and_costs_no_try() {
        let mut player = started(retry(json!({"attempts": 2, "delay": "1m"})));
        let bookmark = player.state().bookmarks.values().next().unwrap().clone();
        let later = bookmark.created_at.after(Duration::from_secs(1));
        let lost = |player: &Player<'_>, before| player.state().lost_task(&bookmark.id, before);
        assert_eq!(lost(&player, bookmark.created_at), None, "it was handed out after the loss");
        let input = lost(&player, later).expect("it was handed out before the loss");
        assert!(player.resume(WAIT, Value::Object(input)));
        assert_eq!(player.status(), SubStatus::Suspended);
        assert_eq!(player.state().bookmarks.keys().collect::<Vec<_>>(), [&bookmark.id]);
        let attempts = |player: &Player<'_>| {
            tasks(player)
                .iter()
                .map(|task| (task.task_id.clone(), task.attempt))
                .collect::<Vec<_>>()
        };
        let id = tasks(&player)[0].task_id.clone();
        assert_eq!(attempts(&player), [(id.clone(), 1), (id.clone(), 2)]);
        assert!(player.resume(WAIT, failed(json!({"error": {"title": "no stock"}}))));
        assert_eq!(player.status(), SubStatus::Suspended, "one of two tries has failed");
        assert_eq!(lost(&player, later.after(Duration::from_secs(60))), None, "it is not out");
        assert!(player.fire_timer());
        assert_eq!(attempts(&player)[2..], [(id, 3)]);
        player.resume(WAIT, failed(json!({"error": {"title": "no stock"}})));
        assert_eq!(incident(&player).1, "no stock (attempt 3 of 3)");
        let said: Vec<_> =
            player.journal.iter().filter_map(|entry| entry.message.as_deref()).collect();
        assert!(
            said.iter().any(|said| said.starts_with("the broker has lost attempt 1")),
            "{said:?}"
        );
    }

    #[test]
    fn a_report_about_another_attempt_is_fenced() {
        let mut player = started(retry(json!({"attempts": 2, "delay": "1m"})));
        let bookmark = player.state().bookmarks.keys().next().unwrap().clone();
        let fenced = |player: &Player<'_>, report: Value| {
            let input = json!({"RunTaskInput": 1, "RunTaskReport": report});
            player.state().fence(&bookmark, input.as_object().unwrap()).is_some()
        };
        assert!(!fenced(&player, json!({"attempt": 1})));
        assert!(fenced(&player, json!({"attempt": 2})));
        assert!(!player.state().has_passed(&bookmark, 1));
        player.resume(WAIT, failed(json!({})));
        assert!(player.state().bookmarks.contains_key(&bookmark), "it stays open in the pause");
        let passed = |attempt| player.state().has_passed(&bookmark, attempt);
        assert_eq!([1, 2, 3].map(passed), [true, false, false]);
        assert!(fenced(&player, json!({"attempt": 1})));
        assert!(fenced(&player, json!({"status": "failed"})), "of which attempt?");
        player.fire_timer();
        assert!(fenced(&player, json!({"attempt": 1})));
        assert!(!fenced(&player, json!({"attempt": 2, "status": "failed"})));
    }
}
