//! Who asks, and whether they may.
//!
//! Keys are looked up by their SHA-256 and compared in constant time; a key itself is neither kept
//! nor logged. Which permission a route needs is in one table, [`permission`]; a route that is not
//! in it is refused. On loopback without authentication, [`origin`] keeps web pages out.

pub(crate) mod origin;
pub(crate) mod permission;

use std::sync::Arc;

use axum::extract::{FromRequestParts, MatchedPath, Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::config::Auth;
use crate::{App, Problem};
use permission::Need;

/// Who asks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Caller {
    /// A key's id, or how they came in: for the audit log and idempotency keys.
    pub(crate) who: String,
    permissions: Vec<String>,
}

impl Caller {
    /// Someone on this machine, where there is no authentication.
    fn local() -> Self {
        Self { who: "local".to_owned(), permissions: vec!["*".to_owned()] }
    }

    /// Someone without credentials.
    fn nobody() -> Self {
        Self { who: "anonymous".to_owned(), permissions: Vec::new() }
    }

    /// Whether they came without credentials.
    pub(crate) fn is_nobody(&self) -> bool {
        self.permissions.is_empty()
    }

    /// Whether they have the permission: by name, by its verb (`read:*`) or by `*`.
    pub(crate) fn may(&self, permission: &str) -> bool {
        self.permissions.iter().any(|granted| {
            let of_verb = |verb: &str| permission.split(':').next() == Some(verb);
            granted == "*"
                || granted == permission
                || granted.strip_suffix(":*").is_some_and(of_verb)
        })
    }

    /// Refuses them without the permission.
    pub(crate) fn must(&self, permission: &str) -> Result<(), Problem> {
        if self.may(permission) {
            return Ok(());
        }
        if self.is_nobody() {
            return Err(no_key());
        }
        Err(Problem::forbidden(format!(
            "this needs the permission {permission}, which the key {} does not have",
            self.who
        )))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_else(Self::nobody))
    }
}

/// Lets a request pass to its route, or refuses it.
pub(crate) async fn guard(
    State(app): State<Arc<App>>,
    mut request: Request,
    next: Next,
) -> Response {
    let template = request.extensions().get::<MatchedPath>().cloned();
    let template = template.as_ref().map(MatchedPath::as_str);
    let need = template.map_or(Need::Public, |path| need(request.method(), path));
    // What is not in the table does not happen, whatever is mounted there.
    let others = template.map(permission::methods).unwrap_or_default();
    if need == Need::Unlisted && !others.is_empty() {
        return Problem::method_not_allowed(request.method().as_str(), &others).into_response();
    }
    match admit(&app, &need, request.headers()).await {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(problem) => problem.into_response(),
    }
}

fn need(method: &Method, template: &str) -> Need {
    let method = if method == Method::HEAD { &Method::GET } else { method };
    permission::of(method, template)
}

async fn admit(app: &App, need: &Need, headers: &HeaderMap) -> Result<Caller, Problem> {
    let caller = match (&app.config.auth, need) {
        (Auth::None, _) => Caller::local(),
        // A workflow may read an `Authorization` header of its own: only our scheme is looked at.
        (Auth::ApiKey, Need::Public) => match given_key(headers) {
            Some(key) => known(app, key).await?.unwrap_or_else(Caller::nobody),
            None => Caller::nobody(),
        },
        (Auth::ApiKey, _) => identify(app, headers).await?,
    };
    match need {
        Need::Public | Need::Key => Ok(caller),
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

fn no_key() -> Problem {
    Problem::unauthorized("an API key is needed: send Authorization: ApiKey <key>")
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
    fn permissions_are_held_by_name_verb_or_all() {
        let check = |granted: &str, wanted: &str, expected: bool| {
            let caller = Caller { who: "k".into(), permissions: vec![granted.to_owned()] };
            assert_eq!(caller.may(wanted), expected, "{granted} {wanted}");
        };
        check("*", "delete:workflow-instances", true);
        check("read:*", "read:workflow-instances", true);
        check("read:*", "write:workflow-instances", false);
        check("read:workflow-instances", "read:workflow-instances", true);
        check("read:workflow-instances", "read:workflow-definitions", false);
        check("re:*", "read:workflow-definitions", false);
        assert!(!Caller::nobody().may("read:workflow-instances"));
    }

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
