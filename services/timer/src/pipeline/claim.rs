//! Claims a firing, so that one replica does the work. A claim that is lost, or won twice by
//! mistake, only costs work: the bookmark burns once.

use bus::{Claim, Claimed, Error};
use chassis::Point;
use protocol::subject;
use store::DueTimer;

use crate::Context;

/// The replica that fires the timer.
pub(super) enum Won {
    /// This one.
    Ours(Claimed),
    /// None: it was fired before.
    Before,
    /// Another live node.
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
