//! perform: outgoing calls, made while the instance is held, after their intent is committed. The
//! answer comes back as the next burst of the same tenure.

use std::time::Duration;

use chassis::Point;
use connectors::{CallEnd, ErrorKind};
use engine::Call;
use model::{BookmarkId, DefinitionId, InstanceId, Map};
use serde_json::Value;
use tokio::time::Instant;
use tracing::Instrument as _;
use tracing::field::Empty;

use crate::cx::Cx;
use crate::metrics::METRICS;
use crate::tenure::Tenure;

/// The name of the task of each call, and of the client inside it.
const TASK: &str = "executor: call";
const CLIENT: &str = "executor: call client";
/// The reason that contains no value.
const UNFIT: &str = "a secret does not fit the call that is made with it";
/// The pause while secrets cannot be read.
const AGAIN: Duration = Duration::from_millis(500);
/// The number of tries of a call whose client panics.
const PANICS_MAX: usize = 3;

/// The instance that makes a call, and its definition.
struct Whose {
    instance: InstanceId,
    definition: DefinitionId,
}

/// Begins the calls that are committed and not in progress; cancels those that are no longer
/// wanted.
pub(crate) fn perform(cx: &Cx, tenure: &mut Tenure) {
    let Some(known) = &tenure.known else { return };
    tenure.unfinished = known.record.unfinished;
    let wanted = &known.record.state.calls;
    // What wakes the instance for another attempt, such as a timer, has no trace of its own.
    let traceparent = tenure.traceparent.clone();
    let traceparent = traceparent.or_else(|| known.record.state.traceparent.clone());
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
        let whose = Whose { instance: tenure.id.clone(), definition: of };
        let call = make(Cx::clone(cx), call.clone(), whose, traceparent.clone());
        let handle = tenure.calls.spawn(tasks::caught(TASK, call));
        tenure.in_flight.insert(id.clone(), handle);
    }
}

/// Makes one committed call, and returns the input that resumes its bookmark; none if this node has no
/// means for it, so that another node makes it. After a crash the call is repeated, with the same key.
async fn make(
    cx: Cx,
    call: Call,
    whose: Whose,
    traceparent: Option<String>,
) -> Option<(BookmarkId, Map)> {
    if let Some(not_before) = call.tries.as_ref().and_then(|tries| tries.not_before) {
        tokio::time::sleep(not_before.since(cx.now())).await;
    }
    cx.at(Point::BeforeCall).await;
    let began = Instant::now();
    let kind = call.operation.kind();
    let span = tracing::debug_span!(
        target: "spans", "call", otel.kind = "client", kind,
        server.address = call.operation.server(),
        http.response.status_code = Empty, otel.status_code = Empty
    );
    chassis::set_parent(&span, traceparent.as_deref());
    let calling = async {
        // The other side continues the trace of the call itself.
        let traceparent = chassis::inject().or(traceparent);
        unsealed(&cx, &call, &whose, traceparent.as_deref()).await
    };
    let (end, hidden) = calling.instrument(span.clone()).await;
    match &end {
        CallEnd::Response { status_code, .. } => {
            span.record("http.response.status_code", status_code);
        }
        CallEnd::Error { .. } => {
            span.record("otel.status_code", "ERROR");
        }
        CallEnd::Done(_) => {}
    }
    METRICS.called(kind, began.elapsed(), &end);
    tracing::debug!(instance = %whose.instance, call = call.operation.summary(), key = call.key, "call answered");
    cx.at(Point::Called).await;
    if let CallEnd::Error { kind: ErrorKind::Exhausted, message, .. } = &end {
        tracing::warn!(instance = %whose.instance, reason = message, "a call is left to another node, or to a later time");
        cx.exhausted();
        return None;
    }
    Some((call.bookmark_id, masked(end.into_input(), &hidden)))
}

/// Makes the call with what is sealed in it opened; returns what was opened, too.
async fn unsealed(
    cx: &Cx,
    call: &Call,
    whose: &Whose,
    traceparent: Option<&str>,
) -> (CallEnd, Vec<String>) {
    let (of, mut hidden) = (&whose.definition, Vec::new());
    match open(cx, call, &whose.instance, &mut hidden).await {
        Ok(Some(open)) => (answer(cx, &open, of, traceparent).await, hidden),
        Ok(None) => (answer(cx, call, of, traceparent).await, hidden),
        Err(reason) => (CallEnd::refused(reason), hidden),
    }
}

/// The call with what is sealed in it opened; none if nothing is.
async fn open(
    cx: &Cx,
    call: &Call,
    owner: &InstanceId,
    hidden: &mut Vec<String>,
) -> Result<Option<Call>, String> {
    let stored = serde_json::to_string(call).map_err(|error| error.to_string())?;
    if !engine::may_be_sealed(&stored) {
        return Ok(None);
    }
    let stored: Value = serde_json::from_str(&stored).map_err(|error| error.to_string())?;
    if !engine::is_sealed(&stored) {
        return Ok(None);
    }
    let secrets = loop {
        match cx.secrets().await {
            Ok(secrets) => break secrets.unwrap_or_default(),
            // The tenure ends this wait when it gives its calls up.
            Err(stop) => {
                tracing::warn!(instance = %owner, ?stop, "a call waits for its secrets");
                tokio::time::sleep(AGAIN).await;
            }
        }
    };
    if let Some(reason) = secrets.locked() {
        return Err(format!("the call has a secret: {reason}"));
    }
    let open = secrets.opened(stored, owner.as_str(), hidden);
    // The other side may send back a part of what it got.
    hidden.extend(secrets.values());
    let quoted: Vec<_> = hidden.iter().flat_map(|text| quoted(text)).collect();
    hidden.extend(quoted);
    let mut open: Call = serde_json::from_value(open).map_err(|_shows_values| UNFIT.to_owned())?;
    open.note_secrets(call);
    Ok(Some(open))
}

/// The text as errors and JSON quote it, where that is not the same.
fn quoted(text: &str) -> Vec<String> {
    let json = serde_json::to_string(text).unwrap_or_default();
    let inner = |quoted: &String| quoted.get(1..quoted.len().saturating_sub(1)).map(str::to_owned);
    let quoted = [format!("{text:?}"), json];
    quoted.iter().filter_map(inner).filter(|inner| inner != text).collect()
}

/// The result of a call without the secrets that the other side has sent back.
fn masked(result: Map, hidden: &[String]) -> Map {
    if hidden.is_empty() {
        return result;
    }
    match engine::without(Value::Object(result), hidden) {
        Value::Object(map) => map,
        _ => Map::new(),
    }
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
