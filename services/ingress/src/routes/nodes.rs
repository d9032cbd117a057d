//! The live nodes of the cluster.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use crate::App;
use crate::present::shape;

/// The live nodes with their roles, and which of them answers.
#[utoipa::path(get, path = "/nodes", tag = "health",
    responses((status = 200, body = shape::operation::Nodes)))]
pub(super) async fn list(State(app): State<Arc<App>>) -> Json<Value> {
    let presence = &app.cx.presence;
    Json(json!({"node": presence.node(), "items": presence.live()}))
}
