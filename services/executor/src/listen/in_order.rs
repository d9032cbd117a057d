//! Messages of a source that are taken in order: the next one is handed over when the instances that
//! took the one before have ended or wait.
//!
//! The consumer gives out one message at a time, over all executors. Where instances wait for what a stream
//! had before, it is held until one waits. If the executor that has it dies, another one gets it again,
//! finds the instances that it has started, and waits for them.

use std::time::Duration;

use model::{Backoff, CommandId, InstanceId, SubStatus};
use protocol::Command;
use store::{BookmarkFilter, CommandFilter, InstanceFilter, Page};
use tokio_util::sync::CancellationToken;

use super::take::Unsent;
use crate::cx::Cx;
use crate::route;

/// The pause between two looks at the instances.
const PAUSE: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_millis(500);
/// Instances of one query.
const PART: usize = 100;
/// Commands for one instance that are looked at.
const COMMANDS_MAX: u64 = 1_000;

/// Waits until there is somebody for the message: a workflow that starts with it, or an instance that waits
/// for one. So an instance that reads what a stream had before misses nothing between two of its waits, nor
/// does the one after it. A message that was handed over before is for nobody.
pub(super) async fn until_wanted(
    cx: &Cx,
    hash: &str,
    message: &CommandId,
    stop: &CancellationToken,
) -> Result<(), Unsent> {
    let later = |error: store::Error| Unsent::Later(error.to_string());
    let waiting = BookmarkFilter { hash: Some(hash.to_owned()), ..BookmarkFilter::default() };
    let mut backoff = Backoff::new(PAUSE, PAUSE_MAX);
    loop {
        let is_wanted = !cx.store.find(&waiting, 1).await.map_err(later)?.is_empty()
            || !cx.store.triggers(hash).await.map_err(later)?.is_empty();
        if is_wanted || cx.store.is_routed(message).await.map_err(later)? {
            return Ok(());
        }
        if stop.run_until_cancelled(tokio::time::sleep(backoff.next())).await.is_none() {
            return Err(Unsent::Later("no instance waits for it".to_owned()));
        }
    }
}

/// Hands a message over, and waits until the instances that took it have ended or wait.
pub(super) async fn hand_over(
    cx: &Cx,
    command: &Command,
    stop: &CancellationToken,
) -> Result<(), Unsent> {
    command.encode().map_err(|garbled| Unsent::Unfit(garbled.to_string()))?;
    let takers = route::hand_over(cx, command).await.map_err(Unsent::of)?;
    let mut backoff = Backoff::new(PAUSE, PAUSE_MAX);
    while is_at_work(cx, &takers).await.map_err(|error| Unsent::Later(error.to_string()))? {
        if stop.run_until_cancelled(tokio::time::sleep(backoff.next())).await.is_none() {
            return Err(Unsent::Later("this node stops".to_owned()));
        }
    }
    Ok(())
}

/// Whether one of the instances has a command of the message that it has not applied, or still runs.
async fn is_at_work(cx: &Cx, takers: &[(InstanceId, CommandId)]) -> Result<bool, store::Error> {
    for part in takers.chunks(PART) {
        let filter = InstanceFilter {
            ids: part.iter().map(|(instance, _)| instance.clone()).collect(),
            sub_statuses: vec![SubStatus::Pending, SubStatus::Executing],
            ..InstanceFilter::default()
        };
        if !cx.store.list(&filter, Page::new(0, 1)).await?.items.is_empty() {
            return Ok(true);
        }
        for (instance, command) in part {
            let instance_id = Some(instance.clone());
            let filter = CommandFilter { instance_id, ..CommandFilter::default() };
            let kept = cx.store.accepted(&filter, COMMANDS_MAX).await?;
            if kept.iter().any(|kept| kept.id == *command) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
