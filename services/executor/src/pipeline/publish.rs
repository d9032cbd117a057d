//! publish: the messages that a commit allows. Each has the same id on every try, and stays in the
//! database until the stream has it: the sweep publishes messages that fail here.

use std::time::Duration;

use chassis::Point;
use futures::future::join_all;
use model::Backoff;
use protocol::Message;
use tracing::Instrument as _;

use super::commit::Outgoing;
use crate::cx::Cx;
use crate::metrics::METRICS;

/// The number of tries for a message, before it is left to the sweep.
const TRIES_MAX: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(200);

/// Publishes the messages of a commit. Does not fail: the sweep publishes the rest.
pub(crate) async fn publish(cx: &Cx, outgoing: Outgoing) {
    let Outgoing { outbox, commands, armed, notices, journal, .. } = &outgoing;
    let is_quiet = armed.is_empty() && notices.is_empty() && journal.is_none();
    if outbox.is_empty() && commands.is_empty() && is_quiet {
        return;
    }
    let span = tracing::debug_span!(target: "spans", "publish", otel.kind = "producer");
    chassis::set_parent(&span, outgoing.traceparent.as_deref());
    publish_all(cx, outgoing).instrument(span).await;
}

async fn publish_all(cx: &Cx, outgoing: Outgoing) {
    let Outgoing { outbox, commands, armed, notices, journal, traceparent: _ } = outgoing;
    cx.at(Point::BeforePublish).await;
    for hint in armed {
        if let Err(error) = cx.bus.send(hint).await {
            tracing::debug!(%error, "a timer was not announced; its owner finds it a little later");
        }
    }
    for notice in notices {
        if let Err(error) = cx.bus.send(notice).await {
            tracing::debug!(%error, "a worker does not hear that its task is not wanted any more");
        }
    }
    // Sent in order without waiting in between, so that the events of an instance keep their order.
    let events = outbox.iter().map(|row| stored(cx, &row.message));
    let (stored_events, ()) = tokio::join!(join_all(events), send_all(cx, commands));
    cx.at(Point::Published).await;
    let published = outbox.into_iter().zip(stored_events).filter(|(_, is_stored)| *is_stored);
    let ids: Vec<_> = published.map(|(row, _)| row.id).collect();
    if !ids.is_empty()
        && let Err(error) = cx.store.published(ids).await
    {
        tracing::debug!(%error, "outbox rows not marked; the sweep publishes them again");
    }
    cx.at(Point::Marked).await;
    if let Some(journal) = journal
        && let Err(error) = cx.bus.send(journal).await
    {
        tracing::debug!(%error, "a journal message was not sent");
    }
}

/// Publishes commands that are accepted, in order, without waiting in between.
pub(crate) async fn send_all(cx: &Cx, commands: Vec<Message>) {
    join_all(commands.iter().map(|command| stored(cx, command))).await;
}

/// Publishes one message; true when the stream has it.
async fn stored(cx: &Cx, message: &Message) -> bool {
    // A task whose type has its share of the stream already is not tried again: there is room for it
    // once workers have taken others.
    let _passed = match cx.pools.admit(message).await {
        Ok(passed) => passed,
        Err(error) => return left(message, &error),
    };
    let mut backoff = Backoff::new(FIRST_PAUSE, LONGEST_PAUSE);
    for attempt in 1..=TRIES_MAX {
        let published = match cx.pools.prepare(message).await {
            Ok(()) => cx.bus.publish(message.clone()).await.map(drop),
            Err(error) => Err(error),
        };
        let Err(error) = published else { return true };
        if !error.is_passing() || attempt == TRIES_MAX {
            return left(message, &error);
        }
        tokio::time::sleep(backoff.next()).await;
    }
    false
}

/// The sweep publishes it.
fn left(message: &Message, error: &bus::Error) -> bool {
    METRICS.unpublished();
    tracing::warn!(%error, subject = message.subject, "left to the sweep");
    false
}
