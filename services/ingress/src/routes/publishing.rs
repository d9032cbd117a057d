//! Publishing, retracting, reverting and deleting workflow definitions.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::{ETAG, LOCATION};
use axum::response::IntoResponse;
use model::{Definition, VersionId};
use serde_json::{Value, json};
use store::VersionOption;

use super::definitions::{definition_id, no_version};
use crate::app::App;
use crate::auth::caller::Caller;
use crate::present::definition::{self as present, DefinitionSummary, SavedDefinition};
use crate::present::shape;
use crate::problem::Problem;
use crate::problem::ProblemBody;
use crate::publication::{self, Precondition, Users, etag};
use crate::respond::segment;

/// Publishes the latest version.
///
/// The answer comes when every live node starts the new version; then `everywhere` is true.
/// Otherwise `missing` names the nodes that do not. Where no cache-notifier answers, `unconfirmed` says so:
/// it is not known which nodes start it, and `missing` names none.
/// `validationErrors` has all problems of a definition.
#[utoipa::path(post, path = "/workflow-definitions/{definitionId}/publish", tag = "definitions",
    params(("definitionId" = String, Path)),
    responses((status = 200, body = SavedDefinition), (status = 400, body = ProblemBody),
        (status = 403, body = ProblemBody), (status = 404, body = ProblemBody),
        (status = 412, body = ProblemBody, description = "`If-Match` names another version than the latest")))]
pub(super) async fn publish(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    caller: Caller,
    precondition: Precondition,
) -> Result<impl IntoResponse, Problem> {
    let saved = publication::publish(&app, &definition_id(&id)?, &precondition).await?;
    let details = json!({"version": saved.definition.version});
    app.audit(&caller, "definition.publish", &id, details).await;
    Ok(([(ETAG, etag(&saved.definition))], Json(SavedDefinition::of(&app.cx.engine, &saved))))
}

/// Retracts the published version: nothing starts it any more. Its running instances go on.
#[utoipa::path(post, path = "/workflow-definitions/{definitionId}/retract", tag = "definitions",
    params(("definitionId" = String, Path)),
    responses((status = 200, body = shape::definition::RetractedDefinition, description = "The definition, with `everywhere`, `missing` and `unconfirmed`"),
        (status = 400, body = ProblemBody), (status = 404, body = ProblemBody),
        (status = 412, body = ProblemBody, description = "`If-Match` names another version than the latest")))]
pub(super) async fn retract(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    caller: Caller,
    precondition: Precondition,
) -> Result<Json<Value>, Problem> {
    let id = definition_id(&id)?;
    match publication::retract(&app, &id, &precondition).await? {
        Some(saved) => {
            app.audit(&caller, "definition.retract", id.as_str(), Value::Null).await;
            let value = present::definition(&app.cx.engine, &saved.definition);
            Ok(Json(present::with_news(value, saved.noticed.as_ref())))
        }
        None => {
            publication::latest(&app, &id).await?;
            Err(Problem::bad_request(format!(
                "workflow definition {:?} is not published, so there is nothing to retract",
                id.as_str()
            )))
        }
    }
}

/// The workflows whose latest version uses this one: as an activity, or by its id in an activity such as
/// `ExecuteWorkflow`. An id that an expression gives is not found.
#[utoipa::path(get, path = "/workflow-definitions/{definitionId}/consumers", tag = "definitions",
    params(("definitionId" = String, Path)),
    responses((status = 200, body = shape::definition::Consumers),
        (status = 404, body = ProblemBody)))]
pub(super) async fn consumers(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, Problem> {
    let Users { consumers, callers } = publication::users_of(&app, &definition_id(&id)?).await?;
    Ok(Json(json!({
        "consumingWorkflowDefinitionIds": consumers, "callingWorkflowDefinitionIds": callers
    })))
}

/// Gives the published workflows that use this one as an activity a new version, which uses its
/// published version.
#[utoipa::path(post, path = "/workflow-definitions/{definitionId}/update-references", tag = "definitions",
    params(("definitionId" = String, Path)),
    responses((status = 200, body = shape::definition::ReferencesUpdated),
        (status = 400, body = ProblemBody), (status = 404, body = ProblemBody)))]
pub(super) async fn update_references(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    caller: Caller,
) -> Result<Json<Value>, Problem> {
    let updated = publication::update_consumers(&app, &definition_id(&id)?).await?;
    for definition in &updated {
        let details = json!({"version": definition.version});
        app.audit(&caller, "definition.publish", definition.definition_id.as_str(), details).await;
    }
    let name = |definition: &Definition| {
        definition.name.clone().unwrap_or_else(|| definition.definition_id.to_string())
    };
    Ok(Json(json!({"affectedWorkflows": updated.iter().map(name).collect::<Vec<_>>()})))
}

/// Makes a draft from an older version; the answer is its summary.
#[utoipa::path(post, path = "/workflow-definitions/{definitionId}/revert/{version}", tag = "definitions",
    params(("definitionId" = String, Path), ("version" = u32, Path)),
    responses((status = 201, body = DefinitionSummary), (status = 404, body = ProblemBody),
        (status = 412, body = ProblemBody)))]
pub(super) async fn revert(
    State(app): State<Arc<App>>,
    Path((id, version)): Path<(String, String)>,
    caller: Caller,
    precondition: Precondition,
) -> Result<impl IntoResponse, Problem> {
    let old = numbered(&app, &id, &version).await?;
    let from = old.version;
    let saved = publication::save(&app, old, &precondition).await?;
    let definition = &saved.definition;
    let details = json!({"from": from, "version": definition.version});
    app.audit(&caller, "definition.revert", definition.definition_id.as_str(), details).await;
    let made = format!("/elsa/api/workflow-definitions/by-id/{}", segment(definition.id.as_str()));
    let headers = [(ETAG, etag(definition)), (LOCATION, made)];
    Ok((StatusCode::CREATED, headers, Json(DefinitionSummary::from(definition))))
}

/// Removes all versions of a definition that no unfinished instance runs.
#[utoipa::path(delete, path = "/workflow-definitions/{definitionId}", tag = "definitions",
    params(("definitionId" = String, Path)),
    responses((status = 204), (status = 404, body = ProblemBody),
        (status = 409, body = ProblemBody, description = "Instances still run"),
        (status = 412, body = ProblemBody, description = "`If-Match` names another version than the latest")))]
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    caller: Caller,
    precondition: Precondition,
) -> Result<StatusCode, Problem> {
    let id = definition_id(&id)?;
    if !publication::delete(&app, &id, &precondition).await? {
        return Err(publication::unknown(&id));
    }
    app.audit(&caller, "definition.delete", id.as_str(), Value::Null).await;
    Ok(StatusCode::NO_CONTENT)
}

/// Removes one version, by its number.
#[utoipa::path(delete, path = "/workflow-definitions/{definitionId}/version/{version}", tag = "definitions",
    params(("definitionId" = String, Path), ("version" = u32, Path)),
    responses((status = 204), (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn delete_number(
    State(app): State<Arc<App>>,
    Path((id, version)): Path<(String, String)>,
    caller: Caller,
) -> Result<StatusCode, Problem> {
    let old = numbered(&app, &id, &version).await?;
    remove_version(&app, &caller, &old.id).await
}

/// Removes one version, by its id.
#[utoipa::path(delete, path = "/workflow-definition-versions/{id}", tag = "definitions",
    params(("id" = String, Path)),
    responses((status = 204), (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn delete_version(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    caller: Caller,
) -> Result<StatusCode, Problem> {
    remove_version(&app, &caller, &VersionId::new(id.as_str())).await
}

async fn remove_version(
    app: &Arc<App>,
    caller: &Caller,
    id: &VersionId,
) -> Result<StatusCode, Problem> {
    if !publication::delete_version(app, id).await? {
        return Err(no_version(id.as_str()));
    }
    app.audit(caller, "version.delete", id.as_str(), Value::Null).await;
    Ok(StatusCode::NO_CONTENT)
}

async fn numbered(app: &App, id: &str, version: &str) -> Result<Definition, Problem> {
    let id = definition_id(id)?;
    let Ok(number) = version.parse::<u32>() else {
        return Err(Problem::bad_request(format!(
            "version {version:?} is no version: use a whole number from 0 to {}",
            u32::MAX
        )));
    };
    let version = VersionOption::Number(number);
    match app.cx.store.definition(&id, version).await? {
        Some(found) => Ok(found),
        None => Err(publication::missing_version(app, &id, version).await?),
    }
}
