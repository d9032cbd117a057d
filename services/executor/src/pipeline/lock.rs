//! lock: one writer per instance. It saves work, not truth: `commit` checks the version.

use super::load;
use crate::burst::{Known, ReadAt};
use crate::cx::Cx;
use crate::stop::Stop;
use crate::tenure::{Origin, Tenure};

/// Takes the lease, unless the tenure has it or a new instance needs none yet.
///
/// An instance that the tenure does not know is read at the same time, unless its state is large. If no
/// other node held the lease, it is unlikely that one has changed the instance since; if one has after
/// all, the commit fails.
pub(crate) async fn lock(cx: &Cx, tenure: &mut Tenure, origin: &Origin) -> Result<(), Stop> {
    let is_new = match origin {
        Origin::Delivered(job) => tenure.known.is_none() && job.starts_unknown_instance(),
        Origin::Kept(_) | Origin::Owed(_) => false,
    };
    if is_new || tenure.hold.is_taken() {
        return Ok(());
    }
    let Tenure { id, hold, known, room, .. } = tenure;
    let before = known.take();
    let reading = Box::pin(async {
        // If the instance cannot be read now, the burst reads it again and reports the reason.
        Ok(if before.is_none() { load::read_at_once(cx, id, room).await } else { before })
    });
    // If the lease cannot be taken, the command does not wait for the reading.
    let ((), read) = tokio::try_join!(hold.take(cx, id), reading)?;
    let read = read.filter(|_| !hold.was_contended());
    *known = read.map(|known| Known { read_at: ReadAt::BeforeLease, ..known });
    Ok(())
}

/// The instance differs from what the tenure knew: takes the lease, if it is not taken yet, and
/// forgets the instance, so that it is read again.
pub(crate) async fn lock_again(cx: &Cx, tenure: &mut Tenure) -> Result<(), Stop> {
    tenure.hold.take(cx, &tenure.id).await?;
    tenure.known = None;
    Ok(())
}
