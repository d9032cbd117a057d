//! perform: outgoing calls, made while the instance is held, after their intent is committed. The
//! answer comes back as the next burst of the same holder.

use chassis::Point;
use engine::Call;
use model::{BookmarkId, Map};
use tokio::time::Instant;

use crate::executor::Cx;
use crate::metrics::METRICS;

/// Makes one committed call, and gives what resumes its bookmark. After a crash it is made again,
/// with the same key.
pub(crate) async fn perform(cx: Cx, call: Call, traceparent: Option<String>) -> (BookmarkId, Map) {
    cx.at(Point::BeforeCall).await;
    let began = Instant::now();
    let answer = cx.calls.perform(&call, traceparent.as_deref()).await;
    METRICS.called(began.elapsed(), &answer);
    tracing::debug!(url = call.url, key = call.key, "call answered");
    cx.at(Point::Called).await;
    (call.bookmark_id, answer.into_input())
}
