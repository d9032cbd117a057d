//! Completing tasks that workflows handed out.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use model::Stimulus;
use protocol::{ReplyWhen, TaskCompleted};
use serde::Deserialize;
use serde_json::{Value, json};
use store::PendingCommand;
use utoipa::ToSchema;

use crate::body::{Body, Prefer};
use crate::problem::ProblemBody;
use crate::submit::{self, Asking, Patience, Told};
use crate::{App, Problem, respond};

/// What a worker found.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct CompleteRequest {
    /// The result of the task.
    #[schema(value_type = Option<Object>)]
    result: Option<Value>,
}

/// Completes a task: resumes the instance that handed it out.
#[utoipa::path(post, path = "/tasks/{taskId}/complete", tag = "events",
    params(("taskId" = String, Path)), request_body = CompleteRequest,
    responses((status = 200, body = Value, description = "`{taskId, workflowInstanceId, subStatus}`"),
        (status = 202, body = Value, description = "Kept until the instance waits for it"),
        (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn complete(
    State(app): State<Arc<App>>,
    Path(task_id): Path<String>,
    prefer: Prefer,
    asking: Asking,
    Body(request): Body<CompleteRequest>,
) -> Result<Response, Problem> {
    let patience = match prefer.respond_async {
        true => Patience::None,
        false => Patience::Until(ReplyWhen::Committed, prefer.within(app.config.answer_time_max)),
    };
    let result = request.result.unwrap_or_default();
    let body = TaskCompleted { task_id: task_id.clone(), result };
    let command = asking.command(&app, protocol::Body::Task(body), patience);
    let pending = PendingCommand {
        id: command.id.clone(),
        instance_id: None,
        bookmark_id: None,
        hash: Some(Stimulus::task(&task_id).hash()),
        correlation_id: None,
        command: submit::encoded(&command)?,
        accepted_at: app.now(),
        expires_at: None,
        waiting: false,
    };
    let told = submit::command(&app, &asking, pending, patience).await?;
    let accepted = json!({"taskId": task_id, "accepted": true});
    match told {
        Told::Outcome(outcome) => {
            if let Some(problem) = respond::refusal(&outcome) {
                return Err(problem.with("taskId", task_id));
            }
            let status = match outcome.refusal {
                Some(_) => StatusCode::ACCEPTED,
                None => StatusCode::OK,
            };
            let body = json!({
                "taskId": task_id,
                "accepted": true,
                "workflowInstanceId": outcome.workflow_instance_id,
                "subStatus": outcome.sub_status,
            });
            Ok((status, Json(body)).into_response())
        }
        Told::Before => Ok(Json(accepted).into_response()),
        Told::Accepted | Told::Late => Ok((StatusCode::ACCEPTED, Json(accepted)).into_response()),
    }
}
