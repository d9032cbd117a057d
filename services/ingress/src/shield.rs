//! The security headers of every answer: which code may run on a page, and which sites may embed
//! it.

use axum::extract::Request;
use axum::http::header::{
    CONTENT_SECURITY_POLICY, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;

use crate::auth::origin::authority;
use crate::auth::permission::{MOUNTS, WORKFLOWS};
use crate::forwarded::Site;
use crate::respond::Verbatim;
use crate::{Config, Problem};

/// An answer of the API: no code of it runs, and no page embeds it.
const API_POLICY: &str = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; \
     form-action 'none'";
/// The API browser: only its own scripts and styles.
const DOCS_POLICY: &str = "default-src 'none'; script-src 'self'; \
     style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; \
     connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// The links with a token, as they are below each mount.
const LINKS: [&str; 2] = ["/bookmarks/resume", "/events/trigger"];

/// Browsers use only https for this host, for a year.
const TRANSPORT_POLICY: &str = "max-age=31536000";

/// True if the client came by https, to a name that is not this machine's alone: a browser would
/// keep to https for everything on localhost.
pub(crate) fn is_secure(request: &Request) -> bool {
    let site = request.extensions().get::<Site>();
    site.is_some_and(|site| site.is_encrypted)
        && !authority(request).is_some_and(|host| chassis::is_loopback(&host))
}

/// Refuses a request for a link or a workflow endpoint that came without https, where the
/// configuration wants it: whoever sees the path of a link could use it. No redirect: it would come
/// after the secret was sent.
pub(crate) fn must_be_secure(config: &Config, request: &Request) -> Result<(), Problem> {
    let is_encrypted = request.extensions().get::<Site>().is_some_and(|site| site.is_encrypted);
    if !config.requires_https || is_encrypted || !is_for_outside(request.uri().path()) {
        return Ok(());
    }
    let detail = "links and workflow endpoints are answered over https only: use https://, and let \
                  the proxy in front of this server say so in X-Forwarded-Proto";
    Err(Problem::new(StatusCode::FORBIDDEN, "https-required", detail))
}

fn is_for_outside(path: &str) -> bool {
    let below = MOUNTS.iter().find_map(|mount| path.strip_prefix(mount)).unwrap_or(path);
    let is_workflow =
        path.strip_prefix(WORKFLOWS).is_some_and(|rest| matches!(rest.get(..1), None | Some("/")));
    is_workflow || LINKS.contains(&below)
}

/// Adds the headers to the answer of this path. An answer that a workflow wrote keeps its own
/// headers, and gets no policy for scripts, because its page may have some.
pub(crate) fn shield(response: &mut Response, path: &str, is_secure: bool) {
    let is_docs = path.starts_with("/docs");
    let is_of_a_workflow = response.extensions().get::<Verbatim>().is_some();
    let headers = response.headers_mut();
    set(headers, X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(headers, REFERRER_POLICY, "no-referrer");
    if is_secure {
        set(headers, STRICT_TRANSPORT_SECURITY, TRANSPORT_POLICY);
    }
    if !is_of_a_workflow {
        set(headers, X_FRAME_OPTIONS, "DENY");
        set(headers, CONTENT_SECURITY_POLICY, if is_docs { DOCS_POLICY } else { API_POLICY });
    }
}

/// Sets a header unless it is set.
fn set(headers: &mut HeaderMap, name: HeaderName, value: &'static str) {
    headers.entry(name).or_insert(HeaderValue::from_static(value));
}
