//! The dead letters: commands that could not be applied, until an operator handles them.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use bus::Stream;
use model::InstanceId;
use protocol::{Body as Content, Command, Letter, Message};
use serde::Deserialize;
use serde_json::{Value, json};
use store::Page;
use utoipa::ToSchema;

use crate::auth::caller::Caller;
use crate::body::{Body, Params};
use crate::paging::Part;
use crate::pipeline::identify::Asking;
use crate::present::{Paged, shape};
use crate::problem::ProblemBody;
use crate::{App, Problem, bounds};

/// The newest numbers among which the letters are listed.
const LISTED_MAX: u64 = 10_000;
/// Letters that one read takes.
const BATCH: usize = 256;
/// Bytes of a body that are decoded at most.
const BODY_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of a body that cannot be decoded, or is larger, that are shown as text.
const TEXT_BYTES_MAX: usize = 4096;
/// Every subject of the stream.
const ALL: &str = ">";

/// The letters to list.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LettersRequest {
    /// From 0.
    page: Option<u64>,
    page_size: Option<u64>,
    /// Only those of this instance.
    workflow_instance_id: Option<String>,
}

/// How a dead letter is published again.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(super) struct ReplayRequest {
    /// The body of the command, instead of its own.
    #[schema(value_type = Option<Object>)]
    body: Option<Value>,
}

/// Lists the dead letters, newest first: at most those among the newest 10000 numbers.
#[utoipa::path(get, path = "/bookmark-queue/dead-letters", tag = "dead letters",
    params(("page" = Option<u64>, Query, description = "From 0"), ("pageSize" = Option<u64>, Query),
        ("workflowInstanceId" = Option<String>, Query)),
    responses((status = 200, body = Paged<shape::operation::DeadLetter>),
        (status = 400, body = ProblemBody)))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    let part = Part::of_list(&params, &["workflowInstanceId"])?;
    let workflow_instance_id = params.one("workflowInstanceId").map(str::to_owned);
    listed(&app, part, workflow_instance_id).await
}

/// Lists the dead letters, newest first: at most those among the newest 10000 numbers.
#[utoipa::path(post, path = "/bookmark-queue/dead-letters", tag = "dead letters",
    request_body = LettersRequest,
    responses((status = 200, body = Paged<shape::operation::DeadLetter>),
        (status = 400, body = ProblemBody)))]
pub(super) async fn list_by_post(
    State(app): State<Arc<App>>,
    params: Params,
    Body(request): Body<LettersRequest>,
) -> Result<Json<Value>, Problem> {
    // Elsa's clients send the page in the query of a POST, too.
    let given = Part::of_list(&params, &[])?;
    let LettersRequest { page, page_size, workflow_instance_id } = request;
    let part = Part { page, page_size, ..Part::default() }.or(given)?;
    listed(&app, part, workflow_instance_id).await
}

async fn listed(app: &App, part: Part, instance: Option<String>) -> Result<Json<Value>, Problem> {
    bounds::optional("workflowInstanceId", instance.as_deref())?;
    let page = part.page()?;
    let instance = instance.filter(|id| !id.is_empty());
    let mut shown = Vec::new();
    for letter in newest(app).await? {
        let command = command(&letter);
        let of = command.as_ref().and_then(Command::instance_id);
        if instance.is_none() || of.as_ref().map(InstanceId::as_str) == instance.as_deref() {
            shown.push(present(&letter, command.as_ref()));
        }
    }
    shown.reverse();
    let listed = Page::of(page, shown.into_iter());
    Ok(Json(json!({"items": listed.items, "totalCount": listed.total})))
}

/// The letters among the newest numbers, oldest first.
async fn newest(app: &App) -> Result<Vec<Letter>, Problem> {
    let span = app.cx.bus.span(Stream::Dead).await.map_err(unavailable)?;
    let mut next = span.first.max((span.last + 1).saturating_sub(LISTED_MAX));
    let mut found = Vec::new();
    while next <= span.last {
        let read = app.cx.bus.select(Stream::Dead, ALL, next, BATCH).await.map_err(unavailable)?;
        let Some((last, ..)) = read.last() else { break };
        next = last + 1;
        found.extend(read.into_iter().map(|(number, at, message)| Letter { number, at, message }));
    }
    Ok(found)
}

/// A dead letter, without the body of its command, which may contain secrets.
#[utoipa::path(get, path = "/bookmark-queue/dead-letters/{id}", tag = "dead letters",
    params(("id" = String, Path)),
    responses((status = 200, body = shape::operation::DeadLetter), (status = 404, body = ProblemBody)))]
pub(super) async fn get(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, Problem> {
    let letter = one(&app, &id).await?;
    Ok(Json(present(&letter, command(&letter).as_ref())))
}

/// Removes a dead letter.
#[utoipa::path(delete, path = "/bookmark-queue/dead-letters/{id}", tag = "dead letters",
    params(("id" = String, Path)),
    responses((status = 204), (status = 404, body = ProblemBody)))]
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    asking: Asking,
) -> Result<StatusCode, Problem> {
    let letter = one(&app, &id).await?;
    if !app.cx.bus.remove(Stream::Dead, letter.number).await.map_err(unavailable)? {
        return Err(nothing(&id));
    }
    let details = json!({"commandId": letter.command_id(), "subject": letter.origin()});
    app.audit(&asking.caller, "dead-letter.delete", &id, details).await;
    Ok(StatusCode::NO_CONTENT)
}

/// The body of a dead letter, which may contain secrets: who may replay it may see it. In JSON, if it
/// can be decoded and has at most 1 MiB; otherwise the beginning of its text.
#[utoipa::path(get, path = "/bookmark-queue/dead-letters/{id}/body", tag = "dead letters",
    params(("id" = String, Path)),
    responses((status = 200, body = shape::operation::DeadLetterBody), (status = 404, body = ProblemBody)))]
pub(super) async fn body(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, Problem> {
    let letter = one(&app, &id).await?;
    let (kind, payload) = (letter.message.content_type(), &letter.message.payload);
    let decoded = match payload.len() {
        0..=BODY_BYTES_MAX => protocol::decode_body::<Value>(kind, payload).ok(),
        _ => None,
    };
    let begin = payload.get(..TEXT_BYTES_MAX).unwrap_or(payload);
    let text = decoded.is_none().then(|| String::from_utf8_lossy(begin));
    Ok(Json(json!({
        "id": letter.number.to_string(),
        "subject": letter.origin(),
        "contentType": kind.as_str(),
        "bytes": payload.len(),
        "canReplay": letter.is_command(),
        "isReadable": decoded.is_some(),
        "body": decoded,
        "text": text,
    })))
}

/// Publishes the command of a dead letter again, under its old id, and removes the letter. A command
/// that was applied meanwhile changes nothing. With `body`, the command has that body instead of its
/// own: it must be one of the same kind, and the caller must be allowed to send such a command.
#[utoipa::path(post, path = "/bookmark-queue/dead-letters/{id}/replay", tag = "dead letters",
    params(("id" = String, Path)), request_body = ReplayRequest,
    responses((status = 200, body = shape::operation::Replayed),
        (status = 400, body = ProblemBody), (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn replay(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    asking: Asking,
    Body(request): Body<ReplayRequest>,
) -> Result<Json<Value>, Problem> {
    let letter = one(&app, &id).await?;
    if let Some(why) = letter.why_not_again() {
        return Err(Problem::conflict("unfit", format!("dead letter {id} {why}")));
    }
    let message = match &request.body {
        Some(body) => edited(&letter, body, &asking.caller)?,
        None => letter.again(),
    };
    app.must_have_room()?;
    app.cx.bus.publish(message).await.map_err(unavailable)?;
    app.cx.bus.remove(Stream::Dead, letter.number).await.map_err(unavailable)?;
    let (command_id, subject) = (letter.command_id(), letter.origin());
    let is_edited = request.body.is_some();
    let details = json!({"commandId": command_id, "subject": subject, "isEdited": is_edited});
    app.audit(&asking.caller, "dead-letter.replay", &id, details).await;
    let queue_item_id = letter.command_id();
    Ok(Json(json!({"replayed": true, "queueItemId": queue_item_id, "reason": null})))
}

/// The command of a letter with another body, if the caller may send such a command.
fn edited(letter: &Letter, body: &Value, caller: &Caller) -> Result<Message, Problem> {
    let (message, command) = letter.edited(body).map_err(|garbled| {
        Problem::bad_request(format!(
            "the body is not one of a command on {}: {garbled}",
            letter.origin()
        ))
    })?;
    caller.must(match command.body {
        Content::Start(_) => "exec:workflow-definitions",
        Content::Resume(_) => "write:workflow-instances",
        Content::Cancel(_) => "cancel:workflow-instances",
        Content::Alter(_) => "run:alterations",
        Content::Event(_) => "trigger:event",
        Content::Task(_) => "tasks:complete",
        Content::Perform(_) => {
            return Err(Problem::conflict(
                "unfit",
                "only Staunch itself sends this command: replay it as it is, without a body",
            ));
        }
    })?;
    Ok(message)
}

async fn one(app: &App, id: &str) -> Result<Letter, Problem> {
    let Ok(number) = id.parse::<u64>() else { return Err(nothing(id)) };
    let read = app.cx.bus.read(Stream::Dead, number, 1).await.map_err(unavailable)?;
    match read.into_iter().next() {
        Some((found, at, message)) if found == number => Ok(Letter { number, at, message }),
        _ => Err(nothing(id)),
    }
}

fn nothing(id: &str) -> Problem {
    let shown: String = id.chars().take(50).collect();
    Problem::not_found(format!("there is no dead letter {shown}"))
}

fn unavailable(error: bus::Error) -> Problem {
    tracing::warn!(%error, "the dead letters cannot be read");
    Problem::unavailable("the message bus does not answer: try again in a moment")
}

/// The command of a letter; none if it cannot be read, which may be why it is here.
fn command(letter: &Letter) -> Option<Command> {
    Command::decode(&letter.again(), letter.command_id()).ok()
}

/// A letter in Elsa's shape. Members that a letter does not have are null.
fn present(letter: &Letter, command: Option<&Command>) -> Value {
    let body = command.map(|command| &command.body);
    let (bookmark_id, correlation_id, hash) = match body {
        Some(Content::Resume(resume)) => (resume.bookmark_id.as_ref(), None, None),
        Some(Content::Start(start)) => (None, start.correlation_id.as_ref(), None),
        Some(Content::Event(event)) => {
            let hash = model::Stimulus::event(&event.event_name).hash();
            (None, event.correlation_id.as_ref(), Some(hash))
        }
        _ => (None, None, None),
    };
    json!({
        "id": letter.number.to_string(),
        "tenantId": null,
        "originalQueueItemId": letter.command_id(),
        "workflowInstanceId": command.and_then(Command::instance_id),
        "correlationId": correlation_id,
        "bookmarkId": bookmark_id,
        "stimulusHash": hash,
        "activityInstanceId": null,
        "activityTypeName": null,
        // The stream has the time of the letter alone.
        "originalCreatedAt": letter.at,
        "deadLetteredAt": letter.at,
        "reason": letter.reason(),
        "deliveryAttempts": letter.attempts().unwrap_or_default(),
        "lastAttemptedAt": letter.attempts().map(|_| letter.at),
        "lastErrorType": null,
        "lastErrorMessage": letter.reason(),
        "canReplay": letter.is_command(),
        "replayedAt": null,
        "replayedQueueItemId": null,
        "subject": letter.origin(),
    })
}
