//! One validation of the cluster at a time: the node that makes it has a claim.

use std::sync::Arc;
use std::time::Duration;

use bus::{Bucket, Claim, Claimed, Claims, Nonces};

use crate::{App, Problem};

/// The key of the claim, in the bucket of the pauses.
const KEY: &str = "validation";
/// A claim that its node does not give back is over after this time, in which every validation ends.
const CLAIM_MAX: Duration = Duration::from_secs(300);

/// The claim of this node. It lasts until it is given back with [`Validating::end`], its node is not
/// live any more, or [`CLAIM_MAX`] is over.
pub(crate) struct Validating {
    claims: Claims,
    claimed: Claimed,
}

impl Validating {
    /// Claims the validation for this node, which makes no other one now: a claim that it has not
    /// given back is one of before.
    ///
    /// # Errors
    /// 409 with the name of the node that makes one; 503 when NATS does not answer within about 12 s.
    pub(crate) async fn begin(app: &App) -> Result<Self, Problem> {
        let chance = Arc::clone(&app.cx.chance);
        let nonces: Nonces = Arc::new(move || chance.new_id());
        let presence = &app.cx.presence;
        let kv = app.cx.bus.kv(Bucket::Runtime);
        let claims = Claims::new(kv, presence.node(), nonces, CLAIM_MAX, CLAIM_MAX);
        let live = presence.live();
        let is_live = |owner: &str| live.iter().any(|member| member.node == owner);
        match claims.claim(KEY, is_live).await {
            Ok(Claim::Won(claimed)) => Ok(Self { claims, claimed }),
            Ok(Claim::Taken { by }) => Err(running(&by)),
            // No validation marks its claim as done.
            Ok(Claim::Done) => Err(running("another")),
            Err(error) => {
                tracing::warn!(%error, "a validation cannot be claimed");
                Err(Problem::unavailable("the message bus does not answer: try again in a moment"))
            }
        }
    }

    /// Gives the claim back. If that fails, other nodes wait until it is over.
    pub(crate) async fn end(self) {
        self.claims.abandon(self.claimed).await;
    }
}

/// The refusal of a second validation.
pub(crate) fn running(node: &str) -> Problem {
    Problem::conflict(
        "validation-running",
        format!(
            "node {node} makes a validation already, and a cluster makes one at a time: wait for its \
             end"
        ),
    )
}
