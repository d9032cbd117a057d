//! The hub for live updates of one instance: its negotiation and its connection.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use model::limits;
use serde_json::json;

use crate::auth::caller::Caller;
use crate::auth::recheck::Recheck;
use crate::body::Params;
use crate::live::hub::{self, Visitor};
use crate::present::shape;
use crate::problem::ProblemBody;
use crate::{App, Problem};

/// The path of the hub where it is not in the description: see [`crate::auth::permission::is_hub`].
pub(super) const PATH: &str = "/hubs/workflow-instance";
/// The path of its negotiation.
pub(super) const NEGOTIATE: &str = "/hubs/workflow-instance/negotiate";
/// The newest version of the negotiation that is known here.
const VERSION: u64 = 1;
/// Bytes that are read from a connection at once.
const READ_BYTES: usize = 8 * 1024;
/// Bytes that may wait to be written to a connection.
const WRITE_BYTES_MAX: usize = 512 * 1024;

/// Begins a connection to the hub, as SignalR's clients do. The token that it gives has no meaning at
/// the server: the connection may be opened at any node, also without a negotiation.
#[utoipa::path(post, path = "/elsa/hubs/workflow-instance/negotiate", tag = "live", operation_id = "negotiate_hub",
    params(("negotiateVersion" = Option<u64>, Query, description = "0 or 1")),
    responses((status = 200, body = shape::operation::Negotiated),
        (status = 401, body = ProblemBody)))]
pub(super) async fn negotiate(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<impl IntoResponse, Problem> {
    let version = params.read::<u64>("negotiateVersion")?.unwrap_or(0).min(VERSION);
    let mut answer = json!({
        "negotiateVersion": version,
        "connectionId": app.fresh_id(),
        "availableTransports": [{"transport": "WebSockets", "transferFormats": ["Text"]}],
    });
    if version > 0 {
        answer["connectionToken"] = json!(app.secret());
    }
    Ok(([(CACHE_CONTROL, "no-store")], Json(answer)))
}

/// The hub: a WebSocket with SignalR's JSON protocol. A client calls `ObserveInstanceAsync` with the
/// id of an instance; the server calls `WorkflowExecutionLogUpdatedAsync`,
/// `ActivityExecutionLogUpdatedAsync` and `WorkflowInstanceUpdatedAsync` after each burst. Any
/// credential may connect; the permission is needed to observe an instance.
#[utoipa::path(get, path = "/elsa/hubs/workflow-instance", tag = "live", operation_id = "connect_hub",
    params(("id" = Option<String>, Query, description = "The token of a negotiation; any is taken"),
        ("access_token" = Option<String>, Query, description = "An API key or a token, where no header can be sent")),
    responses((status = 101, description = "The connection"),
        (status = 400, body = ProblemBody, description = "No WebSocket"),
        (status = 401, body = ProblemBody), (status = 429, body = ProblemBody),
        (status = 503, body = ProblemBody)))]
pub(super) async fn connect(
    State(app): State<Arc<App>>,
    caller: Caller,
    recheck: Recheck,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let upgrade = upgrade.map_err(|rejection| {
        Problem::bad_request(format!(
            "this is a hub for WebSockets, with SignalR's JSON protocol: {rejection}"
        ))
    })?;
    let place = app.streams.place(&caller)?;
    let upgrade = upgrade
        .max_message_size(limits::HUB_MESSAGE_BYTES_MAX)
        .max_frame_size(limits::HUB_MESSAGE_BYTES_MAX)
        .read_buffer_size(READ_BYTES)
        .write_buffer_size(0)
        .max_write_buffer_size(WRITE_BYTES_MAX);
    Ok(upgrade.on_upgrade(move |socket| {
        let visitor = Visitor { caller, recheck, place };
        let serving = hub::serve(Arc::clone(&app), visitor, socket);
        let serving = app.tracked(serving);
        async move {
            // A panic is logged and counted; it ends this connection.
            drop(tasks::caught("ingress hub", serving).await);
        }
    }))
}
