//! Roles: permissions under a name.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use model::limits::KEY_PERMISSIONS_MAX;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::{PeopleChange, PeopleChanged, Role, RoleChange};
use utoipa::ToSchema;

use super::identity::{changed, may_give, must_be_known, must_differ, must_fit, name};
use crate::auth::caller::Caller;
use crate::body::{Body, Params};
use crate::problem::ProblemBody;
use crate::{App, Problem};

/// Longest permission, in bytes.
const PERMISSION_BYTES_MAX: usize = 200;
/// Longest id of a role, in bytes.
const ID_BYTES_MAX: usize = 200;

/// A role.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RoleSummary {
    id: String,
    name: String,
    permissions: Vec<String>,
    /// Always null.
    tenant_id: Option<String>,
}

impl From<&Role> for RoleSummary {
    fn from(role: &Role) -> Self {
        let Role { id, name, permissions, .. } = role.clone();
        Self { id, name, permissions, tenant_id: None }
    }
}

/// A new role.
#[derive(Deserialize, ToSchema)]
pub(super) struct RoleRequest {
    /// Made from the name if not given.
    id: Option<String>,
    name: Option<String>,
    /// Such as `read:workflow-instances`, `read:*` or `*`; only permissions that the caller has.
    permissions: Option<Vec<String>>,
}

/// The changes of a role; what is absent or null stays.
#[derive(Deserialize, ToSchema)]
pub(super) struct RoleUpdate {
    name: Option<String>,
    /// All its permissions from now on.
    permissions: Option<Vec<String>>,
}

/// The roles.
#[derive(Serialize, ToSchema)]
pub(super) struct RoleList {
    roles: Vec<RoleSummary>,
}

/// Lists the roles.
#[utoipa::path(get, path = "/identity/roles", tag = "identity",
    responses((status = 200, body = RoleList), (status = 403, body = ProblemBody)))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<RoleList>, Problem> {
    params.only(&[])?;
    let roles = app.cx.store.roles().await?;
    Ok(Json(RoleList { roles: roles.iter().map(RoleSummary::from).collect() }))
}

/// Makes a role. A caller cannot give permissions that it does not have. A name that differs from one
/// that is there only in the case of letters or their form, such as full width, is refused (409).
#[utoipa::path(post, path = "/identity/roles", tag = "identity", request_body = RoleRequest,
    responses((status = 200, body = RoleSummary), (status = 400, body = ProblemBody), (status = 403, body = ProblemBody),
        (status = 409, body = ProblemBody)))]
pub(super) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    Body(request): Body<RoleRequest>,
) -> Result<Json<RoleSummary>, Problem> {
    let name = name(request.name.as_deref())?;
    let id = request.id.filter(|id| !id.is_empty()).unwrap_or_else(|| slug(&name));
    if id.is_empty() || id.len() > ID_BYTES_MAX || slug(&id) != id {
        return Err(Problem::bad_request(
            "the id of a role has lowercase letters, digits and dashes: give one in id",
        ));
    }
    let permissions = request.permissions.unwrap_or_default();
    check(&permissions)?;
    must_be_known(&app, &permissions).await?;
    may_give(&caller, &permissions)?;
    let roles = app.cx.store.roles().await?;
    must_fit(roles.len())?;
    must_differ("a role", &name, names_of_others(&roles, &id))?;
    let permissions = store::once(permissions);
    let role = Role { id, name, permissions, created_at: app.now() };
    if !app.cx.store.create_role(&role).await? {
        let detail = format!("there is a role {:?} already: use another name or id", role.id);
        return Err(Problem::conflict("id-taken", detail));
    }
    let details = json!({"name": role.name, "permissions": role.permissions});
    app.audit(&caller, "role.create", &role.id, details).await;
    Ok(Json(RoleSummary::from(&role)))
}

/// Changes a role. Its holders have the permissions of the new one with their next request.
#[utoipa::path(put, path = "/identity/roles/{id}", tag = "identity", params(("id" = String, Path)), request_body = RoleUpdate,
    responses((status = 200, body = RoleSummary), (status = 400, body = ProblemBody), (status = 403, body = ProblemBody),
        (status = 404, body = ProblemBody),
        (status = 409, body = ProblemBody, description = "the caller is the last user with all permissions")))]
pub(super) async fn update(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    caller: Caller,
    Body(request): Body<RoleUpdate>,
) -> Result<Json<RoleSummary>, Problem> {
    let role = must_reach(&app, &caller, &id).await?;
    let change = RoleChange {
        name: request.name.as_deref().map(|given| name(Some(given))).transpose()?,
        permissions: request.permissions,
    };
    // A name that it has already may look like that of another one.
    if let Some(name) = change.name.as_ref().filter(|name| **name != role.name) {
        let roles = app.cx.store.roles().await?;
        must_differ("a role", name, names_of_others(&roles, &id))?;
    }
    let permissions = change.permissions.as_deref().unwrap_or_default();
    check(permissions)?;
    // What the role has already may be the policy of a workflow that is gone.
    let is_new = |one: &&String| !role.permissions.contains(*one);
    let new: Vec<_> = permissions.iter().filter(is_new).cloned().collect();
    must_be_known(&app, &new).await?;
    may_give(&caller, permissions)?;
    let change = RoleChange { permissions: change.permissions.map(store::once), ..change };
    let details = json!({"name": change.name, "permissions": change.permissions});
    let change = PeopleChange::Role(id.clone(), change);
    let PeopleChanged::Role(changed) = changed(&app, &caller, &change).await? else {
        return Err(unknown(&id));
    };
    app.audit(&caller, "role.update", &id, details).await;
    Ok(Json(RoleSummary::from(&changed)))
}

/// Removes a role that nobody has.
#[utoipa::path(delete, path = "/identity/roles/{id}", tag = "identity", params(("id" = String, Path)),
    responses((status = 204), (status = 403, body = ProblemBody), (status = 404, body = ProblemBody),
        (status = 409, body = ProblemBody)))]
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    caller: Caller,
) -> Result<StatusCode, Problem> {
    must_reach(&app, &caller, &id).await?;
    let holders = app.cx.store.role_holders(&id).await?;
    if !holders.is_empty() {
        let detail = match holders.len() {
            1 => format!("a user or application has the role {id:?}: take it away first"),
            count => format!(
                "{count} users and applications have the role {id:?}: take it from them first"
            ),
        };
        let some: Vec<String> = holders.into_iter().take(100).collect();
        return Err(Problem::conflict("role-in-use", detail).with("holders", some));
    }
    if !app.cx.store.delete_role(&id).await? {
        return Err(unknown(&id));
    }
    app.audit(&caller, "role.delete", &id, Value::Null).await;
    Ok(StatusCode::NO_CONTENT)
}

/// The role, if the caller has all its permissions.
async fn must_reach(app: &App, caller: &Caller, id: &str) -> Result<Role, Problem> {
    let roles = app.cx.store.roles_of(&[id.to_owned()]).await?;
    let role = roles.into_iter().next().ok_or_else(|| unknown(id))?;
    may_give(caller, &role.permissions)?;
    Ok(role)
}

/// The names of all roles but the one with this id.
fn names_of_others<'r>(roles: &'r [Role], id: &str) -> impl Iterator<Item = &'r str> {
    roles.iter().filter(move |role| role.id != id).map(|role| role.name.as_str())
}

fn check(permissions: &[String]) -> Result<(), Problem> {
    if permissions.len() > KEY_PERMISSIONS_MAX {
        return Err(Problem::bad_request(format!(
            "a role has at most {KEY_PERMISSIONS_MAX} permissions"
        )));
    }
    let is_bad = |one: &&String| one.trim().is_empty() || one.len() > PERMISSION_BYTES_MAX;
    if permissions.iter().any(|one| is_bad(&one)) {
        return Err(Problem::bad_request(format!(
            "a permission has 1 to {PERMISSION_BYTES_MAX} bytes, such as read:workflow-instances"
        )));
    }
    Ok(())
}

/// The name in lowercase letters, digits and dashes.
fn slug(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-")
}

fn unknown(id: &str) -> Problem {
    Problem::not_found(format!("there is no role {id:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_made_from_the_name() {
        for (name, expected) in
            [("Order Clerk", "order-clerk"), (" a--b ", "a-b"), ("admin2", "admin2"), ("É", "")]
        {
            assert_eq!(slug(name), expected, "{name}");
        }
    }
}
