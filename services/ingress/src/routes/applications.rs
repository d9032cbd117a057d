//! Applications: programs with an API key and roles.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::Application;
use utoipa::ToSchema;

use super::identity::{NOT_KEPT, Unkept, may_give, must_differ, must_fit, name, taken, within};
use crate::auth::caller::Caller;
use crate::body::{Body, Params};
use crate::identity::secret;
use crate::problem::ProblemBody;
use crate::{App, Problem};

/// An application, without its key.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ApplicationSummary {
    id: String,
    name: String,
    /// The ids of its roles.
    roles: Vec<String>,
    client_id: String,
}

impl From<&Application> for ApplicationSummary {
    fn from(application: &Application) -> Self {
        let Application { id, name, roles, client_id, .. } = application.clone();
        Self { id, name, roles, client_id }
    }
}

/// A new application.
#[derive(Deserialize, ToSchema)]
pub(super) struct ApplicationRequest {
    name: Option<String>,
    /// The ids of its roles; the caller has all their permissions.
    roles: Option<Vec<String>>,
}

/// An application that was made.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ApplicationMade {
    #[serde(flatten)]
    summary: ApplicationSummary,
    /// Always null: an application sends its API key, and nothing takes a client secret.
    client_secret: Option<String>,
    /// The API key. It is shown only here.
    api_key: String,
    /// Always null.
    hashed_api_key: Option<String>,
    /// Always null.
    hashed_api_key_salt: Option<String>,
    /// Always null.
    hashed_client_secret: Option<String>,
    /// Always null.
    hashed_client_secret_salt: Option<String>,
}

/// The applications.
#[derive(Serialize, ToSchema)]
pub(super) struct ApplicationList {
    applications: Vec<ApplicationSummary>,
}

/// Lists the applications.
#[utoipa::path(get, path = "/identity/applications", tag = "identity",
    responses((status = 200, body = ApplicationList), (status = 403, body = ProblemBody)))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<ApplicationList>, Problem> {
    params.only(&[])?;
    let found = app.cx.store.applications().await?;
    Ok(Json(ApplicationList { applications: found.iter().map(ApplicationSummary::from).collect() }))
}

/// Makes an application. A caller cannot give permissions that it does not have. A name that differs from
/// one that is there only in the case of letters or their form, such as full width, is refused (409).
#[utoipa::path(post, path = "/identity/applications", tag = "identity", request_body = ApplicationRequest,
    responses((status = 200, body = ApplicationMade), (status = 400, body = ProblemBody), (status = 403, body = ProblemBody),
        (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    Body(request): Body<ApplicationRequest>,
) -> Result<Unkept<ApplicationMade>, Problem> {
    let name = name(request.name.as_deref())?;
    let roles = request.roles.unwrap_or_default();
    within(&app, &caller, &roles).await?;
    let others = app.cx.store.applications().await?;
    must_fit(others.len())?;
    must_differ("an application", &name, others.iter().map(|other| other.name.as_str()))?;
    let client_id = secret::short_id(&app.fresh_id());
    let api_key = secret::api_key(&client_id, &app.cx.chance.seed());
    let application = Application {
        id: app.fresh_id(),
        name,
        key_hash: secret::hash(&api_key),
        client_id,
        roles: store::once(roles),
        created_at: app.now(),
    };
    if !app.cx.store.create_application(&application).await? {
        return Err(taken("an application", &application.name));
    }
    let details = json!({"name": application.name, "roles": application.roles});
    app.audit(&caller, "application.create", &application.id, details).await;
    let made = ApplicationMade {
        summary: ApplicationSummary::from(&application),
        client_secret: None,
        api_key,
        hashed_api_key: None,
        hashed_api_key_salt: None,
        hashed_client_secret: None,
        hashed_client_secret_salt: None,
    };
    Ok((NOT_KEPT, Json(made)))
}

/// Removes an application, at once and on all nodes.
#[utoipa::path(delete, path = "/identity/applications/{id}", tag = "identity", params(("id" = String, Path)),
    responses((status = 204), (status = 403, body = ProblemBody), (status = 404, body = ProblemBody)))]
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    caller: Caller,
) -> Result<StatusCode, Problem> {
    let unknown = || Problem::not_found(format!("there is no application {id:?}"));
    let found = app.cx.store.applications().await?;
    let found = found.into_iter().find(|known| known.id == id).ok_or_else(unknown)?;
    for role in app.cx.store.roles_of(&found.roles).await? {
        may_give(&caller, &role.permissions)?;
    }
    if !app.cx.store.delete_application(&id).await? {
        return Err(unknown());
    }
    app.audit(&caller, "application.delete", &id, json!({"name": found.name})).await;
    Ok(StatusCode::NO_CONTENT)
}
