//! The state of the bus, for health checks and the command line.

use std::time::Duration;

use bus::Error;
use protocol::subject;
use serde_json::Value;
use tokio::time::Instant;

use crate::NatsBus;
use crate::inspect::{has_no_leader, stream_info};

/// The bus at one moment.
#[derive(Clone, Debug)]
pub struct Status {
    /// Both connections are up.
    pub is_connected: bool,
    /// The server that moves commands.
    pub server: String,
    /// Its version.
    pub version: String,
    /// Its cluster, if it has one.
    pub cluster: Option<String>,
    /// The time of a request to JetStream and its answer.
    pub round_trip: Duration,
    /// Streams and buckets, in the order of the topology.
    pub streams: Vec<StreamStatus>,
    /// Commands that are delivered and not yet answered.
    pub in_hand: u64,
}

/// One stream or bucket.
#[derive(Clone, Debug)]
pub struct StreamStatus {
    /// Its name; a bucket's stream begins with `KV_`.
    pub name: String,
    /// Messages that it holds.
    pub messages: u64,
    /// Bytes that it holds.
    pub bytes: u64,
    /// Its replicas.
    pub replicas: u64,
    /// The cluster that has it, in a cluster.
    pub cluster: Option<String>,
    /// The server that leads it, in a cluster.
    pub leader: Option<String>,
}

/// The lag of the executors' consumer, and the streams.
#[derive(Clone, Debug, Default)]
pub struct Lag {
    /// Commands that were not delivered yet.
    pub pending: u64,
    /// Commands that are delivered and not answered.
    pub in_hand: u64,
    /// Of those, the ones that were delivered before.
    pub redelivered: u64,
    /// Each stream, with its messages and bytes.
    pub streams: Vec<(&'static str, u64, u64)>,
}

/// The streams; the others of the topology are buckets.
const STREAMS: [&str; 4] =
    [subject::COMMANDS_STREAM, subject::EVENTS_STREAM, subject::TASKS_STREAM, subject::DEAD_STREAM];

impl NatsBus {
    /// The lag of the executors' consumer, and the sizes of the streams.
    ///
    /// # Errors
    /// When JetStream does not answer, or a stream is not provisioned.
    pub async fn lag(&self) -> Result<Lag, Error> {
        let api = &self.open()?.control_api;
        let (stream, consumer) = (subject::COMMANDS_STREAM, subject::EXECUTOR_CONSUMER);
        let info = api.call(&format!("CONSUMER.INFO.{stream}.{consumer}"), &Value::Null).await;
        let info =
            info.map_err(|failure| failure.into_error(&format!("the consumer {consumer}")))?;
        let count = |name: &str| info[name].as_u64().unwrap_or_default();
        let (pending, in_hand) = (count("num_pending"), count("num_ack_pending"));
        let mut lag =
            Lag { pending, in_hand, redelivered: count("num_redelivered"), ..Lag::default() };
        for name in STREAMS {
            let info = api.call(&format!("STREAM.INFO.{name}"), &Value::Null).await;
            let info = info.map_err(|failure| failure.into_error(&format!("the stream {name}")))?;
            let state = |name: &str| info["state"][name].as_u64().unwrap_or_default();
            lag.streams.push((name, state("messages"), state("bytes")));
        }
        Ok(lag)
    }

    /// The time of a request to JetStream and its answer, on the connection that renews leases.
    ///
    /// # Errors
    /// When JetStream does not answer.
    pub async fn rtt(&self) -> Result<Duration, Error> {
        let started = Instant::now();
        // Every role may ask this question.
        let question = format!("STREAM.INFO.{}", subject::COMMANDS_STREAM);
        let asked = self.open()?.control_api.call(&question, &Value::Null).await;
        asked.map_err(|failure| failure.into_error("JetStream"))?;
        Ok(started.elapsed())
    }

    /// Whether JetStream answers for what executors need: their consumer, and the leases. A consumer that
    /// is missing is an answer, too.
    ///
    /// # Errors
    /// [`Error::is_passing`] when it does not.
    pub async fn check_answers(&self) -> Result<(), Error> {
        let api = &self.open()?.control_api;
        let (stream, consumer) = (subject::COMMANDS_STREAM, subject::EXECUTOR_CONSUMER);
        let asked = api.call(&format!("CONSUMER.INFO.{stream}.{consumer}"), &Value::Null).await;
        asked.map_err(|failure| failure.into_error(&format!("the consumer {consumer}")))?;
        // A stream without a leader is described by another server.
        let bucket = subject::LEASES_BUCKET;
        let info = stream_info(api, &format!("KV_{bucket}")).await;
        let info = info.map_err(|failure| failure.into_error(&format!("the bucket {bucket}")))?;
        match info.is_some_and(|info| has_no_leader(&info)) {
            true => Err(Error::Unavailable(format!("the bucket {bucket} has no leader"))),
            false => Ok(()),
        }
    }

    /// The whole state.
    ///
    /// # Errors
    /// When JetStream does not answer, or a stream is not provisioned.
    pub async fn status(&self) -> Result<Status, Error> {
        let round_trip = self.rtt().await?;
        let inner = self.open()?;
        let mut streams = Vec::new();
        for name in names() {
            let info = inner.control_api.call(&format!("STREAM.INFO.{name}"), &Value::Null).await;
            let info = info.map_err(|failure| failure.into_error(&format!("the stream {name}")))?;
            streams.push(StreamStatus {
                messages: info["state"]["messages"].as_u64().unwrap_or_default(),
                bytes: info["state"]["bytes"].as_u64().unwrap_or_default(),
                replicas: info["config"]["num_replicas"].as_u64().unwrap_or_default(),
                cluster: info["cluster"]["name"].as_str().map(str::to_owned),
                leader: info["cluster"]["leader"].as_str().map(str::to_owned),
                name,
            });
        }
        let (stream, consumer) = (subject::COMMANDS_STREAM, subject::EXECUTOR_CONSUMER);
        let call = format!("CONSUMER.INFO.{stream}.{consumer}");
        let info = inner.control_api.call(&call, &Value::Null).await;
        let info =
            info.map_err(|failure| failure.into_error(&format!("the consumer {consumer}")))?;
        let server = inner.data.client.server_info();
        Ok(Status {
            is_connected: self.is_connected(),
            server: server.server_name,
            version: server.version,
            cluster: server.cluster,
            round_trip,
            streams,
            in_hand: info["num_ack_pending"].as_u64().unwrap_or_default(),
        })
    }
}

fn names() -> Vec<String> {
    let buckets = [
        subject::LEASES_BUCKET,
        subject::TIMERS_BUCKET,
        subject::DEFINITIONS_BUCKET,
        subject::NODES_BUCKET,
        subject::RUNTIME_BUCKET,
        subject::ACTIVITIES_BUCKET,
    ];
    let stores = [subject::PAYLOADS_STORE, subject::PAYLOAD_PARTS_STORE];
    let streams = STREAMS.map(str::to_owned).into_iter();
    let buckets = buckets.into_iter().map(|bucket| format!("KV_{bucket}"));
    streams.chain(buckets).chain(stores.map(|store| format!("OBJ_{store}"))).collect()
}
