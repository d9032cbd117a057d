//! The security headers of every answer: which code may run on a page, and which sites may embed
//! it.
//!
//! Pages that a workflow wrote have the origin of Studio, which keeps the tokens of its user there. So
//! they are sandboxed: a browser gives them an origin of their own.

use axum::extract::Request;
use axum::http::header::{
    CONTENT_SECURITY_POLICY, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;

use crate::auth::origin::authority;
use crate::auth::permission::{self, MOUNTS};
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

/// A page of a workflow: its scripts run, and they have no origin. It stands beside a policy of the
/// workflow's own; both hold.
const SANDBOX_POLICY: &str =
    "sandbox allow-forms allow-scripts allow-popups allow-downloads allow-modals";

/// Headers of an answer that hold for all of its origin, and so for Studio: not for a workflow to set.
const OF_THE_ORIGIN: [&str; 7] = [
    "service-worker-allowed",
    "clear-site-data",
    "strict-transport-security",
    "x-content-type-options",
    "alt-svc",
    "nel",
    "report-to",
];

/// The links with a token, as they are below each mount.
const LINKS: [&str; 2] = ["/bookmarks/resume", "/events/trigger"];

/// Browsers use only https for this host, for a year.
const TRANSPORT_POLICY: &str = "max-age=31536000";

/// True if the client came by https, to a name that is not this machine's alone: a browser would keep to
/// https for everything on localhost. A proxy in between may call this server by another name.
pub(crate) fn is_secure(request: &Request) -> bool {
    let Some(site) = request.extensions().get::<Site>() else { return false };
    let host = site.host.clone().or_else(|| authority(request));
    site.is_encrypted && !host.is_some_and(|host| chassis::is_loopback(&host))
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

/// Refuses the script of a service worker: nothing here has one, and one that a workflow wrote could
/// answer for every page below its path.
pub(crate) fn must_not_be_a_worker(config: &Config, request: &Request) -> Result<(), Problem> {
    if config.trusts_workflow_pages || !request.headers().contains_key("service-worker") {
        return Ok(());
    }
    Err(Problem::forbidden(
        "this is the script of a service worker, which could answer for other pages of this address, \
         Studio among them: serve workflows at a host of their own, with trust-workflow-pages",
    ))
}

fn is_for_outside(path: &str) -> bool {
    let below = MOUNTS.iter().find_map(|mount| path.strip_prefix(mount)).unwrap_or(path);
    permission::is_workflow(path) || LINKS.contains(&below)
}

/// Adds the headers to the answer of this path. An answer that a workflow wrote keeps its own headers,
/// but for those that hold for other pages, too; a browser shows it in a sandbox, unless such pages are
/// trusted.
pub(crate) fn shield(config: &Config, response: &mut Response, path: &str, is_secure: bool) {
    let is_docs = path.starts_with("/docs");
    let is_of_a_workflow = response.extensions().get::<Verbatim>().is_some();
    let headers = response.headers_mut();
    if is_of_a_workflow && !config.trusts_workflow_pages {
        for name in OF_THE_ORIGIN {
            headers.remove(name);
        }
        headers.append(CONTENT_SECURITY_POLICY, HeaderValue::from_static(SANDBOX_POLICY));
    }
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
