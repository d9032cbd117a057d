//! From facts to findings: pure, so that a table of cases tests it.

use std::collections::BTreeSet;

use model::{Incident, SubStatus, What};
use serde_json::json;

use super::action::{action, since};
use super::answer::{
    Accepted, Call, DeadLetter, Executor, Failure, Finding, Line, Nodes, Paused, Related, Weight,
    Why,
};
use super::facts::{Cluster, Facts, Relative, Version};
use super::wait::{TASK_RETRY, waits};
use super::work::{replay, work};

/// Waits that the first sentence names.
const NAMED_MAX: usize = 3;

/// The whole answer.
pub(super) fn explain(facts: Facts) -> Why {
    let findings = findings(&facts);
    let answer = sentence(&facts, &findings);
    let Facts { instance, now, .. } = &facts;
    Why {
        workflow_instance_id: instance.id.to_string(),
        definition_id: instance.definition_id.to_string(),
        definition_version: instance.definition_version,
        sub_status: instance.status.to_string(),
        updated_at: instance.updated_at.to_string(),
        asked_at: now.to_string(),
        answer,
        findings,
        commands: commands(&facts),
        calls: calls(&facts),
        incidents: facts.incidents.iter().map(failure).collect(),
        dead_letters: letters(&facts),
        journal: journal(&facts),
        parent: facts.parent.as_ref().map(related),
        children: facts.children.iter().map(related).collect(),
        cluster: nodes(&facts.cluster),
        unknown: facts.unknown,
    }
}

/// Everything that explains the instance, the heaviest first.
pub(super) fn findings(facts: &Facts) -> Vec<Finding> {
    let mut found = Vec::new();
    if facts.status().is_final() {
        found.push(ended(facts));
    } else {
        found.extend(definition(facts));
        found.extend(paused(facts));
        found.extend(work(facts));
        found.extend(waits(facts));
        found.extend(incidents(facts));
    }
    found.extend(dead(facts));
    found.extend(parent(facts));
    if facts.cluster.is_cut_off {
        let says = "The node that answers is cut off from the others: what it says about them may \
                    be old."
            .to_owned();
        found.push(Finding::note("cut-off", says));
    }
    found.sort_by_key(|finding| finding.weight);
    found
}

/// The answer in one sentence.
fn sentence(facts: &Facts, findings: &[Finding]) -> String {
    let is_wait = |finding: &&Finding| finding.weight == Weight::Waits;
    let waiting: Vec<_> = findings.iter().filter(is_wait).collect();
    match findings.first() {
        Some(first) if first.weight == Weight::Blocks => first.says.clone(),
        _ if facts.waits.len() > 1 && waiting.len() > 1 => several(facts, &waiting),
        Some(first) if first.weight == Weight::Waits => first.says.clone(),
        _ => format!("It is {}, and nothing is in its way.", facts.status()),
    }
}

/// The answer for an instance with several waits. One execution of an activity may have more than one:
/// for a task, and for the end of its time.
fn several(facts: &Facts, waiting: &[&Finding]) -> String {
    let mut seen = BTreeSet::new();
    let places = facts.waits.iter().map(|wait| wait.activity_id.as_str());
    let places: Vec<_> = places.filter(|place| seen.insert(*place)).collect();
    let executions: BTreeSet<_> =
        facts.waits.iter().map(|wait| wait.activity_instance_id.as_str()).collect();
    let [place] = places.as_slice() else {
        let mut named = places.iter().take(NAMED_MAX).copied().collect::<Vec<_>>().join(", ");
        if places.len() > NAMED_MAX {
            named.push_str(" and others");
        }
        return format!("It waits at {} activities: {named}.", places.len());
    };
    if executions.len() > 1 {
        return format!("It waits at activity {place}, in {} executions of it.", executions.len());
    }
    let retry = waiting.iter().find(|one| one.cause == TASK_RETRY);
    let other = waiting.iter().find(|one| one.cause != "timer");
    let first = retry.or(other).or(waiting.first());
    first.map_or_else(String::new, |first| first.says.clone())
}

fn ended(facts: &Facts) -> Finding {
    let (id, status) = (facts.id(), facts.status());
    let at = facts.instance.finished_at.unwrap_or(facts.instance.updated_at);
    let restart = action("start a new instance with what was known")
        .staunch(&["instance", "restart", id.as_str()])
        .posted(&facts.server, &format!("/workflow-instances/{id}/restart"), &json!({}));
    if status != SubStatus::Faulted {
        let says = format!("It is {status} {}; nothing moves it any more.", since(facts.now, at));
        return Finding::blocks("ended", says).since(at).doing(restart);
    }
    let last = facts.incidents.last();
    let why = last.map_or_else(String::new, |incident| {
        let Incident { activity_id, message, .. } = incident;
        match activity_id.as_str() {
            // An incident of the whole instance.
            "" => format!(": {}", one_line(message)),
            _ => format!(": activity {activity_id} failed: {}", one_line(message)),
        }
    });
    let says = format!("It is Faulted {}{why}.", since(facts.now, at));
    let mut found = Finding::blocks("faulted", says).since(at);
    if facts.can_be_retried {
        found = remedies(facts).into_iter().fold(found, Finding::doing);
    }
    found.doing(restart)
}

/// What can be done about an incident.
fn remedies(facts: &Facts) -> Vec<super::answer::Action> {
    let (id, server) = (facts.id(), &facts.server);
    let alter = protocol::subject::alter(id);
    let retry = json!({"alterations": [{"type": "Retry"}]});
    let path = format!("/workflow-instances/{id}/alter");
    let mut found = vec![
        action("run the failed activity again, from its start")
            .staunch(&["instance", "retry", id.as_str()])
            .nats(&alter, &retry)
            .posted(server, &path, &retry),
        action("set a variable first, then retry").staunch(&[
            "instance",
            "set",
            id.as_str(),
            "NAME=JSON",
        ]),
    ];
    let (Version::There(Some(newest)) | Version::Gone(Some(newest))) = facts.definition else {
        return found;
    };
    if newest != facts.instance.definition_version {
        found.push(migrate(facts, newest));
    }
    found
}

fn migrate(facts: &Facts, to: u32) -> super::answer::Action {
    let (id, number) = (facts.id(), to.to_string());
    let body = json!({"alterations": [{"type": "Migrate", "targetVersion": to}]});
    action(format!("go on with version {to}, which is published"))
        .staunch(&["instance", "migrate", id.as_str(), "--to", &number])
        .nats(&protocol::subject::alter(id), &body)
        .posted(&facts.server, &format!("/workflow-instances/{id}/alter"), &body)
}

fn definition(facts: &Facts) -> Option<Finding> {
    let (name, number) = (&facts.instance.definition_id, facts.instance.definition_version);
    match &facts.definition {
        Version::There(_) => None,
        Version::Gone(newest) => {
            let says = format!("The version {number} of {name} that it runs is deleted.");
            let found = Finding::blocks("version-gone", says);
            Some(match newest {
                Some(newest) => found.doing(migrate(facts, *newest)),
                None => found.doing(cancel(facts)),
            })
        }
        Version::Broken(reason) => {
            let says =
                format!("This node cannot run version {number} of {name}: {}.", one_line(reason));
            Some(Finding::blocks("version-broken", says).doing(cancel(facts)))
        }
    }
}

fn cancel(facts: &Facts) -> super::answer::Action {
    let id = facts.id();
    action("cancel it")
        .staunch(&["instance", "cancel", id.as_str()])
        .nats(&protocol::subject::cancel(id), &json!({}))
        .posted(&facts.server, &format!("/cancel/workflow-instances/{id}"), &json!({}))
}

fn paused(facts: &Facts) -> Option<Finding> {
    if !facts.is_paused {
        return None;
    }
    let id = facts.id();
    let altered = facts
        .journal
        .iter()
        .rev()
        .find(|line| line.what == What::Altered && line.message.as_deref() == Some("Pause"));
    let at = altered.map(|line| line.timestamp);
    let when = at.map(|at| format!(" {}", since(facts.now, at))).unwrap_or_default();
    let says = format!("An operator has paused it{when}; what arrives for it waits.");
    let body = json!({"alterations": [{"type": "Unpause"}]});
    let go_on = action("let it go on")
        .staunch(&["instance", "unpause", id.as_str()])
        .nats(&protocol::subject::alter(id), &body)
        .posted(&facts.server, &format!("/workflow-instances/{id}/alter"), &body);
    let found = Finding::blocks("paused", says).doing(go_on);
    Some(match at {
        Some(at) => found.since(at),
        None => found,
    })
}

/// Incidents of an instance that goes on in spite of them.
fn incidents(facts: &Facts) -> Option<Finding> {
    let last = facts.incidents.last()?;
    let says = format!(
        "It goes on with {} incidents; the last one is of activity {}: {}.",
        facts.instance.incidents,
        last.activity_id,
        one_line(&last.message)
    );
    let found = Finding::note("incidents", says).since(last.timestamp);
    Some(remedies(facts).into_iter().fold(found, Finding::doing))
}

fn dead(facts: &Facts) -> Vec<Finding> {
    let is_start = facts.status() == SubStatus::Pending;
    let weight = if is_start { Weight::Blocks } else { Weight::Note };
    let each = |letter: &super::facts::LetterFact| {
        let says = format!(
            "Its command on {} is dead letter {}, {}: {}.",
            letter.subject,
            letter.number,
            since(facts.now, letter.at),
            one_line(&letter.reason)
        );
        let found = Finding::of(weight, "dead-letter", says).since(letter.at);
        if letter.can_be_replayed { found.doing(replay(facts, letter.number)) } else { found }
    };
    facts.letters.iter().map(each).collect()
}

fn parent(facts: &Facts) -> Option<Finding> {
    let Relative { id, status, bookmark_id, .. } = facts.parent.as_ref()?;
    let what = if bookmark_id.is_some() { "waits for its end" } else { "does not wait for it" };
    let says = match status {
        Some(status) => format!("The instance {id} has started it and {what}; it is {status}."),
        None => format!("The instance {id} has started it and is gone."),
    };
    let look = action("see why the parent is where it is").staunch(&["why", id.as_str()]);
    Some(Finding::note("parent", says).doing(look))
}

/// A text of a workflow or of another system, in a sentence of ours. A long one ends with an ellipsis, after a
/// whole word where it has one.
pub(super) fn one_line(text: &str) -> String {
    const CHARS_MAX: usize = 300;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => {
            let shown = &line[..end];
            format!("{}…", shown.rsplit_once(' ').map_or(shown, |(words, _)| words))
        }
        None => line.trim_end_matches('.').to_owned(),
    }
}

fn commands(facts: &Facts) -> Vec<Accepted> {
    let each = facts.commands.iter().map(|command| Accepted {
        id: command.id.to_string(),
        kind: command.kind.clone(),
        accepted_at: command.accepted_at.to_string(),
        is_waiting: command.is_waiting,
        expires_at: command.expires_at.map(|at| at.to_string()),
    });
    each.collect()
}

fn calls(facts: &Facts) -> Vec<Call> {
    let each = facts.calls.iter().map(|call| Call {
        activity_id: call.activity_id.to_string(),
        bookmark_id: call.bookmark_id.to_string(),
        what: call.what.clone(),
        attempt: call.attempt,
        attempts_max: call.attempts_max,
        since: call.since.to_string(),
        not_before: call.again_at.or(call.not_before).map(|at| at.to_string()),
    });
    each.collect()
}

fn failure(incident: &Incident) -> Failure {
    Failure {
        activity_id: incident.activity_id.to_string(),
        code: incident.code.clone(),
        message: incident.message.clone(),
        timestamp: incident.timestamp.to_string(),
    }
}

fn letters(facts: &Facts) -> Vec<DeadLetter> {
    let each = facts.letters.iter().map(|letter| DeadLetter {
        id: letter.number.to_string(),
        at: letter.at.to_string(),
        subject: letter.subject.clone(),
        reason: letter.reason.clone(),
        can_be_replayed: letter.can_be_replayed,
    });
    each.collect()
}

fn journal(facts: &Facts) -> Vec<Line> {
    let each = facts.journal.iter().map(|entry| Line {
        sequence: entry.sequence,
        timestamp: entry.timestamp.to_string(),
        event_name: format!("{:?}", entry.what),
        activity_id: entry.activity_id.as_ref().map(ToString::to_string),
        message: entry.message.clone(),
        node: entry.node.clone(),
    });
    each.collect()
}

fn related(relative: &Relative) -> Related {
    Related {
        workflow_instance_id: relative.id.to_string(),
        sub_status: relative.status.map(|status| status.to_string()),
    }
}

fn nodes(cluster: &Cluster) -> Nodes {
    let lease = cluster.lease.as_ref();
    let executors = cluster.executors.iter().map(|(node, answer)| Executor {
        node: node.clone(),
        state: answer.as_ref().map(|answer| format!("{:?}", answer.state)),
    });
    let pauses = cluster.pauses.iter().map(|(scope, pause)| Paused {
        node: match scope {
            bus::Scope::Cluster => None,
            bus::Scope::Node(node) => Some(node.clone()),
        },
        since: pause.since.to_string(),
        by: pause.by.clone(),
        reason: pause.reason.clone(),
    });
    Nodes {
        lease_owner: lease.map(|lease| lease.owner.clone()),
        is_lease_owner_alive: lease.map(|lease| cluster.lives(&lease.owner)),
        lease_wanted_by: lease.map(|lease| lease.next.clone()).unwrap_or_default(),
        executors: executors.collect(),
        timers: cluster.with_role("timer").into_iter().map(str::to_owned).collect(),
        pauses: pauses.collect(),
        backlog: cluster.backlog,
    }
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn a_text_that_is_cut_says_so_and_ends_with_a_word() {
        assert_eq!(one_line("it\n  failed."), "it failed");
        assert_eq!(one_line(&"a".repeat(300)), "a".repeat(300));
        assert_eq!(one_line(&"ä".repeat(301)), format!("{}…", "ä".repeat(300)));
        let cut = one_line(&"a long error ".repeat(40));
        assert!(cut.ends_with("a long error…"), "{cut}");
        assert!(cut.chars().count() <= 301, "{cut}");
    }
}
