//! What a path may have before and after that of a route: the path of a proxy (`base-path`), and in the
//! API one slash at the end, which clients of Elsa send. A proxy may strip its path or not; redirects
//! have it in both cases.

use std::pin::Pin;
use std::sync::Arc;

use axum::http::header::LOCATION;
use axum::http::uri::{PathAndQuery, Uri};
use axum::http::{HeaderValue, Request};
use axum::response::Response;
use chassis::http::RequestBody;
use futures::future::Either;
use hyper::service::Service;

use crate::auth::permission::MOUNTS;

/// A service that is reached at the root and below a path.
#[derive(Clone, Debug)]
pub(crate) struct Below<S> {
    service: S,
    base: Option<Arc<str>>,
}

impl<S> Below<S> {
    /// Serves below `base`, such as `/staunch`, beside the root.
    pub(crate) fn new(service: S, base: Option<&str>) -> Self {
        Self { service, base: base.map(Arc::from) }
    }
}

impl<S> Service<Request<RequestBody>> for Below<S>
where
    S: Service<Request<RequestBody>, Response = Response>,
    S::Future: Send + 'static,
    S::Error: 'static,
{
    type Response = Response;
    type Error = S::Error;
    type Future =
        Either<S::Future, Pin<Box<dyn Future<Output = Result<Response, S::Error>> + Send>>>;

    fn call(&self, mut request: Request<RequestBody>) -> Self::Future {
        let base = self.base.clone();
        if let Some(uri) = base.as_ref().and_then(|base| stripped(request.uri(), base)) {
            *request.uri_mut() = uri;
        }
        if let Some(uri) = unslashed(request.uri()) {
            *request.uri_mut() = uri;
        }
        let answering = self.service.call(request);
        let Some(base) = base else { return Either::Left(answering) };
        Either::Right(Box::pin(async move {
            let mut response = answering.await?;
            let to = response.headers().get(LOCATION).and_then(|to| placed(to, &base));
            if let Some(to) = to {
                response.headers_mut().insert(LOCATION, to);
            }
            Ok(response)
        }))
    }
}

/// The URI without the base path; `None` if it is not below it.
fn stripped(uri: &Uri, base: &str) -> Option<Uri> {
    let rest = uri.path().strip_prefix(base)?;
    let rest = match rest {
        "" => "/",
        rest if rest.starts_with('/') => rest,
        _ => return None,
    };
    with_path(uri, rest)
}

/// The URI of a route of the API without the one slash at its end; `None` if it has none. Nothing else
/// changes, so that no path becomes another one: `//` stays, and is no route.
fn unslashed(uri: &Uri) -> Option<Uri> {
    let path = uri.path();
    let below = MOUNTS.iter().find_map(|mount| path.strip_prefix(mount))?;
    let route = below.strip_prefix('/')?.strip_suffix('/')?;
    if route.is_empty() || route.ends_with('/') {
        return None;
    }
    with_path(uri, path.strip_suffix('/')?)
}

fn with_path(uri: &Uri, path: &str) -> Option<Uri> {
    let text = match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(text.parse::<PathAndQuery>().ok()?);
    Uri::from_parts(parts).ok()
}

/// A redirect within this server, below the base path; `None` if it is there, or leads elsewhere.
fn placed(to: &HeaderValue, base: &str) -> Option<HeaderValue> {
    let text = to.to_str().ok()?;
    let rest = text.strip_prefix(base);
    let is_placed = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?', '#']));
    let is_ours = text.starts_with('/') && !text.starts_with("//") && !is_placed;
    is_ours.then(|| HeaderValue::from_str(&format!("{base}{text}")).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_parts_of_a_path_are_stripped() {
        for (uri, expected) in [
            ("/staunch/health/live", Some("/health/live")),
            ("/staunch/docs/?a=b", Some("/docs/?a=b")),
            ("/staunch", Some("/")),
            ("/staunch?x", Some("/?x")),
            ("/staunchly/x", None),
            ("/health/live", None),
        ] {
            let found = stripped(&uri.parse().unwrap(), "/staunch");
            assert_eq!(found.map(|uri| uri.to_string()).as_deref(), expected, "{uri}");
        }
    }

    #[test]
    fn one_slash_at_the_end_of_a_route_is_left_out() {
        for (uri, expected) in [
            ("/elsa/api/nodes/", Some("/elsa/api/nodes")),
            (
                "/api/bulk-actions/cancel/workflow-instances/?a=b/",
                Some("/api/bulk-actions/cancel/workflow-instances?a=b/"),
            ),
            ("http://a.example/api/nodes/", Some("http://a.example/api/nodes")),
            ("/elsa/api/nodes", None),
            ("/elsa/api/nodes//", None),
            ("/elsa/api/", None),
            ("/elsa/api//", None),
            ("/elsa/apis/nodes/", None),
            ("//elsa/api/nodes/", None),
            ("/elsa/api/nodes%2f", None),
            ("/workflows/orders/", None),
            ("/docs/", None),
        ] {
            let found = unslashed(&uri.parse().unwrap());
            assert_eq!(found.map(|uri| uri.to_string()).as_deref(), expected, "{uri}");
        }
    }

    #[test]
    fn redirects_within_the_server_stay_below_the_path() {
        for (to, expected) in [
            ("/docs/", Some("/staunch/docs/")),
            ("/staunchly", Some("/staunch/staunchly")),
            ("/staunch/docs/", None),
            ("/staunch?x", None),
            ("https://other.example/", None),
            ("//other.example/", None),
            ("sibling", None),
        ] {
            let placed = placed(&HeaderValue::from_static(to), "/staunch");
            assert_eq!(placed.as_ref().map(|to| to.to_str().unwrap()), expected, "{to}");
        }
    }
}
