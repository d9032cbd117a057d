//! Keeps web pages out of a server without authentication: it listens on loopback, but so does
//! every page that a browser on this machine shows.
//!
//! A page of another origin is known by its `Origin` or `Sec-Fetch-Site` header, and a name that
//! was made to point here (DNS rebinding) by the `Host` header. Links with a token are their own
//! authority and may be opened from anywhere.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{HOST, ORIGIN};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::config::Auth;
use crate::{App, Problem};

/// Refuses what a web page may have sent.
pub(crate) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    if app.config.auth != Auth::None {
        return next.run(request).await;
    }
    match check(&request, &app.config.cors_origins) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

fn check(request: &Request, allowed: &[String]) -> Result<(), Problem> {
    let host = authority(request);
    if !host.as_deref().is_some_and(is_loopback) {
        let host = host.unwrap_or_default();
        return Err(Problem::forbidden(format!(
            "the Host header is {host:?}: without authentication this server answers only to \
             localhost and loopback addresses; use http://127.0.0.1, or configure API keys"
        )));
    }
    if is_token_link(request.uri().path()) {
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
    if origin.is_some_and(|origin| !is_own(origin)) || is_foreign_fetch {
        return Err(Problem::forbidden(
            "the request comes from a web page of another origin: without authentication this \
             server is not for web pages; configure API keys, or name the origin in cors_origins",
        ));
    }
    Ok(())
}

fn authority(request: &Request) -> Option<String> {
    let named = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    let named = named.or_else(|| request.uri().authority().map(|authority| authority.as_str()));
    named.map(str::to_owned)
}

/// Whether a `Host` names this machine alone.
fn is_loopback(host: &str) -> bool {
    let bare = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    let bare = bare.trim_end_matches('.').to_ascii_lowercase();
    let address: Result<IpAddr, _> = bare.parse();
    address.is_ok_and(|address| address.is_loopback())
        || bare == "localhost"
        || bare.ends_with(".localhost")
}

fn is_token_link(path: &str) -> bool {
    path.ends_with("/bookmarks/resume") || path.ends_with("/events/trigger")
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[test]
    fn hosts_are_loopback_by_name_or_address() {
        for (host, expected) in [
            ("localhost", true),
            ("LOCALHOST:5001", true),
            ("127.0.0.1:5001", true),
            ("127.8.0.1", true),
            ("[::1]:5001", true),
            ("app.localhost:1", true),
            ("evil.example", false),
            ("localhost.evil.example:5001", false),
            ("10.0.0.1", false),
            ("", false),
        ] {
            assert_eq!(is_loopback(host), expected, "{host}");
        }
    }

    #[test]
    fn web_pages_of_other_origins_are_refused() {
        let sent = |path: &str, headers: &[(&str, &str)], expected: bool| {
            let mut request = Request::builder().uri(path).header("host", "127.0.0.1:5001");
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let request = request.body(Body::empty()).unwrap();
            let allowed = ["https://studio.example".to_owned()];
            assert_eq!(check(&request, &allowed).is_ok(), expected, "{path} {headers:?}");
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
        sent("/bookmarks/resume?t=x", &[("sec-fetch-site", "cross-site")], true);
    }
}
