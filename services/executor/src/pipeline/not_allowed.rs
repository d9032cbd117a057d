//! Instead of a commit: an activation strategy forbids the instance.

use model::InstanceId;
use protocol::Refusal;

use super::commit::{Committed, commit};
use super::load;
use super::lock::lock_again;
use super::publish::publish;
use crate::burst::{Ending, Ran, Unchanged};
use crate::cx::Cx;
use crate::stop::Stop;
use crate::tenure::Tenure;
use crate::work::Work;

/// Refuses a start because instance `by` is unfinished. If the start has a row already, the
/// instance ends without having run.
pub(crate) async fn not_allowed(
    cx: &Cx,
    tenure: &mut Tenure,
    work: &Work,
    by: InstanceId,
) -> Result<Unchanged, Stop> {
    lock_again(cx, tenure).await?;
    let reason = format!("instance {by} is unfinished, and the activation strategy allows one");
    let before = load::read(cx, &tenure.id, &mut tenure.room).await?;
    if before.row.is_some() && before.is_pending() {
        let ran = Ran::ended(cx.now(), before, work, Ending::not_allowed(reason.clone()));
        match commit(cx, tenure, ran).await? {
            Committed::Done(done) => publish(cx, done.outgoing).await,
            Committed::Conflict | Committed::NotAllowed(_) => {
                return Err(Stop::later("the instance changed under this node".to_owned()));
            }
        }
    }
    Ok(Unchanged::Refused(Refusal::NotAllowed, reason))
}
