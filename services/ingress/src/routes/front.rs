//! What is at `/`: the name of this server, and links.

use axum::Json;
use axum::http::header::{ACCEPT, VARY};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse as _, Redirect, Response};
use serde_json::{Value, json};

use super::book::BEGIN;
use super::studio;
use crate::present::shape;

/// The name of this server, and links. A browser is led to Studio.
#[utoipa::path(get, path = "/", tag = "health",
    responses((status = 200, body = shape::operation::Front, description = "The server, and where to go on"),
        (status = 303, description = "For browsers: Studio")))]
pub(super) async fn page(headers: HeaderMap) -> Response {
    let mut response = if is_browser(&headers) {
        Redirect::to(studio::BEGIN).into_response()
    } else {
        Json(links()).into_response()
    };
    response.headers_mut().insert(VARY, HeaderValue::from_static("accept"));
    response
}

/// Whether the client asks for pages.
pub(super) fn is_browser(headers: &HeaderMap) -> bool {
    let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    accept.split(',').any(|kind| kind.split(';').next().is_some_and(|k| k.trim() == "text/html"))
}

/// The links, with their descriptions.
const LINKS: [(&str, &str); 7] = [
    (studio::BEGIN, "Studio: to see, draw, run and mend workflows in a browser"),
    (BEGIN, "the book: to begin, to operate, to look up"),
    ("/docs/", "every route of the API, to read and to try"),
    ("/openapi.json", "the same as an OpenAPI document"),
    ("/elsa/api/workflow-definitions", "the workflow definitions"),
    ("/elsa/api/workflow-instances", "the workflow instances"),
    ("/health/ready", "whether this server can do its work"),
];

fn links() -> Value {
    json!({
        "name": "Staunch",
        "about": "durable workflows on NATS",
        "version": chassis::version(),
        "links": LINKS.map(|(path, about)| json!({"path": path, "about": about})),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_ask_for_html() {
        for (accept, expected) in [
            ("text/html,application/xhtml+xml,*/*;q=0.8", true),
            ("application/json, text/html;q=0.5", true),
            ("application/json", false),
            ("*/*", false),
        ] {
            let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))]);
            assert_eq!(is_browser(&headers), expected, "{accept}");
        }
    }
}
