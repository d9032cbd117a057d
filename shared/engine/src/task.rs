//! Tasks: work that an instance hands to a worker and waits for. What its activity remembers is
//! here, because a turn hands it out, a report is compared with it, and an end of the wait that no
//! worker caused has to be announced.

use std::time::Duration;

use model::{
    ActivityId, Bookmark, BookmarkId, Map, Retry, Stimulus, TaskReport, TaskStatus, Timestamp,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::State;

/// The name of the bookmark that waits for a report.
const WAIT: &str = "Elsa.RunTask";
/// The name of the bookmark of the pause before the next attempt.
pub(crate) const PAUSE: &str = "TaskRetry";
/// The name of the bookmark of the time limit.
pub(crate) const LIMIT: &str = "TaskTimeout";

/// The input that says that the broker has lost the current attempt.
const LOST: &str = "RunTaskLost";

/// An attempt of a task, for a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// Its id, which the report names: the same in every attempt.
    pub task_id: String,
    /// Its type: a token of its subject.
    pub task_name: String,
    /// The version of the type.
    pub task_version: u32,
    /// The payload.
    pub payload: Value,
    /// The activity that waits.
    pub activity_id: ActivityId,
    /// The number of the attempt: 1, 2, 3 …
    pub attempt: u32,
    /// The time after which a report is not used any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
}

impl Task {
    /// Puts the input into the memory of its activity, in the place of the one that it has; into any
    /// other memory nothing.
    pub(crate) fn put_into(&self, memory: &mut Value) {
        let of = memory.get("taskId").and_then(Value::as_str);
        if of == Some(self.task_id.as_str())
            && let Some(payload) = memory.get_mut("payload")
        {
            payload.clone_from(&self.payload);
        }
    }
}

/// A task that is not wanted any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskCancel {
    /// Its id.
    pub task_id: String,
    /// Its type.
    pub task_name: String,
    /// The version of the type.
    pub task_version: u32,
}

/// A task that an activity waits for: the memory of the activity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OpenTask {
    /// Its id.
    pub task_id: String,
    /// Its type.
    pub task_name: String,
    /// The version of the type.
    pub task_version: u32,
    /// The number of the current attempt, which may still be paused.
    pub attempt: u32,
    /// When the current attempt was handed out; when the task began, in a pause before it and of a task
    /// of an earlier version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handed_out_at: Option<Timestamp>,
    /// The number of attempts whose message the broker has lost: they are not counted as failures.
    #[serde(skip_serializing_if = "is_none")]
    pub lost: u32,
    /// The time limit of all attempts together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// Its further attempts; none when there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<Box<Retry>>,
    /// The payload, for further attempts.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub payload: Value,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_none(count: &u32) -> bool {
    *count == 0
}

impl Default for OpenTask {
    fn default() -> Self {
        Self {
            task_id: String::new(),
            task_name: String::new(),
            task_version: 1,
            attempt: 1,
            handed_out_at: None,
            lost: 0,
            deadline: None,
            retry: None,
            payload: Value::Null,
        }
    }
}

/// The reason why a report changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fence {
    /// It is about another attempt.
    Attempt(String),
    /// Its sender works on another type or version.
    Kind(String),
}

impl OpenTask {
    /// The task that the activity of a bookmark remembers. An earlier version remembered nothing but
    /// the bookmark.
    #[must_use]
    pub fn of(memory: &Value, bookmark: &Bookmark) -> Self {
        if let Ok(open) = Self::deserialize(memory) {
            return open;
        }
        let text = |name: &str| bookmark.payload.get(name).and_then(Value::as_str);
        let text = |name| text(name).unwrap_or_default().to_owned();
        Self { task_id: text("TaskId"), task_name: text("TaskName"), ..Self::default() }
    }

    /// The current attempt, for a worker.
    #[must_use]
    pub fn handed_out(&self, activity_id: ActivityId) -> Task {
        Task {
            task_id: self.task_id.clone(),
            task_name: self.task_name.clone(),
            task_version: self.task_version,
            payload: self.payload.clone(),
            activity_id,
            attempt: self.attempt,
            deadline: self.deadline,
        }
    }

    /// Whether this input says that the broker has lost the current attempt.
    #[must_use]
    pub fn is_lost(input: &Map) -> bool {
        input.contains_key(LOST)
    }

    /// The stimulus of the bookmark of the pause before the current attempt.
    #[must_use]
    pub fn pause(&self) -> Stimulus {
        let payload = json!({"TaskId": self.task_id, "Attempt": self.attempt});
        Stimulus { name: PAUSE.to_owned(), payload }
    }

    /// The number of the attempt before which this bookmark pauses; none if it is not the pause of a
    /// task.
    #[must_use]
    pub fn paused_before(bookmark: &Bookmark) -> Option<u32> {
        let attempt = bookmark.payload.get("Attempt").filter(|_| bookmark.name == PAUSE)?;
        attempt.as_u64().and_then(|attempt| u32::try_from(attempt).ok())
    }

    /// The stimulus of the bookmark of the time limit.
    #[must_use]
    pub fn limit(&self) -> Stimulus {
        let payload = json!({"TaskId": self.task_id});
        Stimulus { name: LIMIT.to_owned(), payload }
    }

    /// The number of attempts that it may have.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        let attempts = self.retry.as_ref().map_or(1, |retry| retry.attempts);
        attempts.saturating_add(self.lost)
    }

    /// The pause before the next attempt after this report of a failure; none when there is no other
    /// attempt, or no time for it.
    #[must_use]
    pub fn next(&self, report: &TaskReport, now: Timestamp, chance: f64) -> Option<Duration> {
        let retry = self.retry.as_ref().filter(|_| self.may_have_another(report))?;
        let least = Duration::from_secs(report.retry_after.unwrap_or_default());
        let failed = self.attempt.saturating_sub(self.lost).max(1);
        let pause = retry.pause(failed, chance, None).max(least);
        let pause = pause.min(model::limits::CALL_PAUSE_MAX);
        let is_late = self.deadline.is_some_and(|deadline| now.after(pause) >= deadline);
        (!is_late).then_some(pause)
    }

    /// Whether another attempt may follow this report, as far as there is time for it.
    #[must_use]
    pub fn may_have_another(&self, report: &TaskReport) -> bool {
        let is_left = self.retry.is_some() && self.attempt < self.attempts();
        is_left && report.status == TaskStatus::Failed && report.retryable != Some(false)
    }

    fn cancel(self) -> TaskCancel {
        let Self { task_id, task_name, task_version, .. } = self;
        TaskCancel { task_id, task_name, task_version }
    }

    fn fence(&self, report: &TaskReport, is_paused: bool) -> Option<Fence> {
        let Self { task_id, task_name, task_version, attempt, .. } = self;
        let is_other = report.task_type.as_ref().is_some_and(|other| other != task_name)
            || report.task_version.is_some_and(|other| other != *task_version);
        if is_other {
            return Some(Fence::Kind(format!(
                "task {task_id} is not of the type and version of the subject"
            )));
        }
        if let Some(other) = report.attempt.filter(|other| other != attempt) {
            return Some(Fence::Attempt(format!(
                "attempt {other} of task {task_id} is not the current one, which is {attempt}"
            )));
        }
        (is_paused && report.status != TaskStatus::Completed).then(|| {
            Fence::Attempt(format!("attempt {attempt} of task {task_id} has not begun yet"))
        })
    }
}

impl State {
    /// The reason why this input of a bookmark changes nothing; none if it does, and for everything
    /// that is not the report of a worker.
    #[must_use]
    pub fn fence(&self, bookmark_id: &BookmarkId, input: &Map) -> Option<Fence> {
        let report = TaskReport::of_input(input).ok()?;
        let (_, open, is_paused) = self.open_task(bookmark_id)?;
        open.fence(&report, is_paused)
    }

    /// Whether this attempt of the task of a bookmark is over: no report about it counts any more.
    #[must_use]
    pub fn has_passed(&self, bookmark_id: &BookmarkId, attempt: u32) -> bool {
        self.open_task(bookmark_id).is_some_and(|(_, open, _)| attempt < open.attempt)
    }

    /// The input that hands out the task of a bookmark again, if its current attempt was handed out
    /// before this time; none if there is no such task, or it can do without.
    #[must_use]
    pub fn lost_task(&self, bookmark_id: &BookmarkId, before: Timestamp) -> Option<Map> {
        let (bookmark, open, is_paused) = self.open_task(bookmark_id)?;
        let is_lost = open.handed_out_at.unwrap_or(bookmark.created_at) < before;
        // A version that did not remember the payload cannot hand it out again.
        let can_be = !self.memory_of(&bookmark.activity_instance_id)?.is_null();
        (is_lost && can_be && !is_paused)
            .then(|| Map::from_iter([(LOST.to_owned(), Value::Bool(true))]))
    }

    /// The task that waits at this bookmark, and whether it pauses before its current attempt; none if
    /// there is no such bookmark, or it waits for something else.
    #[must_use]
    pub fn open_task(&self, bookmark_id: &BookmarkId) -> Option<(&Bookmark, OpenTask, bool)> {
        let bookmark = self.bookmarks.get(bookmark_id).filter(|open| open.name == WAIT)?;
        let execution = bookmark.activity_instance_id.as_str();
        let memory = self.memory_of(execution).unwrap_or(&Value::Null);
        let is_paused = self
            .bookmarks
            .values()
            .any(|other| other.name == PAUSE && other.activity_instance_id == execution);
        Some((bookmark, OpenTask::of(memory, bookmark), is_paused))
    }

    /// The task that waits at this bookmark; none if it is another kind of bookmark.
    pub(crate) fn task_at(&self, bookmark: &Bookmark) -> Option<TaskCancel> {
        if bookmark.name != WAIT {
            return None;
        }
        let memory = self.memory_of(&bookmark.activity_instance_id).unwrap_or(&Value::Null);
        Some(OpenTask::of(memory, bookmark).cancel())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_of_an_earlier_version_is_its_bookmark() {
        let bookmark = Bookmark {
            id: "b".into(),
            name: WAIT.to_owned(),
            hash: String::new(),
            activity_id: "a".into(),
            activity_node_id: "a".to_owned(),
            activity_instance_id: "i:1".to_owned(),
            payload: json!({"TaskId": "t", "TaskName": "Ship"}),
            created_at: Timestamp::default(),
            due_at: None,
        };
        let open = OpenTask::of(&Value::Null, &bookmark);
        assert_eq!((open.task_id.as_str(), open.task_name.as_str()), ("t", "Ship"));
        assert_eq!((open.task_version, open.attempt, open.retry.is_some()), (1, 1, false));
        let memory = serde_json::to_value(OpenTask { attempt: 3, ..open }).unwrap();
        let open = OpenTask::of(&memory, &bookmark);
        assert_eq!(open.attempt, 3);
        let Stimulus { name, payload } = open.pause();
        let pause = Bookmark { name, payload, ..bookmark.clone() };
        assert_eq!(OpenTask::paused_before(&pause), Some(3));
        assert_eq!(OpenTask::paused_before(&bookmark), None);
    }

    #[test]
    fn only_the_activity_of_a_task_remembers_its_input() {
        let open = OpenTask {
            task_id: "t".into(),
            payload: json!({"text": "long"}),
            ..OpenTask::default()
        };
        let task = Task { payload: json!({"text": "short"}), ..open.handed_out("a".into()) };
        let memory = serde_json::to_value(&open).unwrap();
        let other = serde_json::to_value(OpenTask { task_id: "u".into(), ..open.clone() }).unwrap();
        for (before, after) in [
            (
                memory,
                serde_json::to_value(OpenTask { payload: task.payload.clone(), ..open }).unwrap(),
            ),
            (other.clone(), other),
            (json!(["t"]), json!(["t"])),
            (Value::Null, Value::Null),
        ] {
            let mut memory = before;
            task.put_into(&mut memory);
            assert_eq!(memory, after);
        }
    }

    #[test]
    fn a_report_is_fenced_by_attempt_type_and_version() {
        let open = OpenTask { task_name: "Ship".into(), attempt: 2, ..OpenTask::default() };
        let check = |report: TaskReport, is_paused: bool, fenced: bool| {
            assert_eq!(open.fence(&report, is_paused).is_some(), fenced, "{report:?}");
        };
        let attempt = |attempt| TaskReport { attempt: Some(attempt), ..TaskReport::default() };
        check(TaskReport::default(), false, false);
        check(attempt(2), false, false);
        check(attempt(1), false, true);
        check(attempt(3), false, true);
        let kind = |name: &str, version| TaskReport {
            task_type: Some(name.to_owned()),
            task_version: Some(version),
            ..TaskReport::default()
        };
        check(kind("Ship", 1), false, false);
        check(kind("Ship", 2), false, true);
        check(kind("Pay", 1), false, true);
        let failed = TaskReport { status: TaskStatus::Failed, ..TaskReport::default() };
        check(failed.clone(), false, false);
        check(failed, true, true);
        check(TaskReport::default(), true, false);
    }

    #[test]
    fn there_is_no_other_attempt_without_time_for_it() {
        let retry = Retry { attempts: 3, delay: Duration::from_secs(2), ..Retry::default() };
        let open = OpenTask { retry: Some(Box::new(retry)), ..OpenTask::default() };
        let failed = TaskReport { status: TaskStatus::Failed, ..TaskReport::default() };
        let now = Timestamp::from_millis(0);
        let next = |open: &OpenTask, report: &TaskReport| {
            open.next(report, now, 0.0).map(|pause| pause.as_secs())
        };
        assert_eq!(next(&open, &failed), Some(2));
        let asked = TaskReport { retry_after: Some(7), ..failed.clone() };
        assert_eq!(next(&open, &asked), Some(7));
        let endless = TaskReport { retry_after: Some(u64::MAX), ..failed.clone() };
        assert_eq!(next(&open, &endless), Some(model::limits::CALL_PAUSE_MAX.as_secs()));
        let last = OpenTask { attempt: 3, ..open.clone() };
        assert_eq!(next(&last, &failed), None);
        let late = OpenTask { deadline: Some(Timestamp::from_millis(5_000)), ..open.clone() };
        assert_eq!((next(&late, &failed), next(&late, &asked)), (Some(2), None));
        assert!(late.may_have_another(&asked) && !last.may_have_another(&asked));
        let for_good = TaskReport { retryable: Some(false), ..failed };
        assert_eq!(next(&open, &for_good), None);
    }
}
