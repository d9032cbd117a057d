//! Ends a claim: done for everyone, or given back.

use bus::{Claimed, Error};

use crate::Context;

/// Marks a firing as done. Where that fails, the claim expires, and whoever finds the bookmark
/// open fires it again under the same id.
pub(super) async fn done(cx: &Context, claimed: Claimed) {
    let key = claimed.key.clone();
    if let Err(error) = cx.claims.done(claimed).await {
        tracing::debug!(%error, key, "a fired timer could not be marked");
    }
}

/// Gives a claim back after a failure.
pub(super) async fn give_back(cx: &Context, claimed: Claimed, error: &Error) {
    tracing::debug!(%error, key = claimed.key, "a timer could not be fired");
    cx.claims.abandon(claimed).await;
}
