//! Administration of the runtime: status, pause, resume and drain, of the cluster or of one node.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use bus::{Pause, Scope};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::auth::caller::Caller;
use crate::body::{Body, Params};
use crate::present::shape;
use crate::problem::ProblemBody;
use crate::runtime::{self, Refused, unavailable};
use crate::{App, Problem, bounds};

/// Why the runtime is changed.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RuntimeRequest {
    /// The reason, for those who look at the status.
    reason: Option<String>,
    /// Only this node, as in the query.
    #[schema(min_length = 1)]
    node: Option<String>,
}

/// The parameters of a change. One that is mistyped would be about the whole cluster.
const PARAMETERS: [&str; 1] = ["node"];
const OF_DRAIN: [&str; 2] = ["node", "seconds"];

/// Which executors take commands, how many they work on, and the pauses.
#[utoipa::path(get, path = "/admin/workflow-runtime/status", tag = "runtime",
    params(("node" = Option<String>, Query, min_length = 1, description = "Of this node; of the cluster without it")),
    responses((status = 200, body = shape::operation::RuntimeStatus),
        (status = 404, body = ProblemBody), (status = 503, body = ProblemBody)))]
pub(super) async fn status(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    params.only(&PARAMETERS)?;
    let scope = scope(&params, None)?;
    let status = runtime::status(&app, &scope).await?;
    if status.nodes.is_empty() && scope != Scope::Cluster && !status.pauses.contains_key(&scope) {
        return Err(no_executor(&scope));
    }
    Ok(Json(status.document()))
}

/// Pauses the cluster, or one node: executors take no more commands, and finish those that they
/// have. Commands wait in the stream. The pause holds until it is ended, for nodes that start later,
/// too.
#[utoipa::path(post, path = "/admin/workflow-runtime/pause", tag = "runtime",
    params(("node" = Option<String>, Query, min_length = 1, description = "Only this node")),
    request_body = RuntimeRequest,
    responses((status = 200, body = shape::operation::RuntimeStatus, description = "As the status"),
        (status = 404, body = ProblemBody), (status = 409, body = ProblemBody),
        (status = 503, body = ProblemBody)))]
pub(super) async fn pause(
    State(app): State<Arc<App>>,
    caller: Caller,
    params: Params,
    Body(request): Body<RuntimeRequest>,
) -> Result<Json<Value>, Problem> {
    params.only(&PARAMETERS)?;
    bounds::optional("reason", request.reason.as_deref())?;
    let scope = live(&app, scope(&params, request.node.as_deref())?)?;
    let paused = runtime::pause(&app, &scope, &caller.who, request.reason.as_deref()).await;
    paused.map_err(|refused| problem(&app, &scope, refused))?;
    let details = json!({ "reason": request.reason });
    app.audit(&caller, "runtime.pause", target(&scope), details).await;
    Ok(Json(runtime::status(&app, &scope).await?.document()))
}

/// Ends the pause of the cluster, or of one node, which may be gone. A node that is paused by itself
/// stays paused when the cluster goes on.
#[utoipa::path(post, path = "/admin/workflow-runtime/resume", tag = "runtime",
    params(("node" = Option<String>, Query, min_length = 1, description = "Only this node")),
    request_body = RuntimeRequest,
    responses((status = 200, body = shape::operation::RuntimeStatus, description = "As the status"),
        (status = 404, body = ProblemBody, description = "The node is neither live nor paused"),
        (status = 409, body = ProblemBody), (status = 503, body = ProblemBody)))]
pub(super) async fn resume(
    State(app): State<Arc<App>>,
    caller: Caller,
    params: Params,
    Body(request): Body<RuntimeRequest>,
) -> Result<Json<Value>, Problem> {
    params.only(&PARAMETERS)?;
    bounds::optional("reason", request.reason.as_deref())?;
    let scope = known(&app, scope(&params, request.node.as_deref())?).await?;
    let resumed = runtime::resume(&app, &scope).await;
    resumed.map_err(|refused| problem(&app, &scope, refused))?;
    let details = json!({ "reason": request.reason });
    app.audit(&caller, "runtime.resume", target(&scope), details).await;
    Ok(Json(runtime::status(&app, &scope).await?.document()))
}

/// Pauses the cluster, or one node, and waits until its executors have finished their work. Nothing
/// is cancelled: what is not finished in time goes on. The pause stays.
#[utoipa::path(post, path = "/admin/workflow-runtime/force-drain", tag = "runtime",
    params(("node" = Option<String>, Query, min_length = 1, description = "Only this node"),
        ("seconds" = Option<u64>, Query, description = "The longest wait; 30 without it")),
    request_body = RuntimeRequest,
    responses((status = 200, body = shape::operation::Drained),
        (status = 404, body = ProblemBody), (status = 409, body = ProblemBody),
        (status = 503, body = ProblemBody)))]
pub(super) async fn drain(
    State(app): State<Arc<App>>,
    caller: Caller,
    params: Params,
    Body(request): Body<RuntimeRequest>,
) -> Result<Json<Value>, Problem> {
    params.only(&OF_DRAIN)?;
    bounds::optional("reason", request.reason.as_deref())?;
    let time_max = runtime::drain_time(&app, params.read("seconds")?)?;
    let scope = live(&app, scope(&params, request.node.as_deref())?)?;
    let reason = request.reason.as_deref();
    let drained = runtime::drain(&app, &scope, &caller.who, reason, time_max).await;
    let drained = drained.map_err(|refused| problem(&app, &scope, refused))?;
    let result = if drained.is_drained { "CompletedWithinDeadline" } else { "DeadlineExceeded" };
    let details = json!({"reason": reason, "result": result});
    app.audit(&caller, "runtime.drain", target(&scope), details).await;
    Ok(Json(json!({"outcome": {
        "overallResult": result,
        "startedAt": drained.started_at,
        "completedAt": drained.completed_at,
        "pausePhaseDuration": span(drained.paused_after),
        "waitPhaseDuration": span(drained.waited),
        "sources": drained.status.sources(),
        "activeExecutionCycleCount": drained.status.commands(),
        "executionCyclesForceCancelledCount": 0,
        "forceCancelledInstanceIds": [],
    }})))
}

/// The node that the query or the body names, or the cluster. A name that is empty may be one that a
/// program has lost.
fn scope(params: &Params, in_body: Option<&str>) -> Result<Scope, Problem> {
    let named = params.0.iter().filter(|(name, _)| name.eq_ignore_ascii_case("node"));
    let mut nodes: Vec<&str> = named.map(|(_, node)| node.as_str()).chain(in_body).collect();
    nodes.dedup();
    match nodes[..] {
        [] => Ok(Scope::Cluster),
        [""] => Err(Problem::bad_request("node is empty: name a node, or leave it out")),
        [node] => {
            bounds::optional("node", Some(node))?;
            Ok(Scope::Node(node.to_owned()))
        }
        _ => {
            Err(Problem::bad_request("several nodes are named: name one, in the query or the body"))
        }
    }
}

/// Refuses a node that is no live executor: its name may be mistyped.
fn live(app: &App, scope: Scope) -> Result<Scope, Problem> {
    match &scope {
        Scope::Node(_) if runtime::executors(app, &scope).is_empty() => Err(no_executor(&scope)),
        _ => Ok(scope),
    }
}

/// Refuses a node that is no live executor, and not paused.
async fn known(app: &App, scope: Scope) -> Result<Scope, Problem> {
    match runtime::is_paused(app, &scope).await? {
        true => Ok(scope),
        false => live(app, scope),
    }
}

fn no_executor(scope: &Scope) -> Problem {
    Problem::not_found(format!(
        "there is no live executor {}: GET /nodes lists the live nodes",
        target(scope)
    ))
}

fn target(scope: &Scope) -> &str {
    match scope {
        Scope::Cluster => "cluster",
        Scope::Node(node) => node,
    }
}

fn problem(app: &App, scope: &Scope, refused: Refused) -> Problem {
    match refused {
        Refused::Draining(pause) => {
            let Pause { since, by, reason, drain } = pause;
            let until = drain.map(|drain| drain.until).unwrap_or_default();
            let seconds =
                until.as_millis().saturating_sub(app.now().as_millis()).max(0) / 1_000 + 1;
            Problem::conflict(
                "drain-in-progress",
                format!(
                    "{by} is draining {}: try again when that has ended, in {seconds} s at most",
                    target(scope)
                ),
            )
            .with("code", "drain-in-progress")
            .with(
                "state",
                json!({"pausedAt": since, "pauseRequestedBy": by,
                "pauseReasonText": reason, "reason": "AdministrativePause, Drain",
                "isAcceptingNewWork": false}),
            )
        }
        Refused::Bus(bus::Error::Full(detail)) => Problem::conflict("too-many-pauses", detail),
        Refused::Bus(error) => unavailable(&error),
    }
}

/// A duration in the form of .NET.
fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
    format!("{hours:02}:{minutes:02}:{:02}.{:07}", seconds % 60, time.subsec_nanos() / 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_as_dotnet_reads_them() {
        assert_eq!(span(Duration::from_micros(3_723_123_456)), "01:02:03.1234560");
        assert_eq!(span(Duration::ZERO), "00:00:00.0000000");
    }
}
