//! Poison: a command that takes its process down each time it is tried.
//!
//! The count of deliveries alone cannot tell poison from a long outage of the database. So a
//! command that comes again and again leaves a mark before it is tried and takes it away however
//! the try ends; a mark that is found standing, and whose process does not live any more, means
//! that the process died over it. A process counts as living for a while after its death, so a mark
//! remembers everyone who has tried and of whom nobody knows yet.

use std::time::Duration;

use bus::{Bucket, Delivery, Put};
use bytes::Bytes;
use model::limits;

use crate::executor::Cx;

/// From this delivery on, tries leave a mark.
const SUSPECT_FROM: i64 = limits::DELIVERIES_MAX - CRASHES_MAX;
/// Processes that died over a command before it is poison.
const CRASHES_MAX: i64 = 5;
/// Processes that a mark remembers.
const TRIED_MAX: usize = 8;
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
    let lives = lives(cx);
    let Some(own) = lives.iter().find(|life| is_of(life, &cx.node)) else { return Mark::None };
    let found = entry.as_ref().and_then(|entry| entry.value.as_ref()).and_then(read);
    let (before, tried) = found.unwrap_or_default();
    // Those that live try it elsewhere, or could not take the mark away, or are not missed yet.
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

/// The processes that live: a node that was started anew is another one.
fn lives(cx: &Cx) -> Vec<String> {
    let live = cx.presence.live().into_iter();
    live.map(|member| format!("{}@{}", member.node, member.started_at.as_millis())).collect()
}

fn is_of(life: &str, node: &str) -> bool {
    life.strip_prefix(node).is_some_and(|rest| rest.starts_with('@'))
}

/// How many processes had died when the mark was made, and who has tried.
fn read(value: &Bytes) -> Option<(i64, Vec<String>)> {
    let (crashes, tried) = std::str::from_utf8(value).ok()?.split_once(' ')?;
    Some((crashes.parse().ok()?, tried.lines().map(str::to_owned).collect()))
}
