//! Tasks for workers without NATS: they poll for them, and keep them by heartbeats.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use bus::{Handed, TaskAnswer};
use futures::future::try_join_all;
use model::limits;
use protocol::{TaskRequest, decode_body, header, subject};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;
use utoipa::ToSchema;

use super::tasks;
use crate::auth::caller::Caller;
use crate::body::Body;
use crate::lease::{self, Lease};
use crate::present::shape;
use crate::problem::ProblemBody;
use crate::{App, Problem, bounds, record};

/// The wait of a poll that names none.
const WAIT_SECONDS: u64 = 20;
/// A task that cannot be read is offered again after this time.
const UNREADABLE_AGAIN: Duration = Duration::from_secs(60);

/// A request for tasks.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PollRequest {
    /// The types whose tasks the worker takes: `Ship`, or `Ship@2` for version 2.
    #[schema(min_items = 1, max_items = 16)]
    types: Vec<String>,
    /// The most tasks of the answer; one if it is left out.
    #[schema(minimum = 1, maximum = 100)]
    max: Option<usize>,
    /// The longest wait for the first task, in seconds; 20 if it is left out.
    #[schema(minimum = 0, maximum = 25)]
    wait: Option<u64>,
}

/// A sign of life of a worker.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct HeartbeatRequest {
    /// The lease, as the poll or the heartbeat before gave it.
    lease: String,
}

/// Takes tasks for a worker, each with a lease: those that wait, or the first that comes in time.
///
/// A task goes to another worker when its lease ends. Before that, the worker sends a heartbeat, or
/// completes or fails the task with the lease, at any node.
#[utoipa::path(post, path = "/tasks/poll", tag = "events", request_body = PollRequest,
    responses((status = 200, body = shape::Items<shape::run::LeasedTask>, description = "Without items when no task came in time"),
        (status = 400, body = ProblemBody), (status = 503, body = ProblemBody)))]
pub(super) async fn poll(
    State(app): State<Arc<App>>,
    caller: Caller,
    Body(request): Body<PollRequest>,
) -> Result<Json<Value>, Problem> {
    let kinds = kinds(&request.types)?;
    let max = within("max", request.max.unwrap_or(1), 1, limits::TASKS_PER_POLL_MAX)?;
    let wait_max = limits::TASK_POLL_WAIT_MAX.as_secs();
    let wait = within("wait", request.wait.unwrap_or(WAIT_SECONDS), 0, wait_max)?;
    let Ok(_permit) = app.polls.try_acquire() else {
        app.metrics.refused();
        return Err(Problem::overloaded(
            "too many workers wait for tasks at this server: poll again in a moment, or at another",
        ));
    };
    let (bus, draining) = (Arc::clone(&app.cx.bus), app.draining());
    let give_up = Instant::now() + Duration::from_secs(wait);
    let items = loop {
        let left = give_up.saturating_duration_since(Instant::now());
        let taking = bus.take_tasks(&kinds, max, left);
        let taken = tokio::select! {
            biased;
            taken = taking => taken.map_err(|error| unavailable(&error))?,
            () = draining.cancelled() => {
                return Err(Problem::overloaded("this server is stopping: poll again at another"));
            }
        };
        let leasing = taken.iter().map(|handed| leased(&app, &caller, handed));
        let items: Vec<_> = try_join_all(leasing).await?.into_iter().flatten().collect();
        // Behind tasks that nobody waits for any more, others may wait.
        if !items.is_empty() || taken.is_empty() || left.is_zero() {
            break items;
        }
    };
    Ok(Json(json!({"count": items.len(), "items": items})))
}

/// Keeps a task for its worker: the lease in the answer takes the place of the one before.
///
/// A task that is over, because its time is, or because its instance or activity was cancelled, is
/// refused, and so is an attempt that another one has followed: the worker can stop.
#[utoipa::path(post, path = "/tasks/{taskId}/heartbeat", tag = "events",
    params(("taskId" = String, Path)), request_body = HeartbeatRequest,
    responses((status = 200, body = shape::run::LeaseRenewed), (status = 400, body = ProblemBody),
        (status = 403, body = ProblemBody, description = "The lease was changed, or is none of this cluster"),
        (status = 409, body = ProblemBody, description = "The lease, the task, or this attempt of it is over"),
        (status = 503, body = ProblemBody)))]
pub(super) async fn heartbeat(
    State(app): State<Arc<App>>,
    Path(task_id): Path<String>,
    Body(request): Body<HeartbeatRequest>,
) -> Result<Json<Value>, Problem> {
    bounds::name("the task's id", &task_id)?;
    let lease = lease::open(&app, &task_id, &request.lease).await?;
    let Some(waiting) = tasks::waiting(&app, &task_id).await? else {
        settle(&app, &lease).await;
        return Err(tasks::over(&lease));
    };
    let seen = record::find(&app, &waiting.instance_id).await?;
    if seen.is_some_and(|seen| seen.state().has_passed(&waiting.bookmark.id, lease.attempt)) {
        settle(&app, &lease).await;
        return Err(attempt_over(&lease));
    }
    let answered = app.cx.bus.answer_task(&lease.address, TaskAnswer::Working).await;
    answered.map_err(|error| unavailable(&error))?;
    let lease = lease.renewed(app.now());
    let signed = lease::sign(&app, &lease).await?;
    Ok(Json(json!({"taskId": task_id, "lease": signed, "leaseExpiresAt": lease.expires_at})))
}

/// The problem of an attempt that is over, of a task that is not.
fn attempt_over(lease: &Lease) -> Problem {
    let Lease { task_id, attempt, .. } = lease;
    let detail = format!("attempt {attempt} of task {task_id} is not the current one: poll again");
    let problem = Problem::conflict("attempt-over", detail).with("taskId", task_id.as_str());
    problem.with("workflowInstanceId", lease.instance_id.as_str())
}

/// The task of a lease never comes again. If this is lost, it does, and its result is refused.
pub(super) async fn settle(app: &App, lease: &Lease) {
    if let Err(error) = app.cx.bus.answer_task(&lease.address, TaskAnswer::Done).await {
        tracing::warn!(%error, task = lease.task_id, "a task that is over may come again");
    }
}

/// A task as its worker gets it; none of a message that cannot be read, and of a task that nobody waits
/// for any more.
async fn leased(app: &App, caller: &Caller, handed: &Handed) -> Result<Option<Value>, Problem> {
    let message = &handed.message;
    let task: TaskRequest = match decode_body(message.content_type(), &message.payload) {
        Ok(task) => task,
        Err(error) => {
            tracing::error!(%error, subject = message.subject, "a task cannot be read");
            let back = TaskAnswer::Back(UNREADABLE_AGAIN);
            let answered = app.cx.bus.answer_task(&handed.address, back).await;
            answered.map_err(|error| unavailable(&error))?;
            return Ok(None);
        }
    };
    let lease = Lease::of(handed, &task, app.now());
    // Where the database does not say, the worker gets the task: a result that comes too late is refused.
    if let Ok(None) = tasks::waiting(app, &task.task_id).await {
        settle(app, &lease).await;
        return Ok(None);
    }
    let mut item = json!(task);
    let more = json!({
        "deliveries": handed.deliveries,
        "idempotencyKey": message.id(),
        "traceparent": message.header(header::TRACEPARENT),
        "lease": lease::sign(app, &lease).await?,
        "leaseExpiresAt": lease.expires_at,
    });
    if let (Some(item), Value::Object(more)) = (item.as_object_mut(), more) {
        item.extend(more);
    }
    let details = json!({"taskType": task.task_type, "attempt": task.attempt});
    app.audit_later(caller, "task.take", &task.task_id, details).await;
    Ok(Some(item))
}

/// The types of a poll, each once.
fn kinds(types: &[String]) -> Result<Vec<(String, u32)>, Problem> {
    let max = limits::TASK_KINDS_PER_POLL_MAX;
    if !(1..=max).contains(&types.len()) {
        return Err(Problem::bad_request(format!(
            "types has {} items: name 1 to {max} types, such as [\"Ship\", \"Acme.ChargeCard@2\"]",
            types.len()
        )));
    }
    let mut kinds = Vec::new();
    for (at, text) in types.iter().enumerate() {
        bounds::name("a type", text)?;
        let kind = subject::task_kind(text);
        let (name, version) =
            kind.map_err(|reason| Problem::bad_request(format!("types[{at}] is {reason}")))?;
        if name.is_empty() {
            return Err(Problem::bad_request("a type of types has no name"));
        }
        let kind = (name.to_owned(), version);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    Ok(kinds)
}

fn within<T: PartialOrd + std::fmt::Display>(
    what: &str,
    value: T,
    min: T,
    max: T,
) -> Result<T, Problem> {
    if value >= min && value <= max {
        return Ok(value);
    }
    Err(Problem::bad_request(format!("{what} is {value}: use {min} to {max}")))
}

fn unavailable(error: &bus::Error) -> Problem {
    tracing::warn!(%error, "the tasks of workers cannot be reached");
    Problem::unavailable("the message bus does not answer: try again in a moment")
}
