//! The topology of `nats/topology.toml`, and its form in JetStream's API.

use std::time::Duration;

use bus::Error;
use model::limits::PULL_BYTES_MAX;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::nanos;
use crate::placement::Placement;

const TEXT: &str = include_str!("../../../nats/topology.toml");

/// Streams, the consumer, buckets and object stores.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topology {
    pub(crate) stream: Vec<StreamSpec>,
    pub(crate) consumer: Vec<ConsumerSpec>,
    pub(crate) bucket: Vec<BucketSpec>,
    #[serde(default)]
    pub(crate) object_store: Vec<ObjectStoreSpec>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StreamSpec {
    pub(crate) name: String,
    why: String,
    pub(crate) subjects: Vec<String>,
    retention: String,
    storage: String,
    discard: String,
    bytes_max: i64,
    message_bytes_max: i64,
    #[serde(default)]
    age_max_seconds: u64,
    duplicate_window_seconds: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConsumerSpec {
    pub(crate) stream: String,
    pub(crate) name: String,
    why: String,
    ack_wait_seconds: u64,
    ack_pending_max: i64,
    waiting_max: i64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BucketSpec {
    pub(crate) name: String,
    why: String,
    storage: String,
    bytes_max: i64,
    /// How long the marker of an expired key stays; 0: without markers, and without roll-ups.
    #[serde(default)]
    marker_seconds: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ObjectStoreSpec {
    pub(crate) name: String,
    why: String,
    storage: String,
    bytes_max: i64,
    #[serde(default)]
    age_max_seconds: u64,
}

impl Topology {
    /// The topology that this build contains.
    ///
    /// # Errors
    /// Never, unless the build is broken: a test reads it.
    pub fn embedded() -> Result<Self, Error> {
        Self::parse(TEXT)
    }

    /// Reads another topology, such as one with larger limits.
    ///
    /// # Errors
    /// [`Error::Corrupt`] says where the text is wrong.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let topology: Self = toml::from_str(text)
            .map_err(|error| Error::Corrupt(format!("the topology: {error}")))?;
        // A message that is too large for a pull would block all messages after it.
        let pulled = |stream: &&StreamSpec| {
            topology.consumer.iter().any(|consumer| consumer.stream == stream.name)
        };
        let too_large =
            |stream: &&StreamSpec| !(1..PULL_BYTES_MAX as i64).contains(&stream.message_bytes_max);
        match topology.stream.iter().filter(pulled).find(too_large) {
            Some(stream) => Err(Error::Corrupt(format!(
                "the topology: message_bytes_max of {} is {}: it has to be above 0 and below the \
                 {PULL_BYTES_MAX} bytes that a pull takes",
                stream.name, stream.message_bytes_max
            ))),
            None => Ok(topology),
        }
    }
}

impl StreamSpec {
    pub(crate) fn config(&self, placement: &Placement) -> Value {
        let mut config = json!({
            "name": self.name,
            "description": self.why,
            "subjects": self.subjects,
            "retention": self.retention,
            "storage": self.storage,
            "discard": self.discard,
            "max_bytes": self.bytes_max,
            "max_msgs": -1,
            "max_msgs_per_subject": -1,
            "max_msg_size": self.message_bytes_max,
            "max_consumers": -1,
            "max_age": nanos(Duration::from_secs(self.age_max_seconds)),
            "duplicate_window": nanos(Duration::from_secs(self.duplicate_window_seconds)),
            "allow_direct": true,
        });
        placement.add_to(&mut config);
        config
    }

    /// Settings that must match exactly, or messages are lost. Limits may differ.
    pub(crate) const CHECKED: [&str; 4] = ["subjects", "retention", "storage", "discard"];
}

impl ConsumerSpec {
    pub(crate) fn config(&self) -> Value {
        json!({
            "durable_name": self.name,
            "name": self.name,
            "description": self.why,
            "deliver_policy": "all",
            "ack_policy": "explicit",
            "replay_policy": "instant",
            "ack_wait": nanos(Duration::from_secs(self.ack_wait_seconds)),
            // Executors count deliveries themselves, and move messages that fail too often to the
            // dead letters: a message that the server gives up stays in the stream without anyone
            // noticing.
            "max_deliver": -1,
            "max_ack_pending": self.ack_pending_max,
            "max_waiting": self.waiting_max,
        })
    }

    pub(crate) const CHECKED: [&str; 3] = ["ack_policy", "deliver_policy", "max_deliver"];
}

impl BucketSpec {
    /// A single server loses it when it restarts.
    pub(crate) fn is_volatile(&self) -> bool {
        self.storage == "memory"
    }

    pub(crate) fn stream(&self) -> String {
        format!("KV_{}", self.name)
    }

    pub(crate) fn config(&self, placement: &Placement) -> Value {
        let mut config = json!({
            "name": self.stream(),
            "description": self.why,
            "subjects": [format!("$KV.{}.>", self.name)],
            "retention": "limits",
            "storage": self.storage,
            "discard": "new",
            "max_bytes": self.bytes_max,
            "max_msgs": -1,
            "max_msgs_per_subject": 1,
            "max_consumers": -1,
            "max_age": 0,
            "duplicate_window": nanos(Duration::from_secs(120)),
            // nats-server allows them wherever there are markers, whatever is asked for.
            "allow_rollup_hdrs": self.marker_seconds > 0,
            "deny_delete": true,
            "allow_direct": true,
            "allow_msg_ttl": true,
            "subject_delete_marker_ttl": nanos(Duration::from_secs(self.marker_seconds)),
        });
        placement.add_to(&mut config);
        config
    }

    /// With another history, or without markers, a lease would not expire where watches see it. With
    /// roll-ups, whoever may write one key may remove all.
    pub(crate) const CHECKED: [&str; 7] = [
        "subjects",
        "retention",
        "max_msgs_per_subject",
        "allow_rollup_hdrs",
        "allow_msg_ttl",
        "subject_delete_marker_ttl",
        "duplicate_window",
    ];
}

impl ObjectStoreSpec {
    pub(crate) fn stream(&self) -> String {
        format!("OBJ_{}", self.name)
    }

    /// As clients of NATS make an object store.
    pub(crate) fn config(&self, placement: &Placement) -> Value {
        let mut config = json!({
            "name": self.stream(),
            "description": self.why,
            "subjects": [format!("$O.{}.C.>", self.name), format!("$O.{}.M.>", self.name)],
            "retention": "limits",
            "storage": self.storage,
            "discard": "new",
            "max_bytes": self.bytes_max,
            "max_msgs": -1,
            "max_msgs_per_subject": -1,
            "max_consumers": -1,
            "max_age": nanos(Duration::from_secs(self.age_max_seconds)),
            "duplicate_window": nanos(Duration::from_secs(120)),
            "allow_rollup_hdrs": true,
            "allow_direct": true,
        });
        placement.add_to(&mut config);
        config
    }

    /// With others, clients do not find its objects, or the server removes them too early.
    pub(crate) const CHECKED: [&str; 3] = ["subjects", "retention", "allow_rollup_hdrs"];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bucket::takes_roll_ups;
    use protocol::subject;

    #[test]
    fn messages_that_no_pull_could_take_are_refused() {
        let text = TEXT.replace("message_bytes_max = 1_048_576", "message_bytes_max = 8_388_608");
        let error = Topology::parse(&text).unwrap_err().to_string();
        assert!(error.contains("STAUNCH_COMMANDS is 8388608"), "{error}");
    }

    #[test]
    fn the_topology_names_what_the_protocol_names() {
        let topology = Topology::embedded().unwrap();
        let streams: Vec<_> = topology.stream.iter().map(|stream| stream.name.as_str()).collect();
        assert_eq!(
            streams,
            [
                subject::COMMANDS_STREAM,
                subject::EVENTS_STREAM,
                subject::TASKS_STREAM,
                subject::DEAD_STREAM
            ]
        );
        let subjects: Vec<_> = topology.stream.iter().map(|it| it.subjects[0].clone()).collect();
        let prefixes = [subject::COMMANDS, subject::EVENTS, subject::TASKS, subject::DEAD];
        assert_eq!(subjects, prefixes.map(|prefix| format!("{prefix}.>")));
        let consumer = &topology.consumer[0];
        assert_eq!(consumer.stream, subject::COMMANDS_STREAM);
        assert_eq!(consumer.name, subject::EXECUTOR_CONSUMER);
        let buckets: Vec<_> = topology.bucket.iter().map(|bucket| bucket.name.as_str()).collect();
        assert_eq!(
            buckets,
            [
                subject::LEASES_BUCKET,
                subject::TIMERS_BUCKET,
                subject::DEFINITIONS_BUCKET,
                subject::NODES_BUCKET,
                subject::RUNTIME_BUCKET,
                subject::ACTIVITIES_BUCKET
            ]
        );
        for (spec, bucket) in topology.bucket.iter().zip(bus::Bucket::ALL) {
            let config = spec.config(&1.into());
            assert_eq!(config["allow_rollup_hdrs"], takes_roll_ups(bucket), "{bucket:?}");
        }
        let stores = topology.object_store.iter().map(|store| store.name.as_str());
        assert!(stores.eq([subject::PAYLOAD_PARTS_STORE, subject::PAYLOADS_STORE]));
    }

    #[test]
    fn a_wrong_topology_is_refused_with_the_place() {
        let error = Topology::parse("[[stream]]\nname = 1").unwrap_err().to_string();
        assert!(error.contains("line 2"), "{error}");
    }
}
