//! Alterations: changes to instances from outside their workflows, in Elsa's form.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use model::{ActivityId, Alteration, Instance, InstanceId, SubStatus};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::run::refuse_head;
use super::side_by_side::side_by_side;
use crate::body::{Body, Params};
use crate::operate::{self, Altered};
use crate::pipeline::identify::Asking;
use crate::present::{InstanceStatus, shape};
use crate::problem::ProblemBody;
use crate::{App, Problem, bounds, record, respond};

/// Alterations of some instances.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct AlterationsRequest {
    /// Each with a `type`, written exactly: `Cancel`, `CancelActivity`, `Migrate`, `ModifyVariable`,
    /// `ScheduleActivity`, `Retry`, `Skip`, `Pause` or `Unpause`.
    #[serde(default)]
    #[schema(value_type = Vec<Object>)]
    alterations: Vec<Value>,
    #[serde(default)]
    workflow_instance_ids: Vec<String>,
}

/// Applies alterations to these instances, to each of them as a whole or not at all.
#[utoipa::path(post, path = "/alterations/run", tag = "alterations", request_body = AlterationsRequest,
    responses((status = 200, body = shape::alteration::AlterationResults),
        (status = 400, body = ProblemBody)))]
pub(super) async fn run(
    State(app): State<Arc<App>>,
    asking: Asking,
    Body(request): Body<AlterationsRequest>,
) -> Result<Json<Value>, Problem> {
    let alterations = operate::read(request.alterations)?;
    run_on(&app, &asking, &request.workflow_instance_ids, alterations).await
}

/// The faulted activities to run again.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RetryRequest {
    #[serde(default)]
    workflow_instance_ids: Vec<String>,
    /// Only these activities; all faulted ones if there is none.
    #[serde(default)]
    activity_ids: Option<Vec<String>>,
}

/// Runs the faulted activities of these instances again. Elsa answers GET too.
#[utoipa::path(get, path = "/alterations/workflows/retry", tag = "alterations",
    params(("workflowInstanceIds" = Vec<String>, Query),
        ("activityIds" = Option<Vec<String>>, Query)),
    responses((status = 200, body = shape::alteration::AlterationResults),
        (status = 400, body = ProblemBody)))]
pub(super) async fn retry_get(
    State(app): State<Arc<App>>,
    method: Method,
    params: Params,
    asking: Asking,
) -> Result<Json<Value>, Problem> {
    refuse_head(&method, "GET, POST")?;
    let alterations = retries(params.many("activityIds"))?;
    run_on(&app, &asking, &params.many("workflowInstanceIds"), alterations).await
}

/// Runs the faulted activities of these instances again.
#[utoipa::path(post, path = "/alterations/workflows/retry", tag = "alterations", request_body = RetryRequest,
    responses((status = 200, body = shape::alteration::AlterationResults),
        (status = 400, body = ProblemBody)))]
pub(super) async fn retry(
    State(app): State<Arc<App>>,
    asking: Asking,
    Body(request): Body<RetryRequest>,
) -> Result<Json<Value>, Problem> {
    let alterations = retries(request.activity_ids.unwrap_or_default())?;
    run_on(&app, &asking, &request.workflow_instance_ids, alterations).await
}

fn retries(activity_ids: Vec<String>) -> Result<Vec<Alteration>, Problem> {
    bounds::list("activityIds", &activity_ids)?;
    let activity_ids = activity_ids.into_iter().map(ActivityId::new).collect();
    Ok(vec![Alteration::Retry { activity_ids }])
}

async fn run_on(
    app: &Arc<App>,
    asking: &Asking,
    ids: &[String],
    alterations: Vec<Alteration>,
) -> Result<Json<Value>, Problem> {
    bounds::list("workflowInstanceIds", ids)?;
    let ids = ids.iter().map(|id| record::id(id)).collect::<Result<Vec<_>, _>>()?;
    let work = ids.into_iter().map(|id| one(app, asking, id, &alterations));
    let results = side_by_side(work).await;
    let results = results.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(Json(json!({ "results": results })))
}

async fn one(
    app: &Arc<App>,
    asking: &Asking,
    id: InstanceId,
    alterations: &[Alteration],
) -> Result<Value, Problem> {
    let about = asking.about(id.as_str());
    let altered = alter_one(app, &about, &id, alterations.to_vec()).await;
    let (is_successful, scheduled, log) = match altered {
        Ok(Altered::Applied(status)) => {
            let entries = alterations.iter().map(|one| entry(app, "Information", one.name()));
            (true, status == SubStatus::Executing, entries.collect())
        }
        Ok(Altered::Accepted) => {
            let accepted = "accepted: it is applied as soon as the instance can be reached";
            (true, true, vec![entry(app, "Information", accepted)])
        }
        Ok(Altered::Refused(_, reason)) => (false, false, vec![entry(app, "Error", &reason)]),
        Err(problem) if problem.status() == StatusCode::NOT_FOUND => {
            (false, false, vec![entry(app, "Error", problem.detail())])
        }
        Err(problem) => return Err(problem),
    };
    Ok(json!({
        "workflowInstanceId": id,
        "log": {"logEntries": log},
        "workflowHasScheduledWork": scheduled,
        "isSuccessful": is_successful,
    }))
}

/// Alters one instance. The audit log has the alterations.
async fn alter_one(
    app: &Arc<App>,
    asking: &Asking,
    id: &InstanceId,
    alterations: Vec<Alteration>,
) -> Result<Altered, Problem> {
    let details = operate::audited(&alterations);
    let note = app.note(&asking.caller, "instance.alter", id.as_str(), details);
    let altered = operate::alter(app, asking, id, alterations, operate::patience(app)).await;
    match &altered {
        Ok(altered) => {
            let (outcome, refusal) = altered.end();
            note.ends(outcome, refusal).await;
        }
        Err(_) => note.forget(),
    }
    altered
}

fn entry(app: &App, level: &str, message: &str) -> Value {
    json!({"message": message, "logLevel": level, "timestamp": app.now(), "eventName": null})
}

/// Alterations of one instance.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct AlterRequest {
    /// As for `/alterations/run`, in order.
    #[serde(default)]
    #[schema(value_type = Vec<Object>)]
    alterations: Vec<Value>,
    /// Only says whether they fit, and changes nothing.
    #[serde(default)]
    dry_run: bool,
}

/// The status of the altered instance, or the result of a dry run.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it is there for its schema")]
enum AlterAnswer {
    /// It is altered.
    Altered(InstanceStatus),
    /// Nothing is changed.
    DryRun {
        /// All alterations fit.
        fits: bool,
        /// Why they do not.
        reasons: Vec<String>,
    },
}

/// Applies alterations to one instance: all of them, or none when one does not fit (409, with the
/// reasons). A dry run answers `{"fits": …, "reasons": [ … ]}`.
#[utoipa::path(post, path = "/workflow-instances/{id}/alter", tag = "alterations",
    params(("id" = String, Path)), request_body = AlterRequest,
    responses((status = 200, body = AlterAnswer), (status = 202, body = InstanceStatus),
        (status = 400, body = ProblemBody), (status = 404, body = ProblemBody),
        (status = 409, body = ProblemBody, description = "It does not fit the instance")))]
pub(super) async fn alter(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    asking: Asking,
    Body(request): Body<AlterRequest>,
) -> Result<Response, Problem> {
    let alterations = operate::read(request.alterations)?;
    let seen = record::get(&app, &record::id(&id)?).await?;
    if request.dry_run {
        let reasons = operate::misfits(&app, &seen, &alterations).await?;
        return Ok(Json(json!({"fits": reasons.is_empty(), "reasons": reasons})).into_response());
    }
    applied(&app, &asking, &seen.into_row(), alterations).await
}

/// Applies alterations, and answers with the status of the instance.
async fn applied(
    app: &Arc<App>,
    asking: &Asking,
    instance: &Instance,
    alterations: Vec<Alteration>,
) -> Result<Response, Problem> {
    let id = &instance.id;
    let altered = alter_one(app, asking, id, alterations).await?;
    if let Altered::Refused(_, reason) = altered {
        let problem = Problem::conflict("unfit", format!("instance {id}: {reason}"));
        return Err(problem.with("workflowInstanceId", id.as_str()));
    }
    if matches!(altered, Altered::Accepted) {
        return Ok(respond::accepted(id, InstanceStatus::of_row(instance)));
    }
    Ok(match record::get_after(app, id).await? {
        Some(seen) => {
            let status = json!(InstanceStatus::of_seen(&seen));
            respond::of_instance(id, seen.answer(app, &status))
        }
        None => respond::accepted(id, InstanceStatus::of_row(instance)),
    })
}

/// New values of variables.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct VariablesRequest {
    variables: Vec<VariableValue>,
}

/// The new value of a variable.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct VariableValue {
    /// Its id, or its name.
    id: String,
    #[serde(default)]
    value: Value,
}

/// Gives variables of an instance new values: all of them, or none.
#[utoipa::path(post, path = "/workflow-instances/{id}/variables", tag = "instances",
    params(("id" = String, Path)), request_body = VariablesRequest,
    responses((status = 200, body = shape::Items<shape::instance::VariableSeen>),
        (status = 202, body = InstanceStatus),
        (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn set_variables(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    asking: Asking,
    Body(request): Body<VariablesRequest>,
) -> Result<Response, Problem> {
    operate::check_count(request.variables.len())?;
    let values = request.variables.into_iter().enumerate().map(|(at, one)| {
        bounds::name(&format!("variables[{at}].id"), &one.id)?;
        Ok::<_, Problem>(Alteration::ModifyVariable { variable_id: one.id, value: one.value })
    });
    let alterations = values.collect::<Result<Vec<_>, _>>()?;
    let id = record::id(&id)?;
    let row = record::get(&app, &id).await?.into_row();
    let answer = applied(&app, &asking, &row, alterations).await?;
    if answer.status() != StatusCode::OK {
        return Ok(answer);
    }
    drop(answer);
    match super::instances::variables_of(&app, &id).await {
        Err(problem) if problem.is("overloaded") => {
            Ok(respond::accepted(&id, InstanceStatus::of_row(&row)))
        }
        shown => shown,
    }
}
