//! The live nodes of the cluster.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use crate::body::Params;
use crate::present::shape;
use crate::{App, Problem};

/// The live nodes with their roles, and which of them answers.
#[utoipa::path(get, path = "/nodes", tag = "health",
    responses((status = 200, body = shape::operation::Nodes)))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    params.only(&[])?;
    let presence = &app.cx.presence;
    Ok(Json(json!({"node": presence.node(), "items": presence.live()})))
}
