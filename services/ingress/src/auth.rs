//! Authenticates callers, and checks that they may use a route.
//!
//! Keys are looked up by their SHA-256 and compared in constant time; a key itself is neither kept
//! nor logged. A token is read by [`crate::identity`], or by [`crate::oidc`] if it names that issuer.
//! Schemes are on side by side; the header of a request names the one that it uses. One table,
//! [`permission`], has the permission of every route; a route that is not in it is refused. On
//! loopback without authentication, [`origin`] refuses requests of foreign web pages.

pub(crate) mod bootstrap;
pub(crate) mod caller;
pub(crate) mod origin;
pub(crate) mod permission;
mod query_token;
pub(crate) mod reads;
pub(crate) mod recheck;
mod together;

use std::net::IpAddr;

use axum::extract::{MatchedPath, Request};
use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::Response;
use chassis::Auth;
use chassis::http::Peer;
use serde_json::json;
use store::Role;
use subtle::ConstantTimeEq as _;

use crate::identity::login;
pub(crate) use crate::identity::secret::hash as hash_of;
use crate::oidc::Oidc;
use crate::respond::Verbatim;
use crate::{App, Problem, forwarded};
use caller::{Caller, no_credentials};
use permission::Need;
use recheck::Recheck;

/// The flaw of a token of the hub, whose clients call a key a token, too.
const NEITHER: &str = "the token is not a JSON Web Token, and no API key that is known and valid";

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
    let may_be_token = template.is_some_and(permission::is_hub)
        && query_token::lift(&mut request, app.config.auth);
    let is_local = app.config.listen.ip().is_loopback() && forwarded::is_local(&request);
    let address = request.extensions().get::<Peer>().map(|peer| peer.0.ip());
    match admit(app, &need, is_local, request.headers()).await {
        Ok(caller) => {
            if template.is_some_and(permission::is_live) {
                let recheck = Recheck::new(need, is_local, request.headers(), address);
                request.extensions_mut().insert(recheck);
            }
            request.extensions_mut().insert(caller.at(address));
            Ok(request)
        }
        Err(problem) => {
            let target = format!("{} {}", request.method(), template.unwrap_or_default());
            note_refusal(app, request.headers(), target, problem.status(), address).await;
            let is_unknown = problem.status() == StatusCode::UNAUTHORIZED;
            if is_unknown && may_be_token && app.config.auth.takes_tokens() {
                return Err(Problem::invalid_token(NEITHER));
            }
            Err(problem)
        }
    }
}

/// Writes a refused request to the audit log; of a flood of them only some.
async fn note_refusal(
    app: &App,
    headers: &HeaderMap,
    target: String,
    status: StatusCode,
    address: Option<IpAddr>,
) {
    let is_refused = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    if !is_refused || !app.refusals.takes(app.now()) {
        return;
    }
    let caller = match credentials(headers) {
        Some(given) => known(app, given).await.ok().flatten(),
        None => None,
    };
    let caller = caller.unwrap_or_else(Caller::nobody).at(address);
    let details = json!({"status": status.as_u16()});
    app.audit_refusal(&caller, "request.refuse", &target, details).await;
}

fn need(method: &Method, template: &str) -> Need {
    let method = if method == Method::HEAD { &Method::GET } else { method };
    permission::of(method, template)
}

async fn admit(
    app: &App,
    need: &Need,
    is_local: bool,
    headers: &HeaderMap,
) -> Result<Caller, Problem> {
    let need = match need {
        Need::Inside if is_local => &Need::Public,
        Need::Inside => &Need::Key(&[]),
        other => other,
    };
    let caller = match need {
        _ if app.config.auth == Auth::NONE => Caller::local(),
        // A workflow may use the `Authorization` header for itself: what is no credential here is
        // no reason for a refusal.
        Need::Public => match credentials(headers) {
            Some(given) => known(app, given).await?.unwrap_or_else(Caller::nobody),
            None => Caller::nobody(),
        },
        _ => identify(app, headers).await?,
    };
    match need {
        Need::Public | Need::Inside | Need::Key(_) => Ok(caller),
        Need::Permission(permission) => caller.must(permission).map(|()| caller),
        Need::OneOf(permissions) => match permissions.iter().any(|one| caller.may(one)) {
            true => Ok(caller),
            // The first of them is the least that is needed.
            false => caller.must(permissions.first().unwrap_or(&"*")).map(|()| caller),
        },
        Need::Unlisted => {
            tracing::error!("a route is not in the permission table");
            Err(Problem::forbidden("nobody may do this"))
        }
    }
}

/// The credentials of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Credentials<'a> {
    /// An API key.
    Key(&'a str),
    /// The token of a user.
    Token(&'a str),
}

/// The credentials in the `Authorization` header; `None` if they are of another scheme.
pub(crate) fn credentials(headers: &HeaderMap) -> Option<Credentials<'_>> {
    let text = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, secret) = text.trim().split_once(' ')?;
    let secret = secret.trim();
    if secret.is_empty() {
        None
    } else if scheme.eq_ignore_ascii_case("ApiKey") {
        Some(Credentials::Key(secret))
    } else if scheme.eq_ignore_ascii_case("Bearer") {
        Some(Credentials::Token(secret))
    } else {
        None
    }
}

async fn identify(app: &App, headers: &HeaderMap) -> Result<Caller, Problem> {
    if !headers.contains_key(AUTHORIZATION) {
        return Err(no_credentials());
    }
    let auth = app.config.auth;
    match credentials(headers) {
        Some(Credentials::Key(key)) if auth.api_key => {
            let caller = with_key(app, key).await?;
            caller.ok_or_else(|| Problem::unauthorized("the API key is not known, or has expired"))
        }
        Some(Credentials::Token(token)) if auth.takes_tokens() => with_token(app, token).await,
        _ => Err(unusable(headers, auth)),
    }
}

/// The refusal of an `Authorization` header without credentials of a scheme that is on.
fn unusable(headers: &HeaderMap, auth: Auth) -> Problem {
    let text = headers.get(AUTHORIZATION).map(|value| String::from_utf8_lossy(value.as_bytes()));
    let text = text.unwrap_or_default();
    let (scheme, secret) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    let is_on = schemes(auth).iter().any(|(on, _)| on.eq_ignore_ascii_case(scheme));
    let flaw = match (is_on, secret.trim()) {
        (false, _) => "is of another scheme",
        (true, "") => "has nothing after its scheme",
        (true, _) => "has other characters than visible ASCII",
    };
    Problem::unauthorized(format!("the Authorization header {flaw}: use {}", named(auth)))
}

/// The sender with these credentials; `None` if they are no good, or their scheme is off.
async fn known(app: &App, given: Credentials<'_>) -> Result<Option<Caller>, Problem> {
    match given {
        Credentials::Key(key) if app.config.auth.api_key => with_key(app, key).await,
        Credentials::Token(token) if app.config.auth.takes_tokens() => {
            match with_token(app, token).await {
                Ok(caller) => Ok(Some(caller)),
                Err(problem) if problem.status() == StatusCode::UNAUTHORIZED => Ok(None),
                Err(problem) => Err(problem),
            }
        }
        _ => Ok(None),
    }
}

/// The caller whose access token this is. The issuer that it names decides who checks it; it is
/// checked by nobody else.
async fn with_token(app: &App, token: &str) -> Result<Caller, Problem> {
    if let Some(issuer) = issuer_of(app, token) {
        let found = issuer.principal(token, app.now().as_millis() / 1_000).await?;
        let roles = match found.roles.as_slice() {
            [] => Vec::new(),
            roles => app.cx.store.roles_of(roles).await?,
        };
        let permissions = found.permissions.into_iter().chain(permissions_of(&roles)).collect();
        return Ok(Caller::of_issuer(found.name, permissions));
    }
    let own = &app.config.identity.issuer;
    if let Some(refusal) = app.oidc.as_ref().and_then(|oidc| oidc.refusal_of_others(token, own)) {
        return Err(refusal);
    }
    let open = login::session(app, token).await?;
    let caller = Caller::user(&open.user.name, permissions_of(&open.roles));
    Ok(caller.of_user(Some(open.user.id)))
}

/// The issuer that checks this token, if it is not one of our own logins.
fn issuer_of<'a>(app: &'a App, token: &str) -> Option<&'a Oidc> {
    let issuer = app.oidc.as_deref()?;
    (!app.config.auth.identity || issuer.is_claimed_by(token)).then_some(issuer)
}

async fn with_key(app: &App, key: &str) -> Result<Option<Caller>, Problem> {
    let hash = hash_of(key);
    if let Some(bootstrap) = app.config.bootstrap_key()
        && same(&hash_of(&bootstrap), &hash)
        && app.bootstrap.is_alone(&*app.cx.store, &hash).await?
    {
        return Ok(Some(Caller {
            who: "bootstrap".to_owned(),
            permissions: vec!["*".into()],
            address: None,
            user_id: None,
        }));
    }
    Ok(app.reads.keys.get(&hash, with_kept_key(app, &hash)).await?)
}

async fn with_kept_key(app: &App, hash: &str) -> Result<Option<Caller>, store::Error> {
    let Some(found) = app.cx.store.key(hash).await? else {
        return with_key_of_application(app, hash).await;
    };
    let has_expired = found.expires_at.is_some_and(|at| at <= app.now());
    if has_expired || !same(&found.hash, hash) {
        return Ok(None);
    }
    if let Some(user) = &found.user_id {
        let user = app.cx.store.user(user).await?;
        if user.is_none_or(|user| user.is_disabled) {
            return Ok(None);
        }
    }
    let (who, permissions, user_id) = (found.id, found.permissions, found.user_id);
    Ok(Some(Caller { who, permissions, address: None, user_id }))
}

async fn with_key_of_application(app: &App, hash: &str) -> Result<Option<Caller>, store::Error> {
    let found = app.cx.store.application_with_key(hash).await?;
    let Some(found) = found.filter(|found| same(&found.key_hash, hash)) else { return Ok(None) };
    let roles = app.cx.store.roles_of(&found.roles).await?;
    Ok(Some(Caller::application(&found.name, permissions_of(&roles))))
}

fn permissions_of(roles: &[Role]) -> Vec<String> {
    roles.iter().flat_map(|role| role.permissions.iter().cloned()).collect()
}

/// The schemes that are on, each with what follows it.
fn schemes(auth: Auth) -> Vec<(&'static str, &'static str)> {
    let key = auth.api_key.then_some(("ApiKey", "key"));
    let token = auth.takes_tokens().then_some(("Bearer", "token"));
    key.into_iter().chain(token).collect()
}

/// The schemes that are on, in a sentence.
fn named(auth: Auth) -> String {
    let words = schemes(auth).into_iter();
    let words = words.map(|(scheme, what)| format!("Authorization: {scheme} <{what}>"));
    words.collect::<Vec<_>>().join(" or ")
}

/// Names the schemes that are on in an answer that refuses a caller.
pub(crate) fn challenge(app: &App, response: &mut Response) {
    let is_of_a_workflow = response.extensions().get::<Verbatim>().is_some();
    if response.status() != StatusCode::UNAUTHORIZED || is_of_a_workflow {
        return;
    }
    let schemes = schemes(app.config.auth);
    let headers = response.headers_mut();
    // The flaw of a token that was sent.
    let flaw = headers.get(WWW_AUTHENTICATE).cloned();
    let flaw = flaw.filter(|given| given.as_bytes().starts_with(b"Bearer "));
    if !schemes.is_empty() {
        headers.remove(WWW_AUTHENTICATE);
    }
    for (scheme, _) in schemes {
        let challenge = flaw.clone().filter(|_| scheme == "Bearer");
        let challenge = challenge.unwrap_or(HeaderValue::from_static(scheme));
        headers.append(WWW_AUTHENTICATE, challenge);
    }
}

fn same(left: &str, right: &str) -> bool {
    left.as_bytes().ct_eq(right.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheme_says_what_the_credentials_are() {
        let check = |text: &'static str, expected: Option<Credentials<'_>>| {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, HeaderValue::from_static(text));
            assert_eq!(credentials(&headers), expected, "{text}");
        };
        check("ApiKey abc", Some(Credentials::Key("abc")));
        check("apikey  abc ", Some(Credentials::Key("abc")));
        check("Bearer a.b.c", Some(Credentials::Token("a.b.c")));
        check("bearer a.b.c", Some(Credentials::Token("a.b.c")));
        check("Basic abc", None);
        check("ApiKey ", None);
        check("Bearer", None);
        check("abc", None);
    }

    #[test]
    fn a_header_without_credentials_says_what_is_wrong_with_it() {
        let check = |text: &[u8], auth: Auth, flaw: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, HeaderValue::from_bytes(text).unwrap());
            let problem = unusable(&headers, auth);
            let expected = format!("the Authorization header {flaw}: use Authorization: ");
            assert!(problem.detail().starts_with(&expected), "{}", problem.detail());
        };
        let (empty, another) = ("has nothing after its scheme", "is of another scheme");
        check(b"Bearer", Auth::BOTH, empty);
        check(b"bearer ", Auth::BOTH, empty);
        check(b"ApiKey", Auth::API_KEY, empty);
        check("Bearer \u{fc}".as_bytes(), Auth::BOTH, "has other characters than visible ASCII");
        check(b"Bearer a.b.c", Auth::API_KEY, another);
        check(b"Bearer", Auth::API_KEY, another);
        check(b"Basic abc", Auth::BOTH, another);
        check(b"abc", Auth::BOTH, another);
    }

    #[test]
    fn schemes_are_on_side_by_side() {
        let names = |auth| schemes(auth).into_iter().map(|(scheme, _)| scheme).collect::<Vec<_>>();
        assert_eq!(names(Auth::API_KEY), ["ApiKey"]);
        assert_eq!(names(Auth::BOTH), ["ApiKey", "Bearer"]);
        assert_eq!(names(Auth::ALL), ["ApiKey", "Bearer"]);
        assert_eq!(names(Auth { oidc: true, ..Auth::NONE }), ["Bearer"]);
        assert!(names(Auth::NONE).is_empty());
    }
}
