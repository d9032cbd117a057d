//! Turns every error into a problem that names its path, including errors that no handler made:
//! unknown paths, wrong methods, panics.

use std::any::Any;

use axum::body::to_bytes;
use axum::extract::Request;
use axum::http::header::{ALLOW, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};

use crate::respond::{Page, Verbatim};
use crate::{App, Problem};

/// The number of bytes of a foreign error text that are kept.
const TEXT_BYTES_MAX: usize = 4 * 1024;

/// Turns the answer to this request into a problem, if it is an error.
pub(crate) async fn finish(response: Response, method: &Method, path: &str) -> Response {
    let status = response.status();
    let is_error = status.is_client_error() || status.is_server_error();
    let marks = response.extensions();
    let is_whole = marks.get::<Verbatim>().is_some() || marks.get::<Page>().is_some();
    if !is_error || is_whole {
        return response;
    }
    let (parts, body) = response.into_parts();
    let problem = match parts.extensions.get::<Problem>() {
        Some(problem) => problem.clone(),
        None => {
            let text = to_bytes(body, TEXT_BYTES_MAX).await.unwrap_or_default();
            foreign(method, status, &parts.headers, &String::from_utf8_lossy(&text))
        }
    };
    let mut finished = problem.respond(Some(path.to_owned()));
    for (name, value) in &parts.headers {
        let is_of_the_body = name == CONTENT_TYPE || name == CONTENT_LENGTH;
        if !is_of_the_body && !finished.headers().contains_key(name) {
            finished.headers_mut().append(name, value.clone());
        }
    }
    finished
}

fn foreign(
    method: &Method,
    status: StatusCode,
    headers: &axum::http::HeaderMap,
    text: &str,
) -> Problem {
    let allowed = headers.get(ALLOW).and_then(|allow| allow.to_str().ok());
    match (status, allowed) {
        (StatusCode::METHOD_NOT_ALLOWED, Some(allow)) => {
            let allowed: Vec<_> = allow.split(',').map(|method| method.trim().to_owned()).collect();
            Problem::method_not_allowed(method.as_str(), &allowed)
        }
        _ => Problem::of_status(status, text),
    }
}

/// The answer to a path without a route.
pub(crate) async fn nothing_here(request: Request) -> Problem {
    Problem::not_found(format!(
        "there is nothing at {}: the API is below /elsa/api, workflows are below /workflows, and \
         /docs shows everything, /docs/book explains it",
        request.uri().path()
    ))
}

/// The answer after a panic: a fault of this server, which goes on running. The log has the
/// incident number that the caller gets.
pub(crate) fn panicked(app: &App, panic: &(dyn Any + Send)) -> Response {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unknown");
    let incident = app.fresh_id();
    tracing::error!(incident, panic = text, "a request handler panicked");
    app.metrics.panicked();
    Problem::internal().incident(&incident).into_response()
}
