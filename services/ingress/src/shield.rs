//! What browsers are told about every answer: what may run on a page, and who may show it.

use axum::extract::Request;
use axum::http::header::{
    CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;

use crate::respond::Verbatim;

/// An answer of the API: nothing of it runs, and no page shows it.
const API_POLICY: &str = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; \
     form-action 'none'";
/// The API browser: its own scripts and styles, and nothing from elsewhere.
const DOCS_POLICY: &str = "default-src 'none'; script-src 'self'; \
     style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; \
     connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// Adds the headers. An answer that a workflow wrote keeps its own, and gets no policy for scripts:
/// its page may have some.
pub(crate) async fn shield(request: Request, next: Next) -> Response {
    let is_docs = request.uri().path().starts_with("/docs");
    let mut response = next.run(request).await;
    let is_of_a_workflow = response.extensions().get::<Verbatim>().is_some();
    let headers = response.headers_mut();
    set(headers, X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(headers, REFERRER_POLICY, "no-referrer");
    if !is_of_a_workflow {
        set(headers, X_FRAME_OPTIONS, "DENY");
        set(headers, CONTENT_SECURITY_POLICY, if is_docs { DOCS_POLICY } else { API_POLICY });
    }
    response
}

/// Sets a header that is not there.
fn set(headers: &mut HeaderMap, name: HeaderName, value: &'static str) {
    headers.entry(name).or_insert(HeaderValue::from_static(value));
}
