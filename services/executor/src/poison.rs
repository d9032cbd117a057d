//! Poison: a command that kills its process on every try.
//!
//! The number of deliveries alone does not show poison: a long outage of the database raises it
//! too. So the executor writes a mark before it tries a command that has been delivered often, and
//! removes the mark when the try ends, with or without success. A mark of a process that no longer
//! lives means that the process died during the try. A dead process counts as living until its
//! presence expires, so a mark lists every process that has tried and may still live.

use std::time::Duration;

use bus::{Bucket, Delivery, Put};
use bytes::Bytes;
use model::limits;

use crate::cx::Cx;

/// From this delivery on, the executor writes a mark before it tries the command.
const SUSPECT_FROM: i64 = limits::DELIVERIES_MAX - CRASHES_MAX;
/// The number of processes that a command kills before it is poison.
const CRASHES_MAX: i64 = 5;
/// The number of processes that a mark lists.
const TRIED_MAX: usize = 8;
const MARK_TTL: Duration = Duration::from_secs(24 * 60 * 60);

/// The mark of one try.
#[derive(Debug)]
pub(crate) enum Mark {
    /// The command is no suspect, or the mark could not be written.
    None,
    /// The mark is written, at this revision.
    Written { key: String, revision: u64 },
    /// The command has killed too many processes.
    Poison { crashes: i64 },
}

/// Writes a mark before the try, if the delivery is a suspect.
pub(crate) async fn mark(cx: &Cx, delivery: &Delivery) -> Mark {
    if delivery.attempt < SUSPECT_FROM {
        return Mark::None;
    }
    let kv = cx.bus.kv(Bucket::Timers);
    let key = format!("poison.{}", delivery.sequence);
    let entry = kv.get(&key).await.ok().flatten();
    let lives = lives(cx);
    let Some(own) = lives.iter().find(|life| is_of(life, &cx.node)) else { return Mark::None };
    let found = entry.as_ref().and_then(|entry| entry.value.as_ref()).and_then(read);
    let (before, tried) = found.unwrap_or_default();
    // The process may be trying the command now, may have failed to remove its mark, or may have
    // died just now.
    let (mut unsure, died): (Vec<_>, Vec<_>) =
        tried.into_iter().partition(|by| lives.contains(by) && by != own);
    let crashes = before + i64::try_from(died.iter().filter(|by| *by != own).count()).unwrap_or(0);
    if delivery.attempt > limits::DELIVERIES_MAX && crashes >= CRASHES_MAX {
        return Mark::Poison { crashes };
    }
    let expected = entry.map_or(0, |entry| entry.revision);
    unsure.push(own.clone());
    let tried = unsure.split_off(unsure.len().saturating_sub(TRIED_MAX));
    let value = Bytes::from(format!("{crashes} {}", tried.join("\n")));
    match kv.put_if(&key, value, expected, Some(MARK_TTL), &cx.chance.new_id()).await {
        Ok(Put::Won(revision)) => Mark::Written { key, revision },
        Ok(Put::Lost(_)) | Err(_) => Mark::None,
    }
}

/// Removes the mark: the try has ended, and the process lives. A crash of NATS may bring it back until
/// its expiry: it then counts one crash too many at most, and only for a command that is tried again.
pub(crate) async fn clear(cx: &Cx, mark: Mark) {
    let Mark::Written { key, revision } = mark else { return };
    let kv = cx.bus.kv(Bucket::Timers);
    if let Err(error) = kv.purge_if(&key, revision, &cx.chance.new_id()).await {
        tracing::debug!(%error, key, "a mark stays until it expires");
    }
}

/// The live processes, as `<node>@<start>`: a restarted node is another process.
fn lives(cx: &Cx) -> Vec<String> {
    let live = cx.presence.live().into_iter();
    live.map(|member| format!("{}@{}", member.node, member.started_at.as_millis())).collect()
}

fn is_of(life: &str, node: &str) -> bool {
    life.strip_prefix(node).is_some_and(|rest| rest.starts_with('@'))
}

/// The number of processes that had died when the mark was written, and the processes listed.
fn read(value: &Bytes) -> Option<(i64, Vec<String>)> {
    let (crashes, tried) = std::str::from_utf8(value).ok()?.split_once(' ')?;
    Some((crashes.parse().ok()?, tried.lines().map(str::to_owned).collect()))
}
