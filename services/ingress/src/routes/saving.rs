//! Saving and importing workflow definitions.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::header::LOCATION;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use model::{Definition, DefinitionId};
use serde_json::{Value, json};

use super::definitions::definition_id;
use crate::body::{Body, Params};
use crate::present::SavedDefinition;
use crate::problem::ProblemBody;
use crate::publication::{self, Saved};
use crate::submit::Asking;
use crate::{App, Problem};

/// Saves a definition.
///
/// Takes Elsa's `{model, publish}`, or the bare definition. A bare one is published;
/// `?publish=false` keeps it a draft. Publishing what is published already, unchanged, makes no new
/// version.
#[utoipa::path(post, path = "/workflow-definitions", tag = "definitions",
    params(("publish" = Option<bool>, Query)), request_body = Value,
    responses((status = 200, body = SavedDefinition), (status = 201, body = SavedDefinition),
        (status = 400, body = ProblemBody, description = "With every problem in `validationErrors`"),
        (status = 403, body = ProblemBody)))]
pub(super) async fn post(
    State(app): State<Arc<App>>,
    asking: Asking,
    params: Params,
    Body(body): Body<Value>,
) -> Result<Response, Problem> {
    save(&app, &asking, &params, body, None).await
}

/// Saves a definition under this id. Otherwise as POST.
#[utoipa::path(put, path = "/workflow-definitions/{definitionId}", tag = "definitions",
    params(("definitionId" = String, Path), ("publish" = Option<bool>, Query)), request_body = Value,
    responses((status = 200, body = SavedDefinition), (status = 201, body = SavedDefinition),
        (status = 400, body = ProblemBody), (status = 403, body = ProblemBody)))]
pub(super) async fn put(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    asking: Asking,
    params: Params,
    Body(body): Body<Value>,
) -> Result<Response, Problem> {
    save(&app, &asking, &params, body, Some(definition_id(&id)?)).await
}

/// Imports a definition, as a draft; `?publish=true` publishes it.
#[utoipa::path(post, path = "/workflow-definitions/import", tag = "definitions",
    params(("publish" = Option<bool>, Query)), request_body = Value,
    responses((status = 200, body = SavedDefinition), (status = 201, body = SavedDefinition),
        (status = 400, body = ProblemBody), (status = 403, body = ProblemBody)))]
pub(super) async fn import(
    State(app): State<Arc<App>>,
    asking: Asking,
    params: Params,
    Body(body): Body<Value>,
) -> Result<Response, Problem> {
    import_under(&app, &asking, &params, body, None).await
}

/// Imports a definition, as a draft; `?publish=true` publishes it.
#[utoipa::path(put, path = "/workflow-definitions/import", tag = "definitions",
    params(("publish" = Option<bool>, Query)), request_body = Value,
    responses((status = 200, body = SavedDefinition), (status = 201, body = SavedDefinition),
        (status = 400, body = ProblemBody), (status = 403, body = ProblemBody)))]
pub(super) async fn import_put(
    State(app): State<Arc<App>>,
    asking: Asking,
    params: Params,
    Body(body): Body<Value>,
) -> Result<Response, Problem> {
    import_under(&app, &asking, &params, body, None).await
}

/// Imports a definition under this id, as a draft; `?publish=true` publishes it.
#[utoipa::path(post, path = "/workflow-definitions/{definitionId}/import", tag = "definitions",
    params(("definitionId" = String, Path), ("publish" = Option<bool>, Query)), request_body = Value,
    responses((status = 200, body = SavedDefinition), (status = 201, body = SavedDefinition),
        (status = 400, body = ProblemBody), (status = 403, body = ProblemBody)))]
pub(super) async fn import_as(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    asking: Asking,
    params: Params,
    Body(body): Body<Value>,
) -> Result<Response, Problem> {
    import_under(&app, &asking, &params, body, Some(definition_id(&id)?)).await
}

/// Imports a definition under this id, as a draft; `?publish=true` publishes it.
#[utoipa::path(put, path = "/workflow-definitions/{definitionId}/import", tag = "definitions",
    params(("definitionId" = String, Path), ("publish" = Option<bool>, Query)), request_body = Value,
    responses((status = 200, body = SavedDefinition), (status = 201, body = SavedDefinition),
        (status = 400, body = ProblemBody), (status = 403, body = ProblemBody)))]
pub(super) async fn import_as_put(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    asking: Asking,
    params: Params,
    Body(body): Body<Value>,
) -> Result<Response, Problem> {
    import_under(&app, &asking, &params, body, Some(definition_id(&id)?)).await
}

async fn save(
    app: &Arc<App>,
    asking: &Asking,
    params: &Params,
    body: Value,
    id: Option<DefinitionId>,
) -> Result<Response, Problem> {
    let (document, is_published) = unwrapped(body)?;
    let publish = params.read("publish")?.unwrap_or(is_published);
    store_document(app, asking, document, id, publish).await
}

async fn import_under(
    app: &Arc<App>,
    asking: &Asking,
    params: &Params,
    body: Value,
    id: Option<DefinitionId>,
) -> Result<Response, Problem> {
    let (document, _) = unwrapped(body)?;
    let publish = params.read("publish")?.unwrap_or(false);
    store_document(app, asking, document, id, publish).await
}

/// The definition in a body, and whether it is to be published when nothing else is said.
fn unwrapped(body: Value) -> Result<(Value, bool), Problem> {
    let Value::Object(mut members) = body else {
        return Err(Problem::bad_request("the body is no JSON object: send a workflow definition"));
    };
    match members.remove("model") {
        Some(model @ Value::Object(_)) => {
            let publish = members.get("publish").and_then(Value::as_bool).unwrap_or(false);
            Ok((model, publish))
        }
        Some(_) => Err(Problem::bad_request("member model is no JSON object")),
        None if members.contains_key("root") => Ok((Value::Object(members), true)),
        None => Err(Problem::bad_request(
            "the body is no workflow definition: send one with a root activity, or \
             {\"model\": …, \"publish\": true}",
        )),
    }
}

async fn store_document(
    app: &Arc<App>,
    asking: &Asking,
    document: Value,
    id: Option<DefinitionId>,
    publish: bool,
) -> Result<Response, Problem> {
    let mut definition: Definition = serde_json::from_value(document).map_err(|error| {
        Problem::bad_request(format!("the body is no workflow definition: {error}"))
    })?;
    if let Some(id) = id {
        definition.definition_id = id;
    } else if definition.definition_id.as_str().is_empty() {
        // Under an idempotency key the same id each time.
        let parts = ["definition", asking.id.as_str()];
        definition.definition_id = DefinitionId::new(model::derived(&parts));
    } else {
        definition.definition_id = definition_id(definition.definition_id.as_str())?;
    }
    let saved = publication::save(app, definition, publish).await?;
    if publish && !saved.already_published {
        let definition = &saved.definition;
        let (id, details) = (&definition.definition_id, json!({"version": definition.version}));
        app.audit(&asking.caller, "definition.publish", id.as_str(), details).await;
    }
    Ok(answer(&saved))
}

fn answer(saved: &Saved) -> Response {
    let status = if saved.is_new { StatusCode::CREATED } else { StatusCode::OK };
    let mut headers = HeaderMap::new();
    let id = crate::respond::segment(saved.definition.definition_id.as_str());
    let location = format!("/elsa/api/workflow-definitions/{id}");
    if let (true, Ok(location)) = (saved.is_new, HeaderValue::from_str(&location)) {
        headers.insert(LOCATION, location);
    }
    (status, headers, Json(SavedDefinition::from(saved))).into_response()
}
