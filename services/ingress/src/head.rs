//! The head of a request: headers of which there is one, the one host that it names, and texts in its URI
//! that nothing can have.
//!
//! A proxy and this server have to read the same request. Where a header stands twice, the proxy may
//! check the last value and this server use the first; so such a request is refused. The framing of
//! bodies (`Content-Length`, `Transfer-Encoding`) is checked by hyper, which takes every list of codings
//! that ends with `chunked`; only `chunked` alone is decoded here.

use axum::extract::Request;
use axum::http::header::{HOST, TRANSFER_ENCODING};
use axum::http::uri::Authority;
use axum::http::{HeaderValue, StatusCode, Uri, Version};
use chassis::http::Peer;

use crate::Problem;

/// The headers that decide who the caller is, where the request goes, and how it is read.
const ONCE: [&str; 8] = [
    "host",
    "authorization",
    "content-type",
    "origin",
    "sec-fetch-site",
    "idempotency-key",
    "x-correlation-id",
    "x-workflow-instance-id",
];

/// Refuses a request whose head can be read in two ways.
///
/// # Errors
/// 400 `ambiguous-request`, with the header.
pub(crate) fn check(request: &Request) -> Result<(), Problem> {
    let headers = request.headers();
    if let Some(name) = ONCE.iter().find(|name| headers.get_all(**name).iter().nth(1).is_some()) {
        return Err(refused(format!("the header {name} is there more than once")));
    }
    let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
    let is_other = |coding: &HeaderValue| !coding.as_bytes().eq_ignore_ascii_case(b"chunked");
    if codings.next().is_some_and(is_other) || codings.next().is_some() {
        let detail = "the header transfer-encoding is not `chunked` alone: send the body in no other \
                      coding";
        return Err(refused(detail.to_owned()));
    }
    let Some(host) = headers.get(HOST) else {
        // A request that came by no port is from this process.
        let came_by_the_port = request.extensions().get::<Peer>().is_some();
        return match request.version() {
            Version::HTTP_11 if came_by_the_port => {
                Err(refused("there is no Host header".to_owned()))
            }
            _ => Ok(()),
        };
    };
    let named = host.to_str().ok().filter(|text| is_of_a_host(text));
    let named = named.and_then(|text| text.parse::<Authority>().ok());
    let Some(named) = named.filter(is_host_and_port) else {
        return Err(refused("the Host header is not a host".to_owned()));
    };
    match request.uri().authority() {
        Some(other) if *other != named => {
            Err(refused("the Host header is not the host of the URL".to_owned()))
        }
        _ => Ok(()),
    }
}

/// Refuses a path or a query with a NUL: PostgreSQL has no such text, neither to store nor to look for.
///
/// # Errors
/// 400, with the place.
pub(crate) fn check_nul(uri: &Uri) -> Result<(), Problem> {
    const NUL: &str = "%00";
    const NAME_CHARS_MAX: usize = 50;
    let refused = |place: &str| {
        Err(Problem::bad_request(format!("{place} has a NUL character ({NUL}): leave it out")))
    };
    if uri.path().contains(NUL) {
        return refused("the path");
    }
    let mut pairs = uri.query().unwrap_or_default().split('&');
    let Some(pair) = pairs.find(|pair| pair.contains(NUL)) else { return Ok(()) };
    let name: String =
        pair.split('=').next().unwrap_or_default().chars().take(NAME_CHARS_MAX).collect();
    refused(&format!("query parameter {name}"))
}

/// True for the characters of names, addresses and ports: there is no user, and no list.
fn is_of_a_host(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte))
}

/// True if there is a host, and nothing behind it but a port: `[::1].evil.example` has more.
fn is_host_and_port(named: &Authority) -> bool {
    let host = named.host();
    let rest = named.as_str().strip_prefix(host).unwrap_or_default();
    let port = rest.strip_prefix(':').unwrap_or(rest);
    !host.is_empty()
        && (rest.is_empty() || rest.starts_with(':'))
        && port.bytes().all(|byte| byte.is_ascii_digit())
}

fn refused(detail: String) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "ambiguous-request", detail)
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn refusal(uri: &str, version: Version, headers: &[(&str, &str)]) -> Option<String> {
        let mut request = Request::builder().uri(uri).version(version);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut request = request.body(Body::empty()).unwrap();
        request.extensions_mut().insert(Peer("192.0.2.1:1".parse().unwrap()));
        let problem = check(&request).err()?;
        assert_eq!(problem.status(), StatusCode::BAD_REQUEST);
        Some(problem.detail().to_owned())
    }

    #[test]
    fn a_nul_is_refused_with_its_place() {
        let refusal = |uri: &str| {
            let problem = check_nul(&uri.parse().unwrap()).err()?;
            assert_eq!(problem.status(), StatusCode::BAD_REQUEST);
            Some(problem.detail().to_owned())
        };
        for uri in ["/", "/a%20b", "/a%2500", "/a?b=c&d", "/a?b=%2500&c=%01", "*"] {
            assert_eq!(refusal(uri), None, "{uri}");
        }
        for (uri, place) in [
            ("/labels/a%00", "the path"),
            ("/a%00?b=%00", "the path"),
            ("/a?page=1&searchTerm=a%00b", "query parameter searchTerm"),
            ("/a?b%00", "query parameter b%00"),
            ("/a?b=%%00", "query parameter b"),
        ] {
            let expected = format!("{place} has a NUL character (%00): leave it out");
            assert_eq!(refusal(uri), Some(expected), "{uri}");
        }
    }

    #[test]
    fn a_head_is_read_in_one_way() {
        let (old, new, h2) = (Version::HTTP_10, Version::HTTP_11, Version::HTTP_2);
        for (uri, version, headers) in [
            ("/", old, [].as_slice()),
            ("/", new, &[("host", "a")]),
            ("/", new, &[("host", "my_service:8080")]),
            ("/", new, &[("host", "[::1]:5001"), ("accept", "a"), ("accept", "b")]),
            ("http://A.example/x", new, &[("host", "a.example")]),
            ("/", new, &[("host", "a"), ("transfer-encoding", "Chunked")]),
            ("https://a.example/x", h2, &[]),
            ("https://a.example/x", h2, &[("host", "a.example")]),
        ] {
            assert_eq!(refusal(uri, version, headers), None, "{uri} {headers:?}");
        }
        for (uri, version, headers, expected) in [
            ("/", new, [].as_slice(), "no Host header"),
            ("/", new, &[("host", "a"), ("host", "a")], "host is there more than once"),
            ("/", new, &[("host", "")], "not a host"),
            ("/", new, &[("host", "user@a")], "not a host"),
            ("/", new, &[("host", "a/b")], "not a host"),
            ("/", new, &[("host", "a b")], "not a host"),
            ("/", new, &[("host", "a,b")], "not a host"),
            ("/", new, &[("host", ":80")], "not a host"),
            ("/", new, &[("host", "a:b")], "not a host"),
            ("/", new, &[("host", "[::1].evil.example")], "not a host"),
            ("/", new, &[("host", "[::1]5001")], "not a host"),
            ("http://b/x", new, &[("host", "a")], "not the host of the URL"),
            ("https://b/x", h2, &[("host", "a")], "not the host of the URL"),
            (
                "/",
                new,
                &[("host", "a"), ("authorization", "ApiKey a"), ("authorization", "ApiKey b")],
                "authorization is there more than once",
            ),
            ("/", old, &[("origin", "a"), ("origin", "b")], "origin is there more than once"),
            (
                "/",
                new,
                &[("host", "a"), ("transfer-encoding", "gzip, chunked")],
                "not `chunked` alone",
            ),
            (
                "/",
                new,
                &[
                    ("host", "a"),
                    ("transfer-encoding", "chunked"),
                    ("transfer-encoding", "chunked"),
                ],
                "not `chunked` alone",
            ),
        ] {
            let detail = refusal(uri, version, headers).unwrap_or_default();
            assert!(detail.contains(expected), "{uri} {headers:?}: {detail}");
        }
    }
}
