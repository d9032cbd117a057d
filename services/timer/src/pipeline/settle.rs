//! Ends a firing: its claim is marked done for all nodes, or given back.

use std::time::Duration;

use bus::{Claimed, Error};
use chassis::Point;
use store::DueTimer;

use super::whole_ms;
use crate::Context;

/// Counts and logs a firing, and marks its claim done. If marking fails, the claim expires, and the
/// replica that finds the bookmark open fires it again under the same id.
pub(super) async fn done(
    cx: &Context,
    due: &DueTimer,
    claimed: Option<Claimed>,
    lateness: Duration,
) {
    let Some(claimed) = claimed else {
        tracing::warn!(bookmark = %due.bookmark_id, instance = %due.instance_id,
            "a timer was fired and is still open; fired again");
        return;
    };
    cx.metrics.fired("timer", lateness);
    tracing::info!(bookmark = %due.bookmark_id, instance = %due.instance_id,
        lateness_ms = whole_ms(lateness), "timer fired");
    let key = claimed.key.clone();
    if let Err(error) = cx.claims.done(claimed).await {
        tracing::debug!(%error, key, "the claim of a fired timer could not be marked done");
    }
    cx.trail.at(Point::Settled).await;
}

/// Gives the claim back after a failure, if there is one.
pub(super) async fn give_back(cx: &Context, claimed: Option<Claimed>, error: &Error) {
    let Some(claimed) = claimed else { return };
    tracing::debug!(%error, key = claimed.key, "a timer could not be fired; its claim is given back");
    cx.claims.abandon(claimed).await;
}
