//! Raising events.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use model::{InstanceId, Map, Stimulus, instance_of};
use protocol::{EventRaised, ReplyWhen, Resume};
use serde::Deserialize;
use serde_json::{Value, json};
use store::PendingCommand;
use utoipa::ToSchema;

use super::resume;
use crate::body::{Body, Prefer};
use crate::large::lightened_one;
use crate::pipeline;
use crate::pipeline::identify::{self, Asking};
use crate::pipeline::reply::{Patience, Reply};
use crate::present::shape;
use crate::problem::ProblemBody;
use crate::{App, Problem, bounds, record, respond};

/// The input under which an event arrives at the activity that waits for it.
const EVENT_INPUT: &str = "__EventPayloadWorkflowInput";

/// The payload and the receivers of an event.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct EventRequest {
    /// Only this instance; no new ones are started.
    workflow_instance_id: Option<String>,
    /// Only this execution of an activity, which has to wait for the event now.
    activity_instance_id: Option<String>,
    /// Only instances with this correlation id.
    correlation_id: Option<String>,
    /// The payload.
    input: Option<Value>,
    /// `Asynchronous` (default) answers when the event is accepted. `Synchronous` answers when the event
    /// is durably kept for every instance that waits for it, and every workflow that it triggers has
    /// its new instance. Neither waits until an instance has done its work: ask for the instance. With
    /// `activityInstanceId`, `Synchronous` answers when the next burst of that instance is committed.
    workflow_execution_mode: Option<String>,
}

/// Raises an event: resumes the instances that wait for it, and starts the workflows it triggers.
///
/// An event for which no instance waits yet is kept, and taken by the next instance that waits for
/// it.
#[utoipa::path(post, path = "/events/{eventName}/trigger", tag = "events",
    params(("eventName" = String, Path)), request_body = EventRequest,
    responses((status = 200, body = shape::run::EventAccepted),
        (status = 202, body = shape::run::EventAccepted), (status = 400, body = ProblemBody), (status = 413, body = ProblemBody)))]
pub(super) async fn trigger(
    State(app): State<Arc<App>>,
    Path(event_name): Path<String>,
    prefer: Prefer,
    asking: Asking,
    Body(request): Body<EventRequest>,
) -> Result<Response, Problem> {
    let waits = match request.workflow_execution_mode.as_deref() {
        None | Some("") => false,
        Some(mode) if mode.eq_ignore_ascii_case("Asynchronous") => false,
        Some(mode) if mode.eq_ignore_ascii_case("Synchronous") => !prefer.respond_async,
        Some(mode) => {
            return Err(Problem::bad_request(format!(
                "workflowExecutionMode {mode:?} is not valid: use Asynchronous or Synchronous"
            )));
        }
    };
    let instance_id = request.workflow_instance_id.filter(|id| !id.is_empty());
    let instance_id = instance_id.as_deref().map(record::id).transpose()?;
    let execution = request.activity_instance_id.filter(|id| !id.is_empty());
    let payload = lightened_one(&app, request.input.unwrap_or_default()).await?;
    if let Some(execution) = execution {
        let patience = patience(&app, prefer, waits);
        let body = only(&app, &event_name, instance_id, &execution, payload).await?;
        let details = json!({"instanceId": body.instance_id, "activityInstanceId": execution});
        let note = app.note(&asking.caller, "event.raise", &event_name, details);
        let reply = resume::send(&app, &asking, body, patience).await;
        let mut reply = note.together().replied(reply).await?;
        if let Reply::Outcome(outcome) = &mut reply {
            outcome.affected.get_or_insert(1);
        }
        return answer(&event_name, reply, waits);
    }
    let body = EventRaised {
        event_name: event_name.clone(),
        correlation_id: request.correlation_id.filter(|id| !id.is_empty()),
        instance_id,
        payload,
        listened: None,
    };
    let details = json!({"instanceId": body.instance_id, "correlationId": body.correlation_id});
    let note = app.note(&asking.caller, "event.raise", &event_name, details);
    let reply = raise(&app, &asking, body, patience(&app, prefer, waits)).await;
    let reply = note.together().replied(reply).await?;
    answer(&event_name, reply, waits)
}

fn patience(app: &App, prefer: Prefer, waits: bool) -> Patience {
    match waits {
        true => Patience::Until(ReplyWhen::Committed, prefer.within(app.config.answer_time_max)),
        false => Patience::None,
    }
}

/// The resume of the one execution that an event is for.
async fn only(
    app: &App,
    event_name: &str,
    instance_id: Option<InstanceId>,
    execution: &str,
    payload: Value,
) -> Result<Resume, Problem> {
    bounds::name("activityInstanceId", execution)?;
    bounds::name("the event's name", event_name)?;
    let missing = || {
        Problem::not_found(format!(
            "the execution {execution} does not wait for the event {event_name:?}: leave \
             activityInstanceId out to raise it for all that do, now or later"
        ))
    };
    let named = instance_of(execution).map(|(instance, _)| instance);
    let instance_id = instance_id.or(named).ok_or_else(missing)?;
    let seen = record::find(app, &instance_id).await?.ok_or_else(missing)?;
    let hash = Stimulus::event(event_name).hash();
    let waiting = seen
        .open()
        .find(|open| open.hash == hash && open.activity_instance_id == execution)
        .ok_or_else(missing)?;
    Ok(Resume {
        instance_id,
        bookmark_id: Some(waiting.id.clone()),
        input: Map::from_iter([(EVENT_INPUT.to_owned(), json!({"payload": payload}))]),
        ..Resume::default()
    })
}

/// Accepts an event, publishes it and waits.
pub(super) async fn raise(
    app: &Arc<App>,
    asking: &Asking,
    body: EventRaised,
    patience: Patience,
) -> Result<Reply, Problem> {
    if let Some(id) = &body.instance_id {
        // An event for an instance that does not exist would never be taken.
        record::must_exist(app, id).await?;
    }
    let pending = pending(app, asking, body, patience)?;
    pipeline::command(app, asking, pending, patience).await
}

/// An event in the form in which it is accepted.
pub(super) fn pending(
    app: &App,
    asking: &Asking,
    body: EventRaised,
    patience: Patience,
) -> Result<PendingCommand, Problem> {
    if body.event_name.trim().is_empty() {
        return Err(Problem::bad_request("the event has no name"));
    }
    bounds::name("the event's name", &body.event_name)?;
    bounds::optional("correlationId", body.correlation_id.as_deref())?;
    let hash = Stimulus::event(&body.event_name).hash();
    let (instance_id, correlation_id) = (body.instance_id.clone(), body.correlation_id.clone());
    let command = asking.command(app, protocol::Body::Event(body), patience);
    Ok(PendingCommand {
        id: command.id.clone(),
        instance_id,
        bookmark_id: None,
        hash: Some(hash),
        correlation_id,
        command: identify::encoded(&command)?,
        accepted_at: app.now(),
        expires_at: None,
        waiting: false,
    })
}

/// The answer to an event.
pub(super) fn answer(event_name: &str, reply: Reply, waited: bool) -> Result<Response, Problem> {
    let accepted = json!({"eventName": event_name, "accepted": true});
    match reply {
        Reply::Outcome(outcome) => {
            if let Some(problem) = respond::refusal(&outcome) {
                return Err(problem);
            }
            let affected = outcome.affected.unwrap_or_default();
            Ok(Json(json!({"eventName": event_name, "accepted": true, "affected": affected}))
                .into_response())
        }
        Reply::Accepted | Reply::Late if waited => {
            Ok((axum::http::StatusCode::ACCEPTED, Json(accepted)).into_response())
        }
        Reply::Accepted | Reply::Late | Reply::Done => Ok(Json(accepted).into_response()),
    }
}
