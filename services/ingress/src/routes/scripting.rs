//! What editors of scripts ask for.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::IntoResponse;

use super::definitions::definition_id;
use crate::app::App;
use crate::problem::{Problem, ProblemBody};
use crate::publication;

/// TypeScript declarations of everything that a script of this definition can use: functions,
/// variables, inputs, and outputs of its activities.
///
/// They are those of the latest version, a draft included. The members of Elsa's body
/// (`activityTypeName`, `propertyName`) change nothing: every script of a definition can use the
/// same.
#[utoipa::path(post, path = "/scripting/javascript/type-definitions/{definitionId}",
    tag = "descriptors", params(("definitionId" = String, Path)),
    responses((status = 200, body = String, content_type = "application/x-typescript"),
        (status = 404, body = ProblemBody)))]
pub(super) async fn type_definitions(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<impl IntoResponse, Problem> {
    let id = definition_id(&id)?;
    let latest = publication::latest(&app, &id).await?;
    let text = app.cx.engine.declarations("JavaScript", &latest).unwrap_or_default();
    let name = crate::respond::segment(id.as_str());
    let file = format!("attachment; filename=\"elsa.{name}.d.ts\"");
    Ok(([(CONTENT_TYPE, "application/x-typescript".to_owned()), (CONTENT_DISPOSITION, file)], text))
}
