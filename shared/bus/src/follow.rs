//! Follows the watch of a bucket until its reader stops.

use std::time::Duration;

use futures::StreamExt as _;
use model::Backoff;
use tasks::Trouble;
use tokio_util::sync::CancellationToken;

use crate::{Change, Error, Kv};

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Gives every change to `apply` until `stop`, or until the bus is closed. A watch that breaks is
/// opened again; `apply` sees a [`Change::Reset`] at once when it breaks.
pub(crate) async fn follow(kv: &dyn Kv, stop: &CancellationToken, mut apply: impl FnMut(Change)) {
    let mut backoff = Backoff::new(FIRST_PAUSE, LONGEST_PAUSE);
    let mut trouble = Trouble::default();
    loop {
        let opened = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            opened = kv.watch() => opened,
        };
        match opened {
            Ok(mut changes) => loop {
                let change = tokio::select! {
                    biased;
                    () = stop.cancelled() => return,
                    change = changes.next() => change,
                };
                let Some(change) = change else {
                    apply(Change::Reset);
                    break;
                };
                backoff.reset();
                if trouble.ends() {
                    tracing::info!("a bucket is watched again");
                }
                apply(change);
            },
            Err(Error::Closed) => return,
            Err(error) if trouble.is_news(&error) => {
                tracing::warn!(%error, "cannot watch a bucket, trying again");
            }
            Err(_) => {}
        }
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            () = tokio::time::sleep(backoff.next()) => {}
        }
    }
}
