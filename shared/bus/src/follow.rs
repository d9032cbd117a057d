//! Follows the watch of a bucket for as long as someone needs it.

use std::time::Duration;

use futures::StreamExt as _;
use tokio_util::sync::CancellationToken;

use crate::{Change, Error, Kv};

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Gives every change to `apply` until `stop`, or until the bus is closed. A watch that breaks is
/// opened again; `apply` sees a [`Change::Reset`] at once when it breaks.
pub(crate) async fn follow(kv: &dyn Kv, stop: &CancellationToken, mut apply: impl FnMut(Change)) {
    let mut pause = FIRST_PAUSE;
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
                pause = FIRST_PAUSE;
                apply(change);
            },
            Err(Error::Closed) => return,
            Err(error) => tracing::warn!(%error, "cannot watch a bucket, trying again"),
        }
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            () = tokio::time::sleep(pause) => pause = (pause * 2).min(LONGEST_PAUSE),
        }
    }
}
