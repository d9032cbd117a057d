//! Makes buckets in memory anew that get no leader any more.
//!
//! A nats-server that was restarted has lost its copies in memory, and takes part in no election for them
//! (seen with 2.15.1). So after two of three were restarted, streams in files have a leader again, and
//! those in memory have none until the third server is there. The nodes make the contents of these buckets
//! again, so nothing is lost with them. No node does this by itself: its user may not remove streams.

use std::time::Duration;

use bus::Error;
use protocol::subject;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::NatsBus;
use crate::api::{Api, ApiError, STREAM_NOT_FOUND};
use crate::election::ELECTION_MAX;
use crate::ensure::{NO_PEERS, ensure_stream};
use crate::inspect::{has_no_leader, stream_info};
use crate::placement::Placement;
use crate::topology::{BucketSpec, Topology};

/// Time between two looks for a leader.
const PAUSE: Duration = Duration::from_secs(1);

/// A bucket that was made anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repaired {
    /// The name of its stream, which begins with `KV_`.
    pub stream: String,
    /// Too few servers are known for as many copies as the stream of commands has: it has one.
    pub has_one_copy: bool,
}

impl NatsBus {
    /// Removes the buckets in memory that have no leader for longer than an election takes, and makes them
    /// anew; returns them. Where each has a leader, it returns at once. Running nodes fill them again.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when a stream in files has no leader either, and then nothing is removed;
    /// [`Error::Denied`] when this login may not remove streams; [`Error::NotProvisioned`] when a bucket
    /// cannot be made.
    pub async fn repair(&self) -> Result<Vec<Repaired>, Error> {
        let api = &self.open()?.data_api;
        let topology = Topology::embedded()?;
        let leaderless = without_a_leader(api, &topology).await;
        if leaderless.is_empty() {
            return Ok(Vec::new());
        }
        for stream in in_files(&topology) {
            match is_led(api, &stream).await {
                Ok(true) => {}
                Err(failure @ ApiError::Denied(_)) => return Err(failure.into_error(&stream)),
                Ok(false) | Err(_) => {
                    return Err(Error::Unavailable(format!(
                        "{stream}, which is in files, has no leader either, so nothing was removed: \
                         start the nats-servers that are down"
                    )));
                }
            }
        }
        let mut repaired = Vec::new();
        for spec in leaderless {
            let stream = spec.stream();
            let led = is_led(api, &stream).await;
            if led.map_err(|failure| failure.into_error(&stream))? {
                continue;
            }
            match api.call(&format!("STREAM.DELETE.{stream}"), &Value::Null).await {
                Err(failure) if failure.code() != Some(STREAM_NOT_FOUND) => {
                    return Err(failure.into_error(&stream));
                }
                _ => repaired.push(make(api, spec).await?),
            }
        }
        Ok(repaired)
    }
}

/// The buckets in memory without a leader, once an election would be over.
async fn without_a_leader<'a>(api: &Api, topology: &'a Topology) -> Vec<&'a BucketSpec> {
    let give_up = Instant::now() + ELECTION_MAX;
    let mut leaderless: Vec<_> = topology.bucket.iter().filter(|spec| spec.is_volatile()).collect();
    loop {
        let mut left = Vec::new();
        for spec in leaderless {
            if !matches!(is_led(api, &spec.stream()).await, Ok(true)) {
                left.push(spec);
            }
        }
        leaderless = left;
        if leaderless.is_empty() || Instant::now() >= give_up {
            return leaderless;
        }
        sleep(PAUSE).await;
    }
}

/// The streams in files, those of buckets and object stores among them.
fn in_files(topology: &Topology) -> impl Iterator<Item = String> {
    let streams = topology.stream.iter().map(|spec| spec.name.clone());
    let buckets = topology.bucket.iter().filter(|spec| !spec.is_volatile());
    let stores = topology.object_store.iter().map(|spec| spec.stream());
    streams.chain(buckets.map(|spec| spec.stream())).chain(stores)
}

/// Whether a stream has a leader. One that is missing has no copies that could wait for one.
async fn is_led(api: &Api, stream: &str) -> Result<bool, ApiError> {
    let info = stream_info(api, stream).await?;
    Ok(info.is_none_or(|info| !has_no_leader(&info)))
}

/// Makes a bucket as the stream of commands is placed; with one copy where JetStream does not know enough
/// servers for more.
async fn make(api: &Api, spec: &BucketSpec) -> Result<Repaired, Error> {
    let (stream, commands) = (spec.stream(), subject::COMMANDS_STREAM);
    let info = stream_info(api, commands).await.map_err(|failure| failure.into_error(commands))?;
    let mut placement = Placement::read(&info.unwrap_or_default()["config"]);
    let asked = api.call(&format!("STREAM.CREATE.{stream}"), &spec.config(&placement)).await;
    let has_one_copy = asked.is_err_and(|failure| failure.code() == Some(NO_PEERS));
    if has_one_copy {
        placement.replicas = Some(1);
    }
    let wanted = spec.config(&Placement::default());
    ensure_stream(api, &stream, &wanted, &spec.config(&placement)).await?;
    Ok(Repaired { stream, has_one_copy })
}
