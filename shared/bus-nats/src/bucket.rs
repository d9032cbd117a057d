//! The headers that mark a key of a bucket as removed.

use async_nats::HeaderMap;
use bus::Bucket;

pub(crate) const OPERATION: &str = "KV-Operation";
const ROLLUP: &str = "Nats-Rollup";
const MARKER: &str = "Nats-Marker-Reason";

/// The bucket takes messages that remove others. Permissions do not see headers: where users of other
/// accounts write keys of their own, a roll-up would remove the keys of all.
pub(crate) fn takes_roll_ups(bucket: Bucket) -> bool {
    bucket != Bucket::Activities
}

/// Marks a key as removed. Buckets keep one message of each key, so the value is gone without a roll-up,
/// too.
pub(crate) fn remove(bucket: Bucket, headers: &mut HeaderMap) {
    if takes_roll_ups(bucket) {
        headers.insert(OPERATION, "PURGE");
        headers.insert(ROLLUP, "sub");
    } else {
        headers.insert(OPERATION, "DEL");
    }
}

/// The message is a tombstone: a purge, or the marker that the server leaves for an expired key.
pub(crate) fn is_tombstone(headers: Option<&HeaderMap>) -> bool {
    let Some(headers) = headers else { return false };
    let operation = headers.get(OPERATION).map(|operation| operation.as_str());
    matches!(operation, Some("PURGE" | "DEL")) || headers.get(MARKER).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removed_key_is_gone_with_a_roll_up_or_without() {
        for bucket in Bucket::ALL {
            let mut headers = HeaderMap::new();
            remove(bucket, &mut headers);
            assert!(is_tombstone(Some(&headers)), "{bucket:?}");
            assert_eq!(headers.get(ROLLUP).is_some(), takes_roll_ups(bucket), "{bucket:?}");
        }
    }
}
