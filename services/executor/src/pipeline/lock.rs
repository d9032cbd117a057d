//! lock: one writer per instance. It saves work, not truth: `commit` checks the version.

use super::load;
use crate::burst::{Known, Sight};
use crate::cx::Cx;
use crate::stop::Stop;
use crate::tenure::{Origin, Tenure};

/// Takes the lease, unless the tenure has it or a new instance needs none yet.
///
/// An instance that the tenure does not know is read meanwhile: where no other node had the lease,
/// hardly any has changed the instance since, and if one has after all, the commit fails.
pub(crate) async fn lock(cx: &Cx, tenure: &mut Tenure, origin: &Origin) -> Result<(), Stop> {
    let is_new = match origin {
        Origin::Delivered(job) => tenure.known.is_none() && job.is_unheard_of(),
        Origin::Kept(_) | Origin::Owed(_) => false,
    };
    if is_new || tenure.hold.is_taken() {
        return Ok(());
    }
    let Tenure { id, hold, known, .. } = tenure;
    let before = known.take();
    let reading = Box::pin(async {
        // An instance that cannot be read now is read again by the burst, which says why.
        Ok(if before.is_none() { load::read(cx, id).await.ok() } else { before })
    });
    // A command that does not get the lease does not wait for the reading.
    let ((), read) = tokio::try_join!(hold.take(cx, id), reading)?;
    let read = read.filter(|_| !hold.was_contended());
    *known = read.map(|known| Known { sight: Sight::Early, ..known });
    Ok(())
}

/// The instance is not as the tenure knew it: takes the lease, if it is not there yet, and forgets
/// what was known, so that the instance is read again.
pub(crate) async fn lock_again(cx: &Cx, tenure: &mut Tenure) -> Result<(), Stop> {
    tenure.hold.take(cx, &tenure.id).await?;
    tenure.known = None;
    Ok(())
}
