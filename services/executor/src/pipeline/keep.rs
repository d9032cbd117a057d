//! Instead of a burst: a resume that comes before its bookmark.

use chassis::Point;
use model::limits;
use protocol::{Body, Command};
use store::PendingCommand;

use crate::accept::accepted_command;
use crate::cx::Cx;
use crate::stop::Stop;
use crate::work::Work;

/// Keeps a resume until the instance has a bookmark for it. The caller then reads the instance
/// again: both sides write first and look second, so one of them always sees the other.
pub(crate) async fn keep(cx: &Cx, work: &Work) -> Result<(), Stop> {
    let Some(Body::Resume(resume)) = work.body() else { return Ok(()) };
    let mut command = Command::new(work.id.clone(), Body::Resume(resume.clone()));
    command.sequence = work.sequence.clone();
    command.traceparent = work.traceparent.clone();
    let now = cx.now();
    let encoded = command.encode().map_err(Stop::garbled)?;
    let kept = PendingCommand {
        instance_id: Some(resume.instance_id.clone()),
        bookmark_id: resume.bookmark_id.clone(),
        expires_at: Some(now.after(limits::RESUME_WAIT_MAX)),
        waiting: true,
        ..accepted_command(work.id.clone(), encoded, now)
    };
    cx.at(Point::BeforeWait).await;
    cx.store.wait(kept).await?;
    cx.at(Point::Waiting).await;
    Ok(())
}
