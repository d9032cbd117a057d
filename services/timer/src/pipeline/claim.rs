//! Claims a firing, so that of all replicas only one does the work. Losing a claim that should
//! have been won, or winning one twice, costs work and nothing else: the bookmark burns once.

use bus::{Claim, Claimed, Error};
use chassis::Point;
use protocol::subject;
use store::DueTimer;

use crate::Context;

/// What became of the claim.
pub(super) enum Won {
    /// It is ours to fire.
    Ours(Claimed),
    /// It has been fired.
    Before,
    /// A live node is at it.
    Elsewhere,
}

pub(super) async fn claim(cx: &Context, timer: &DueTimer) -> Result<Won, Error> {
    cx.trail.at(Point::BeforeClaim).await;
    let key =
        format!("{}.{}", subject::token(timer.bookmark_id.as_str()), timer.due_at.as_millis());
    let live = cx.presence.live();
    let is_live = |owner: &str| live.iter().any(|member| member.node == owner);
    Ok(match cx.claims.claim(&key, is_live).await? {
        Claim::Won(claimed) => Won::Ours(claimed),
        Claim::Done => Won::Before,
        Claim::Taken { by } => {
            tracing::debug!(bookmark = %timer.bookmark_id, by, "another node fires this timer");
            Won::Elsewhere
        }
    })
}
