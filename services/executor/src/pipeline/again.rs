//! Instead of a burst: a command that was applied before.

use crate::burst::Unchanged;
use crate::cx::Cx;
use crate::stop::Stop;
use crate::work::Work;

/// Removes the row of a command that was applied before. The burst that applied it removed the row
/// too, but a second fan-out of the same event may have written it again.
pub(crate) async fn again(cx: &Cx, work: &Work) -> Result<Unchanged, Stop> {
    if work.has_row() {
        cx.store.settle(&work.id, Vec::new(), Vec::new()).await?;
    }
    Ok(Unchanged::Applied)
}
