//! Users: their names, passwords and roles.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{PeopleChange, PeopleChanged, User, UserChange};
use utoipa::ToSchema;

use super::identity::{
    NOT_KEPT, Unkept, changed, may_give, must_differ, must_fit, name, taken, within,
};
use crate::auth::caller::Caller;
use crate::body::{Body, Params};
use crate::identity::{login, password};
use crate::problem::ProblemBody;
use crate::{App, Problem};

/// A user, without its password.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct UserSummary {
    id: String,
    name: String,
    /// The ids of its roles.
    roles: Vec<String>,
    /// Always null.
    tenant_id: Option<String>,
    is_disabled: bool,
    created_at: String,
}

impl From<&User> for UserSummary {
    fn from(user: &User) -> Self {
        Self {
            id: user.id.clone(),
            name: user.name.clone(),
            roles: user.roles.clone(),
            tenant_id: None,
            is_disabled: user.is_disabled,
            created_at: user.created_at.to_string(),
        }
    }
}

/// A new user.
#[derive(Deserialize, ToSchema)]
pub(super) struct UserRequest {
    name: Option<String>,
    /// Drawn if not given.
    password: Option<String>,
    /// The ids of its roles; the caller has all their permissions.
    roles: Option<Vec<String>>,
}

/// A user that was made.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct UserMade {
    /// The password, if it was drawn. It is shown only here.
    password: Option<String>,
    /// Always null.
    hashed_password: Option<String>,
    /// Always null.
    hashed_password_salt: Option<String>,
    #[serde(flatten)]
    summary: UserSummary,
}

/// The changes of a user; what is absent or null stays.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct UserUpdate {
    /// Ends all sessions of the user.
    password: Option<String>,
    /// The ids of all its roles from now on.
    roles: Option<Vec<String>>,
    /// Ends all sessions of the user, and refuses logins.
    is_disabled: Option<bool>,
}

/// The users.
#[derive(Serialize, ToSchema)]
pub(super) struct UserList {
    users: Vec<UserSummary>,
}

/// Lists the users.
#[utoipa::path(get, path = "/identity/users", tag = "identity",
    responses((status = 200, body = UserList), (status = 403, body = ProblemBody)))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<UserList>, Problem> {
    params.only(&[])?;
    let users = app.cx.store.users().await?;
    Ok(Json(UserList { users: users.iter().map(UserSummary::from).collect() }))
}

/// Makes a user. A caller cannot give permissions that it does not have. A name that differs from one
/// that is there only in the case of letters or their form, such as full width, is refused (409).
#[utoipa::path(post, path = "/identity/users", tag = "identity", request_body = UserRequest,
    responses((status = 200, body = UserMade), (status = 400, body = ProblemBody), (status = 403, body = ProblemBody),
        (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    Body(request): Body<UserRequest>,
) -> Result<Unkept<UserMade>, Problem> {
    let name = name(request.name.as_deref())?;
    let roles = request.roles.unwrap_or_default();
    within(&app, &caller, &roles).await?;
    let users = app.cx.store.users().await?;
    must_fit(users.len())?;
    must_differ("a user", &name, users.iter().map(|user| user.name.as_str()))?;
    let given = request.password.filter(|password| !password.is_empty());
    let drawn = given.is_none().then(|| login::drawn_password(&app));
    let secret = given.as_ref().or(drawn.as_ref()).map(String::as_str).unwrap_or_default();
    let user = User {
        id: app.fresh_id(),
        password_hash: hashed(&app, secret).await?,
        roles: store::once(roles),
        name,
        is_disabled: false,
        generation: 0,
        created_at: app.now(),
    };
    if !app.cx.store.create_user(&user).await? {
        return Err(taken("a user", &user.name));
    }
    let details = json!({"name": user.name, "roles": user.roles});
    app.audit(&caller, "user.create", &user.id, details).await;
    let summary = UserSummary::from(&user);
    let made =
        UserMade { password: drawn, hashed_password: None, hashed_password_salt: None, summary };
    Ok((NOT_KEPT, Json(made)))
}

/// Changes the password or roles of a user, or disables it. The caller has all permissions that the
/// user has and gets.
#[utoipa::path(put, path = "/identity/users/{id}", tag = "identity", params(("id" = String, Path)), request_body = UserUpdate,
    responses((status = 200, body = UserSummary), (status = 400, body = ProblemBody), (status = 403, body = ProblemBody),
        (status = 404, body = ProblemBody),
        (status = 409, body = ProblemBody, description = "the caller is the last user with all permissions")))]
pub(super) async fn update(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    caller: Caller,
    Body(request): Body<UserUpdate>,
) -> Result<Json<UserSummary>, Problem> {
    must_reach(&app, &caller, &id).await?;
    if let Some(roles) = &request.roles {
        within(&app, &caller, roles).await?;
    }
    let password_hash = match request.password.filter(|password| !password.is_empty()) {
        Some(password) => Some(hashed(&app, &password).await?),
        None => None,
    };
    let has_password = password_hash.is_some();
    let change = UserChange {
        password_hash,
        roles: request.roles.map(store::once),
        is_disabled: request.is_disabled,
        ends_sessions: has_password || request.is_disabled == Some(true),
    };
    let (roles, is_disabled) = (change.roles.clone(), change.is_disabled);
    let change = PeopleChange::User(id.clone(), change);
    let PeopleChanged::User(changed) = changed(&app, &caller, &change).await? else {
        return Err(unknown(&id));
    };
    let details = json!({"name": changed.name, "roles": roles, "isDisabled": is_disabled,
        "password": has_password});
    app.audit(&caller, "user.update", &id, details).await;
    Ok(Json(UserSummary::from(&changed)))
}

/// Removes a user and ends its sessions, at once and on all nodes.
#[utoipa::path(delete, path = "/identity/users/{id}", tag = "identity", params(("id" = String, Path)),
    responses((status = 204), (status = 403, body = ProblemBody), (status = 404, body = ProblemBody),
        (status = 409, body = ProblemBody, description = "the caller is the last user with all permissions")))]
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    caller: Caller,
) -> Result<StatusCode, Problem> {
    let user = must_reach(&app, &caller, &id).await?;
    if changed(&app, &caller, &PeopleChange::NoUser(id.clone())).await? != PeopleChanged::NoUser {
        return Err(unknown(&id));
    }
    app.audit(&caller, "user.delete", &id, json!({"name": user.name})).await;
    Ok(StatusCode::NO_CONTENT)
}

/// The user, if the caller has all its permissions.
async fn must_reach(app: &App, caller: &Caller, id: &str) -> Result<User, Problem> {
    let users = app.cx.store.users().await?;
    let user = users.into_iter().find(|user| user.id == id).ok_or_else(|| unknown(id))?;
    for role in app.cx.store.roles_of(&user.roles).await? {
        may_give(caller, &role.permissions)?;
    }
    Ok(user)
}

async fn hashed(app: &App, secret: &str) -> Result<String, Problem> {
    password::check(secret).map_err(Problem::bad_request)?;
    app.identity.hashing.hash(secret, app.cx.chance.seed()).await
}

fn unknown(id: &str) -> Problem {
    Problem::not_found(format!("there is no user {id:?}"))
}
