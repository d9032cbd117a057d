//! Instead of a turn: an accepted start whose first turn hits a bug.

use super::load;
use crate::burst::{Ending, Ran};
use crate::cx::Cx;
use crate::stop::Stop;
use crate::tenure::Tenure;
use crate::work::Work;

/// Ends an instance that was accepted and whose first turn hit a bug: otherwise the sweep would
/// start it again for ever. The instance has the reason as its incident. Any other bug is returned
/// unchanged.
pub(crate) async fn end_pending(
    cx: &Cx,
    tenure: &mut Tenure,
    work: &Work,
    bug: String,
) -> Result<Ran, Stop> {
    let before = load::read(cx, &tenure.id, &mut tenure.room).await?;
    if before.row.is_none() || !before.is_pending() {
        return Err(Stop::Bug(bug));
    }
    let instance = &tenure.id;
    tracing::error!(%instance, command = %work.id, bug, "the first turn of an instance broke");
    Ok(Ran::ended(cx.now(), before, work, Ending::broken(bug)))
}
