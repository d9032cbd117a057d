//! Subjects, stream names and bucket names, spelled once.
//!
//! Names given by people (definitions, events, task types) may hold any character; in a subject
//! every byte outside `A-Za-z0-9_-` is written `=XX` (upper-case hex). Event names keep their
//! dots, so `staunch.cmd.event.order.paid` raises `order.paid`.

use model::{DefinitionId, InstanceId};

/// Commands wait here.
pub const COMMANDS_STREAM: &str = "STAUNCH_COMMANDS";
/// The durable consumer all executors pull from.
pub const EXECUTOR_CONSUMER: &str = "executor";
/// The life of instances, replayable.
pub const EVENTS_STREAM: &str = "STAUNCH_EVENTS";
/// Tasks for workers.
pub const TASKS_STREAM: &str = "STAUNCH_TASKS";
/// Rejected and dead commands.
pub const DEAD_STREAM: &str = "STAUNCH_DEAD";

/// Leases on instances.
pub const LEASES_BUCKET: &str = "staunch_leases";
/// Fired timers.
pub const TIMERS_BUCKET: &str = "staunch_timers";
/// Published pointers.
pub const DEFINITIONS_BUCKET: &str = "staunch_definitions";
/// Live nodes.
pub const NODES_BUCKET: &str = "staunch_nodes";

/// Prefix of every command.
pub const COMMANDS: &str = "staunch.cmd";
/// Prefix of every lifecycle event.
pub const EVENTS: &str = "staunch.event";
/// Prefix of what bursts did, as it happens.
pub const JOURNAL: &str = "staunch.journal";
/// Prefix of every task.
pub const TASKS: &str = "staunch.task";
/// Prefix of every dead command.
pub const DEAD: &str = "staunch.dead";
/// Prefix of the request-reply endpoints.
pub const API: &str = "staunch.api";
/// A near timer was armed: wakes the owner of its shard.
pub const TIMER_ARMED: &str = "staunch.timer.armed";
/// Asks cache-notifier to announce a definition; the answer comes after the barrier.
pub const CACHE_CHANGED: &str = "staunch.cache.changed";
/// Asks all nodes how far their pointer cache is.
pub const CACHE_ASK: &str = "staunch.cache.ask";
/// Prefix of what nodes answer when they have a new pointer.
pub const CACHE_APPLIED: &str = "staunch.cache.applied";

/// Prefix of what nodes that wait for a lease say to the node that holds it.
const LEASE_WANTED: &str = "staunch.lease.wanted";

/// Tells this node that another waits for a lease it holds.
#[must_use]
pub fn lease_wanted(node: &str) -> String {
    format!("{LEASE_WANTED}.{}", token(node))
}

/// Starts an instance of this definition.
#[must_use]
pub fn start(definition_id: &DefinitionId) -> String {
    format!("{COMMANDS}.start.{}", token(definition_id.as_str()))
}

/// Resumes this instance.
#[must_use]
pub fn resume(instance_id: &InstanceId) -> String {
    format!("{COMMANDS}.resume.{}", token(instance_id.as_str()))
}

/// Cancels this instance.
#[must_use]
pub fn cancel(instance_id: &InstanceId) -> String {
    format!("{COMMANDS}.cancel.{}", token(instance_id.as_str()))
}

/// Carries out the calls that this instance has committed.
#[must_use]
pub fn perform(instance_id: &InstanceId) -> String {
    format!("{COMMANDS}.perform.{}", token(instance_id.as_str()))
}

/// Raises this event.
#[must_use]
pub fn event(event_name: &str) -> String {
    format!("{COMMANDS}.event.{}", dotted(event_name))
}

/// Completes this task.
#[must_use]
pub fn task_completed(task_id: &str) -> String {
    format!("{COMMANDS}.task.{}", token(task_id))
}

/// A task of this type, for whoever works on it.
#[must_use]
pub fn task(task_name: &str) -> String {
    format!("{TASKS}.{}", token(task_name))
}

/// A change in the life of an instance.
#[must_use]
pub fn lifecycle(definition_id: &DefinitionId, instance_id: &InstanceId, what: &str) -> String {
    format!("{EVENTS}.{}.{}.{what}", token(definition_id.as_str()), token(instance_id.as_str()))
}

/// What one burst of an instance did, told to whoever listens at that moment. It is in no stream:
/// the database has the journal, and the events stream has its room for the events.
#[must_use]
pub fn journal(definition_id: &DefinitionId, instance_id: &InstanceId) -> String {
    format!("{JOURNAL}.{}.{}", token(definition_id.as_str()), token(instance_id.as_str()))
}

/// Where a command goes that cannot be applied: the subject it came on, under the dead.
#[must_use]
pub fn dead(command_subject: &str) -> String {
    let rest = command_subject.strip_prefix("staunch.").unwrap_or(command_subject);
    format!("{DEAD}.{rest}")
}

/// What a node answers when it has applied a pointer at this revision.
#[must_use]
pub fn cache_applied(node: &str) -> String {
    format!("{CACHE_APPLIED}.{}", token(node))
}

/// Writes a name as one subject token.
#[must_use]
pub fn token(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-' {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("={byte:02X}"));
        }
    }
    if out.is_empty() { "=".to_owned() } else { out }
}

/// Reads what [`token`] wrote; `None` when it is not well-formed.
#[must_use]
pub fn untoken(token: &str) -> Option<String> {
    if token == "=" {
        return Some(String::new());
    }
    let mut out = Vec::with_capacity(token.len());
    let mut bytes = token.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'=' {
            out.push(byte);
            continue;
        }
        let digits = [bytes.next()?, bytes.next()?];
        out.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
    }
    String::from_utf8(out).ok()
}

/// Writes a name whose dots separate tokens, where that gives no empty token.
#[must_use]
pub fn dotted(name: &str) -> String {
    if name.split('.').any(str::is_empty) {
        return token(name);
    }
    name.split('.').map(token).collect::<Vec<_>>().join(".")
}

/// Reads what [`dotted`] wrote.
#[must_use]
pub fn undotted(tokens: &str) -> Option<String> {
    let names: Option<Vec<_>> = tokens.split('.').map(untoken).collect();
    names.map(|names| names.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_survives_the_subject() {
        for name in ["order", "Order Approval", "a.b", ".", "", "é*>", "=", "a..b"] {
            assert_eq!(untoken(&token(name)).as_deref(), Some(name));
            assert_eq!(undotted(&dotted(name)).as_deref(), Some(name));
        }
        assert_eq!(event("order.paid"), "staunch.cmd.event.order.paid");
        assert_eq!(untoken("=4"), None);
        assert_eq!(dead("staunch.cmd.start.x"), "staunch.dead.cmd.start.x");
    }
}
