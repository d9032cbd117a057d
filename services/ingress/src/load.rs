//! Takes in no more than can be done: a bound on requests at work, a bound on their time, and
//! nothing new while stopping.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::http::header::CONNECTION;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

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
    match tokio::time::timeout(longest, next.run(request)).await {
        Ok(response) => response,
        Err(_) => Problem::timeout(format!(
            "the request took longer than {} s; what was accepted goes on",
            longest.as_secs()
        ))
        .into_response(),
    }
}

/// Health and metrics are answered whatever happens.
fn is_about_the_server(path: &str) -> bool {
    path.starts_with("/health/") || path == "/metrics"
}
