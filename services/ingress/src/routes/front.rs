//! The page at `/`: the name of this server, and links.

use axum::Json;
use axum::http::header::{ACCEPT, CONTENT_SECURITY_POLICY, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::book::BEGIN;
use crate::present::shape;

/// The page's own style; it has no script.
const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:42rem;margin:4rem auto;\
padding:0 1rem;color:#222}code{background:#eee;padding:.1rem .3rem}dt{margin-top:.8rem}";

/// The name of this server, and links: a page for browsers, JSON for other clients.
#[utoipa::path(get, path = "/", tag = "health",
    responses((status = 200, content((shape::operation::Front = "application/json"), (String = "text/html")), description = "The server, and where to go on; HTML for browsers")))]
pub(super) async fn page(headers: HeaderMap) -> Response {
    let mut response = if is_browser(&headers) { html() } else { Json(links()).into_response() };
    response.headers_mut().insert(VARY, HeaderValue::from_static("accept"));
    response
}

fn is_browser(headers: &HeaderMap) -> bool {
    let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    accept.split(',').any(|kind| kind.split(';').next().is_some_and(|k| k.trim() == "text/html"))
}

/// The links, with their descriptions.
const LINKS: [(&str, &str); 6] = [
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

fn html() -> Response {
    let version = escaped(chassis::version());
    let mut list = String::new();
    for (path, about) in LINKS {
        let (path, about) = (escaped(path), escaped(about));
        list.push_str(&format!("<dt><a href=\"{path}\">{path}</a></dt><dd>{about}</dd>\n"));
    }
    let page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\">\
         <title>Staunch</title><style>{STYLE}</style></head>\n<body>\n<h1>Staunch {version}</h1>\n\
         <p>This server runs durable workflows on NATS. Workflows that begin with or wait at an \
         HttpEndpoint are reached below <code>/workflows</code>; everything else is the API.</p>\n\
         <dl>\n{list}</dl>\n\
         <p>On the command line, <code>staunch --help</code> shows what there is, and \
         <code>staunch apply flow.json</code> publishes a workflow.</p>\n</body>\n</html>\n"
    );
    let kind = [(CONTENT_TYPE, "text/html; charset=utf-8")];
    let mut response = (kind, page).into_response();
    if let Ok(policy) = HeaderValue::from_str(&policy()) {
        response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    }
    response
}

/// Allows the page's own style, by its hash.
fn policy() -> String {
    let hash = STANDARD.encode(Sha256::digest(STYLE.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{hash}'; frame-ancestors 'none'; base-uri 'none'; \
         form-action 'none'"
    )
}

/// Writes text so that HTML shows it as it is.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        assert_eq!(escaped("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
    }

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
