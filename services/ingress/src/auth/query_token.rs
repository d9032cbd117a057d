//! Tokens of the hub. A browser cannot send a header with a WebSocket, so its token is in the query,
//! as `access_token`. It is moved to the header, and the query loses it: what comes after does not
//! see it in an address.

use axum::extract::Request;
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderValue, Uri};
use chassis::Auth;

const NAME: &str = "access_token";

const KEY: &str = "ApiKey";
const TOKEN: &str = "Bearer";

/// Moves the token of a request for the hub to its header. A header that is there counts; where it
/// calls an API key `Bearer`, as SignalR's clients call every token, it is changed to `ApiKey`.
/// Returns true where the header has such a key: it may be a token that is no good.
pub(super) fn lift(request: &mut Request, auth: Auth) -> bool {
    let query = request.uri().query().unwrap_or_default();
    let (tokens, others): (Vec<_>, Vec<_>) = query.split('&').partition(|pair| {
        pair.split('=').next().is_some_and(|name| name.eq_ignore_ascii_case(NAME))
    });
    let token = tokens.first().and_then(|pair| pair.split_once('=')).map(|(_, token)| token);
    let token = token.and_then(percent_decoded).filter(|token| !token.is_empty());
    if !tokens.is_empty() {
        let path = request.uri().path();
        let rest = others.join("&");
        let without = if rest.is_empty() { path.to_owned() } else { format!("{path}?{rest}") };
        let mut parts = request.uri().clone().into_parts();
        parts.path_and_query = without.parse().ok();
        if let Ok(uri) = Uri::from_parts(parts) {
            *request.uri_mut() = uri;
        }
    }
    let token = token.or_else(|| bearer(request.headers()));
    let Some(token) = token.filter(|_| has_no_other(request.headers())) else { return false };
    let scheme = scheme(&token, auth);
    let Ok(value) = HeaderValue::from_str(&format!("{scheme} {token}")) else { return false };
    request.headers_mut().insert(AUTHORIZATION, value);
    scheme == KEY
}

/// A JSON Web Token has three parts; an API key has no dots. Where keys are off, all are tokens.
fn scheme(token: &str, auth: Auth) -> &'static str {
    if !auth.api_key || token.split('.').count() == 3 { TOKEN } else { KEY }
}

fn bearer(headers: &HeaderMap) -> Option<String> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case(TOKEN).then(|| token.trim().to_owned())
}

fn has_no_other(headers: &HeaderMap) -> bool {
    !headers.contains_key(AUTHORIZATION) || bearer(headers).is_some()
}

/// The text of a query parameter; none if it is not well-formed.
fn percent_decoded(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'%' => {
                let digits = [bytes.next()?, bytes.next()?];
                out.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
            }
            b'+' => out.push(b' '),
            byte => out.push(byte),
        }
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[test]
    fn the_token_goes_to_the_header_and_leaves_the_query() {
        let check = |uri: &str, header: Option<&str>, expected: Option<&str>, left: &str| {
            let mut request = Request::builder().uri(uri);
            if let Some(header) = header {
                request = request.header(AUTHORIZATION, header);
            }
            let mut request = request.body(Body::empty()).unwrap();
            let is_key = lift(&mut request, Auth::BOTH);
            let has_scheme = expected.is_some_and(|expected| expected.starts_with(KEY));
            assert_eq!(is_key, has_scheme && header != expected, "{uri} {header:?}");
            let got = request.headers().get(AUTHORIZATION).map(|value| value.to_str().unwrap());
            assert_eq!(got, expected, "{uri} {header:?}");
            assert_eq!(request.uri().to_string(), left, "{uri}");
        };
        check("/hubs/x?id=7&access_token=k1", None, Some("ApiKey k1"), "/hubs/x?id=7");
        check("/hubs/x?access_token=a.b.c", None, Some("Bearer a.b.c"), "/hubs/x");
        check("/hubs/x?ACCESS_TOKEN=k%2D1&id=7", None, Some("ApiKey k-1"), "/hubs/x?id=7");
        check("/hubs/x?access_token=k1", Some("ApiKey k2"), Some("ApiKey k2"), "/hubs/x");
        check("/hubs/x", Some("Bearer k3"), Some("ApiKey k3"), "/hubs/x");
        check("/hubs/x?id=1", Some("Bearer a.b.c"), Some("Bearer a.b.c"), "/hubs/x?id=1");
        check("/hubs/x?access_token=", None, None, "/hubs/x");
        check("/hubs/x?access_token=%zz", None, None, "/hubs/x");
        check("/hubs/x?access_token=a%0d%0ab", None, None, "/hubs/x");
        check("/hubs/x?access_token", None, None, "/hubs/x");
        check("/hubs/x", None, None, "/hubs/x");
    }

    #[test]
    fn where_keys_are_off_everything_is_a_token() {
        let request = Request::builder().uri("/hubs/x").header(AUTHORIZATION, "Bearer k1");
        let mut request = request.body(Body::empty()).unwrap();
        assert!(!lift(&mut request, Auth { oidc: true, ..Auth::NONE }));
        assert_eq!(request.headers()[AUTHORIZATION], "Bearer k1");
    }
}
