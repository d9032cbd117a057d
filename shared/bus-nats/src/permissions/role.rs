//! What each role publishes and hears.

use bus::{Error, Home};
use protocol::subject::{self, INBOX};

use super::grant::Grant;
use crate::options::INBOX_PREFIX;
use crate::topology::Topology;

/// The roles that a process can have.
pub(super) const ROLES: [&str; 4] = ["ingress", EXECUTOR, "timer", "cache-notifier"];
/// The role that runs workflows.
pub(super) const EXECUTOR: &str = "executor";
/// The user of a process with all roles.
pub(super) const NODE: &str = "node";
/// The user of operators and of the command line.
pub(super) const ADMIN: &str = "admin";
/// The users of the account of Staunch that send requests to others.
const ASKERS: [&str; 3] = ["ingress", NODE, ADMIN];

/// Tells a user its own permissions.
pub(super) const USER_INFO: &str = "$SYS.REQ.USER.INFO";
/// Requests of the Services API, such as `nats micro ls`.
pub(super) const SERVICES: &str = "$SRV.>";

/// The subjects below the inbox prefix of a user of the account of Staunch.
pub(super) fn answers(user: &str) -> String {
    format!("{INBOX_PREFIX}.{}.>", subject::token(user))
}

/// What a process with these roles needs, but for the inboxes of itself and of others: their names
/// depend on the users.
///
/// # Errors
/// [`Error::Corrupt`] when there is no such role.
pub(super) fn needs(roles: &[&str]) -> Result<Grant, Error> {
    let mut grant = Grant::default();
    every(&mut grant, &Topology::embedded()?);
    for role in roles {
        match *role {
            "ingress" => ingress(&mut grant),
            "executor" => executor(&mut grant),
            "timer" => timer(&mut grant),
            "cache-notifier" => cache_notifier(&mut grant),
            other => return Err(Error::Corrupt(format!("there is no role {other:?}"))),
        }
    }
    Ok(grant)
}

/// The permissions of a user with these roles.
///
/// # Errors
/// As [`needs`].
pub(super) fn of(user: &str, roles: &[&str]) -> Result<Grant, Error> {
    let mut grant = needs(roles)?;
    // No process needs these before it meets a payload there.
    if roles.iter().any(|role| *role != "cache-notifier") {
        reads_objects(&mut grant, subject::PAYLOAD_PARTS_STORE);
        writes_objects(&mut grant, subject::PAYLOAD_PARTS_STORE);
    }
    if roles.contains(&"executor") {
        reads_objects(&mut grant, subject::PAYLOADS_STORE);
    }
    if roles.contains(&"ingress") {
        // How far behind the listeners are, in streams whose names are those that workflows use. A user
        // without it shows the listeners without their figures.
        grant.publishes(["$JS.API.CONSUMER.INFO.*.*"]);
    }
    grant.subscribes([answers(user)]);
    grant.publishes(ASKERS.map(answers));
    // Operators may send requests with the prefix that their clients have, too.
    grant.publishes([format!("{INBOX}.{ADMIN}.>")]);
    Ok(grant)
}

/// The permissions of operators: all streams and buckets and every subject of Staunch. No inbox of
/// another user.
pub(super) fn admin() -> Grant {
    let mut grant = Grant::default();
    grant.publishes(["staunch.>", "$JS.API.>", "$JS.ACK.>", "$JS.FC.>", "$KV.>", "$O.>", SERVICES]);
    grant.publishes([USER_INFO]);
    grant.subscribes([answers(ADMIN), format!("{INBOX}.{ADMIN}.>"), "staunch.>".to_owned()]);
    grant
}

/// What every process does: it compares the topology and the id of the cluster, is among the live nodes,
/// follows the published versions, and is a service of the Services API.
fn every(grant: &mut Grant, topology: &Topology) {
    grant.publishes([USER_INFO, "$JS.API.STREAM.NAMES"]);
    let streams = topology.stream.iter().map(|spec| spec.name.clone());
    let buckets = topology.bucket.iter().map(|spec| spec.stream());
    let info = |stream| format!("$JS.API.STREAM.INFO.{stream}");
    grant.publishes(streams.chain(buckets).map(info));
    let consumers = topology.consumer.iter();
    grant.publishes(
        consumers.map(|spec| format!("$JS.API.CONSUMER.INFO.{}.{}", spec.stream, spec.name)),
    );
    // A single server loses them when it restarts.
    let volatile = topology.bucket.iter().filter(|spec| spec.is_volatile());
    grant.publishes(volatile.map(|spec| format!("$JS.API.STREAM.CREATE.{}", spec.stream())));
    grant.subscribes([SERVICES, subject::CACHE_ASK]);
    grant.publishes([format!("{}.*", subject::CACHE_APPLIED)]);
    follows(grant, subject::NODES_BUCKET);
    writes(grant, subject::NODES_BUCKET);
    follows(grant, subject::DEFINITIONS_BUCKET);
    follows(grant, subject::RUNTIME_BUCKET);
    grant.publishes([format!("$KV.{}.{}", subject::RUNTIME_BUCKET, Home::KEY)]);
}

/// Commands of every kind (also those that are replayed), the audit log, live events, dead letters,
/// pauses, announcements of versions.
fn ingress(grant: &mut Grant) {
    grant.publishes([
        all(subject::COMMANDS),
        subject::audits(),
        one(subject::RUNTIME),
        subject::CACHE_CHANGED.to_owned(),
        // It says who works at what.
        subject::SERVICES_INFO.to_owned(),
        format!("$JS.API.DIRECT.GET.{}", subject::EVENTS_STREAM),
        format!("$JS.API.DIRECT.GET.{}", subject::DEAD_STREAM),
        format!("$JS.API.DIRECT.GET.{}", subject::TASKS_STREAM),
        format!("$JS.API.CONSUMER.LIST.{}", subject::TASKS_STREAM),
        format!("$JS.API.STREAM.MSG.GET.{}", subject::DEAD_STREAM),
        format!("$JS.API.STREAM.MSG.DELETE.{}", subject::DEAD_STREAM),
    ]);
    grant.subscribes([
        format!("{}.ingress.status", subject::API),
        all(subject::HTTP),
        // The inbox of one process, and a token for each command.
        format!("{}.*.*", subject::REPLY),
        lifecycles(),
        journals(),
    ]);
    writes(grant, subject::RUNTIME_BUCKET);
    // Types that are registered over HTTP, and the consumer of their tasks.
    reads(grant, subject::ACTIVITIES_BUCKET);
    writes(grant, subject::ACTIVITIES_BUCKET);
    grant.publishes([format!("$JS.API.CONSUMER.CREATE.{}.*", subject::TASKS_STREAM)]);
    // It says who works on which instance.
    follows(grant, subject::LEASES_BUCKET);
    // Tasks of workers that ask over HTTP.
    grant.publishes(pulls(subject::TASKS_STREAM, "*"));
    grant.publishes([format!("$JS.API.CONSUMER.INFO.{}.*", subject::TASKS_STREAM)]);
}

/// Takes commands and requests; publishes what a burst leads to, and outcomes to whoever waits.
fn executor(grant: &mut Grant) {
    let (stream, consumer) = (subject::COMMANDS_STREAM, subject::EXECUTOR_CONSUMER);
    grant.publishes(pulls(stream, consumer));
    outgoing(grant);
    grant.publishes([
        journals(),
        subject::TIMER_ARMED.to_owned(),
        format!("{}.*.*.*", subject::TASK_CANCEL),
        one(subject::LEASE_WANTED),
        all(subject::ACT),
        all(subject::REPLY),
        all(INBOX),
        all(subject::ACCOUNT_REPLY),
    ]);
    let requests = ["start.*", "resume.*", "cancel.*", "alter.*", "event.>", "get.*", "payload.*"];
    grant.subscribes(requests.map(|rest| format!("{}.{rest}", subject::API)));
    grant.subscribes([one(subject::RUNTIME), one(subject::LEASE_WANTED)]);
    for bucket in [subject::LEASES_BUCKET, subject::TIMERS_BUCKET] {
        follows(grant, bucket);
        writes(grant, bucket);
    }
}

/// Publishes what is due, and what a crashed executor left in the outbox. Reads which tasks a new stream
/// has; takes away those that no consumer hands out any more.
fn timer(grant: &mut Grant) {
    outgoing(grant);
    let calls = ["DIRECT.GET", "CONSUMER.LIST", "STREAM.MSG.DELETE"];
    grant.publishes(calls.map(|call| format!("$JS.API.{call}.{}", subject::TASKS_STREAM)));
    grant.subscribes([subject::TIMER_ARMED, subject::TASK_SPENT]);
    follows(grant, subject::TIMERS_BUCKET);
    writes(grant, subject::TIMERS_BUCKET);
}

fn cache_notifier(grant: &mut Grant) {
    grant.publishes([subject::CACHE_ASK]);
    grant.subscribes([one(subject::CACHE_APPLIED), subject::CACHE_CHANGED.to_owned()]);
    writes(grant, subject::DEFINITIONS_BUCKET);
}

/// The rows of the outbox. The consumer of its type is made before a task. Tasks of an earlier release
/// name no version.
fn outgoing(grant: &mut Grant) {
    grant.publishes([
        all(subject::COMMANDS),
        lifecycles(),
        one(subject::TASKS),
        format!("{}.*.*", subject::TASKS),
        format!("$JS.API.CONSUMER.CREATE.{}.*", subject::TASKS_STREAM),
        all(subject::DEAD),
    ]);
}

/// Pulls from a consumer, and acknowledges; the second form of the address is that of nats-server
/// with `js_ack_fc_v2`.
pub(super) fn pulls(stream: &str, consumer: &str) -> [String; 3] {
    [
        format!("$JS.API.CONSUMER.MSG.NEXT.{stream}.{consumer}"),
        format!("$JS.ACK.{stream}.{consumer}.>"),
        format!("$JS.ACK._.*.{stream}.{consumer}.>"),
    ]
}

/// Watches a bucket with a consumer, and reads single keys.
fn follows(grant: &mut Grant, bucket: &str) {
    let stream = format!("KV_{bucket}");
    grant.publishes([
        format!("$JS.API.CONSUMER.CREATE.{stream}"),
        format!("$JS.API.CONSUMER.DELETE.{stream}.*"),
        format!("$JS.FC.{stream}.>"),
        format!("$JS.FC._.*.{stream}.>"),
    ]);
    reads(grant, bucket);
}

/// Reads single keys of a bucket.
fn reads(grant: &mut Grant, bucket: &str) {
    grant.publishes([format!("$JS.API.STREAM.MSG.GET.KV_{bucket}")]);
}

fn writes(grant: &mut Grant, bucket: &str) {
    grant.publishes([format!("$KV.{bucket}.>")]);
}

/// Reads the objects of a store.
pub(super) fn reads_objects(grant: &mut Grant, store: &str) {
    let stream = format!("OBJ_{store}");
    grant.publishes([
        format!("$JS.API.STREAM.INFO.{stream}"),
        format!("$JS.API.DIRECT.GET.{stream}.$O.{store}.M.*"),
        // Only the leader knows that an object is not there.
        format!("$JS.API.STREAM.MSG.GET.{stream}"),
        format!("$JS.API.CONSUMER.CREATE.{stream}"),
        format!("$JS.API.CONSUMER.DELETE.{stream}.*"),
        format!("$JS.FC.{stream}.>"),
        format!("$JS.FC._.*.{stream}.>"),
    ]);
}

/// Writes and removes the objects of a store.
pub(super) fn writes_objects(grant: &mut Grant, store: &str) {
    grant.publishes([
        format!("$O.{store}.C.*"),
        format!("$O.{store}.M.*"),
        format!("$JS.API.STREAM.PURGE.OBJ_{store}"),
    ]);
}

pub(super) fn lifecycles() -> String {
    subject::lifecycles(None, None, None)
}

pub(super) fn journals() -> String {
    format!("{}.*.*", subject::JOURNAL)
}

fn all(prefix: &str) -> String {
    format!("{prefix}.>")
}

pub(super) fn one(prefix: &str) -> String {
    format!("{prefix}.*")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_role_is_refused() {
        let error = of("x", &["ingress", "janitor"]).unwrap_err().to_string();
        assert!(error.contains("no role \"janitor\""), "{error}");
    }

    #[test]
    fn no_role_may_touch_streams_or_the_inboxes_of_other_users() {
        for role in ROLES {
            let grant = of(role, &[role]).unwrap();
            for subject in &grant.publish {
                let is_harmful = [".DELETE.", ".PURGE.", ".UPDATE.", ".CREATE."]
                    .iter()
                    .any(|verb| subject.contains(&format!("STREAM{verb}")));
                let is_volatile = ["KV_staunch_leases", "KV_staunch_nodes"]
                    .iter()
                    .any(|stream| subject.ends_with(&format!("STREAM.CREATE.{stream}")));
                let is_of_parts = subject == "$JS.API.STREAM.PURGE.OBJ_staunch_payload_parts";
                assert!(!is_harmful || is_volatile || is_of_parts, "{role} {subject}");
                assert!(!subject.starts_with('>') && !subject.starts_with('*'), "{role} {subject}");
            }
            let inboxes = grant.subscribe.iter().filter(|subject| subject.starts_with(INBOX));
            assert_eq!(inboxes.collect::<Vec<_>>(), [&answers(role)]);
        }
    }
}
