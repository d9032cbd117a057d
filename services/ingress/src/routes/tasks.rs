//! The reports of workers about tasks that workflows handed out.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use model::depth::{self, TooDeep};
use model::{CommandId, Map, Stimulus, TaskStatus, check_error, limits};
use protocol::{ReplyWhen, Resume, TaskCompleted};
use serde::Deserialize;
use serde_json::{Value, json};
use store::{BookmarkFilter, PendingCommand, StoredBookmark};
use utoipa::ToSchema;

use super::{leases, resume};
use crate::body::{Body, Prefer};
use crate::large::lightened_one;
use crate::lease::{self, Lease};
use crate::pipeline;
use crate::pipeline::identify::{self, Asking};
use crate::pipeline::reply::{Patience, Reply};
use crate::present::shape;
use crate::problem::ProblemBody;
use crate::{App, Problem, bounds, record, respond};

/// The result of a worker.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CompleteRequest {
    /// The result of the task.
    result: Option<Value>,
    /// The outcome by which the activity ends, if its type has several.
    outcome: Option<String>,
    /// The attempt that it is of; the current one if it is left out.
    #[serde(default, deserialize_with = "model::whole::optional_ordinal")]
    #[schema(minimum = 1, maximum = 1_000)]
    attempt: Option<u32>,
    /// The lease on the task, of a worker that polled for it: it names the attempt.
    lease: Option<String>,
}

/// The failure of a worker.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct FailRequest {
    /// Problem details (RFC 9457): `type`, `title`, `detail`, `status`.
    #[schema(value_type = Option<Object>)]
    error: Option<Map>,
    /// Whether another attempt may succeed; yes if it is left out.
    retryable: Option<bool>,
    /// The least number of seconds before the next attempt, at most 30 days.
    #[schema(minimum = 0, maximum = 2_592_000)]
    retry_after: Option<u64>,
    /// The attempt that failed; the current one if it is left out.
    #[serde(default, deserialize_with = "model::whole::optional_ordinal")]
    #[schema(minimum = 1, maximum = 1_000)]
    attempt: Option<u32>,
    /// The lease on the task, of a worker that polled for it: it names the attempt.
    lease: Option<String>,
}

fn check_attempt(attempt: Option<u32>) -> Result<(), Problem> {
    let max = limits::CALL_ATTEMPTS_MAX;
    match attempt.filter(|attempt| !(1..=max).contains(attempt)) {
        Some(attempt) => Err(Problem::bad_request(format!(
            "attempt is {attempt}: attempts are numbered from 1 to {max}"
        ))),
        None => Ok(()),
    }
}

/// Completes a task: resumes the instance that handed it out.
///
/// The id of a task does not say whether the task is still to come or over. So a report for which no
/// instance waits, also one of a task that was completed before, is answered with 202, kept for 7 days,
/// and then removed; it has no effect on a task that is over. A report with a lease is answered with 409
/// then.
#[utoipa::path(post, path = "/tasks/{taskId}/complete", tag = "events",
    params(("taskId" = String, Path)), request_body = CompleteRequest,
    responses((status = 200, body = shape::run::TaskCompletion),
        (status = 202, body = shape::run::TaskCompletion, description = "No instance waits for it, not yet or not any more: it is kept for 7 days"),
        (status = 403, body = ProblemBody, description = "The lease was changed, or is none of this cluster"),
        (status = 409, body = ProblemBody, description = "Another report was faster, or the lease or its task is over"),
        (status = 413, body = ProblemBody)))]
pub(super) async fn complete(
    State(app): State<Arc<App>>,
    Path(task_id): Path<String>,
    prefer: Prefer,
    asking: Asking,
    Body(request): Body<CompleteRequest>,
) -> Result<Response, Problem> {
    let CompleteRequest { result, outcome, attempt, lease } = request;
    check_attempt(attempt)?;
    let result = result.unwrap_or_default();
    depth::check(&result).map_err(|deep| {
        Problem::bad_request(TooDeep { what: "the result".to_owned(), ..deep }.to_string())
    })?;
    let report = TaskCompleted { task_id, result, outcome, attempt, ..TaskCompleted::default() };
    let sender = Sender { prefer, asking, lease };
    end(&app, sender, report, "task.complete").await
}

/// Reports that an attempt of a task failed: another one follows, or the activity fails.
#[utoipa::path(post, path = "/tasks/{taskId}/fail", tag = "events",
    params(("taskId" = String, Path)), request_body = FailRequest,
    responses((status = 200, body = shape::run::TaskCompletion),
        (status = 202, body = shape::run::TaskCompletion, description = "No instance waits for it, not yet or not any more: it is kept for 7 days"),
        (status = 403, body = ProblemBody, description = "The lease was changed, or is none of this cluster"),
        (status = 409, body = ProblemBody, description = "This attempt, the lease or its task is over"),
        (status = 413, body = ProblemBody)))]
pub(super) async fn fail(
    State(app): State<Arc<App>>,
    Path(task_id): Path<String>,
    prefer: Prefer,
    asking: Asking,
    Body(request): Body<FailRequest>,
) -> Result<Response, Problem> {
    let FailRequest { error, retryable, retry_after, attempt, lease } = request;
    check_attempt(attempt)?;
    error.as_ref().map_or(Ok(()), check_error).map_err(Problem::bad_request)?;
    let pause_max = limits::CALL_PAUSE_MAX.as_secs();
    if let Some(seconds) = retry_after.filter(|seconds| *seconds > pause_max) {
        return Err(Problem::bad_request(format!(
            "retryAfter is {seconds}: at most {pause_max} seconds are waited between attempts"
        )));
    }
    let report = TaskCompleted {
        task_id,
        status: Some(TaskStatus::Failed),
        attempt,
        error,
        retryable,
        retry_after,
        ..TaskCompleted::default()
    };
    let sender = Sender { prefer, asking, lease };
    end(&app, sender, report, "task.fail").await
}

/// Who sends a report, and how.
struct Sender {
    prefer: Prefer,
    asking: Asking,
    lease: Option<String>,
}

/// Ends an attempt of a task, with a lease or without.
async fn end(
    app: &Arc<App>,
    sender: Sender,
    report: TaskCompleted,
    what: &'static str,
) -> Result<Response, Problem> {
    let Sender { prefer, asking, lease } = sender;
    bounds::name("the task's id", &report.task_id)?;
    bounds::optional("outcome", report.outcome.as_deref())?;
    let patience = match prefer.respond_async {
        true => Patience::None,
        false => Patience::Until(ReplyWhen::Committed, prefer.within(app.config.answer_time_max)),
    };
    let Some(lease) = lease else { return bring(app, &asking, report, patience, what).await };
    let lease = lease::open(app, &report.task_id, &lease).await?;
    let answer = end_leased(app, asking, &lease, report, patience, what).await;
    let status = answer.as_ref().map_or_else(Problem::status, Response::status);
    // From here on the report is kept, or will never count.
    if status.is_success() || matches!(status, StatusCode::CONFLICT | StatusCode::NOT_FOUND) {
        leases::settle(app, &lease).await;
    }
    answer
}

/// Ends the attempt of a lease. The same lease gives the same command: a repeat has no second effect,
/// and the same answer.
async fn end_leased(
    app: &Arc<App>,
    asking: Asking,
    lease: &Lease,
    report: TaskCompleted,
    patience: Patience,
    what: &'static str,
) -> Result<Response, Problem> {
    if let Some(other) = report.attempt.filter(|other| *other != lease.attempt) {
        return Err(Problem::bad_request(format!(
            "attempt is {other}, and the lease is on attempt {}: leave it out",
            lease.attempt
        )));
    }
    let attempt = lease.attempt.to_string();
    let id = CommandId::new(model::derived(&["task", &lease.task_id, &attempt, what]));
    let seen = record::find(app, &lease.instance_id).await?;
    if let Some(seen) = seen.filter(|seen| seen.has_applied(&id)) {
        return resume::answer(app, &seen.into_row(), Reply::Done).await;
    }
    if waiting(app, &lease.task_id).await?.is_none() {
        return Err(over(lease));
    }
    let report = TaskCompleted {
        attempt: Some(lease.attempt),
        kind: Some((lease.task_type.clone(), lease.version)),
        ..report
    };
    let asking = Asking { id, is_keyed: true, ..asking };
    bring(app, &asking, report, patience, what).await
}

/// The problem of a task that nothing waits for any more.
pub(super) fn over(lease: &Lease) -> Problem {
    let detail = format!(
        "task {} is over: it was ended by another, its time was over, or it is not wanted any more",
        lease.task_id
    );
    let problem = Problem::conflict("task-over", detail).with("taskId", lease.task_id.as_str());
    problem.with("workflowInstanceId", lease.instance_id.as_str())
}

/// Brings a report to the instance that waits for it, or keeps it until one does.
async fn bring(
    app: &Arc<App>,
    asking: &Asking,
    report: TaskCompleted,
    patience: Patience,
    what: &'static str,
) -> Result<Response, Problem> {
    let task_id = report.task_id.clone();
    let report = TaskCompleted { result: lightened_one(app, report.result).await?, ..report };
    if let Some(found) = waiting(app, &task_id).await? {
        let row = record::get(app, &found.instance_id).await?.into_row();
        let body = Resume {
            instance_id: found.instance_id,
            bookmark_id: Some(found.bookmark.id),
            input: report.input(),
            ..Resume::default()
        };
        let details = json!({"instanceId": body.instance_id});
        let note = app.note(&asking.caller, what, &task_id, details);
        let reply = resume::send(app, asking, body, patience).await;
        let reply = note.together().replied(reply).await?;
        return resume::answer(app, &row, reply).await;
    }
    let note = app.note(&asking.caller, what, &task_id, Value::Null);
    let reply = keep(app, asking, report, patience).await;
    let reply = note.together().replied(reply).await?;
    answer(&task_id, reply)
}

/// The bookmark of the instance that waits for the task.
pub(super) async fn waiting(app: &App, task_id: &str) -> Result<Option<StoredBookmark>, Problem> {
    let hash = Some(Stimulus::task(task_id).hash());
    let filter = BookmarkFilter { hash, ..BookmarkFilter::default() };
    Ok(app.cx.store.find(&filter, 1).await?.into_iter().next())
}

/// Accepts a report that no instance waits for yet.
async fn keep(
    app: &Arc<App>,
    asking: &Asking,
    report: TaskCompleted,
    patience: Patience,
) -> Result<Reply, Problem> {
    let hash = Stimulus::task(&report.task_id).hash();
    let command = asking.command(app, protocol::Body::Task(report), patience);
    let pending = PendingCommand {
        id: command.id.clone(),
        instance_id: None,
        bookmark_id: None,
        hash: Some(hash),
        correlation_id: None,
        command: identify::encoded(&command)?,
        accepted_at: app.now(),
        expires_at: None,
        waiting: false,
    };
    pipeline::command(app, asking, pending, patience).await
}

fn answer(task_id: &str, reply: Reply) -> Result<Response, Problem> {
    let body = json!({"taskId": task_id, "accepted": true});
    match reply {
        Reply::Outcome(outcome) => {
            if let Some(problem) = respond::refusal(&outcome) {
                return Err(problem.with("taskId", task_id));
            }
            let is_kept = outcome.refusal.is_some();
            let status = if is_kept { StatusCode::ACCEPTED } else { StatusCode::OK };
            Ok((status, Json(body)).into_response())
        }
        Reply::Done => Ok(Json(body).into_response()),
        Reply::Accepted | Reply::Late => Ok((StatusCode::ACCEPTED, Json(body)).into_response()),
    }
}
