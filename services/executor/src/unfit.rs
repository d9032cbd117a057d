//! A message on the subject of a task's result that cannot be read as one. Its worker has done with the task,
//! and sends nothing else: so the attempt fails, as if the worker had said so.

use bus::Delivery;
use model::{CommandId, Stimulus};
use protocol::{Body, Command, TaskCompleted, header};
use store::BookmarkFilter;

use crate::cx::Cx;
use crate::route;
use crate::stop::Stop;

/// Fails the attempt that the message is about, if an instance waits for its task. The failure has an id of
/// its own: it counts once, however often the message is delivered, and the message may be replayed with
/// another body.
pub(crate) async fn fail(
    cx: &Cx,
    delivery: &Delivery,
    id: &CommandId,
    reason: &str,
) -> Result<(), Stop> {
    let message = &delivery.message;
    let Some(failure) = TaskCompleted::unfit(message, reason) else { return Ok(()) };
    // A dead letter that is published again is about the attempt that was the current one then.
    if failure.attempt.is_none() && message.header(header::COMMAND_ID).is_some() {
        return Ok(());
    }
    let hash = Some(Stimulus::task(&failure.task_id).hash());
    let filter = BookmarkFilter { hash, ..BookmarkFilter::default() };
    // A result with this id has counted, or nothing waits.
    if cx.store.is_routed(id).await? || cx.store.find(&filter, 1).await?.is_empty() {
        return Ok(());
    }
    // With the subject, an id that a worker of another type chooses is another one.
    let own = CommandId::new(model::derived(&["unfit", &message.subject, id.as_str()]));
    let mut command = Command::new(own, Body::Task(failure));
    command.traceparent = message.header(header::TRACEPARENT).map(str::to_owned);
    route::apply(cx, &command).await
}
