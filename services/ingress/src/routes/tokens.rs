//! Links with a single-use token, which is their only authorization.
//!
//! A token is found by its hash. A token that never existed, was used, or has expired gets the same
//! answer. Each use is written to the audit log, and so is each refusal (of a flood only some).

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use model::{BookmarkId, CommandId, Map, Token, TokenTarget};
use protocol::{EventRaised, ReplyWhen, Resume};
use serde::Deserialize;
use serde_json::{Value, json};
use store::PendingCommand;
use utoipa::ToSchema;

use super::link_page::shown;
use super::run::refuse_head;
use super::{events, resume};
use crate::auth::hash_of;
use crate::body::{Body, Params};
use crate::pipeline;
use crate::pipeline::identify::Asking;
use crate::pipeline::reply::{Patience, Reply};
use crate::present::shape;
use crate::problem::ProblemBody;
use crate::{App, Problem, record, respond};

/// The characters of a token's hash that the audit log shows.
const MARK_CHARS: usize = 16;

/// The input of a link.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LinkRequest {
    /// The input, by name.
    #[schema(value_type = Option<Object>)]
    input: Option<Map>,
}

/// Resumes the bookmark of a token, once. A browser gets a page that says what came of it.
#[utoipa::path(get, path = "/bookmarks/resume", tag = "links",
    params(("t" = String, Query, description = "The token"),
        ("async" = Option<bool>, Query, description = "Answer as soon as it is accepted"),
        ("in" = Option<String>, Query, description = "Input, as a JSON object")),
    responses(
        (status = 200, content((shape::run::LinkFollowed = "application/json"), (String = "text/html"))),
        (status = 202, content((shape::run::LinkFollowed = "application/json"), (String = "text/html"))),
        (status = 404, description = "The token is not valid",
            content((ProblemBody = "application/json"), (String = "text/html"))),
        (status = 409, content((ProblemBody = "application/json"), (String = "text/html")))))]
pub(super) async fn resume(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    method: Method,
    params: Params,
    asking: Asking,
) -> Result<Response, Problem> {
    refuse_head(&method, "GET, POST")?;
    shown(&headers, follow(&app, &asking, &params, None).await)
}

/// Resumes the bookmark of a token, once, with an input.
#[utoipa::path(post, path = "/bookmarks/resume", tag = "links",
    params(("t" = String, Query, description = "The token"),
        ("async" = Option<bool>, Query, description = "Answer as soon as it is accepted")),
    request_body = LinkRequest,
    responses((status = 200, body = shape::run::LinkFollowed), (status = 202, body = shape::run::LinkFollowed),
        (status = 404, body = ProblemBody, description = "The token is not valid"),
        (status = 409, body = ProblemBody)))]
pub(super) async fn resume_with_body(
    State(app): State<Arc<App>>,
    params: Params,
    asking: Asking,
    Body(request): Body<LinkRequest>,
) -> Result<Response, Problem> {
    follow(&app, &asking, &params, request.input).await
}

/// Triggers the event of a token, once. A browser gets a page that says what came of it.
#[utoipa::path(get, path = "/events/trigger", tag = "links",
    params(("t" = String, Query, description = "The token"),
        ("async" = Option<bool>, Query), ("in" = Option<String>, Query)),
    responses(
        (status = 200, content((shape::run::LinkFollowed = "application/json"), (String = "text/html"))),
        (status = 202, content((shape::run::LinkFollowed = "application/json"), (String = "text/html"))),
        (status = 404, description = "The token is not valid",
            content((ProblemBody = "application/json"), (String = "text/html"))),
        (status = 409, content((ProblemBody = "application/json"), (String = "text/html")))))]
pub(super) async fn trigger(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    method: Method,
    params: Params,
    asking: Asking,
) -> Result<Response, Problem> {
    refuse_head(&method, "GET")?;
    shown(&headers, follow(&app, &asking, &params, None).await)
}

/// The same answer for every invalid token.
fn not_good() -> Problem {
    Problem::new(
        StatusCode::NOT_FOUND,
        "invalid-token",
        "the link is not valid: it was used before, has expired, or never existed",
    )
}

async fn follow(
    app: &Arc<App>,
    asking: &Asking,
    params: &Params,
    input: Option<Map>,
) -> Result<Response, Problem> {
    let hash = hash_of(params.one("t").ok_or_else(not_good)?);
    let Some(token) = app.cx.store.token(&hash, app.now()).await? else {
        return Err(refused(app, asking, &hash).await);
    };
    let input = match input {
        Some(input) => input,
        None => input_in(params)?,
    };
    let patience = match params.flag("async")?.unwrap_or(false) {
        true => Patience::None,
        false => Patience::Until(ReplyWhen::Committed, app.config.answer_time_max),
    };
    // The same token gives the same command, whoever sends it.
    let id = CommandId::new(model::derived(&["token", &hash]));
    let asking = Asking { id, ..asking.clone() };
    match &token.target {
        TokenTarget::Bookmark(bookmark_id) => {
            go_on(app, &asking, &token, bookmark_id.clone(), input, patience).await
        }
        TokenTarget::Activity(node) => {
            let bookmark_id = awaited(app, &token, node).await?;
            go_on(app, &asking, &token, bookmark_id, input, patience).await
        }
        TokenTarget::Event(event_name) => {
            let body = EventRaised {
                event_name: event_name.clone(),
                correlation_id: None,
                instance_id: Some(token.instance_id.clone()),
                payload: Value::Object(input),
                listened: None,
            };
            let pending = events::pending(app, &asking, body, patience)?;
            let reply = redeem(app, &asking, &token, pending, patience).await?;
            match reply {
                Reply::Accepted | Reply::Late => {
                    let accepted = json!({"eventName": event_name, "accepted": true});
                    Ok((StatusCode::ACCEPTED, Json(accepted)).into_response())
                }
                reply => events::answer(event_name, reply, true),
            }
        }
    }
}

/// Resumes a bookmark of the instance of a token.
async fn go_on(
    app: &Arc<App>,
    asking: &Asking,
    token: &Token,
    bookmark_id: BookmarkId,
    input: Map,
    patience: Patience,
) -> Result<Response, Problem> {
    let instance_id = token.instance_id.clone();
    let bookmark_id = Some(bookmark_id);
    let body = Resume { instance_id, bookmark_id, input, ..Resume::default() };
    let pending = resume::pending(app, asking, body, patience)?;
    let reply = redeem(app, asking, token, pending, patience).await?;
    match record::get_after(app, &token.instance_id).await? {
        Some(seen) => resume::answer(app, &seen.into_row(), reply).await,
        None => {
            let id = &token.instance_id;
            Ok(respond::accepted(id, json!({"workflowInstanceId": id})))
        }
    }
}

/// The bookmark of the activity with this node id, which a migration may have changed since the token was
/// made. The link stays good while there is none.
async fn awaited(app: &App, token: &Token, node: &str) -> Result<BookmarkId, Problem> {
    let seen = record::get(app, &token.instance_id).await?;
    let node = seen.state().node_id_since(node, token.created_at);
    let mut open = seen.open().filter(|open| open.activity_node_id == node);
    let (first, second) = (open.next(), open.next());
    let detail = match (first, second) {
        (Some(bookmark), None) => return Ok(bookmark.id.clone()),
        (Some(_), Some(_)) => "waits in more than one place at once: resume one of its bookmarks",
        (None, _) if seen.instance.status.is_final() => "has ended",
        (None, _) => "does not wait there now: use the link again once it does",
    };
    Err(Problem::new(
        StatusCode::CONFLICT,
        "not-waiting",
        format!("instance {} {detail}", token.instance_id),
    ))
}

fn input_in(params: &Params) -> Result<Map, Problem> {
    let Some(text) = params.one("in") else { return Ok(Map::new()) };
    model::json::check_integers(text.as_bytes())
        .map_err(|flaw| Problem::bad_request(format!("in query parameter in, {flaw}")))?;
    serde_json::from_str(text).map_err(|error| {
        Problem::bad_request(format!("query parameter in is not a JSON object: {error}"))
    })
}

/// Writes to the audit log that a token was refused. The beginning of its hash, which is no secret,
/// shows which uses belong together.
async fn refused(app: &App, asking: &Asking, hash: &str) -> Problem {
    if app.refusals.takes(app.now()) {
        app.audit_refusal(&asking.caller, "token.refuse", mark(hash), Value::Null).await;
    }
    not_good()
}

fn mark(hash: &str) -> &str {
    hash.get(..MARK_CHARS).unwrap_or(hash)
}

async fn redeem(
    app: &Arc<App>,
    asking: &Asking,
    token: &Token,
    pending: PendingCommand,
    patience: Patience,
) -> Result<Reply, Problem> {
    let wait = pipeline::reply::expect(app, asking, patience);
    let message = pending.command.clone();
    if !app.cx.store.redeem(&token.hash, app.now(), pending).await? {
        return Err(refused(app, asking, &token.hash).await);
    }
    let (what, name) = match &token.target {
        TokenTarget::Bookmark(id) => ("token.bookmark.resume", id.as_str()),
        TokenTarget::Event(name) => ("token.event.trigger", name.as_str()),
        TokenTarget::Activity(node) => ("token.bookmark.resume", node.as_str()),
    };
    let details = json!({"target": name, "command": asking.id, "token": mark(&token.hash)});
    let note = app.note(&asking.caller, what, token.instance_id.as_str(), details);
    let to = Some(&token.instance_id);
    note.replied(Ok(pipeline::send(app, asking, to, message, wait, patience).await)).await
}
