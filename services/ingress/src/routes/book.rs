//! The pages of the book below `/docs/book/`. They are for everyone, contain no secret, and run no
//! script.

use std::sync::Arc;

use axum::Router;
use axum::extract::Path;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH,
};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use crate::App;
use crate::respond::{Page, lists, set};

/// Where the book begins.
pub(crate) const BEGIN: &str = "/docs/book/";

/// Styles of this server, and nothing else.
const POLICY: &str = "default-src 'none'; style-src 'self'; frame-ancestors 'none'; \
     base-uri 'none'; form-action 'none'";
const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";

/// The routes of the book.
pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/docs/book", get(|| async { Redirect::permanent(BEGIN) }))
        .route(BEGIN, get(|headers: HeaderMap| async move { at("", &headers) }))
        .route(
            "/docs/book/{*page}",
            get(|Path(page): Path<String>, headers: HeaderMap| async move { at(&page, &headers) }),
        )
}

/// What is at this path below that of the book.
fn at(path: &str, headers: &HeaderMap) -> Response {
    if path == book::STYLE_PATH {
        return kept(CSS, book::STYLE, headers);
    }
    match book::book().page(path) {
        Some(page) => kept(HTML, &page.html, headers),
        None => {
            let missing = book::book().missing(path);
            page((StatusCode::NOT_FOUND, [(CONTENT_TYPE, HTML)], missing).into_response())
        }
    }
}

/// A part of this program: a client that has it asks whether it is still the same.
fn kept(kind: &'static str, text: &'static str, headers: &HeaderMap) -> Response {
    let tag = format!("\"{}\"", URL_SAFE_NO_PAD.encode(Sha256::digest(text.as_bytes())));
    let is_known = lists(headers, &IF_NONE_MATCH, |one| {
        one == "*" || one.strip_prefix("W/").unwrap_or(one) == tag
    });
    let mut response = if is_known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        ([(CONTENT_TYPE, kind)], text).into_response()
    };
    set(&mut response, CACHE_CONTROL, "no-cache");
    set(&mut response, ETAG, &tag);
    page(response)
}

/// An answer for a reader.
fn page(mut response: Response) -> Response {
    set(&mut response, CONTENT_SECURITY_POLICY, POLICY);
    response.extensions_mut().insert(Page);
    response
}
