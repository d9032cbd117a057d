//! perform: outgoing calls, made while the instance is held, after their intent is committed. The
//! answer comes back as the next burst of the same tenure.

use chassis::Point;
use connectors::CallEnd;
use engine::Call;
use model::{BookmarkId, DefinitionId, Map};
use tokio::time::Instant;

use crate::cx::Cx;
use crate::metrics::METRICS;
use crate::tenure::Tenure;

/// The name of the task of each call, and of the client inside it.
const TASK: &str = "executor: call";
const CLIENT: &str = "executor: call client";
/// The number of tries of a call whose client panics.
const PANICS_MAX: usize = 3;

/// Begins the calls that are committed and not in progress; cancels those that are no longer
/// wanted.
pub(crate) fn perform(cx: &Cx, tenure: &mut Tenure) {
    let Some(known) = &tenure.known else { return };
    tenure.unfinished = known.record.unfinished;
    let wanted = &known.record.state.calls;
    tenure.in_flight.retain(|id, call| {
        let is_wanted = wanted.contains_key(id);
        if !is_wanted {
            call.abort();
        }
        is_wanted
    });
    tenure.results.retain(|(id, _)| wanted.contains_key(id));
    for (id, call) in wanted {
        let is_answered = tenure.results.iter().any(|(answered, _)| answered == id);
        if is_answered || tenure.in_flight.contains_key(id) {
            continue;
        }
        let of = known.row.as_ref().map(|row| row.definition_id.clone()).unwrap_or_default();
        let call = make(Cx::clone(cx), call.clone(), of, tenure.traceparent.clone());
        let handle = tenure.calls.spawn(tasks::caught(TASK, call));
        tenure.in_flight.insert(id.clone(), handle);
    }
}

/// Makes one committed call, and returns the input that resumes its bookmark. After a crash the
/// call is repeated, with the same key.
async fn make(
    cx: Cx,
    call: Call,
    of: DefinitionId,
    traceparent: Option<String>,
) -> (BookmarkId, Map) {
    if let Some(not_before) = call.tries.as_ref().and_then(|tries| tries.not_before) {
        tokio::time::sleep(not_before.since(cx.now())).await;
    }
    cx.at(Point::BeforeCall).await;
    let began = Instant::now();
    let end = answer(&cx, &call, &of, traceparent.as_deref()).await;
    METRICS.called(call.operation.kind(), began.elapsed(), &end);
    tracing::debug!(call = call.operation.summary(), key = call.key, "call answered");
    cx.at(Point::Called).await;
    (call.bookmark_id, end.into_input())
}

/// The result of the call. A bug in the client must not repeat the same call for ever: after some
/// tries the workflow gets an error.
async fn answer(cx: &Cx, call: &Call, of: &DefinitionId, traceparent: Option<&str>) -> CallEnd {
    let mut reason = String::new();
    for _ in 0..PANICS_MAX {
        match tasks::caught(CLIENT, cx.calls.perform(call, of, traceparent)).await {
            Ok(end) => return end,
            Err(panicked) => reason = panicked.to_string(),
        }
    }
    CallEnd::refused(format!("the call could not be made: {reason}"))
}
