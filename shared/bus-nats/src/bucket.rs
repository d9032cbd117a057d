//! The names of the buckets, and the headers that mark a key as removed.

use async_nats::HeaderMap;
use bus::Bucket;
use protocol::subject;

pub(crate) const OPERATION: &str = "KV-Operation";
const MARKER: &str = "Nats-Marker-Reason";

/// The bucket's name.
pub(crate) fn name(bucket: Bucket) -> &'static str {
    match bucket {
        Bucket::Leases => subject::LEASES_BUCKET,
        Bucket::Timers => subject::TIMERS_BUCKET,
        Bucket::Definitions => subject::DEFINITIONS_BUCKET,
        Bucket::Nodes => subject::NODES_BUCKET,
        Bucket::Runtime => subject::RUNTIME_BUCKET,
        Bucket::Activities => subject::ACTIVITIES_BUCKET,
    }
}

/// The message is a tombstone: a purge, or the marker that the server leaves for an expired key.
pub(crate) fn is_tombstone(headers: Option<&HeaderMap>) -> bool {
    let Some(headers) = headers else { return false };
    let operation = headers.get(OPERATION).map(|operation| operation.as_str());
    matches!(operation, Some("PURGE" | "DEL")) || headers.get(MARKER).is_some()
}
