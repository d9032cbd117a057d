//! Checks of NATS.

use std::collections::BTreeMap;
use std::time::Duration;

use node::{BrokerSeen, ConsumerSeen, StreamSeen};
use protocol::subject;

use super::check::{Check, latency};
use super::facts::SettingsSeen;

/// The round trip that is advised, and the one above which leases are lost.
const ROUND_TRIP: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(250));
/// Percent of a stream's limit that are worth a word, and those that are nearly all.
const FULL: (u64, u64) = (75, 90);
/// Redelivered commands in hand that are worth a word.
const REDELIVERED_NOTED: u64 = 50;
const PROVISION: &str = "run `staunch provision`";
/// The beginning of the name of an object store's stream.
const OBJECTS: &str = "OBJ_";

/// Every check of the broker.
pub(super) fn checks(broker: &Result<BrokerSeen, String>, settings: &SettingsSeen) -> Vec<Check> {
    let url = &settings.nats_url;
    let broker = match broker {
        Ok(broker) => broker,
        Err(reason) => {
            let advice = match reason.contains("certificate") {
                true => {
                    "renew or correct the certificate; nodes read the files again by themselves"
                }
                false => "start nats-server with JetStream, or correct --nats-url and the login",
            };
            return vec![Check::bad("nats", format!("{url}: {reason}"), advice)];
        }
    };
    let of = broker.cluster.as_ref().map(|name| format!(" of cluster {name}")).unwrap_or_default();
    let mut checks = vec![Check::ok(
        "nats",
        format!("{url} answers: nats-server {} {}{of}", broker.version, broker.server),
    )];
    match latency("nats", "JetStream", &broker.round_trips, ROUND_TRIP) {
        Some(check) => checks.push(check),
        None => checks.push(Check::bad(
            "nats",
            "JetStream does not answer",
            match broker.has_jetstream {
                true => {
                    "the servers may be electing a leader: ask again after 10 s; if it stays so, \
                     start the servers that are down, and give the account JetStream"
                }
                false => "start nats-server with -js or a jetstream block",
            },
        )),
    }
    let is_cluster = broker.cluster.is_some();
    let mut faults: Vec<_> =
        broker.streams.iter().flat_map(|stream| of_stream(stream, is_cluster)).collect();
    faults.extend(replicas(broker));
    // Where its stream has no leader, a check of the stream says so.
    let is_said = |consumer: &&ConsumerSeen| {
        consumer.unanswered.is_some() && has_no_leader(broker, &consumer.stream)
    };
    faults.extend(broker.consumers.iter().filter(|one| !is_said(one)).flat_map(of_consumer));
    if faults.is_empty() {
        let (streams, consumers) = (broker.streams.len(), broker.consumers.len());
        let found = format!(
            "{streams} streams, buckets and object stores and {consumers} consumer are as \
             they should be"
        );
        checks.push(Check::ok("nats", found));
    }
    checks.extend(faults);
    for (what, (used, limit)) in ["files", "memory"].into_iter().zip(broker.storage) {
        let Some(limit) = u64::try_from(limit).ok().filter(|limit| *limit > 0) else { continue };
        let advice = "raise the limits of the account or the server's jetstream block";
        checks.extend(fullness(&format!("JetStream's {what}"), used, limit, advice));
    }
    checks.push(match &broker.refused {
        None => Check::ok("nats", "this login may do what the roles of its node need"),
        Some(refused) => Check::bad(
            "nats",
            refused,
            "give its user what `staunch nats-permissions` prints, or name the roles with --role",
        ),
    });
    checks
}

fn of_stream(stream: &StreamSeen, is_cluster: bool) -> Vec<Check> {
    let name = &stream.name;
    if let Some(reason) = &stream.unanswered {
        let advice = "look at the servers of this stream (`nats stream info`), or at the login";
        return vec![Check::bad("nats", format!("{name}: {reason}"), advice)];
    }
    if !stream.is_there {
        let found = format!("{name} is missing");
        // Where payloads rest in it, they cannot be written: a check of its own says so.
        let is_of_parts = name.strip_prefix(OBJECTS) == Some(subject::PAYLOAD_PARTS_STORE);
        return vec![match is_of_parts {
            true => Check::warn("nats", format!("{found}; payload-store=nats needs it"), PROVISION),
            false => Check::bad("nats", found, PROVISION),
        }];
    }
    let mut checks: Vec<_> = stream
        .faults
        .iter()
        .map(|fault| {
            let advice = "Staunch loses messages with it: run `staunch provision`, or remove the \
                          stream first if it cannot be changed";
            Check::bad("nats", fault, advice)
        })
        .collect();
    if !stream.differences.is_empty() {
        let found = format!("{name} has other limits: {}", stream.differences.join("; "));
        let advice = "if that is not on purpose, run `staunch provision`";
        checks.push(Check::warn("nats", found, advice));
    }
    if is_cluster && stream.replicas < 2 {
        let found = format!("{name} has one copy in a cluster of servers");
        let advice = "run `staunch provision --replicas 3`, if the cluster has three servers: the \
                      gateways of a supercluster add none";
        checks.push(Check::warn("nats", found, advice));
    }
    if let Ok(limit) = u64::try_from(stream.bytes_max)
        && limit > 0
    {
        let advice =
            "see what fills it (`nats stream info`), or raise its max_bytes (`nats stream edit`)";
        checks.extend(fullness(name, stream.bytes, limit, advice));
    }
    checks
}

/// Whether nobody leads the stream of this name, as far as the broker says it: nothing that is read of it
/// can be relied on.
pub(super) fn has_no_leader(broker: &BrokerSeen, name: &str) -> bool {
    let stream = broker.streams.iter().find(|stream| stream.name == name);
    stream.is_some_and(|stream| stream.unanswered.is_some() || is_stopped(broker, stream))
}

/// Whether a stream takes nothing, since too few servers answer for it or none leads it.
fn is_stopped(broker: &BrokerSeen, stream: &StreamSeen) -> bool {
    stream.has_no_leader || has_no_majority(stream, &silent(broker, stream))
}

/// The servers with a copy of a stream that do not answer.
fn silent<'a>(broker: &BrokerSeen, stream: &'a StreamSeen) -> Vec<&'a str> {
    // The server that answers is not silent, whatever is said of it where nobody leads the stream.
    let is_silent = |name: &&str| !stream.has_no_leader || *name != broker.server;
    stream.silent.iter().map(String::as_str).filter(is_silent).collect()
}

fn has_no_majority(stream: &StreamSeen, silent: &[&str]) -> bool {
    let (count, all) = (silent.len() as u64, stream.replicas);
    all > 1 && count * 2 >= all && count < all
}

/// Whether the streams in files have a leader, each of them.
fn are_files_led(broker: &BrokerSeen) -> bool {
    let mut in_files = broker.streams.iter().filter(|one| !one.is_volatile && one.is_there);
    in_files.clone().any(|stream| stream.replicas > 1)
        && !in_files.any(|stream| is_stopped(broker, stream))
}

/// The streams whose replicas are away or behind: one check for all with the same cause.
fn replicas(broker: &BrokerSeen) -> Vec<Check> {
    let mut stopped: BTreeMap<(u64, Vec<&str>), Vec<&StreamSeen>> = BTreeMap::new();
    let mut behind: BTreeMap<&[String], Vec<&str>> = BTreeMap::new();
    let (mut leaderless, mut forgotten) = (Vec::new(), Vec::new());
    let are_files_led = are_files_led(broker);
    for stream in &broker.streams {
        let silent = silent(broker, stream);
        let (name, all) = (stream.name.as_str(), stream.replicas);
        if stream.is_volatile && stream.has_no_leader && are_files_led {
            forgotten.push(name);
        } else if has_no_majority(stream, &silent) {
            stopped.entry((all, silent)).or_default().push(stream);
        } else if stream.has_no_leader {
            leaderless.push(name);
        } else if !stream.behind.is_empty() {
            behind.entry(&stream.behind).or_default().push(name);
        }
    }
    let mut checks = Vec::new();
    for ((all, silent), streams) in stopped {
        let needed = silent.len() as u64 - (all - 1) / 2;
        let are = if needed == 1 { "is" } else { "are" };
        let it_takes = if streams.len() == 1 { "the stream takes" } else { "these streams take" };
        let names: Vec<_> = streams.iter().map(|stream| stream.name.as_str()).collect();
        let found = format!(
            "{}: no majority: {} of {all} servers do not answer: {}; {it_takes} nothing until \
             {needed} of them {are} back{}",
            names.join(", "),
            silent.len(),
            silent.join(", "),
            of_memory(&streams)
        );
        let advice = "start these nats-servers, or look at the network between them and the others";
        checks.push(Check::bad("nats", found, advice));
    }
    if !forgotten.is_empty() {
        let found = format!(
            "{}: no leader, while the streams in files have one: these are in memory, and servers that \
             were restarted have lost their copies; no node takes work until there is a leader",
            forgotten.join(", ")
        );
        let advice = "ask again after 10 s; if it stays so, start the nats-servers that are down, or, where one \
                      does not come back, run `staunch provision --repair`, which makes these buckets anew";
        checks.push(Check::bad("nats", found, advice));
    }
    if !leaderless.is_empty() {
        let found = format!(
            "{}: no leader: too few of the servers answer, or they elect one",
            leaderless.join(", ")
        );
        let advice = "ask again after 10 s; if it stays so, start the nats-servers that are down; where one does \
                      not come back, see \"no leader\" in docs/troubleshooting.md";
        checks.push(Check::bad("nats", found, advice));
    }
    for (servers, streams) in behind {
        let found =
            format!("replicas of {} are behind: {}", streams.join(", "), servers.join(", "));
        let stops = if streams.len() == 1 { "the stream" } else { "these streams" };
        let advice =
            format!("look at these servers: while they are behind, one more loss stops {stops}");
        checks.push(Check::warn("nats", found, advice));
    }
    checks
}

/// When those of these streams that are in memory go on: a server that was restarted has lost its copy, and
/// does not count for the majority.
fn of_memory(streams: &[&StreamSeen]) -> String {
    let volatile = streams.iter().filter(|stream| stream.is_volatile);
    let volatile: Vec<_> = volatile.map(|stream| stream.name.as_str()).collect();
    if volatile.is_empty() {
        return String::new();
    }
    let named = volatile.join(", ");
    format!(
        ", and what is in memory ({named}) until all of them are, where a restarted server has lost its copy"
    )
}

fn fullness(what: &str, used: u64, limit: u64, advice: &str) -> Option<Check> {
    let percent = used.saturating_mul(100) / limit;
    let found = format!("{what} is {percent} % full ({used} of {limit} bytes)");
    match percent {
        percent if percent >= FULL.1 => Some(Check::bad("nats", found, advice)),
        percent if percent >= FULL.0 => Some(Check::warn("nats", found, advice)),
        _ => None,
    }
}

fn of_consumer(consumer: &ConsumerSeen) -> Vec<Check> {
    let name = format!("the consumer {} of {}", consumer.name, consumer.stream);
    if let Some(reason) = &consumer.unanswered {
        let advice = "look at its server (`nats consumer info`), or at the login";
        return vec![Check::bad("nats", format!("{name}: {reason}"), advice)];
    }
    if !consumer.is_there {
        return vec![Check::bad("nats", format!("{name} is missing"), PROVISION)];
    }
    let mut checks: Vec<_> =
        consumer.faults.iter().map(|fault| Check::bad("nats", fault, PROVISION)).collect();
    if !consumer.differences.is_empty() {
        let found = format!("{name} has other limits: {}", consumer.differences.join("; "));
        let advice = "if that is not on purpose, run `staunch provision`";
        checks.push(Check::warn("nats", found, advice));
    }
    if consumer.redelivered >= REDELIVERED_NOTED {
        let found = format!("{} commands in hand were delivered before", consumer.redelivered);
        let advice = "executors crash, hang, or lose the connection: see their logs, and \
                      staunch_redeliveries in the metrics";
        checks.push(Check::warn("nats", found, advice));
    }
    checks
}

#[cfg(test)]
mod tests {
    use super::super::check::Grade;
    use super::*;

    /// A cluster with three replicas of each of these streams, whose leader they lack or not.
    fn broker(streams: &[(&str, bool)]) -> BrokerSeen {
        let streams = streams.iter().map(|(name, has_no_leader)| StreamSeen {
            name: (*name).to_owned(),
            is_there: true,
            replicas: 3,
            has_no_leader: *has_no_leader,
            is_volatile: *name == "KV_staunch_leases",
            ..StreamSeen::default()
        });
        BrokerSeen {
            server: "n1".to_owned(),
            cluster: Some("c".to_owned()),
            round_trips: vec![Duration::from_millis(1)],
            streams: streams.collect(),
            ..BrokerSeen::default()
        }
    }

    fn wrong(broker: BrokerSeen) -> Vec<Check> {
        let checks = checks(&Ok(broker), &SettingsSeen::default());
        checks.into_iter().filter(|one| one.grade != Grade::Ok).collect()
    }

    /// What is said of two streams with three replicas, as the server `n1` shows them.
    fn said(has_no_leader: bool, silent: &[&str]) -> (Grade, String) {
        of(["STAUNCH_COMMANDS", "STAUNCH_TASKS"], has_no_leader, silent)
    }

    fn of(names: [&str; 2], has_no_leader: bool, silent: &[&str]) -> (Grade, String) {
        let silent: Vec<_> = silent.iter().map(|name| (*name).to_owned()).collect();
        let mut broker = broker(&names.map(|name| (name, has_no_leader)));
        for stream in &mut broker.streams {
            (stream.behind, stream.silent) = (silent.clone(), silent.clone());
        }
        let wrong = wrong(broker);
        assert_eq!(wrong.len(), 1, "one for both streams: {wrong:#?}");
        (wrong[0].grade, wrong[0].found.clone())
    }

    #[test]
    fn streams_without_a_majority_are_one_check_that_names_the_cause() {
        let expected = "STAUNCH_COMMANDS, STAUNCH_TASKS: no majority: 2 of 3 servers do not answer: \
                        n2, n3; these streams take nothing until 1 of them is back";
        let expected = (Grade::Bad, expected.to_owned());
        assert_eq!(said(false, &["n2", "n3"]), expected);
        assert_eq!(said(true, &["n1", "n2", "n3"]), expected, "n1 answers");
        let (grade, found) = said(true, &[]);
        assert!(grade == Grade::Bad && found.contains("STAUNCH_TASKS: no leader"), "{found}");
        let (grade, found) = said(false, &["n3"]);
        assert_eq!(grade, Grade::Warn);
        assert_eq!(found, "replicas of STAUNCH_COMMANDS, STAUNCH_TASKS are behind: n3");
    }

    #[test]
    fn a_bucket_in_memory_waits_for_every_server_that_was_restarted() {
        let (_, found) = of(["STAUNCH_COMMANDS", "KV_staunch_leases"], true, &["n2", "n3"]);
        let end = "nothing until 1 of them is back, and what is in memory (KV_staunch_leases) until all \
                   of them are, where a restarted server has lost its copy";
        assert!(found.ends_with(end), "{found}");
    }

    #[test]
    fn a_bucket_in_memory_that_alone_has_no_leader_is_said_to_be_and_can_be_repaired() {
        let mut seen = broker(&[("STAUNCH_COMMANDS", false), ("KV_staunch_leases", true)]);
        // Each of the others counts as silent where one was restarted and the other never came.
        seen.streams[1].silent = vec!["n2".to_owned(), "n3".to_owned()];
        let wrong = wrong(seen);
        assert_eq!(wrong.len(), 1, "{wrong:#?}");
        let (found, advice) = (&wrong[0].found, wrong[0].advice.as_deref().unwrap_or_default());
        assert!(
            found.starts_with("KV_staunch_leases: no leader, while the streams in files"),
            "{found}"
        );
        assert!(advice.contains("staunch provision --repair"), "{advice}");
    }

    #[test]
    fn a_consumer_that_does_not_answer_is_no_check_of_its_own_where_its_stream_has_no_leader() {
        let consumer = ConsumerSeen {
            name: "executor".to_owned(),
            stream: "STAUNCH_COMMANDS".to_owned(),
            unanswered: Some("JetStream system temporarily unavailable (10008)".to_owned()),
            ..ConsumerSeen::default()
        };
        for has_no_leader in [true, false] {
            let seen = broker(&[("STAUNCH_COMMANDS", has_no_leader)]);
            let wrong = wrong(BrokerSeen { consumers: vec![consumer.clone()], ..seen });
            assert_eq!(wrong.len(), 1, "{wrong:#?}");
            assert_eq!(wrong[0].found.contains("no leader"), has_no_leader, "{wrong:#?}");
        }
    }
}
