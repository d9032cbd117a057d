//! Subjects, stream names and bucket names, spelled once.
//!
//! Names given by people (definitions, events, task types) may hold any character; in a subject
//! every byte outside `A-Za-z0-9_-` is written `=XX` (upper-case hex). Event names keep their
//! dots, so `staunch.cmd.event.order.paid` raises `order.paid`.

use model::activity_type::VERSION_MAX;
use model::{DefinitionId, InstanceId, limits};

use crate::Garbled;

/// The stream of the commands.
pub const COMMANDS_STREAM: &str = "STAUNCH_COMMANDS";
/// The durable consumer that all executors pull commands from.
pub const EXECUTOR_CONSUMER: &str = "executor";
/// The stream of the lifecycle events.
pub const EVENTS_STREAM: &str = "STAUNCH_EVENTS";
/// The stream of the tasks for workers.
pub const TASKS_STREAM: &str = "STAUNCH_TASKS";
/// The stream of the dead letters: commands that could not be applied.
pub const DEAD_STREAM: &str = "STAUNCH_DEAD";

/// The bucket of the leases on instances.
pub const LEASES_BUCKET: &str = "staunch_leases";
/// The bucket of the fired timers.
pub const TIMERS_BUCKET: &str = "staunch_timers";
/// The bucket of the published pointers.
pub const DEFINITIONS_BUCKET: &str = "staunch_definitions";
/// The bucket of the live nodes.
pub const NODES_BUCKET: &str = "staunch_nodes";
/// The bucket of the pauses.
pub const RUNTIME_BUCKET: &str = "staunch_runtime";
/// The bucket of the activity types that workers perform.
pub const ACTIVITIES_BUCKET: &str = "staunch_activities";
/// The object store with the parts of payloads, where they rest in NATS.
pub const PAYLOAD_PARTS_STORE: &str = "staunch_payload_parts";
/// The object store in which clients put what a header of a command names.
pub const PAYLOADS_STORE: &str = "staunch_payloads";

/// Prefix of every command.
pub const COMMANDS: &str = "staunch.cmd";
/// Prefix of every lifecycle event.
pub const EVENTS: &str = "staunch.event";
/// Prefix of the live journals of bursts.
pub const JOURNAL: &str = "staunch.journal";
/// Prefix of every task.
pub const TASKS: &str = "staunch.task";
/// Prefix of the notices that a task is not wanted any more.
pub const TASK_CANCEL: &str = "staunch.task-cancel";
/// Prefix of the progress that workers report.
pub const TASK_PROGRESS: &str = "staunch.task-progress";
/// Prefix of the requests to the responders of an activity type.
pub const ACT: &str = "staunch.act";
/// The request to which every service of NATS answers with what it is (NATS ADR-32).
pub const SERVICES_INFO: &str = "$SRV.INFO";
/// Prefix of every dead command.
pub const DEAD: &str = "staunch.dead";
/// Prefix of the request-reply endpoints.
pub const API: &str = "staunch.api";
/// Prefix of the requests that stand for a request of the HTTP API.
pub const HTTP: &str = "staunch.api.http";
/// A timer that is due soon was armed: wakes the node that owns its shard.
pub const TIMER_ARMED: &str = "staunch.timer.armed";
/// Where nats-server says that a task was delivered as often as its consumer allows.
pub const TASK_SPENT: &str = "$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.STAUNCH_TASKS.*";
/// Asks cache-notifier to announce a definition; the answer comes after the barrier.
pub const CACHE_CHANGED: &str = "staunch.cache.changed";
/// Asks all nodes which pointer of a definition they have.
pub const CACHE_ASK: &str = "staunch.cache.ask";
/// Prefix of the answers of nodes that have a new pointer.
pub const CACHE_APPLIED: &str = "staunch.cache.applied";

/// Prefix of the subjects on which our own processes wait for outcomes, and clients of other
/// accounts that name a subject for theirs.
pub const REPLY: &str = "staunch.reply";
/// Prefix of the subjects on which NATS clients wait for answers.
pub const INBOX: &str = "_INBOX";
/// Prefix of the subjects on which nats-server takes answers for clients of other accounts. It makes
/// one for each request, and nobody can guess it.
pub const ACCOUNT_REPLY: &str = "_R_";

/// Prefix of the questions to executors about their work.
pub const RUNTIME: &str = "staunch.runtime";

/// Prefix of the messages to a node from other nodes that wait for its leases.
pub const LEASE_WANTED: &str = "staunch.lease.wanted";

/// The longest type of tasks, escaped, in the name of its consumer. JetStream allows 255 bytes for
/// a name.
const CONSUMER_TYPE_BYTES_MAX: usize = 200;
/// Characters of the hash of a source in the name of its consumer.
const LISTENER_HASH_CHARS: usize = 32;
/// Characters of a refused reply subject that its refusal repeats.
const REPLY_SHOWN_CHARS: usize = 100;

/// The subject on which a node is notified that another node waits for one of its leases.
#[must_use]
pub fn lease_wanted(node: &str) -> String {
    format!("{LEASE_WANTED}.{}", token(node))
}

/// The subject on which the executor of a node is asked about its work.
#[must_use]
pub fn runtime(node: &str) -> String {
    format!("{RUNTIME}.{}", token(node))
}

/// A subject for the outcomes of one process. `unique` is one token that no other process has.
#[must_use]
pub fn reply_inbox(unique: &str) -> String {
    format!("{REPLY}.{}", token(unique))
}

/// Checks a subject that a sender names for the answer to its message.
///
/// An executor publishes to it with its own permissions, which are wider than the sender's. So only
/// subjects that carry nothing but answers are allowed: `_INBOX.` and `staunch.reply.`, and `_R_.`,
/// which nats-server puts in the place of an inbox in another account.
///
/// # Errors
/// [`Garbled`] names the subject and what is allowed.
pub fn check_reply(subject: &str) -> Result<&str, Garbled> {
    let rest = [INBOX, REPLY, ACCOUNT_REPLY]
        .iter()
        .find_map(|prefix| subject.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('.')));
    if subject.len() <= limits::SUBJECT_BYTES_MAX && rest.is_some_and(is_literal) {
        return Ok(subject);
    }
    let shown: String = subject.chars().take(REPLY_SHOWN_CHARS).collect();
    Err(Garbled(format!(
        "answers cannot be sent to {shown:?}: use a subject without wildcards below {INBOX}. or \
         {REPLY}., of at most {} bytes",
        limits::SUBJECT_BYTES_MAX
    )))
}

/// Whether these tokens are a subject that a message can be published on.
fn is_literal(tokens: &str) -> bool {
    let is_bad = |byte: u8| byte.is_ascii_whitespace() || byte.is_ascii_control();
    !tokens.bytes().any(is_bad)
        && tokens.split('.').all(|token| !token.is_empty() && token != "*" && token != ">")
}

/// The command that starts an instance of this definition.
#[must_use]
pub fn start(definition_id: &DefinitionId) -> String {
    format!("{COMMANDS}.start.{}", token(definition_id.as_str()))
}

/// The command that resumes this instance.
#[must_use]
pub fn resume(instance_id: &InstanceId) -> String {
    format!("{COMMANDS}.resume.{}", token(instance_id.as_str()))
}

/// The command that cancels this instance.
#[must_use]
pub fn cancel(instance_id: &InstanceId) -> String {
    format!("{COMMANDS}.cancel.{}", token(instance_id.as_str()))
}

/// The command that changes this instance from outside its workflow.
#[must_use]
pub fn alter(instance_id: &InstanceId) -> String {
    format!("{COMMANDS}.alter.{}", token(instance_id.as_str()))
}

/// The command that carries out the calls which this instance has committed.
#[must_use]
pub fn perform(instance_id: &InstanceId) -> String {
    format!("{COMMANDS}.perform.{}", token(instance_id.as_str()))
}

/// The command that raises this event.
#[must_use]
pub fn event(event_name: &str) -> String {
    format!("{COMMANDS}.event.{}", dotted(event_name))
}

/// The command that ends this task, whatever its type.
#[must_use]
pub fn task_completed(task_id: &str) -> String {
    format!("{COMMANDS}.task.{}", token(task_id))
}

/// The command that ends this task of this type and version.
#[must_use]
pub fn task_result(task_type: &str, version: u32, task_id: &str) -> String {
    format!("{COMMANDS}.task.{}.{version}.{}", token(task_type), token(task_id))
}

/// The results of all tasks of this type, for permissions.
#[must_use]
pub fn task_results(task_type: &str) -> String {
    format!("{COMMANDS}.task.{}.*.*", token(task_type))
}

/// The tasks of this type and version.
#[must_use]
pub fn task(task_type: &str, version: u32) -> String {
    format!("{TASKS}.{}.{version}", token(task_type))
}

/// The type and the version of the tasks with this subject; none if it is the subject of no task.
#[must_use]
pub fn task_of(subject: &str) -> Option<(String, u32)> {
    let rest = subject.strip_prefix(TASKS)?.strip_prefix('.')?;
    let (task_type, version) = rest.split_once('.')?;
    Some((untoken(task_type)?, task_version(version)?))
}

/// The type and the version that people write as one word: `Ship` is version 1, `Ship@2` version 2.
///
/// # Errors
/// The reason, when an `@` is followed by no version that a type can have.
pub fn task_kind(text: &str) -> Result<(&str, u32), String> {
    let Some((name, end)) = text.rsplit_once('@') else { return Ok((text, 1)) };
    match task_version(end).filter(|version| *version <= VERSION_MAX) {
        Some(version) => Ok((name, version)),
        None => Err(format!(
            "{text:?}: after its last @ comes the version, a number from 1 to {VERSION_MAX}, and \
             {end:?} is none. Pack@2 is version 2 of Pack; version 1 of a type that is called {text} \
             is {text}@1"
        )),
    }
}

/// The notice that this task is not wanted any more.
#[must_use]
pub fn task_cancel(task_type: &str, version: u32, task_id: &str) -> String {
    format!("{TASK_CANCEL}.{}.{version}.{}", token(task_type), token(task_id))
}

/// The requests to the responders of this activity type. Version 1 is not in the subject.
#[must_use]
pub fn act(task_type: &str, version: u32) -> String {
    let of_type = format!("{ACT}.{}", token(task_type));
    if version == 1 { of_type } else { format!("{of_type}.{version}") }
}

/// The type and the version of the activities whose requests come on a subject, as [`act`] makes it.
#[must_use]
pub fn acts(subject: &str) -> Option<(String, u32)> {
    let rest = subject.strip_prefix(ACT)?.strip_prefix('.')?;
    let (of_type, version) = match rest.split_once('.') {
        None => (rest, 1),
        Some((of_type, version)) => (of_type, task_version(version)?),
    };
    if of_type.is_empty() { None } else { Some((untoken(of_type)?, version)) }
}

/// The key of an activity type in its bucket.
#[must_use]
pub fn activity_key(task_type: &str, version: u32) -> String {
    format!("{}.{version}", token(task_type))
}

/// The durable consumer from which the workers for this type and version pull. The type is escaped
/// as in a subject; one that is too long for a name is replaced by its hash.
#[must_use]
pub fn task_consumer(task_type: &str, version: u32) -> String {
    let mut name = token(task_type);
    if name.len() > CONSUMER_TYPE_BYTES_MAX {
        name = model::derived(&["task-type", task_type]);
    }
    format!("task-{name}-{version}")
}

/// The durable consumer from which all executors read the messages of a source; the hash is that of
/// its stimulus.
#[must_use]
pub fn listener_consumer(hash: &str) -> String {
    format!("staunch-{}", hash.get(..LISTENER_HASH_CHARS).unwrap_or(hash))
}

/// Reads the version of a type of tasks: a positive number without leading zeros.
#[must_use]
pub fn task_version(text: &str) -> Option<u32> {
    text.parse().ok().filter(|version: &u32| *version > 0 && version.to_string() == text)
}

/// The entries of the audit log about this change. It has one token fewer than a lifecycle event.
#[must_use]
pub fn audit(what: &str) -> String {
    format!("{EVENTS}.audit.{}", token(what))
}

/// All entries of the audit log.
#[must_use]
pub fn audits() -> String {
    format!("{EVENTS}.audit.*")
}

/// The lifecycle event of this name of an instance.
#[must_use]
pub fn lifecycle(definition_id: &DefinitionId, instance_id: &InstanceId, what: &str) -> String {
    format!("{EVENTS}.{}.{}.{what}", token(definition_id.as_str()), token(instance_id.as_str()))
}

/// The lifecycle events of one definition, or of all; of one instance, or of all; of one name, or of
/// all: for subscribers.
#[must_use]
pub fn lifecycles(
    definition_id: Option<&DefinitionId>,
    instance_id: Option<&InstanceId>,
    what: Option<&str>,
) -> String {
    let one_or_all = |name: Option<&str>| name.map_or_else(|| "*".to_owned(), token);
    let definition = one_or_all(definition_id.map(DefinitionId::as_str));
    let instance = one_or_all(instance_id.map(InstanceId::as_str));
    format!("{EVENTS}.{definition}.{instance}.{}", one_or_all(what))
}

/// The journals of the bursts of an instance, for subscribers.
#[must_use]
pub fn journals(instance_id: &InstanceId) -> String {
    format!("{JOURNAL}.*.{}", token(instance_id.as_str()))
}

/// The journal of one burst of an instance, for those who subscribe at that moment. No stream
/// stores it: the database has the journal.
#[must_use]
pub fn journal(definition_id: &DefinitionId, instance_id: &InstanceId) -> String {
    format!("{JOURNAL}.{}.{}", token(definition_id.as_str()), token(instance_id.as_str()))
}

/// Matches the dead letters of commands whose subject names this instance: resumes, cancels,
/// alterations and calls to carry out.
#[must_use]
pub fn dead_of(instance_id: &InstanceId) -> String {
    format!("{DEAD}.cmd.*.{}", token(instance_id.as_str()))
}

/// The subject of the dead letter of a command that was published on this subject.
#[must_use]
pub fn dead(command_subject: &str) -> String {
    let rest = command_subject.strip_prefix("staunch.").unwrap_or(command_subject);
    format!("{DEAD}.{rest}")
}

/// The subject on which a node reports which pointer it has.
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

/// Reads a token that [`token`] wrote; `None` if it is not well-formed.
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

/// Writes a name whose dots separate tokens, unless that would give an empty token.
#[must_use]
pub fn dotted(name: &str) -> String {
    if name.split('.').any(str::is_empty) {
        return token(name);
    }
    name.split('.').map(token).collect::<Vec<_>>().join(".")
}

/// Reads a text that [`dotted`] wrote.
#[must_use]
pub fn undotted(tokens: &str) -> Option<String> {
    let names: Option<Vec<_>> = tokens.split('.').map(untoken).collect();
    names.map(|names| names.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_go_to_inboxes_and_nowhere_else() {
        let inbox = reply_inbox("x.y");
        for allowed in ["_INBOX.a", "_INBOX.a.b", "staunch.reply.node.1", &inbox, "_R_.a.b"] {
            assert_eq!(check_reply(allowed), Ok(allowed));
        }
        for refused in [
            "",
            "_INBOX",
            "_INBOX.",
            "_INBOX.a.",
            "_INBOX..a",
            "_INBOX.*",
            "_INBOX.a.>",
            "_INBOX.a b",
            "_INBOX.a\r\nPUB x 0",
            "_INBOXX.a",
            "_R_",
            "_R_.*",
            "_INBOX_staunch.executor.a",
            "staunch.reply",
            "staunch.cmd.start.x",
            "staunch.event.d.i.finished",
            "$KV.staunch_leases.i",
            "$JS.API.STREAM.PURGE.STAUNCH_COMMANDS",
            &format!("_INBOX.{}", "a".repeat(limits::SUBJECT_BYTES_MAX)),
        ] {
            let error = check_reply(refused).unwrap_err().to_string();
            assert!(error.contains("_INBOX. or staunch.reply."), "{error}");
            assert!(error.len() < 400, "{error}");
        }
    }

    #[test]
    fn subscriptions_have_the_subjects_of_what_they_are_for() {
        let (definition, instance) = (DefinitionId::new("Order Approval"), InstanceId::new("i-1"));
        let fits = |pattern: &str, subject: &str| {
            let (pattern, subject): (Vec<_>, Vec<_>) =
                (pattern.split('.').collect(), subject.split('.').collect());
            let pairs = pattern.iter().zip(&subject);
            pattern.len() == subject.len() && pairs.into_iter().all(|(p, s)| *p == "*" || p == s)
        };
        let event = lifecycle(&definition, &instance, "finished");
        for pattern in [
            lifecycles(None, None, None),
            lifecycles(Some(&definition), None, None),
            lifecycles(None, Some(&instance), None),
            lifecycles(None, None, Some("finished")),
            lifecycles(Some(&definition), Some(&instance), Some("finished")),
        ] {
            assert!(fits(&pattern, &event), "{pattern} {event}");
        }
        assert!(!fits(&lifecycles(None, None, Some("started")), &event));
        assert!(!fits(&lifecycles(Some(&DefinitionId::new("Other")), None, None), &event));
        assert!(!fits(&lifecycles(None, Some(&InstanceId::new("i-2")), None), &event));
        assert!(fits(&dead_of(&instance), &dead(&resume(&instance))));
        assert!(!fits(&dead_of(&InstanceId::new("i-2")), &dead(&cancel(&instance))));
        assert!(fits(&journals(&instance), &journal(&definition, &instance)));
        assert!(!fits(&journals(&InstanceId::new("i-2")), &journal(&definition, &instance)));
    }

    #[test]
    fn every_name_survives_the_subject() {
        for name in ["order", "Order Approval", "a.b", ".", "", "é*>", "=", "a..b"] {
            assert_eq!(untoken(&token(name)).as_deref(), Some(name));
            assert_eq!(undotted(&dotted(name)).as_deref(), Some(name));
        }
        assert_eq!(event("order.paid"), "staunch.cmd.event.order.paid");
        assert_eq!(task("Ship It", 2), "staunch.task.Ship=20It.2");
        assert_eq!(task_of("staunch.task.Ship=20It.2"), Some(("Ship It".to_owned(), 2)));
        assert_eq!(task_of("staunch.task.Ship"), None);
        assert_eq!(task_of("staunch.task.Ship.2.x"), None);
        assert_eq!(task_result("Ship", 1, "a.b"), "staunch.cmd.task.Ship.1.a=2Eb");
        assert_eq!(task_cancel("Ship", 1, "t"), "staunch.task-cancel.Ship.1.t");
        assert_eq!(acts(&act("a.b", 1)), Some(("a.b".to_owned(), 1)));
        assert_eq!(acts(&act("a.b", 3)), Some(("a.b".to_owned(), 3)));
        for none in
            ["staunch.act", "staunch.act.", "staunch.act.a.x", "staunch.act.a.1.2", "a.act.b"]
        {
            assert_eq!(acts(none), None, "{none}");
        }
        assert_eq!(task_consumer("Acme.Ship", 3), "task-Acme=2EShip-3");
        assert!(task_consumer(&"é".repeat(100), 1).len() < 100);
        assert_eq!(listener_consumer(&"ab".repeat(32)), format!("staunch-{}", "ab".repeat(16)));
        assert_eq!(listener_consumer("ab"), "staunch-ab");
        let versions = ["1", "20", "0", "01", "-1", "x", ""].map(task_version);
        assert_eq!(versions, [Some(1), Some(20), None, None, None, None, None]);
        assert_eq!(task_kind("Pack"), Ok(("Pack", 1)));
        assert_eq!(task_kind("a@b@2147483647"), Ok(("a@b", 2_147_483_647)));
        for wrong in ["Pack@x", "Pack@", "Pack@0", "Pack@01", "Pack@2147483648"] {
            assert!(task_kind(wrong).unwrap_err().contains("from 1 to 2147483647"), "{wrong}");
        }
        assert_eq!(untoken("=4"), None);
        assert_eq!(dead("staunch.cmd.start.x"), "staunch.dead.cmd.start.x");
    }
}
