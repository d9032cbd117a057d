//! Checks of NATS.

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
    faults.extend(broker.consumers.iter().flat_map(of_consumer));
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
    if !stream.behind.is_empty() {
        let found = format!("replicas of {name} are behind: {}", stream.behind.join(", "));
        let advice = "look at these servers: while they are behind, one more loss stops the stream";
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
