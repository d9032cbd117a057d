//! The security headers of every answer: which code may run on a page, and which sites may embed
//! it.

use axum::http::header::{
    CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;

use crate::respond::Verbatim;

/// An answer of the API: no code of it runs, and no page embeds it.
const API_POLICY: &str = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; \
     form-action 'none'";
/// The API browser: only its own scripts and styles.
const DOCS_POLICY: &str = "default-src 'none'; script-src 'self'; \
     style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; \
     connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// Adds the headers to the answer of this path. An answer that a workflow wrote keeps its own
/// headers, and gets no policy for scripts, because its page may have some.
pub(crate) fn shield(response: &mut Response, path: &str) {
    let is_docs = path.starts_with("/docs");
    let is_of_a_workflow = response.extensions().get::<Verbatim>().is_some();
    let headers = response.headers_mut();
    set(headers, X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(headers, REFERRER_POLICY, "no-referrer");
    if !is_of_a_workflow {
        set(headers, X_FRAME_OPTIONS, "DENY");
        set(headers, CONTENT_SECURITY_POLICY, if is_docs { DOCS_POLICY } else { API_POLICY });
    }
}

/// Sets a header unless it is set.
fn set(headers: &mut HeaderMap, name: HeaderName, value: &'static str) {
    headers.entry(name).or_insert(HeaderValue::from_static(value));
}
