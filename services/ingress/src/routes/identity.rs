//! Logins, refreshes and logouts.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::State;
use axum::http::header::CACHE_CONTROL;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::{Extension, Json};
use chassis::Auth;
use chassis::http::Peer;
use serde::{Deserialize, Serialize};
use store::check::HTTP_ENDPOINT;
use store::{PeopleChange, PeopleChanged, Role};
use utoipa::ToSchema;

use crate::auth::caller::Caller;
use crate::auth::permission::{check_permission, permissions};
use crate::auth::{Credentials, credentials};
use crate::body::Body;
use crate::identity::login::{self, Tokens};
use crate::identity::password;
use crate::problem::ProblemBody;
use crate::{App, Problem};

/// The largest number of roles of one user or application.
pub(super) const ROLES_OF_ONE_MAX: usize = 20;
/// The largest number of users, of roles, and of applications.
pub(super) const PEOPLE_MAX: usize = 10_000;

/// No cache keeps an answer with a secret.
pub(super) const NOT_KEPT: [(HeaderName, &str); 1] = [(CACHE_CONTROL, "no-store")];
/// An answer with secrets.
pub(super) type Unkept<T> = ([(HeaderName, &'static str); 1], Json<T>);

/// Name and password. White space around them is cut off.
#[derive(Deserialize, ToSchema)]
pub(super) struct LoginRequest {
    username: Option<String>,
    password: Option<String>,
}

/// The tokens of a login.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LoginAnswer {
    /// False if name or password are wrong.
    is_authenticated: bool,
    /// For `Authorization: Bearer`; null if the login has failed.
    access_token: Option<String>,
    /// For `/identity/refresh-token`; null if the login has failed.
    refresh_token: Option<String>,
}

impl From<Option<Tokens>> for LoginAnswer {
    fn from(tokens: Option<Tokens>) -> Self {
        Self {
            is_authenticated: tokens.is_some(),
            access_token: tokens.as_ref().map(|tokens| tokens.access.clone()),
            refresh_token: tokens.map(|tokens| tokens.refresh),
        }
    }
}

/// Logs a user in. A wrong name or password is an answer with `isAuthenticated` false; after
/// several of them logins are refused for a while (429).
#[utoipa::path(post, path = "/identity/login", tag = "identity", request_body = LoginRequest,
    responses((status = 200, body = LoginAnswer), (status = 400, body = ProblemBody),
        (status = 404, body = ProblemBody, description = "logins are off"), (status = 429, body = ProblemBody)))]
pub(super) async fn login(
    State(app): State<Arc<App>>,
    peer: Option<Extension<Peer>>,
    Body(request): Body<LoginRequest>,
) -> Result<Unkept<LoginAnswer>, Problem> {
    must_be_on(&app)?;
    let given = |text: Option<String>| text.map(|text| text.trim().to_owned());
    let given = |text| given(text).filter(|text| !text.is_empty());
    let (Some(name), Some(password)) = (given(request.username), given(request.password)) else {
        return Err(Problem::bad_request("username and password are needed"));
    };
    let tokens = login::login(&app, &name, &password, address(peer)).await?;
    Ok((NOT_KEPT, Json(tokens.into())))
}

/// The next tokens for a refresh token, sent as `Authorization: Bearer`. A refresh token is good for
/// one use: one that is used again later ends its session.
#[utoipa::path(post, path = "/identity/refresh-token", tag = "identity",
    responses((status = 200, body = LoginAnswer), (status = 401, body = ProblemBody),
        (status = 404, body = ProblemBody, description = "logins are off")))]
pub(super) async fn refresh(
    State(app): State<Arc<App>>,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
) -> Result<Unkept<LoginAnswer>, Problem> {
    must_be_on(&app)?;
    let tokens = login::refresh(&app, token(&headers)?, address(peer)).await?;
    Ok((NOT_KEPT, Json(Some(tokens).into())))
}

/// Ends the session of the token in `Authorization: Bearer`, access or refresh token, with all its
/// tokens, at every node.
#[utoipa::path(post, path = "/identity/logout", tag = "identity",
    responses((status = 204), (status = 401, body = ProblemBody),
        (status = 404, body = ProblemBody, description = "logins are off")))]
pub(super) async fn logout(
    State(app): State<Arc<App>>,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    must_be_on(&app)?;
    login::logout(&app, token(&headers)?, address(peer)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Who sends the request, and what they may do.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Me {
    /// As the audit log has it: `user:` or `app:` with a name, `oidc:` with a subject, the id of an API
    /// key, `bootstrap`, or `local` without authentication.
    who: String,
    /// `user`, `application`, `issuer`, `api-key`, or `none` without authentication.
    kind: &'static str,
    /// The server takes credentials; without, everyone may do everything.
    is_authentication_on: bool,
    /// The permissions of routes that the caller has, each by its name.
    permissions: Vec<&'static str>,
    /// What was granted: names, verbs such as `read:*`, or `*`.
    granted: Vec<String>,
}

/// Says who is signed in and what they may do, also when authentication is off.
#[utoipa::path(get, path = "/identity/me", tag = "identity",
    responses((status = 200, body = Me), (status = 401, body = ProblemBody)))]
pub(super) async fn me(State(app): State<Arc<App>>, caller: Caller) -> Unkept<Me> {
    let kind = match caller.who.split_once(':') {
        Some(("user", _)) => "user",
        Some(("app", _)) => "application",
        Some(("oidc", _)) => "issuer",
        _ if app.config.auth == Auth::NONE => "none",
        _ => "api-key",
    };
    // Several roles may have the same permission.
    let mut seen = BTreeSet::new();
    let granted = caller.granted().iter().filter(|one| seen.insert(one.as_str()));
    let granted = granted.cloned().collect();
    let known = permissions().into_iter();
    let me = Me {
        kind,
        is_authentication_on: app.config.auth != Auth::NONE,
        permissions: known.filter(|name| caller.may(name)).collect(),
        granted,
        who: caller.who,
    };
    (NOT_KEPT, Json(me))
}

/// Without authentication a login is answered, too: a client may insist on one.
pub(super) fn must_be_on(app: &App) -> Result<(), Problem> {
    if app.config.auth.identity || app.config.auth == Auth::NONE {
        return Ok(());
    }
    Err(Problem::not_found("logins are off here: turn them on with --auth identity"))
}

/// The address of the caller; none if the request came by no port.
fn address(peer: Option<Extension<Peer>>) -> Option<IpAddr> {
    peer.map(|Extension(Peer(address))| address.ip())
}

fn token(headers: &HeaderMap) -> Result<&str, Problem> {
    match credentials(headers) {
        Some(Credentials::Token(token)) => Ok(token),
        _ => Err(Problem::unauthorized("a token is needed: send Authorization: Bearer <token>")),
    }
}

/// The name of a user, role or application, without the white space around it.
pub(super) fn name(given: Option<&str>) -> Result<String, Problem> {
    let name = given.unwrap_or_default().trim();
    password::check_name(name).map_err(Problem::bad_request)?;
    Ok(name.to_owned())
}

/// Refuses a name that people would take for that of another user, role or application; `what` is such
/// as `a user`.
pub(super) fn must_differ<'n>(
    what: &str,
    name: &str,
    others: impl IntoIterator<Item = &'n str>,
) -> Result<(), Problem> {
    match others.into_iter().find(|other| password::are_alike(other, name)) {
        None => Ok(()),
        Some(other) => Err(taken(what, other)),
    }
}

/// There is another one of this name, or of one that looks the same.
pub(super) fn taken(what: &str, name: &str) -> Problem {
    let detail = format!(
        "there is {what} {name:?} already: use a name that differs in more than the case of letters \
         or their form, such as full width"
    );
    Problem::conflict("name-taken", detail)
}

/// The roles with these ids, all of whose permissions the caller has: nobody gives what they do not
/// have, and nobody takes over someone who has more.
pub(super) async fn within(
    app: &App,
    caller: &Caller,
    ids: &[String],
) -> Result<Vec<Role>, Problem> {
    if ids.len() > ROLES_OF_ONE_MAX {
        return Err(Problem::bad_request(format!("use at most {ROLES_OF_ONE_MAX} roles")));
    }
    let roles = app.cx.store.roles_of(ids).await?;
    if let Some(unknown) = ids.iter().find(|id| !roles.iter().any(|role| role.id == **id)) {
        return Err(Problem::not_found(format!(
            "there is no role {unknown:?}: roles are named by their id"
        )));
    }
    for role in &roles {
        may_give(caller, &role.permissions)?;
    }
    Ok(roles)
}

/// Refuses permissions that nothing requires: neither a route, nor the `policy` of an endpoint that
/// starts a published workflow.
pub(super) async fn must_be_known(app: &App, wanted: &[String]) -> Result<(), Problem> {
    let none = BTreeSet::new();
    if wanted.iter().all(|one| check_permission(one, &none).is_ok()) {
        return Ok(());
    }
    let triggers = app.cx.store.triggers_named(HTTP_ENDPOINT).await?;
    let policies = triggers.iter().filter_map(|trigger| trigger.payload.get("policy")?.as_str());
    let policies: BTreeSet<&str> = policies.collect();
    for one in wanted {
        check_permission(one, &policies).map_err(|why| {
            Problem::bad_request(format!(
                "permission {one:?}: {why}, or the `policy` of a published endpoint"
            ))
        })?;
    }
    Ok(())
}

/// Refuses a caller who lacks one of these permissions.
pub(super) fn may_give(caller: &Caller, permissions: &[String]) -> Result<(), Problem> {
    match permissions.iter().find(|wanted| !caller.may(wanted)) {
        None => Ok(()),
        Some(more) => Err(Problem::forbidden(format!(
            "the caller {} does not have {more:?}, and cannot give it or change those who have it",
            caller.who
        ))),
    }
}

/// Makes a change of a user or role. One by a user is refused if no user who can log in would have all
/// permissions after it. Other callers keep their permissions, and can make a user.
pub(super) async fn changed(
    app: &App,
    caller: &Caller,
    change: &PeopleChange,
) -> Result<PeopleChanged, Problem> {
    let store = &app.cx.store;
    let changed = match change {
        change if caller.who.starts_with("user:") => Some(store.change_people(change).await?),
        PeopleChange::User(id, change) => {
            store.change_user(id, change).await?.map(PeopleChanged::User)
        }
        PeopleChange::NoUser(id) => store.delete_user(id).await?.then_some(PeopleChanged::NoUser),
        PeopleChange::Role(id, change) => {
            store.change_role(id, change).await?.map(PeopleChanged::Role)
        }
    };
    match changed.unwrap_or(PeopleChanged::Unknown) {
        PeopleChanged::LastAdministrator => {
            let detail = "the caller is the only user who may do everything: give a role with all \
                          permissions (`*`) to another user first";
            Err(Problem::conflict("last-administrator", detail))
        }
        changed => Ok(changed),
    }
}

/// Refuses more users, roles or applications than there may be.
pub(super) fn must_fit(count: usize) -> Result<(), Problem> {
    if count < PEOPLE_MAX {
        return Ok(());
    }
    Err(Problem::conflict(
        "too-many",
        format!("there are {PEOPLE_MAX} already, the most there may be"),
    ))
}
