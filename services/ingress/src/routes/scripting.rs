//! What editors of scripts ask for.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::IntoResponse;

use engine::Asked;
use serde::Deserialize;
use utoipa::ToSchema;

use super::definitions::definition_id;
use crate::app::App;
use crate::body::Body;
use crate::problem::{Problem, ProblemBody};
use crate::publication;

/// The place of the script that is edited.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct DeclarationsRequest {
    /// The activity that has the script.
    activity_id: Option<String>,
    /// Its type; used where `activityId` is missing or unknown.
    activity_type_name: Option<String>,
    /// The input that is the script.
    property_name: Option<String>,
}

/// TypeScript declarations of everything that a script of this definition can use: functions,
/// variables, inputs, and outputs of its activities.
///
/// They are those of the latest version, a draft included. With `activityId`, the variables are those
/// that this activity sees, and the outputs those of activities that may have run before it. With the
/// activity or its type, `args` has what the activity gives to the input `propertyName`, and
/// `setOutcome` is there only where a script may use it.
#[utoipa::path(post, path = "/scripting/javascript/type-definitions/{definitionId}",
    tag = "descriptors", params(("definitionId" = String, Path)),
    request_body = DeclarationsRequest,
    responses((status = 200, body = String, content_type = "application/x-typescript"),
        (status = 400, body = ProblemBody), (status = 404, body = ProblemBody)))]
pub(super) async fn type_definitions(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Body(request): Body<DeclarationsRequest>,
) -> Result<impl IntoResponse, Problem> {
    let id = definition_id(&id)?;
    let latest = publication::latest(&app, &id).await?;
    let given = |value: Option<String>| value.filter(|value| !value.is_empty());
    let asked = Asked {
        activity_id: given(request.activity_id),
        activity_type: given(request.activity_type_name),
        property: given(request.property_name),
    };
    let text = app.cx.engine.declarations("JavaScript", &latest, &asked).unwrap_or_default();
    let name = crate::respond::segment(id.as_str());
    let file = format!("attachment; filename=\"elsa.{name}.d.ts\"");
    Ok(([(CONTENT_TYPE, "application/x-typescript".to_owned()), (CONTENT_DISPOSITION, file)], text))
}
