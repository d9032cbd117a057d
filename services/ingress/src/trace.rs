//! Reads and writes the trace context, one log line for each request, and its metrics.

use std::fmt;

use axum::extract::{FromRequestParts, MatchedPath, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use tokio::time::Instant;
use tracing::{Instrument as _, Span};

use crate::App;
use crate::respond::INSTANCE_HEADER;

const TRACEPARENT: &str = "traceparent";

/// The trace that a request belongs to, as a W3C `traceparent`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace(String);

impl Trace {
    /// A trace that begins here.
    pub(crate) fn fresh(app: &App) -> Self {
        Self(fresh(app))
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Trace {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_default())
    }
}

/// Runs a request inside its span, and logs and counts its answer.
pub(crate) async fn observe<F: Future<Output = Response>>(
    app: &App,
    mut request: Request,
    run: impl FnOnce(Request) -> F,
) -> Response {
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let route = route.unwrap_or_else(|| "unmatched".to_owned());
    let incoming = incoming(request.headers()).map(str::to_owned);
    let span = if is_traced(&route, incoming.as_deref()) {
        let empty = tracing::field::Empty;
        tracing::info_span!(
            "http", %method, route, trace = empty, status = empty, instance = empty
        )
    } else {
        Span::none()
    };
    chassis::set_parent(&span, incoming.as_deref());
    let own = span.in_scope(chassis::inject);
    // Without a tracer, the trace of the caller is passed on as it is; if there is none, a new one
    // begins.
    let trace = Trace(own.or(incoming).unwrap_or_else(|| fresh(app)));
    span.record("trace", chassis::trace_id(&trace.0));
    request.extensions_mut().insert(trace.clone());
    let began = Instant::now();
    let mut response = run(request).instrument(span.clone()).await;
    let (took, status) = (began.elapsed(), response.status().as_u16());
    span.record("status", status);
    if let Some(Ok(instance)) = response.headers().get(INSTANCE_HEADER).map(HeaderValue::to_str) {
        span.record("instance", instance);
    }
    app.metrics.answered(method.as_str(), &route, status, took);
    let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let trace_id = chassis::trace_id(&trace.0);
    if status >= 500 {
        tracing::warn!(%method, path, status, ms, trace = trace_id, "answered");
    } else {
        tracing::debug!(%method, path, status, ms, trace = trace_id, "answered");
    }
    if let Ok(value) = HeaderValue::from_str(&trace.0) {
        response.headers_mut().insert(TRACEPARENT, value);
    }
    response
}

/// Probes and scrapes have no spans, unless their caller has chosen to trace them: each second some
/// would hide all others.
fn is_traced(route: &str, incoming: Option<&str>) -> bool {
    let is_probe = route.starts_with("/health/") || route == "/metrics";
    let flags = || incoming.and_then(|text| text.rsplit('-').next());
    let is_chosen = || flags().and_then(|flags| u8::from_str_radix(flags, 16).ok());
    !is_probe || is_chosen().is_some_and(|flags| flags & 1 == 1)
}

fn incoming(headers: &HeaderMap) -> Option<&str> {
    let text = headers.get(TRACEPARENT)?.to_str().ok()?.trim();
    is_traceparent(text).then_some(text)
}

/// Version 00: `00-<32 hex>-<16 hex>-<2 hex>`, neither id being zero.
fn is_traceparent(text: &str) -> bool {
    let is_hex = |part: &str, length: usize| {
        part.len() == length && part.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    };
    let parts: Vec<_> = text.split('-').collect();
    let [version, trace, span, flags] = parts[..] else { return false };
    let is_zero = |part: &str| part.bytes().all(|byte| byte == b'0');
    version == "00"
        && is_hex(trace, 32)
        && is_hex(span, 16)
        && is_hex(flags, 2)
        && !is_zero(trace)
        && !is_zero(span)
}

fn fresh(app: &App) -> String {
    let bits = app.secret();
    format!("00-{}-{}-00", &bits[..32], &bits[32..48])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_well_formed_trace_contexts_are_taken() {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        assert!(is_traceparent(&format!("00-{trace}-00f067aa0ba902b7-01")));
        for bad in [
            String::new(),
            "00".to_owned(),
            format!("01-{trace}-00f067aa0ba902b7-01"),
            format!("00-{trace}-0000000000000000-01"),
            format!("00-{}-00f067aa0ba902b7-01", trace.to_uppercase()),
            format!("00-{trace}-00f067aa0ba902b7-01-x"),
        ] {
            assert!(!is_traceparent(&bad), "{bad}");
        }
    }

    #[test]
    fn a_probe_is_traced_only_if_its_caller_wants_it() {
        let parent = |flags: &str| format!("00-{}-00f067aa0ba902b7-{flags}", "4".repeat(32));
        for (route, flags, expected) in [
            ("/health/ready", None, false),
            ("/metrics", Some("00"), false),
            ("/health/ready", Some("01"), true),
            ("/health/live", Some("03"), true),
            ("/elsa/api/nodes", None, true),
        ] {
            let parent = flags.map(parent);
            assert_eq!(is_traced(route, parent.as_deref()), expected, "{route} {flags:?}");
        }
    }
}
