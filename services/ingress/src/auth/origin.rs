//! Protects a server without authentication from web pages. It listens on loopback only, but a page
//! in a browser on this machine can send requests to loopback.
//!
//! The `Origin` and `Sec-Fetch-Site` headers show that a page has another origin. The `Host` header
//! shows that a foreign name resolves to this machine (DNS rebinding). A link with a token needs
//! only its token, and may be opened from anywhere. So may a workflow endpoint: its own pages are
//! sandboxed, and their links and forms come from no origin, as those of any page may. And so may
//! the pages of Studio and of the documentation, which are files: what they ask of the API is asked
//! by their own origin.

use axum::extract::{MatchedPath, Request};
use axum::http::Method;
use axum::http::header::{HOST, ORIGIN};
use chassis::Auth;

use crate::auth::permission;
use crate::{App, Problem, forwarded};

/// Refuses a request that a web page of another origin may have sent.
pub(crate) fn guard(app: &App, request: &Request) -> Result<(), Problem> {
    if app.config.auth != Auth::NONE {
        return Ok(());
    }
    if !forwarded::is_local(request) {
        return Err(Problem::forbidden(
            "the request comes through a proxy from another machine: without authentication this \
             server is for its own machine alone; set `auth` to api-key or identity",
        ));
    }
    let route = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    check(request, route, app.config.cors_origins.values())
}

fn check(request: &Request, route: Option<&str>, allowed: &[String]) -> Result<(), Problem> {
    let host = authority(request);
    if !host.as_deref().is_some_and(chassis::is_loopback) {
        let host = host.unwrap_or_default();
        return Err(Problem::forbidden(format!(
            "the Host header is {host:?}: without authentication this server answers only to \
             localhost and loopback addresses; use http://127.0.0.1, or configure API keys"
        )));
    }
    if route.is_some_and(permission::is_token_link) {
        return Ok(());
    }
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    let origin = header(ORIGIN.as_str());
    if origin.is_some_and(|origin| allowed.iter().any(|allowed| allowed == origin)) {
        return Ok(());
    }
    let is_own = |origin: &str| {
        let name = origin.split_once("://").map(|(_, name)| name);
        name.zip(host.as_deref()).is_some_and(|(name, host)| name.eq_ignore_ascii_case(host))
    };
    let is_foreign_fetch =
        header("sec-fetch-site").is_some_and(|site| site == "cross-site" || site == "same-site");
    // A link that is followed, or a form that is sent: no other origin reads the answer.
    let is_of_no_origin = header("sec-fetch-mode") == Some("navigate")
        && origin.is_none_or(|origin| origin == "null");
    if is_of_no_origin && route.is_some_and(permission::is_workflow) {
        return Ok(());
    }
    // A frame has another destination, and no use of a page of ours.
    let is_link = is_of_no_origin
        && origin.is_none()
        && *request.method() == Method::GET
        && header("sec-fetch-dest").is_none_or(|dest| dest == "document");
    if is_link && route.is_some_and(permission::is_page) {
        return Ok(());
    }
    if origin.is_some_and(|origin| !is_own(origin)) || is_foreign_fetch {
        return Err(Problem::forbidden(
            "the request comes from a web page of another origin: without authentication this \
             server is not for web pages; configure API keys, or name the origin in cors-origins",
        ));
    }
    Ok(())
}

/// The host that a request names.
pub(crate) fn authority(request: &Request) -> Option<String> {
    let named = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    let named = named.or_else(|| request.uri().authority().map(|authority| authority.as_str()));
    named.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[test]
    fn web_pages_of_other_origins_are_refused() {
        let sent = |route: &str, headers: &[(&str, &str)], expected: bool| {
            let mut request = Request::builder().uri("/x").header("host", "127.0.0.1:5001");
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let request = request.body(Body::empty()).unwrap();
            let allowed = ["https://studio.example".to_owned()];
            assert_eq!(
                check(&request, Some(route), &allowed).is_ok(),
                expected,
                "{route} {headers:?}"
            );
        };
        sent("/api/x", &[], true);
        sent("/api/x", &[("origin", "http://127.0.0.1:5001")], true);
        sent("/api/x", &[("origin", "http://127.0.0.1:3000")], false);
        sent("/api/x", &[("origin", "null")], false);
        sent("/api/x", &[("origin", "https://evil.example")], false);
        sent("/api/x", &[("origin", "https://studio.example")], true);
        sent("/workflows/a", &[("sec-fetch-site", "cross-site")], false);
        sent("/workflows/a", &[("sec-fetch-site", "same-origin")], true);
        sent("/workflows/a", &[("sec-fetch-site", "none")], true);
        let page = [("sec-fetch-site", "cross-site")];
        for link in ["/bookmarks/resume", "/events/trigger"] {
            for mount in ["", "/api", "/elsa/api"] {
                sent(&format!("{mount}{link}"), &page, true);
            }
            sent(&format!("/workflows{link}"), &page, false);
        }
        sent("/workflows/{*path}", &page, false);
        // Links and forms of a sandboxed page.
        let link = [page[0], ("sec-fetch-mode", "navigate")];
        let form = [link[0], link[1], ("origin", "null")];
        for route in ["/workflows", "/workflows/{*path}"] {
            sent(route, &link, true);
            sent(route, &form, true);
            sent(route, &[link[0], link[1], ("origin", "https://evil.example")], false);
            sent(route, &[page[0], ("sec-fetch-mode", "cors"), ("origin", "null")], false);
        }
        for route in [
            "/elsa/api/workflow-definitions",
            "/workflowsx",
            "/studios",
            "/docsx",
            "/openapi.json",
            "/metrics",
        ] {
            sent(route, &link, false);
            sent(route, &form, false);
        }
        // A link to Studio or the documentation in a page of another server; not their files for that
        // page, and no frame in it.
        for route in [
            "/",
            "/studio",
            "/studio/",
            "/studio/{*path}",
            "/docs",
            "/docs/",
            "/docs/{*rest}",
            "/docs/book",
            "/docs/book/",
            "/docs/book/{*page}",
        ] {
            sent(route, &link, true);
            sent(route, &[link[0], link[1], ("sec-fetch-dest", "document")], true);
            sent(route, &[link[0], link[1], ("sec-fetch-dest", "iframe")], false);
            sent(route, &form, false);
            sent(route, &page, false);
            sent(route, &[page[0], ("sec-fetch-mode", "no-cors")], false);
            sent(route, &[link[0], link[1], ("origin", "https://evil.example")], false);
        }
        sent("/elsa/api/events/{eventName}/trigger", &page, false);
    }
}
