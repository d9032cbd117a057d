//! What an instance waits for, bookmark by bookmark.

use std::time::Duration;

use engine::OpenTask;
use model::{Bookmark, BookmarkId, MessageSource, Stimulus, SubStatus, Timestamp, What};
use protocol::subject;
use serde_json::json;

use super::action::{action, segment, since, span};
use super::answer::{Action, Finding};
use super::explain::one_line;
use super::facts::{Facts, Relative, TaskFact};

/// A timer that is due for less than this is on its way.
const LATE_AFTER: Duration = Duration::from_secs(5);
/// The end of a child that ended less than this ago is on its way.
const TOLD_AFTER: Duration = Duration::from_secs(15);

/// The cause of the pause between two attempts of a task.
pub(super) const TASK_RETRY: &str = "task-retry";

/// The bookmarks of activities that read a line.
const READ_LINE: &str = "Elsa.ReadLine";

/// Everything that the instance waits for.
pub(super) fn waits(facts: &Facts) -> Vec<Finding> {
    facts.waits.iter().map(|bookmark| wait(facts, bookmark)).collect()
}

/// Whether a timer of the instance is due and was not fired.
pub(super) fn is_overdue(now: Timestamp, due_at: Timestamp) -> bool {
    now > due_at.after(LATE_AFTER)
}

fn wait(facts: &Facts, bookmark: &Bookmark) -> Finding {
    let text = |name: &str| bookmark.payload.get(name).and_then(|value| value.as_str());
    let children: Vec<&Relative> = facts
        .children
        .iter()
        .filter(|child| child.bookmark_id.as_ref() == Some(&bookmark.id))
        .collect();
    let source = MessageSource::of(&bookmark.payload);
    let found = match (bookmark.due_at, text("EventName"), text("TaskId"), text("Path")) {
        (Some(due_at), ..) => timer(facts, bookmark, due_at),
        (None, Some(event), ..) if bookmark.hash == Stimulus::event(event).hash() => {
            raised(facts, bookmark, event)
        }
        (None, _, Some(task), _) => worked(facts, bookmark, task, text("TaskName")),
        (None, _, _, Some(path)) => {
            let method = text("Method").unwrap_or("get");
            requested(facts, bookmark, method, path)
        }
        _ if bookmark.name == Stimulus::MESSAGE
            && let Some(source) = source =>
        {
            heard(facts, bookmark, &source)
        }
        _ if !children.is_empty() || text("ChildInstanceId").is_some() => {
            child(facts, bookmark, &children)
        }
        _ if bookmark.name == READ_LINE => {
            Finding::waits("line", says(facts, bookmark, "a line of text"))
                .doing(told(facts, bookmark))
        }
        _ => {
            let what = format!("a resume of its bookmark {:?}", bookmark.name);
            Finding::waits("bookmark", says(facts, bookmark, &what))
                .doing(resumed(facts, &bookmark.id))
        }
    };
    found.since(bookmark.created_at)
}

fn says(facts: &Facts, bookmark: &Bookmark, what: &str) -> String {
    let since = since(facts.now, bookmark.created_at);
    format!("It waits for {what} at activity {}, {since}.", bookmark.activity_id)
}

fn timer(facts: &Facts, bookmark: &Bookmark, due_at: Timestamp) -> Finding {
    let activity = &bookmark.activity_id;
    let owner = facts.cluster.timer_of(facts.id());
    let attempt = OpenTask::paused_before(bookmark);
    let is_limit = attempt.is_none() && is_limit(facts, bookmark);
    let cause = if attempt.is_some() { TASK_RETRY } else { "timer" };
    let found = if due_at > facts.now {
        let left = span(due_at.since(facts.now));
        let mut what = if let Some(attempt) = attempt {
            let failed = failed(facts, bookmark, attempt);
            format!("{failed}, and attempt {attempt} begins at {due_at} (another {left})")
        } else if is_limit {
            format!("The time of activity {activity} is over at {due_at} (another {left})")
        } else {
            let since = since(facts.now, bookmark.created_at);
            format!("It waits until {due_at} (another {left}) at activity {activity}, {since}")
        };
        what.push_str(&match &owner {
            Some(node) => format!(", and the node {node}, which owns its shard, fires it then"),
            None => ", and no node with the role timer lives that could fire it then".to_owned(),
        });
        Finding::waits(cause, format!("{what}."))
    } else {
        let late = span(facts.now.since(due_at));
        let due = match attempt {
            Some(attempt) => {
                let failed = failed(facts, bookmark, attempt);
                format!("{failed}, and attempt {attempt} was due at {due_at}, {late} ago")
            }
            None => format!("The timer of activity {activity} was due at {due_at}, {late} ago"),
        };
        match owner {
            None => {
                let none = format!("{due}, and no node with the role timer lives to fire it.");
                Finding::blocks("timer-no-role", none).doing(start_role("timer"))
            }
            Some(node) if !is_overdue(facts.now, due_at) => {
                let is_fired =
                    format!("{due}, and the node {node}, which owns its shard, fires it now.");
                Finding::waits(cause, is_fired)
            }
            Some(node) => {
                let is_left = format!(
                    "{due}, and its command is not applied yet; the node {node} owns its shard and \
                     fires it."
                );
                Finding::blocks("timer-overdue", is_left)
            }
        }
    };
    let found = found.until(Some(due_at));
    if is_limit {
        // It would end what waits, not go on with it.
        return found;
    }
    let what = match attempt {
        Some(attempt) => format!("begin attempt {attempt} now"),
        None => "go on now, before the timer".to_owned(),
    };
    found.doing(Action { what, ..resumed(facts, &bookmark.id) })
}

/// The failure of the attempt of a task before this one, with its reason if the journal still has it
/// among its last lines.
fn failed(facts: &Facts, pause: &Bookmark, attempt: u32) -> String {
    let (activity, last) = (&pause.activity_id, attempt.saturating_sub(1));
    let said = last_failure(facts, &pause.activity_instance_id);
    let said = said.filter(|(number, _)| *number == last);
    let reason = said.map(|(_, reason)| format!(": {reason}")).unwrap_or_default();
    format!("Attempt {last} of the task of activity {activity} failed{reason}")
}

/// The last attempt of an execution after which another one follows, and why it failed, if the journal
/// has it among its last lines.
pub(super) fn last_failure(facts: &Facts, execution: &str) -> Option<(u32, String)> {
    facts.journal.iter().rev().find_map(|entry| {
        let is_of = entry.activity_instance_id.as_deref() == Some(execution);
        let message = entry.message.as_deref().filter(|_| is_of && entry.what == What::Retrying)?;
        // The journal keeps the beginning of a long line.
        let failure = message.rsplit_once("; the next follows in ").map_or(message, |(it, _)| it);
        let (number, rest) = failure.strip_prefix("attempt ")?.split_once(" of ")?;
        let (_, reason) = rest.split_once(" failed: ")?;
        Some((number.parse().ok()?, one_line(reason)))
    })
}

/// Whether a timer is the limit of something else that the same execution waits for.
fn is_limit(facts: &Facts, timer: &Bookmark) -> bool {
    facts.waits.iter().any(|other| {
        other.due_at.is_none() && other.activity_instance_id == timer.activity_instance_id
    })
}

fn raised(facts: &Facts, bookmark: &Bookmark, event: &str) -> Finding {
    let id = facts.id();
    let raise = action("raise the event for this instance")
        .staunch(&["instance", "resume", id.as_str(), "--bookmark", bookmark.id.as_str()])
        .nats(&subject::event(event), &json!({"instanceId": id}))
        .posted(
            &facts.server,
            &format!("/events/{}/trigger", segment(event)),
            &json!({"workflowInstanceId": id}),
        );
    Finding::waits("event", says(facts, bookmark, &format!("the event {event:?}"))).doing(raise)
}

fn worked(facts: &Facts, bookmark: &Bookmark, task: &str, name: Option<&str>) -> Finding {
    let open = facts.tasks.open.get(&bookmark.id);
    let mut what = match name {
        Some(name) => {
            let version = open.map(|open| open.kind.1).filter(|version| *version != 1);
            let version = version.map(|version| format!(", version {version}")).unwrap_or_default();
            format!("a worker to complete the task {task} of type {name:?}{version}")
        }
        None => format!("a worker to complete the task {task}"),
    };
    let pause = facts.waits.iter().find_map(|other| {
        let is_of = other.activity_instance_id == bookmark.activity_instance_id;
        OpenTask::paused_before(other).filter(|_| is_of).zip(other.due_at)
    });
    if let Some((attempt, due_at)) = pause {
        let none = "no worker has it before then";
        what.push_str(&format!(" (attempt {attempt} begins at {due_at}: {none})"));
    } else if let Some((attempt, reason)) = last_failure(facts, &bookmark.activity_instance_id) {
        what.push_str(&format!(" (attempt {attempt} failed: {reason})"));
    }
    let mut says = says(facts, bookmark, &what);
    if let Some(open) = open.filter(|_| pause.is_none()) {
        says.push_str(&taken(facts, open));
    }
    let complete = action("complete the task")
        .staunch(&[
            "instance",
            "resume",
            facts.id().as_str(),
            "--bookmark",
            bookmark.id.as_str(),
            "-i",
            r#"{"RunTaskInput":null}"#,
        ])
        .published(&subject::task_completed(task), &json!({"result": null}))
        .posted(
            &facts.server,
            &format!("/tasks/{}/complete", segment(task)),
            &json!({"result": null}),
        );
    Finding::waits("task", says).doing(complete)
}

/// Whether a worker has taken the current attempt of a task, where that is sure.
fn taken(facts: &Facts, task: &TaskFact) -> String {
    let it = match task.attempt {
        0 | 1 => "it".to_owned(),
        attempt => format!("attempt {attempt}"),
    };
    match facts.tasks.is_taken(task) {
        Some(false) => format!(" No worker has taken {it} yet."),
        Some(true) => format!(" A worker has taken {it}{}.", goes_on(facts, task)),
        None => String::new(),
    }
}

/// What becomes of a task that was taken if its worker has died: NATS does not say whether it has.
fn goes_on(facts: &Facts, task: &TaskFact) -> String {
    let pool = facts.tasks.pools.get(&task.kind);
    let ack_wait = pool.map(|pool| format!("{} (ack_wait)", span(pool.ack_wait)));
    let ack_wait = ack_wait.unwrap_or_else(|| "the ack_wait of its consumer".to_owned());
    format!(
        "; if that one dies, the task goes to the next that asks, {ack_wait} after its last sign of \
         life"
    )
}

fn heard(facts: &Facts, bookmark: &Bookmark, source: &MessageSource) -> Finding {
    let mut what = format!("a message on the subject {}", source.subject);
    if let Some(stream) = &source.stream {
        what.push_str(&format!(" of the stream {stream}"));
    }
    let says = says(facts, bookmark, &what);
    let missing = source.stream.as_ref().filter(|it| facts.missing_streams.contains(*it));
    let found = match facts.nats.allow_source(&facts.instance.definition_id, source) {
        Ok(()) if let Some(stream) = missing => {
            let later = "executors look for it again and again";
            let absent = format!("{says} The stream {stream} does not exist: {later}.");
            Finding::blocks("message-no-stream", absent)
        }
        Ok(()) => Finding::waits("message", says),
        Err(reason) => {
            let deaf = "By the configuration of this node, which executors usually share, nobody \
                        listens";
            Finding::blocks("message-not-allowed", format!("{says} {deaf}: {reason}."))
        }
    };
    found.doing(resumed(facts, &bookmark.id))
}

fn requested(facts: &Facts, bookmark: &Bookmark, method: &str, path: &str) -> Finding {
    let what = format!("a request {} /workflows{path}", method.to_uppercase());
    let request = action("send the request").requested(&facts.server, method, path);
    Finding::waits("http", says(facts, bookmark, &what)).doing(request)
}

fn child(facts: &Facts, bookmark: &Bookmark, children: &[&Relative]) -> Finding {
    let looks = |one: &Relative| {
        action("see why the child is where it is").staunch(&["why", one.id.as_str()])
    };
    let is_over = |one: &&&Relative| one.status.is_some_and(SubStatus::is_final);
    if let [one] = children {
        let (id, activity) = (&one.id, &bookmark.activity_id);
        return match one.status {
            None => {
                let gone = format!(
                    "It waits at activity {activity} for the end of its child {id}, and there is \
                     no such instance."
                );
                Finding::blocks("child-gone", gone).doing(resumed(facts, &bookmark.id))
            }
            Some(status) if status.is_final() => {
                let at = one.finished_at.unwrap_or(facts.now);
                let ended = format!(
                    "Its child {id} is {status} {}, and activity {activity} has not heard of it.",
                    since(facts.now, at)
                );
                let is_late = facts.now > at.after(TOLD_AFTER);
                let found = if is_late {
                    Finding::blocks("child-ended", ended)
                } else {
                    Finding::waits("child-ended", ended)
                };
                found.doing(resumed(facts, &bookmark.id))
            }
            Some(status) => {
                let what = format!("the end of its child {id}, which is {status},");
                Finding::waits("child", says(facts, bookmark, &what)).doing(looks(one))
            }
        };
    }
    let open: Vec<_> = children.iter().filter(|one| !is_over(one)).collect();
    let what = match open.first() {
        Some(_) => format!("the end of {} children that are known here", open.len()),
        None => "the end of its children".to_owned(),
    };
    let found = Finding::waits("children", says(facts, bookmark, &what));
    match open.first() {
        Some(one) => found.doing(looks(one)),
        None => found.doing(resumed(facts, &bookmark.id)),
    }
}

/// Resumes the instance at this bookmark, whatever it waits for.
pub(super) fn resumed(facts: &Facts, bookmark: &BookmarkId) -> Action {
    let (id, place) = (facts.id(), bookmark.as_str());
    action("go on without it")
        .staunch(&["instance", "resume", id.as_str(), "--bookmark", place])
        .nats(&subject::resume(id), &json!({"bookmarkId": place}))
        .posted(
            &facts.server,
            &format!("/workflow-instances/{id}/resume"),
            &json!({"bookmarkId": place}),
        )
}

/// Gives an activity that reads a line its line: without one it would fail.
fn told(facts: &Facts, bookmark: &Bookmark) -> Action {
    let (id, place) = (facts.id(), bookmark.id.as_str());
    let input = json!({"Line": ""});
    let resume = json!({"bookmarkId": place, "input": input});
    action("give it the line, as Line")
        .staunch(&[
            "instance",
            "resume",
            id.as_str(),
            "--bookmark",
            place,
            "-i",
            &input.to_string(),
        ])
        .nats(&subject::resume(id), &resume)
        .posted(&facts.server, &format!("/workflow-instances/{id}/resume"), &resume)
}

/// Starts a node with a role that is missing.
pub(super) fn start_role(role: &str) -> Action {
    action(format!("start a node with the role {role}")).staunch(&["server", "--role", role])
}
