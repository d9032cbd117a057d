//! Authenticates callers, and checks that they may use a route.
//!
//! Keys are looked up by their SHA-256 and compared in constant time; a key itself is neither kept
//! nor logged. One table, [`permission`], has the permission of every route; a route that is not in
//! it is refused. On loopback without authentication, [`origin`] refuses requests of foreign web
//! pages.

pub(crate) mod caller;
pub(crate) mod origin;
pub(crate) mod permission;

use axum::extract::{MatchedPath, Request};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, Method};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::config::Auth;
use crate::{App, Problem};
use caller::{Caller, no_key};
use permission::Need;

/// Finds out who sends a request and notes it there, or refuses the request.
pub(crate) async fn guard(app: &App, mut request: Request) -> Result<Request, Problem> {
    let template = request.extensions().get::<MatchedPath>().cloned();
    let template = template.as_ref().map(MatchedPath::as_str);
    let need = template.map_or(Need::Public, |path| need(request.method(), path));
    // A method that is not in the table is refused, even if the router has it.
    let others = template.map(permission::methods).unwrap_or_default();
    if need == Need::Unlisted && !others.is_empty() {
        return Err(Problem::method_not_allowed(request.method().as_str(), &others));
    }
    let caller = admit(app, &need, request.headers()).await?;
    request.extensions_mut().insert(caller);
    Ok(request)
}

fn need(method: &Method, template: &str) -> Need {
    let method = if method == Method::HEAD { &Method::GET } else { method };
    permission::of(method, template)
}

async fn admit(app: &App, need: &Need, headers: &HeaderMap) -> Result<Caller, Problem> {
    let need = match need {
        Need::Inside if app.config.listen.ip().is_loopback() => &Need::Public,
        Need::Inside => &Need::Key,
        other => other,
    };
    let caller = match (&app.config.auth, need) {
        (Auth::None, _) => Caller::local(),
        // A workflow may use the `Authorization` header with another scheme: only our scheme is
        // read.
        (Auth::ApiKey, Need::Public) => match given_key(headers) {
            Some(key) => known(app, key).await?.unwrap_or_else(Caller::nobody),
            None => Caller::nobody(),
        },
        (Auth::ApiKey, _) => identify(app, headers).await?,
    };
    match need {
        Need::Public | Need::Inside | Need::Key => Ok(caller),
        Need::Permission(permission) => caller.must(permission).map(|()| caller),
        Need::Unlisted => {
            tracing::error!("a route is not in the permission table");
            Err(Problem::forbidden("nobody may do this"))
        }
    }
}

async fn identify(app: &App, headers: &HeaderMap) -> Result<Caller, Problem> {
    if !headers.contains_key(AUTHORIZATION) {
        return Err(no_key());
    }
    let Some(key) = given_key(headers) else {
        return Err(Problem::unauthorized(
            "the Authorization header is of another scheme: use Authorization: ApiKey <key>",
        ));
    };
    let caller = known(app, key).await?;
    caller.ok_or_else(|| Problem::unauthorized("the API key is not known, or has expired"))
}

/// The key of an `Authorization: ApiKey <key>` header.
pub(crate) fn given_key(headers: &HeaderMap) -> Option<&str> {
    let text = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = text.trim().split_once(' ')?;
    let key = key.trim();
    (scheme.eq_ignore_ascii_case("ApiKey") && !key.is_empty()).then_some(key)
}

async fn known(app: &App, key: &str) -> Result<Option<Caller>, Problem> {
    let hash = hash_of(key);
    if let Some(bootstrap) = &app.config.api_key
        && same(&hash_of(bootstrap), &hash)
    {
        return Ok(Some(Caller { who: "bootstrap".to_owned(), permissions: vec!["*".into()] }));
    }
    let Some(found) = app.cx.store.key(&hash).await? else { return Ok(None) };
    let has_expired = found.expires_at.is_some_and(|at| at <= app.now());
    if has_expired || !same(&found.hash, &hash) {
        return Ok(None);
    }
    Ok(Some(Caller { who: found.id, permissions: found.permissions }))
}

/// Lowercase hex SHA-256.
pub(crate) fn hash_of(secret: &str) -> String {
    Sha256::digest(secret.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn same(left: &str, right: &str) -> bool {
    left.as_bytes().ct_eq(right.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_api_key_scheme_gives_a_key() {
        let check = |text: &'static str, expected: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, axum::http::HeaderValue::from_static(text));
            assert_eq!(given_key(&headers), expected, "{text}");
        };
        check("ApiKey abc", Some("abc"));
        check("apikey  abc ", Some("abc"));
        check("Bearer abc", None);
        check("ApiKey ", None);
        check("abc", None);
    }
}
