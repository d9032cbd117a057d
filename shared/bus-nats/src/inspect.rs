//! What an operator asks about the broker: everything that differs from the topology, how full each
//! stream is, what the login may not do. Changes nothing, and does not end at the first fault.

use std::time::Duration;

use bus::Error;
use model::Timestamp;
use serde_json::Value;
use tokio::time::Instant;

use crate::NatsBus;
use crate::api::{Api, ApiError, CONSUMER_NOT_FOUND, STREAM_NOT_FOUND};
use crate::ensure::compare;
use crate::topology::{BucketSpec, ConsumerSpec, ObjectStoreSpec, StreamSpec, Topology};

/// A replica that its leader has not heard of for this long does not answer. In health it hears it once a
/// second.
const SILENT_AFTER: Duration = Duration::from_secs(5);
/// Requests whose times are measured.
const SAMPLES: usize = 5;
/// Limits of a stream that may differ from the topology on purpose.
const LIMITS: [&str; 5] =
    ["max_bytes", "max_msg_size", "max_age", "duplicate_window", "max_msgs_per_subject"];
/// Limits of a consumer that may differ on purpose.
const CONSUMER_LIMITS: [&str; 3] = ["ack_wait", "max_ack_pending", "max_waiting"];

/// The broker at one moment.
#[derive(Clone, Debug, Default)]
pub struct Inspection {
    /// The server that moves commands.
    pub server: String,
    /// Its version.
    pub version: String,
    /// Its cluster, if it has one.
    pub cluster: Option<String>,
    /// The server has JetStream: where it does not answer, a leader may be being elected.
    pub has_jetstream: bool,
    /// It wants a login.
    pub wants_login: bool,
    /// The times of requests to JetStream with their answers, shortest first.
    pub round_trips: Vec<Duration>,
    /// The server's time, and half of the round trip of the question.
    pub time: Option<(Timestamp, Duration)>,
    /// When that answer arrived.
    pub time_at: Option<Instant>,
    /// The account's use of files and memory, with their limits (below 0: none).
    pub storage: [(u64, i64); 2],
    /// Streams, buckets and object stores, in the order of the topology. Object stores about which
    /// this login may not ask are not among them.
    pub streams: Vec<StreamSeen>,
    /// The consumers of the topology.
    pub consumers: Vec<ConsumerSeen>,
    /// What this login may not do, and a process with the roles has to.
    pub refused: Option<String>,
}

/// One stream, or the stream of a bucket or an object store.
#[derive(Clone, Debug, Default)]
pub struct StreamSeen {
    /// Its name; a bucket's stream begins with `KV_`, that of an object store with `OBJ_`.
    pub name: String,
    /// It is there.
    pub is_there: bool,
    /// The question was not answered, and why.
    pub unanswered: Option<String>,
    /// Differences that lose messages.
    pub faults: Vec<String>,
    /// Limits that differ from the topology.
    pub differences: Vec<String>,
    /// Its replicas, as configured.
    pub replicas: u64,
    /// Replicas that are offline or behind.
    pub behind: Vec<String>,
    /// Those of them that have not been heard of for some time. Where there is no leader, the server that
    /// answers is among them.
    pub silent: Vec<String>,
    /// It has several replicas, and no leader among them.
    pub has_no_leader: bool,
    /// Messages that it holds.
    pub messages: u64,
    /// Bytes that it holds.
    pub bytes: u64,
    /// The bytes that it may hold; below 1 means without limit.
    pub bytes_max: i64,
    /// It lives in memory.
    pub is_volatile: bool,
}

/// One consumer.
#[derive(Clone, Debug, Default)]
pub struct ConsumerSeen {
    /// Its name.
    pub name: String,
    /// Its stream.
    pub stream: String,
    /// It is there.
    pub is_there: bool,
    /// The question was not answered, and why.
    pub unanswered: Option<String>,
    /// Differences that lose messages.
    pub faults: Vec<String>,
    /// Limits that differ from the topology.
    pub differences: Vec<String>,
    /// Messages that no executor has got yet.
    pub pending: u64,
    /// Messages that executors have in hand.
    pub in_hand: u64,
    /// Messages in hand that were delivered before.
    pub redelivered: u64,
    /// Pulls that wait for messages.
    pub pulls: u64,
}

impl NatsBus {
    /// Looks at everything that a process with these roles needs. What is not answered is in the
    /// result.
    ///
    /// # Errors
    /// When the connection is closed.
    pub async fn inspect(&self, roles: &[&str]) -> Result<Inspection, Error> {
        let inner = self.open()?;
        let (api, topology) = (&inner.control_api, Topology::embedded()?);
        let info = inner.data.client.server_info();
        let mut found = Inspection {
            has_jetstream: info.jetstream,
            wants_login: info.auth_required,
            server: info.server_name,
            version: info.version,
            cluster: info.cluster,
            ..Inspection::default()
        };
        // Every role may ask for this; that the stream is missing is an answer, too.
        let first = topology.stream.first().map(|spec| spec.name.as_str()).unwrap_or_default();
        for _ in 0..SAMPLES {
            let asked = Instant::now();
            if stream_info(api, first).await.is_err() {
                break;
            }
            found.round_trips.push(asked.elapsed());
        }
        if let Ok(account) = api.call("INFO", &Value::Null).await {
            found.storage = [usage(&account, "storage"), usage(&account, "memory")];
        }
        found.round_trips.sort_unstable();
        for spec in &topology.stream {
            let asked = Instant::now();
            let info = stream_info(api, &spec.name).await;
            if let Ok(Some(info)) = &info {
                found.clock(asked, info);
            }
            let config = spec.config(&1.into());
            found.streams.push(seen(&spec.name, info, &config, &StreamSpec::CHECKED));
        }
        for spec in &topology.bucket {
            let info = stream_info(api, &spec.stream()).await;
            let config = spec.config(&1.into());
            let one = seen(&spec.stream(), info, &config, &BucketSpec::CHECKED);
            found.streams.push(StreamSeen { is_volatile: spec.is_volatile(), ..one });
        }
        for spec in &topology.object_store {
            let info = stream_info(api, &spec.stream()).await;
            // Only processes that use a store need the permission to ask about it.
            if matches!(info, Err(ApiError::Denied(_))) {
                continue;
            }
            let config = spec.config(&1.into());
            found.streams.push(seen(&spec.stream(), info, &config, &ObjectStoreSpec::CHECKED));
        }
        for spec in &topology.consumer {
            found.consumers.push(consumer(api, spec).await);
        }
        found.refused = self.check_permissions(roles).await.err().map(|error| error.to_string());
        Ok(found)
    }
}

impl Inspection {
    fn clock(&mut self, asked: Instant, info: &Value) {
        let time = info["ts"].as_str().and_then(|text| Timestamp::parse(text).ok());
        self.time = time.map(|time| (time, asked.elapsed() / 2));
        self.time_at = Some(Instant::now());
    }
}

fn usage(account: &Value, what: &str) -> (u64, i64) {
    let used = account[what].as_u64().unwrap_or_default();
    let limit = account["limits"][format!("max_{what}")].as_i64().unwrap_or(-1);
    (used, limit)
}

pub(crate) async fn stream_info(api: &Api, name: &str) -> Result<Option<Value>, ApiError> {
    match api.call(&format!("STREAM.INFO.{name}"), &Value::Null).await {
        Ok(info) => Ok(Some(info)),
        Err(failure) if failure.code() == Some(STREAM_NOT_FOUND) => Ok(None),
        Err(failure) => Err(failure),
    }
}

pub(crate) fn seen(
    name: &str,
    info: Result<Option<Value>, ApiError>,
    wanted: &Value,
    checked: &[&str],
) -> StreamSeen {
    let mut one = StreamSeen { name: name.to_owned(), ..StreamSeen::default() };
    let info = match info {
        Ok(Some(info)) => info,
        Ok(None) => return one,
        Err(failure) => {
            one.unanswered = Some(failure.into_error(name).to_string());
            return one;
        }
    };
    let config = &info["config"];
    one.is_there = true;
    compare(name, Some(config.clone()), wanted, checked, &mut one.faults);
    let limits: Vec<_> = LIMITS.into_iter().filter(|limit| !checked.contains(limit)).collect();
    differ(config, wanted, &limits, &mut one.differences);
    one.replicas = config["num_replicas"].as_u64().unwrap_or_default();
    let replicas = info["cluster"]["replicas"].as_array();
    for replica in replicas.into_iter().flatten() {
        let Some(name) = replica["name"].as_str() else { continue };
        let (is_behind, is_silent) = (replica["current"] != true, is_silent(replica));
        if is_silent {
            one.silent.push(name.to_owned());
        }
        if is_behind || is_silent {
            one.behind.push(name.to_owned());
        }
    }
    one.has_no_leader = has_no_leader(&info);
    one.messages = info["state"]["messages"].as_u64().unwrap_or_default();
    one.bytes = info["state"]["bytes"].as_u64().unwrap_or_default();
    one.bytes_max = config["max_bytes"].as_i64().unwrap_or(-1);
    one
}

/// Whether a stream with several replicas has no leader among them.
pub(crate) fn has_no_leader(info: &Value) -> bool {
    let replicas = info["config"]["num_replicas"].as_u64().unwrap_or_default();
    let leader = info["cluster"]["leader"].as_str().unwrap_or_default();
    replicas > 1 && leader.is_empty()
}

/// Whether a replica is not heard of. Its leader knows no time of one that has been away since before it
/// led.
fn is_silent(replica: &Value) -> bool {
    let unheard = replica["active"].as_u64().map(Duration::from_nanos).unwrap_or_default();
    let is_unknown = unheard.is_zero() && replica["current"] != true;
    replica["offline"] == true || is_unknown || unheard >= SILENT_AFTER
}

pub(crate) async fn consumer(api: &Api, spec: &ConsumerSpec) -> ConsumerSeen {
    let (name, stream) = (spec.name.clone(), spec.stream.clone());
    let call = format!("CONSUMER.INFO.{stream}.{name}");
    let mut one = ConsumerSeen { name, stream, ..ConsumerSeen::default() };
    let info = match api.call(&call, &Value::Null).await {
        Ok(info) => info,
        Err(failure) if matches!(failure.code(), Some(STREAM_NOT_FOUND | CONSUMER_NOT_FOUND)) => {
            return one;
        }
        Err(failure) => {
            one.unanswered = Some(failure.into_error(&one.name).to_string());
            return one;
        }
    };
    let (config, wanted) = (&info["config"], spec.config());
    one.is_there = true;
    compare(&one.name, Some(config.clone()), &wanted, &ConsumerSpec::CHECKED, &mut one.faults);
    differ(config, &wanted, &CONSUMER_LIMITS, &mut one.differences);
    let number = |name: &str| info[name].as_u64().unwrap_or_default();
    one.pending = number("num_pending");
    one.in_hand = number("num_ack_pending");
    one.redelivered = number("num_redelivered");
    one.pulls = number("num_waiting");
    one
}

fn differ(there: &Value, wanted: &Value, fields: &[&str], found: &mut Vec<String>) {
    for field in fields {
        let (is, expected) = (&there[*field], &wanted[*field]);
        if !expected.is_null() && is != expected {
            found.push(format!("{field} is {is}, and {expected} in the topology"));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A stream with three replicas, as these servers see it.
    fn of(leader: Option<&str>, replicas: &[(&str, bool, u64)]) -> StreamSeen {
        let replicas: Vec<_> = replicas
            .iter()
            .map(|(name, current, seconds)| {
                json!({"name": name, "current": current, "active": seconds * 1_000_000_000})
            })
            .collect();
        let info = json!({"config": {"num_replicas": 3},
            "cluster": {"leader": leader, "replicas": replicas}});
        seen("S", Ok(Some(info)), &json!({}), &[])
    }

    #[test]
    fn a_replica_that_is_silent_is_told_from_one_that_is_behind() {
        let healthy = of(Some("n1"), &[("n2", true, 1), ("n3", true, 0)]);
        assert!(healthy.behind.is_empty() && healthy.silent.is_empty() && !healthy.has_no_leader);
        let late = of(Some("n1"), &[("n2", false, 1), ("n3", true, 1)]);
        assert_eq!((late.behind, late.silent), (vec!["n2".to_owned()], Vec::new()));
        // Its leader counts one as current for some seconds more, and one that it never heard as behind.
        let away = of(Some("n1"), &[("n2", true, 6), ("n3", false, 0)]);
        assert_eq!(away.silent, ["n2", "n3"]);
        assert_eq!(away.behind, away.silent);
        let leaderless = of(None, &[("n1", false, 20), ("n2", false, 17), ("n3", false, 17)]);
        assert!(leaderless.has_no_leader);
        assert_eq!(leaderless.silent, ["n1", "n2", "n3"]);
    }
}
