//! Why an instance is where it is.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};

use crate::problem::ProblemBody;
use crate::why::{self, Why};
use crate::{App, Problem, record};

/// Why an instance is where it is: what it waits for, since when, what would move it, with lines to
/// copy, and who holds it. `answer` is the answer in one sentence.
#[utoipa::path(get, path = "/workflow-instances/{id}/why", tag = "instances",
    params(("id" = String, Path)),
    responses((status = 200, body = Why), (status = 404, body = ProblemBody)))]
pub(super) async fn why(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Json<Why>, Problem> {
    why::why(&app, &record::id(&id)?).await.map(Json)
}
