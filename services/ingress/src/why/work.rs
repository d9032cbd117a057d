//! Work that is to be done for an instance, and what keeps the executors from doing it.

use std::time::Duration;

use bus::Pause;
use model::{SubStatus, Timestamp};
use protocol::subject;
use serde_json::json;

use super::action::{action, quoted, since, span};
use super::answer::{Action, Finding, Weight};
use super::facts::{CallFact, Facts};
use super::wait::{is_overdue, last_failure, start_role};

/// Work that is younger than this is on its way.
const SOON: Duration = Duration::from_secs(2);
/// The sweep of a timer node mends what was left behind for longer than this.
const SWEPT_AFTER: Duration = Duration::from_secs(30);
/// Commands in the queue that are worth a word.
const BACKLOG_NOTED: u64 = 100;

/// What is to be done, and why it is not done.
pub(super) fn work(facts: &Facts) -> Vec<Finding> {
    let mut found = hindrances(facts);
    found.extend(holder(facts));
    found.extend(start(facts));
    found.extend(commands(facts));
    found.extend(facts.calls.iter().map(|call| called(facts, call)));
    found.extend(turn(facts));
    found.extend(backlog(facts));
    found
}

/// Whether an executor has something to do for the instance now.
fn is_needed(facts: &Facts) -> bool {
    let due = |at: Option<Timestamp>| at.is_some_and(|at| is_overdue(facts.now, at));
    matches!(facts.status(), SubStatus::Pending | SubStatus::Executing)
        || facts.commands.iter().any(|command| !command.is_waiting)
        || facts.waits.iter().any(|bookmark| due(bookmark.due_at))
        || facts.calls.iter().any(|call| due(call.again_at))
}

/// Whether a live node works on the instance.
fn is_held(facts: &Facts) -> bool {
    facts.cluster.lease.as_ref().is_some_and(|lease| facts.cluster.lives(&lease.owner))
}

/// What keeps every executor from working, or some of them.
fn hindrances(facts: &Facts) -> Vec<Finding> {
    let cluster = &facts.cluster;
    let weight = if is_needed(facts) { Weight::Blocks } else { Weight::Note };
    let executors = cluster.with_role("executor");
    let mut found = Vec::new();
    if executors.is_empty() {
        let says = "No executor lives, so no command is applied.".to_owned();
        found.push(Finding::of(weight, "no-executor", says).doing(start_role("executor")));
    }
    if cluster.has_no_consumer {
        let says = format!(
            "NATS has no consumer {} of {}, from which executors pull, so no command is applied.",
            subject::EXECUTOR_CONSUMER,
            subject::COMMANDS_STREAM
        );
        let again =
            action("make it again; what waits in the stream is kept").staunch(&["provision"]);
        found.push(Finding::of(weight, "no-consumer", says).doing(again));
    }
    if let Some(pause) = cluster.pause() {
        let says = format!("The whole cluster is paused {}", by(facts.now, pause));
        let go_on = action("end the pause").staunch(&["runtime", "resume"]).posted(
            &facts.server,
            "/admin/workflow-runtime/resume",
            &json!({}),
        );
        found.push(Finding::of(weight, "cluster-paused", says).since(pause.since).doing(go_on));
    }
    let paused = cluster.paused();
    for (scope, pause) in &cluster.pauses {
        let bus::Scope::Node(node) = scope else { continue };
        if !paused.contains(&node.as_str()) {
            continue;
        }
        let is_all = paused.len() == executors.len();
        let (weight, cause) = match is_all {
            true => (weight, "executors-paused"),
            false => (Weight::Note, "executor-paused"),
        };
        let says = format!("The executor {node} is paused {}", by(facts.now, pause));
        let go_on = action("end the pause").staunch(&["runtime", "resume", "--node", node]).posted(
            &facts.server,
            &format!("/admin/workflow-runtime/resume?node={}", super::action::segment(node)),
            &json!({}),
        );
        found.push(Finding::of(weight, cause, says).since(pause.since).doing(go_on));
    }
    let silent: Vec<_> = cluster.executors.iter().filter(|(_, answer)| answer.is_none()).collect();
    for (node, _) in &silent {
        let is_all = silent.len() == cluster.executors.len();
        let weight = if is_all { weight } else { Weight::Note };
        let says = format!("The executor {node} does not answer: it may hang, or be overloaded.");
        let look = action("look at its health; its port is that of --admin-listen");
        found.push(Finding::of(weight, "executor-silent", says).doing(look));
    }
    found
}

fn by(now: Timestamp, pause: &Pause) -> String {
    let reason = pause.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("{} by {}{reason}.", since(now, pause.since), pause.by)
}

/// The node that holds the lease.
fn holder(facts: &Facts) -> Option<Finding> {
    let lease = facts.cluster.lease.as_ref()?;
    let owner = &lease.owner;
    let queue = match lease.next.len() {
        0 => String::new(),
        1 => "; 1 node waits for it".to_owned(),
        waiting => format!("; {waiting} nodes wait for it"),
    };
    if !facts.cluster.lives(owner) {
        let says = format!(
            "The node {owner}, which holds its lease, is gone{queue}; the lease ends within \
             seconds, and another executor goes on."
        );
        let weight = if is_needed(facts) { Weight::Blocks } else { Weight::Note };
        return Some(Finding::of(weight, "lease-of-gone-node", says));
    }
    let says = format!("The node {owner} holds its lease and works on it{queue}.");
    Some(Finding::of(if is_needed(facts) { Weight::Waits } else { Weight::Note }, "in-work", says))
}

/// The start that was accepted and not run.
fn start(facts: &Facts) -> Option<Finding> {
    if facts.status() != SubStatus::Pending {
        return None;
    }
    let at = facts.instance.created_at;
    let says = format!("Its start was accepted and has not run yet, {}", since(facts.now, at));
    Some(left(facts, "start-unapplied", says, at).since(at))
}

/// Accepted commands.
fn commands(facts: &Facts) -> Vec<Finding> {
    let mut found = Vec::new();
    for command in &facts.commands {
        let (kind, at) = (&command.kind, command.accepted_at);
        let since = since(facts.now, at);
        if command.is_waiting {
            let until = match command.expires_at {
                Some(until) => format!("until {until}"),
                None => "for ever".to_owned(),
            };
            let says = format!(
                "The command {kind} {} came too early, {since}; it is kept {until}, and is applied \
                 when the instance waits for it.",
                command.id
            );
            found.push(Finding::note("command-early", says).since(at).until(command.expires_at));
            continue;
        }
        let says =
            format!("The accepted command {kind} {} is not applied yet, {since}", command.id);
        found.push(left(facts, "command-unapplied", says, at).since(at));
    }
    found
}

/// Work that was left: its weight depends on its age, and on whether a sweep mends it.
fn left(facts: &Facts, cause: &str, says: String, at: Timestamp) -> Finding {
    if facts.now <= at.after(SOON) {
        return Finding::waits(cause, format!("{says}."));
    }
    if facts.cluster.with_role("timer").is_empty() {
        let says = format!(
            "{says}; if its message is lost, only a node with the role timer sends it again, and \
             none lives."
        );
        return Finding::blocks(cause, says).doing(start_role("timer"));
    }
    match facts.now > at.after(SWEPT_AFTER) {
        true => Finding::blocks(cause, format!("{says}; a timer node sends it again every 10 s.")),
        false => Finding::waits(cause, format!("{says}; it is sent again after 10 s.")),
    }
}

/// A call in progress, or one that is made again after a pause.
fn called(facts: &Facts, call: &CallFact) -> Finding {
    let CallFact { what, activity_id, attempt, attempts_max, .. } = call;
    let before = last_failure(facts, &call.activity_instance_id);
    if let Some(at) = call.again_at {
        let reason = before.map(|(_, reason)| format!(": {reason}")).unwrap_or_default();
        let says = format!(
            "Its call {what} of activity {activity_id} failed{reason}; attempt {attempt} of \
             {attempts_max} is made at {at}"
        );
        let now = Action {
            what: "make it now".to_owned(),
            ..super::wait::resumed(facts, &call.bookmark_id)
        };
        let late = span(facts.now.since(at));
        let has_timer = !facts.cluster.with_role("timer").is_empty();
        let found = if at > facts.now {
            let left = span(at.since(facts.now));
            Finding::waits("call-retry", format!("{says} (in {left})."))
        } else if !has_timer {
            let says =
                format!("{says}, which was {late} ago, and no node with the role timer lives.");
            Finding::blocks("call-retry-overdue", says).doing(start_role("timer"))
        } else if is_overdue(facts.now, at) {
            Finding::blocks("call-retry-overdue", format!("{says}, which was {late} ago."))
        } else {
            Finding::waits("call-retry", format!("{says}, which was {late} ago: it is begun now."))
        };
        return found.since(call.since).until(Some(at)).doing(now);
    }
    let tries = match attempts_max {
        0 | 1 => String::new(),
        max => {
            let before = before.map(|(last, reason)| format!("; attempt {last} failed: {reason}"));
            format!(" (attempt {attempt} of {max}{})", before.unwrap_or_default())
        }
    };
    let mut says = format!(
        "It waits for the answer to its call {what}{tries} of activity {activity_id}, {}",
        since(facts.now, call.since)
    );
    if let Some(at) = call.not_before.filter(|at| *at > facts.now) {
        says.push_str(&format!("; it is not made before {at}"));
    }
    let is_left = !is_held(facts) && facts.now > call.since.after(SWEPT_AFTER);
    if !is_left {
        let found = Finding::waits("call", format!("{says}."));
        return found.since(call.since).until(call.not_before);
    }
    let again = action("let an executor make it again, with the same key")
        .published(&subject::perform(facts.id()), &json!({}));
    Finding::blocks("call-left", format!("{says}; no live node works on it."))
        .since(call.since)
        .doing(again)
}

/// A turn that is to be continued.
fn turn(facts: &Facts) -> Option<Finding> {
    if facts.status() != SubStatus::Executing || !facts.calls.is_empty() || is_held(facts) {
        return None;
    }
    let at = facts.instance.updated_at;
    let says = format!("It has more to run, {}", since(facts.now, at));
    let go_on =
        action("let an executor go on").published(&subject::perform(facts.id()), &json!({}));
    Some(left(facts, "turn", says, at).since(at).doing(go_on))
}

fn backlog(facts: &Facts) -> Option<Finding> {
    let waiting = facts.cluster.backlog.filter(|waiting| *waiting >= BACKLOG_NOTED)?;
    let weight = if is_needed(facts) { Weight::Waits } else { Weight::Note };
    let says = format!("{waiting} commands are in the queue of the executors.");
    let more = action("start another executor, or see what they do").staunch(&["top"]);
    Some(Finding::of(weight, "backlog", says).doing(more))
}

/// Publishes a dead letter again.
pub(super) fn replay(facts: &Facts, number: u64) -> Action {
    let number = quoted(&number.to_string());
    action("publish it again").staunch(&["dead", "replay", &number]).posted(
        &facts.server,
        &format!("/bookmark-queue/dead-letters/{number}/replay"),
        &json!({}),
    )
}
