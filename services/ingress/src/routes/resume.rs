//! Resuming and cancelling instances.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use model::{Bookmark, BookmarkId, Instance, InstanceId, Map, SubStatus};
use protocol::{Cancel, Refusal, ReplyWhen, Resume};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::PendingCommand;
use utoipa::ToSchema;

use crate::body::{Body, Prefer};
use crate::large::lightened;
use crate::pipeline;
use crate::pipeline::identify::{self, Asking};
use crate::pipeline::reply::{Patience, Reply};
use crate::present::{self, InstanceStatus};
use crate::problem::ProblemBody;
use crate::record::{self, Seen};
use crate::{App, Problem, bounds, respond};

/// The bookmark and the input of a resume.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ResumeRequest {
    /// The bookmark; may be left out if exactly one is open.
    bookmark_id: Option<String>,
    /// The input, by name.
    #[schema(value_type = Option<Object>)]
    input: Option<Map>,
}

/// Resumes an instance at a bookmark.
///
/// Of many simultaneous calls, on any nodes, exactly one resumes the instance and gets 200. The
/// others get 409 (already resumed), or 202 with the status if the instance is still running; such
/// a call is not kept. A call that comes before the first burst is kept (202), and applied when the
/// instance waits. If several bookmarks are open and the call names none, the answer is 400 with
/// their names.
#[utoipa::path(post, path = "/workflow-instances/{id}/resume", tag = "instances",
    params(("id" = String, Path)), request_body = ResumeRequest,
    responses((status = 200, body = InstanceStatus), (status = 202, body = InstanceStatus),
        (status = 400, body = ProblemBody, description = "Several bookmarks are open: see `bookmarks`"),
        (status = 404, body = ProblemBody),
        (status = 409, body = ProblemBody, description = "It was already resumed, or never had that bookmark")))]
pub(super) async fn resume(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    prefer: Prefer,
    asking: Asking,
    Body(request): Body<ResumeRequest>,
) -> Result<Response, Problem> {
    bounds::optional("bookmarkId", request.bookmark_id.as_deref())?;
    let seen = record::get(&app, &record::id(&id)?).await?;
    if asking.is_keyed && seen.has_applied(&asking.id) {
        let id = seen.instance.id.clone();
        let status = json!(InstanceStatus::of_seen(&seen).whole(&app).await);
        return Ok(respond::of_instance(&id, seen.answer(&app, &status)));
    }
    let place = match request.bookmark_id.filter(|id| !id.is_empty()) {
        Some(id) => named(&seen, BookmarkId::new(id))?,
        None => unnamed(&seen)?,
    };
    let bookmark_id = match place {
        Goal::At(bookmark_id) => Some(bookmark_id),
        Goal::Early(bookmark_id) => bookmark_id,
        Goal::Nowhere => {
            return Ok(respond::accepted(&seen.instance.id, InstanceStatus::of_seen(&seen)));
        }
    };
    let patience = match prefer.respond_async {
        true => Patience::None,
        false => Patience::Until(ReplyWhen::Committed, prefer.within(app.config.answer_time_max)),
    };
    let body = Resume {
        instance_id: seen.instance.id.clone(),
        bookmark_id,
        input: lightened(&app, request.input.unwrap_or_default()).await?,
        ..Resume::default()
    };
    let row = seen.into_row();
    let details = json!({"bookmarkId": body.bookmark_id, "command": asking.id});
    let note = app.note(&asking.caller, "instance.resume", row.id.as_str(), details);
    let reply = send(&app, &asking, body, patience).await;
    let reply = note.together().replied(reply).await?;
    answer(&app, &row, reply).await
}

/// The bookmark that a resume is for.
#[derive(Debug, PartialEq)]
enum Goal {
    /// This open bookmark.
    At(BookmarkId),
    /// No bookmark yet, because the instance has not run: the resume is kept.
    Early(Option<BookmarkId>),
    /// No bookmark, because the instance is running: the resume is not kept.
    Nowhere,
}

fn named(seen: &Seen, id: BookmarkId) -> Result<Goal, Problem> {
    if seen.bookmark(&id).is_some() {
        return Ok(Goal::At(id));
    }
    match seen.status() {
        SubStatus::Pending => Ok(Goal::Early(Some(id))),
        _ => Err(not_open(seen, &id)),
    }
}

fn unnamed(seen: &Seen) -> Result<Goal, Problem> {
    match (seen.status(), seen.resumable().as_slice()) {
        (status, _) if status.is_final() => Err(done(seen, "it is over")),
        (_, [one]) => Ok(Goal::At(one.id.clone())),
        (_, several @ [_, ..]) => Err(ambiguous(seen, several)),
        (SubStatus::Pending, []) => Ok(Goal::Early(None)),
        (_, []) => Ok(Goal::Nowhere),
    }
}

fn done(seen: &Seen, why: &str) -> Problem {
    let (id, status) = (&seen.instance.id, seen.status());
    let detail = format!("instance {id} was already resumed: {why} (it is {status})");
    about(seen, Problem::conflict("already-resumed", detail))
}

/// A burned bookmark leaves nothing behind, so it cannot be told from one that never was.
fn not_open(seen: &Seen, bookmark: &BookmarkId) -> Problem {
    let (id, status) = (&seen.instance.id, seen.status());
    let detail = format!(
        "bookmark {bookmark} is not open: it was resumed or removed before, or instance {id} never \
         had it (the instance is {status})"
    );
    about(seen, Problem::conflict("bookmark-not-open", detail))
}

fn ambiguous(seen: &Seen, open: &[&Bookmark]) -> Problem {
    let detail = format!(
        "instance {} waits at {} bookmarks: name one of them in bookmarkId",
        seen.instance.id,
        open.len()
    );
    let choices: Vec<Value> = open.iter().map(|open| present::choice(open)).collect();
    let problem = Problem::new(StatusCode::BAD_REQUEST, "ambiguous", detail);
    about(seen, problem.with("bookmarks", choices))
}

fn about(seen: &Seen, problem: Problem) -> Problem {
    problem
        .with("workflowInstanceId", seen.instance.id.as_str())
        .with("subStatus", seen.status().as_str())
}

/// Accepts a resume, publishes it and waits.
pub(super) async fn send(
    app: &Arc<App>,
    asking: &Asking,
    body: Resume,
    patience: Patience,
) -> Result<Reply, Problem> {
    let pending = pending(app, asking, body, patience)?;
    pipeline::command(app, asking, pending, patience).await
}

/// A resume in the form in which it is accepted.
pub(super) fn pending(
    app: &App,
    asking: &Asking,
    body: Resume,
    patience: Patience,
) -> Result<PendingCommand, Problem> {
    let (instance_id, bookmark_id) = (body.instance_id.clone(), body.bookmark_id.clone());
    let command = asking.command(app, protocol::Body::Resume(body), patience);
    Ok(PendingCommand {
        id: command.id.clone(),
        instance_id: Some(instance_id),
        bookmark_id,
        hash: None,
        correlation_id: None,
        command: identify::encoded(&command)?,
        accepted_at: app.now(),
        expires_at: None,
        waiting: false,
    })
}

/// The answer to a resume.
pub(super) async fn answer(app: &App, row: &Instance, reply: Reply) -> Result<Response, Problem> {
    let id = &row.id;
    match reply {
        Reply::Outcome(outcome) => {
            if let Some(problem) = respond::refusal(&outcome) {
                return Err(problem.with("workflowInstanceId", id.as_str()));
            }
            let status = InstanceStatus::of_outcome(id, &outcome, row.status);
            let status = status.of_definition(row).whole(app).await;
            Ok(match outcome.refusal {
                Some(_) => respond::accepted(id, status),
                None => respond::of_instance(id, Json(status)),
            })
        }
        Reply::Done => {
            let Some(seen) = record::get_after(app, id).await? else {
                return Ok(respond::accepted(id, InstanceStatus::of_row(row)));
            };
            let status = json!(InstanceStatus::of_seen(&seen).whole(app).await);
            Ok(respond::of_instance(id, seen.answer(app, &status)))
        }
        Reply::Accepted | Reply::Late => Ok(respond::accepted(id, InstanceStatus::of_row(row))),
    }
}

/// The reason of a cancellation.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CancelRequest {
    /// The reason, for the journal.
    reason: Option<String>,
}

/// The answer to a cancellation.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Cancelled {
    workflow_instance_id: String,
    /// It was ended by this call, or by an earlier one with the same key.
    cancelled: bool,
    /// `Running` or `Finished`.
    status: String,
    /// `Cancelled`, or its status if it had ended before.
    sub_status: String,
}

/// Cancels an instance. One that is over already stays as it is.
#[utoipa::path(post, path = "/cancel/workflow-instances/{id}", tag = "instances",
    params(("id" = String, Path)), request_body = CancelRequest,
    responses((status = 200, body = Cancelled), (status = 202, body = Cancelled),
        (status = 404, body = ProblemBody)))]
pub(super) async fn cancel(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    asking: Asking,
    Body(request): Body<CancelRequest>,
) -> Result<Response, Problem> {
    bounds::optional("reason", request.reason.as_deref())?;
    let seen = record::get(&app, &record::id(&id)?).await?;
    let Instance { id, status: before, .. } = seen.into_row();
    let answer = |cancelled: bool, status: SubStatus| Cancelled {
        workflow_instance_id: id.to_string(),
        cancelled,
        status: present::main(status),
        sub_status: status.to_string(),
    };
    if before.is_final() {
        return Ok(respond::of_instance(&id, Json(answer(false, before))));
    }
    let end = cancel_and_wait(&app, &asking, &id, request.reason).await?;
    Ok(match end.status {
        Some(status) if status.is_final() => {
            respond::of_instance(&id, Json(answer(end.by_us, status)))
        }
        other => respond::accepted(&id, answer(false, other.unwrap_or(before))),
    })
}

/// The result of a cancellation.
pub(super) struct CancelEnd {
    /// The status of the instance; none if it is not known yet.
    pub(super) status: Option<SubStatus>,
    /// This cancellation has ended it.
    pub(super) by_us: bool,
}

/// Cancels an instance and waits for its end. The audit log has the cancellation.
pub(super) async fn cancel_and_wait(
    app: &Arc<App>,
    asking: &Asking,
    id: &InstanceId,
    reason: Option<String>,
) -> Result<CancelEnd, Problem> {
    let patience = Patience::Until(ReplyWhen::Committed, app.config.answer_time_max);
    let details = json!({ "reason": reason });
    let body = protocol::Body::Cancel(Cancel { instance_id: id.clone(), reason });
    let command = asking.command(app, body, patience);
    let pending = PendingCommand {
        id: command.id.clone(),
        instance_id: Some(id.clone()),
        bookmark_id: None,
        hash: None,
        correlation_id: None,
        command: identify::encoded(&command)?,
        accepted_at: app.now(),
        expires_at: None,
        waiting: false,
    };
    let note = app.note(&asking.caller, "instance.cancel", id.as_str(), details);
    let reply = pipeline::command(app, asking, pending, patience).await;
    Ok(match note.together().replied(reply).await? {
        Reply::Outcome(outcome) => match outcome.refusal {
            None => CancelEnd { status: outcome.sub_status, by_us: true },
            Some(Refusal::AlreadyDone | Refusal::NotFound) => {
                let status = record::find(app, id).await?.map(|seen| seen.status());
                CancelEnd { status, by_us: false }
            }
            Some(_) => {
                let problem = respond::refusal(&outcome);
                return Err(problem.unwrap_or_else(Problem::internal));
            }
        },
        Reply::Done => {
            let status = record::find(app, id).await?.map(|seen| seen.status());
            CancelEnd { status, by_us: true }
        }
        Reply::Accepted | Reply::Late => CancelEnd { status: None, by_us: false },
    })
}
