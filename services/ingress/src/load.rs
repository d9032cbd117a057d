//! Takes in no more than can be done: a bound on requests at work, on the bytes of their bodies and
//! on their time, and nothing new while stopping.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::BoxError;
use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::http::header::CONNECTION;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures::StreamExt as _;

use crate::endpoint::BASE;
use crate::{App, Problem};

/// Longest time of a request beyond what it may wait for an answer.
const MARGIN: Duration = Duration::from_secs(30);
/// Longest time of a request to a workflow, whose endpoint sets its own wait.
const WORKFLOW_TIME_MAX: Duration = Duration::from_secs(3_600);

/// Lets a request in, or says when to come again.
pub(crate) async fn admit(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    if is_about_the_server(path) {
        return next.run(request).await;
    }
    if app.is_draining() {
        let mut response =
            Problem::overloaded("this server is stopping: try again at another").into_response();
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        return response;
    }
    let Ok(_permit) = Arc::clone(&app.room).try_acquire_owned() else {
        app.metrics.refused();
        return Problem::overloaded(format!(
            "{} requests are at work, which is as many as there may be: try again in a moment",
            app.config.requests_max
        ))
        .into_response();
    };
    let longest = match path.strip_prefix(BASE) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => WORKFLOW_TIME_MAX,
        _ => app.config.answer_time_max + MARGIN,
    };
    let share = Arc::new(Share { app: Arc::clone(&app), bytes: AtomicUsize::new(0) });
    let request = request.map(|body| counted(body, Arc::clone(&share)));
    match tokio::time::timeout(longest, next.run(request)).await {
        Ok(response) => response,
        Err(_) => Problem::timeout(format!(
            "the request took longer than {} s; what was accepted goes on",
            longest.as_secs()
        ))
        .into_response(),
    }
}

/// What the body of one request takes of the room for all, until the request is answered.
struct Share {
    app: Arc<App>,
    bytes: AtomicUsize,
}

impl Share {
    /// Takes more; false when there is not so much.
    fn grow(&self, bytes: usize) -> bool {
        let permits = u32::try_from(bytes).unwrap_or(u32::MAX);
        let Ok(taken) = self.app.bodies.try_acquire_many(permits) else {
            self.app.metrics.refused();
            return false;
        };
        taken.forget();
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        true
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.app.bodies.add_permits(*self.bytes.get_mut());
    }
}

/// The bodies of all requests at work are as large as they may be together.
#[derive(Debug, thiserror::Error)]
#[error("there is no room for the body")]
pub(crate) struct NoRoom;

/// The body, whose bytes count as they come: what is announced and not sent takes no room.
fn counted(body: Body, share: Arc<Share>) -> Body {
    if body.is_end_stream() {
        return body;
    }
    let parts = body.into_data_stream().map(move |part| -> Result<Bytes, BoxError> {
        let part = part?;
        if share.grow(part.len()) { Ok(part) } else { Err(NoRoom.into()) }
    });
    Body::from_stream(parts)
}

/// Health and metrics are answered whatever happens.
fn is_about_the_server(path: &str) -> bool {
    path.starts_with("/health/") || path == "/metrics"
}
