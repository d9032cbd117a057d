//! Health, metrics and the description of the API.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use serde_json::{Value, json};

use crate::present::shape;
use crate::{App, Problem};

/// The AsyncAPI document, which `tests/wire` makes from the types of the code.
const ASYNCAPI: &str = include_str!("../../../../schema/api/asyncapi.json");

/// The process runs. Does not check the services that it depends on.
#[utoipa::path(get, path = "/health/live", tag = "health",
    responses((status = 200, body = shape::operation::Alive)))]
pub(super) async fn live() -> Json<Value> {
    Json(json!({"status": "Healthy"}))
}

/// The server can do its work: NATS and the database answer, and it is not stopping.
#[utoipa::path(get, path = "/health/ready", tag = "health",
    responses((status = 200, body = shape::operation::Ready),
        (status = 503, body = crate::problem::ProblemBody, description = "With `checks`")))]
pub(super) async fn ready(State(app): State<Arc<App>>) -> Result<Json<Value>, Problem> {
    if app.is_leaving() {
        return Err(Problem::unavailable("this server is stopping"));
    }
    let report = app.health.check().await;
    if report.is_healthy() {
        return Ok(Json(json!(report)));
    }
    let bad = report.checks.iter().filter(|check| check.status == "Unhealthy");
    let bad = bad.map(|check| check.name);
    let names = bad.collect::<Vec<_>>().join(", ");
    Err(Problem::unavailable(format!("not ready: {names}")).with("checks", json!(report.checks)))
}

/// The metrics of this process, for Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "health",
    responses((status = 200, body = String, content_type = "text/plain")))]
pub(super) async fn metrics() -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], meter::text())
}

/// Everything on NATS: the subjects, and who sends which messages there.
#[utoipa::path(get, path = "/asyncapi.json", tag = "health",
    responses((status = 200, body = shape::operation::Messages)))]
pub(super) async fn asyncapi() -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], ASYNCAPI)
}

/// This description.
#[utoipa::path(get, path = "/openapi.json", tag = "health",
    responses((status = 200, body = shape::operation::Description)))]
pub(super) async fn openapi(State(app): State<Arc<App>>) -> impl IntoResponse {
    let mut text = crate::description::openapi(app.config.auth, app.oidc.as_deref());
    if let Some(base) = &app.config.base_path {
        text = crate::description::below(&text, base);
    }
    ([(CONTENT_TYPE, "application/json")], text)
}
