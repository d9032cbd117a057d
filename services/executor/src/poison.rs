//! Poison: a command that takes its process down each time it is tried.
//!
//! The count of deliveries alone cannot tell poison from a long outage of the database. So a
//! command that comes again and again leaves a mark before it is tried and takes it away however
//! the try ends; a mark that is found standing means that a process died over it.

use std::time::Duration;

use bus::{Bucket, Delivery, Put};
use bytes::Bytes;
use model::limits;

use crate::executor::Cx;

/// From this delivery on, tries leave a mark.
const SUSPECT_FROM: i64 = limits::DELIVERIES_MAX - CRASHES_MAX;
/// Marks found standing before a command is poison.
const CRASHES_MAX: i64 = 5;
const MARK_TTL: Duration = Duration::from_secs(24 * 60 * 60);

/// The mark of one try.
#[derive(Debug)]
pub(crate) enum Mark {
    /// It is no suspect, or the mark could not be made.
    None,
    /// It stands at this revision.
    Standing { key: String, revision: u64 },
    /// It took its process down too often.
    Poison { crashes: i64 },
}

/// Looks at a delivery before it is tried.
pub(crate) async fn mark(cx: &Cx, delivery: &Delivery) -> Mark {
    if delivery.attempt < SUSPECT_FROM {
        return Mark::None;
    }
    let kv = cx.bus.kv(Bucket::Timers);
    let key = format!("poison.{}", delivery.sequence);
    let entry = kv.get(&key).await.ok().flatten();
    let crashes = entry.as_ref().and_then(|entry| entry.value.as_ref()).and_then(count);
    let crashes = crashes.unwrap_or_default();
    if delivery.attempt > limits::DELIVERIES_MAX && crashes >= CRASHES_MAX {
        return Mark::Poison { crashes };
    }
    let expected = entry.map_or(0, |entry| entry.revision);
    let value = Bytes::from((crashes + 1).to_string());
    match kv.put_if(&key, value, expected, Some(MARK_TTL), &cx.chance.new_id()).await {
        Ok(Put::Won(revision)) => Mark::Standing { key, revision },
        Ok(Put::Lost(_)) | Err(_) => Mark::None,
    }
}

/// Takes the mark away: the try has ended, well or not, and the process stands.
pub(crate) async fn clear(cx: &Cx, mark: Mark) {
    let Mark::Standing { key, revision } = mark else { return };
    let kv = cx.bus.kv(Bucket::Timers);
    if let Err(error) = kv.purge_if(&key, revision, &cx.chance.new_id()).await {
        tracing::debug!(%error, key, "a mark stays until it expires");
    }
}

fn count(value: &Bytes) -> Option<i64> {
    std::str::from_utf8(value).ok()?.parse().ok()
}
