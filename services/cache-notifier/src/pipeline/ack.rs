//! Answers a publisher: every node has the version, or the names of those that do not.

use chassis::Point;
use protocol::{ContentType, Headers, Message, Noticed, encode_body};

use super::coalesce::Waiter;
use crate::Context;

pub(super) async fn answer(cx: &Context, waiter: Waiter, noticed: Noticed, nodes: usize) {
    let took = waiter.since.elapsed();
    let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    cx.metrics.announced(noticed.everywhere, took);
    let missing = noticed.missing.join(",");
    tracing::info!(definition = %noticed.definition_id, version = noticed.version,
        revision = noticed.revision, nodes, missing, ms,
        "cache invalidation announced");
    let Some(subject) = waiter.reply else { return };
    cx.trail.at(Point::BeforeAnswer).await;
    let Ok(payload) = encode_body(ContentType::Json, &noticed) else { return };
    if let Err(error) = cx.bus.send(Message { subject, headers: Headers::new(), payload }).await {
        tracing::debug!(%error, "the publisher could not be answered");
    }
    cx.trail.at(Point::Answered).await;
}
