//! Instead of a burst: a command that changes nothing.

use protocol::Refusal;

use super::commit::{Committed, commit};
use crate::burst::{Known, Ran, Unchanged};
use crate::cx::Cx;
use crate::record::Order;
use crate::stop::Stop;
use crate::tenure::Tenure;
use crate::work::Work;

/// Ends a command that changes nothing: removes its row. If the command has a number in the order
/// of its sender, the number is used up by a separate commit.
pub(crate) async fn refuse(
    cx: &Cx,
    tenure: &mut Tenure,
    work: &Work,
    refusal: Refusal,
    reason: String,
) -> Result<Unchanged, Stop> {
    if let Some(event) = work.event()
        && tenure.known.as_ref().is_some_and(|known| known.record.has_taken(event))
    {
        cx.store.settle(event, Vec::new(), Vec::new()).await?;
    }
    let is_next = |known: &Known| {
        let order = work.sequence.as_ref().map(|sequence| known.record.order(sequence));
        order == Some(Order::Next)
    };
    match tenure.known.take_if(|known| !known.is_pending() && is_next(known)) {
        Some(before) => {
            let ran = Ran::noted(cx.now(), before, work);
            match commit(cx, tenure, ran).await? {
                Committed::Done(_) => {}
                Committed::Conflict | Committed::NotAllowed(_) => {
                    return Err(Stop::later("the instance changed under this node".to_owned()));
                }
            }
        }
        None if work.has_row() => cx.store.settle(&work.id, Vec::new(), Vec::new()).await?,
        None => {}
    }
    Ok(Unchanged::Refused(refusal, reason))
}
