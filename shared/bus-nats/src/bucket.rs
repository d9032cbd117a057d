//! The headers that mark a key of a bucket as removed.

use async_nats::HeaderMap;

pub(crate) const OPERATION: &str = "KV-Operation";
const MARKER: &str = "Nats-Marker-Reason";

/// The message is a tombstone: a purge, or the marker that the server leaves for an expired key.
pub(crate) fn is_tombstone(headers: Option<&HeaderMap>) -> bool {
    let Some(headers) = headers else { return false };
    let operation = headers.get(OPERATION).map(|operation| operation.as_str());
    matches!(operation, Some("PURGE" | "DEL")) || headers.get(MARKER).is_some()
}
