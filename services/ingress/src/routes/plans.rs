//! Plans: alterations of all instances that a filter selects, in Elsa's form.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use model::{Alteration, InstanceId, limits};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::{AlterationJob, AlterationPlan, InstanceFilter, JobStatus, Page, PlanStatus, Progress};
use utoipa::ToSchema;

use super::activity_filter::{ActivityFilter, Searched, Selection};
use super::instance_filter::{ListRequest, TimestampFilter};
use super::searching::{self, VariableFilter};
use super::side_by_side::side_by_side;
use crate::auth::caller::Caller;
use crate::body::{Body, Mismatch, Params, lenient};
use crate::operate;
use crate::paging::Part;
use crate::pipeline::identify::Asking;
use crate::present::shape;
use crate::problem::ProblemBody;
use crate::{App, Problem, bounds, record};

/// The instances that a dry run checks at most.
const CHECKED_MAX: u64 = 10_000;
/// The characters of a plan's id at most.
const ID_CHARS_MAX: usize = 128;

/// The filter of a plan, in Elsa's words. An empty one selects nothing, unless it says so.
#[derive(Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct PlanFilter {
    empty_filter_selects_all: bool,
    workflow_instance_ids: Vec<String>,
    /// At most one.
    correlation_ids: Vec<String>,
    /// At most one.
    names: Vec<String>,
    search_term: Option<String>,
    timestamp_filters: Vec<TimestampFilter>,
    /// All of these comparisons with searchable variables.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    variable_filters: Vec<VariableFilter>,
    definition_ids: Vec<String>,
    /// At most one.
    definition_version_ids: Vec<String>,
    has_incidents: Option<bool>,
    /// There are no system instances.
    is_system: Option<bool>,
    statuses: Vec<String>,
    sub_statuses: Vec<String>,
    /// The children of this instance; at most one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parent_workflow_instance_ids: Vec<String>,
    /// All of these comparisons with executions of activities.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    activity_filters: Vec<ActivityFilter>,
}

impl PlanFilter {
    /// The selection; `None` if it selects nothing.
    pub(crate) async fn selection(self, app: &App) -> Result<Option<Selection>, Problem> {
        let is_empty = self.workflow_instance_ids.is_empty()
            && self.correlation_ids.is_empty()
            && self.names.is_empty()
            && self.search_term.as_deref().unwrap_or_default().is_empty()
            && self.timestamp_filters.is_empty()
            && self.variable_filters.is_empty()
            && self.definition_ids.is_empty()
            && self.definition_version_ids.is_empty()
            && self.has_incidents.is_none()
            && self.statuses.is_empty()
            && self.sub_statuses.is_empty()
            && self.parent_workflow_instance_ids.is_empty()
            && self.activity_filters.iter().all(ActivityFilter::is_empty);
        searching::check(&self.variable_filters)?;
        let mut selection = Selection::new(InstanceFilter::default(), self.activity_filters)?;
        let selects_none =
            is_empty && !self.empty_filter_selects_all || self.is_system == Some(true);
        let request = ListRequest {
            ids: Some(self.workflow_instance_ids),
            correlation_id: one("correlationIds", self.correlation_ids)?,
            name: one("names", self.names)?,
            search_term: self.search_term,
            timestamp_filters: Some(self.timestamp_filters),
            definition_ids: Some(self.definition_ids),
            definition_version_id: one("definitionVersionIds", self.definition_version_ids)?,
            has_incidents: self.has_incidents,
            statuses: Some(self.statuses),
            sub_statuses: Some(self.sub_statuses),
            parent_workflow_instance_id: one(
                "parentWorkflowInstanceIds",
                self.parent_workflow_instance_ids,
            )?,
            ..ListRequest::default()
        };
        // What is wrong is said also where nothing would be selected.
        let checked = request.checked()?;
        let selects_none = selects_none || checked.is_none();
        let mut filter = checked.unwrap_or_default();
        searching::resolve(app, &mut filter, &self.variable_filters).await?;
        selection.instances = filter;
        Ok((!selects_none).then_some(selection))
    }
}

fn one(what: &str, mut values: Vec<String>) -> Result<Option<String>, Problem> {
    if values.len() > 1 {
        return Err(Problem::bad_request(format!(
            "{what} has {} members: use one, and a plan for each of the others",
            values.len()
        )));
    }
    Ok(values.pop())
}

/// A filter, and what would be done.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct DryRunRequest {
    #[serde(flatten)]
    #[schema(value_type = Object)]
    filter: Value,
}

/// The instances that a filter selects, at most 1,000 of them. With `alterations` beside the filter,
/// at most 10,000 of the selected instances are checked (`checkedCount`), `misfitCount` says how many
/// of those they do not fit, and `misfits` has the reasons of the first 1,000. Changes nothing.
#[utoipa::path(post, path = "/alterations/dry-run", tag = "alterations", request_body = DryRunRequest,
    responses((status = 200, body = shape::alteration::DryRun),
        (status = 400, body = ProblemBody)))]
pub(super) async fn dry_run(
    State(app): State<Arc<App>>,
    Body(request): Body<DryRunRequest>,
) -> Result<Json<Value>, Problem> {
    let mut filter = request.filter;
    let alterations = alterations_of(&mut filter)?;
    let filter: PlanFilter = lenient::from_value(filter)
        .map_err(|error| Problem::bad_request(format!("the filter cannot be read: {error}")))?;
    let Some(selection) = filter.selection(&app).await? else {
        return Ok(Json(json!({
            "workflowInstanceIds": [], "totalCount": 0, "checkedCount": 0, "misfitCount": 0, "misfits": [],
        })));
    };
    let Found { ids, total, mut misfits } = found(&app, &selection, 0).await?;
    let mut checked = 0;
    if let Some(alterations) = &alterations {
        let (mut page, mut next) = (0, ids.clone());
        while !next.is_empty() {
            checked += next.len() as u64;
            misfits.extend(unfit(&app, next, alterations).await?);
            page += 1;
            let is_last = checked >= total || checked >= CHECKED_MAX;
            next = match is_last {
                true => Vec::new(),
                false => found(&app, &selection, page).await?.ids,
            };
        }
    }
    let misfit_count = misfits.len();
    misfits.truncate(usize::try_from(limits::PAGE_ITEMS_MAX).unwrap_or(usize::MAX));
    Ok(Json(json!({
        "workflowInstanceIds": ids, "totalCount": total, "checkedCount": checked,
        "misfitCount": misfit_count, "misfits": misfits,
    })))
}

/// Takes the alterations out of a dry run; what is left is the filter.
fn alterations_of(request: &mut Value) -> Result<Option<Vec<Alteration>>, Problem> {
    let unread = |mismatch: Mismatch| Problem::bad_request(mismatch.to_string());
    let Some(members) = request.as_object_mut() else { return Ok(None) };
    let sent = lenient::take(members, "alterations").map_err(unread)?;
    let Some(sent) = sent.filter(|sent| !sent.is_null()) else { return Ok(None) };
    let sent = lenient::from_value(sent).map_err(|mismatch| unread(mismatch.within("alterations")));
    operate::read(sent?).map(Some)
}

/// The instances among these that the alterations do not fit, with the reasons.
async fn unfit(
    app: &App,
    ids: Vec<InstanceId>,
    alterations: &[Alteration],
) -> Result<Vec<Value>, Problem> {
    let checks = ids.into_iter().map(async |id| {
        let Some(seen) = record::find(app, &id).await? else { return Ok(None) };
        let reasons = operate::misfits(app, &seen, alterations).await?;
        let misfit = json!({"workflowInstanceId": id, "reasons": reasons});
        Ok::<_, Problem>(Some(misfit).filter(|_| !reasons.is_empty()))
    });
    let mut misfits = Vec::new();
    for misfit in side_by_side(checks).await {
        misfits.extend(misfit?);
    }
    Ok(misfits)
}

/// A page of the instances of a selection.
struct Found {
    ids: Vec<InstanceId>,
    /// The number of all instances that are selected.
    total: u64,
    /// The instances of which it is not known whether they are.
    misfits: Vec<Value>,
}

async fn found(app: &App, selection: &Selection, page: u64) -> Result<Found, Problem> {
    let page = Page::numbered(page, limits::PAGE_ITEMS_MAX);
    let found = app.cx.store.list(&selection.instances, page).await?;
    let total = found.total;
    if selection.reads_journals() && total > found.items.len() as u64 {
        return Err(Problem::bad_request(format!(
            "beside activityFilters, the filter selects {total} instances, and a dry run reads the \
             journals of at most {}: narrow it, or submit it as a plan, which reads all of them",
            found.items.len()
        )));
    }
    let ids = found.items.into_iter().map(|instance| instance.id).collect();
    let Searched { selected, unknown } = selection.search(app, ids).await?;
    let misfits = unknown.into_iter();
    let misfits =
        misfits.map(|(id, reason)| json!({"workflowInstanceId": id, "reasons": [reason]}));
    let total = if selection.reads_journals() { selected.len() as u64 } else { total };
    Ok(Found { ids: selected, total, misfits: misfits.collect() })
}

/// A plan.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SubmitRequest {
    /// Its id; a new one if there is none.
    #[serde(default)]
    id: Option<String>,
    #[schema(value_type = Vec<Object>)]
    alterations: Vec<Value>,
    filter: PlanFilter,
}

/// Submits a plan: its alterations are applied in the background to every instance that the filter
/// selects and that was there before.
#[utoipa::path(post, path = "/alterations/submit", tag = "alterations", request_body = SubmitRequest,
    responses((status = 200, body = shape::alteration::Submitted),
        (status = 400, body = ProblemBody),
        (status = 409, body = ProblemBody, description = "Another plan has this id")))]
pub(super) async fn submit(
    State(app): State<Arc<App>>,
    asking: Asking,
    Body(request): Body<SubmitRequest>,
) -> Result<Json<Value>, Problem> {
    let alterations = operate::read(request.alterations)?;
    let id = match request.id.filter(|id| !id.is_empty()) {
        None => model::derived(&["plan", asking.id.as_str()]),
        Some(id) if is_id(&id) => id,
        Some(id) => {
            return Err(Problem::bad_request(format!(
                "{id:?} is not the id of a plan: use 1 to {ID_CHARS_MAX} letters, digits, - or _"
            )));
        }
    };
    let filter = json!(request.filter);
    request.filter.selection(&app).await?;
    let plan = AlterationPlan {
        id,
        alterations,
        filter,
        submitted_by: asking.caller.who.clone(),
        status: PlanStatus::Pending,
        cursor: None,
        created_at: app.now(),
        started_at: None,
        completed_at: None,
    };
    if !app.cx.store.submit_plan(&plan).await? {
        let kept = app.cx.store.plan(&plan.id).await?;
        let is_same = kept
            .is_some_and(|kept| kept.alterations == plan.alterations && kept.filter == plan.filter);
        if !is_same {
            return Err(Problem::conflict("exists", format!("there is another plan {}", plan.id)));
        }
        return Ok(Json(json!({ "planId": plan.id })));
    }
    app.plans.wake();
    let details = operate::audited(&plan.alterations);
    app.audit(&asking.caller, "alterations.submit", &plan.id, details).await;
    Ok(Json(json!({ "planId": plan.id })))
}

fn is_id(id: &str) -> bool {
    let is_good = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    id.len() <= ID_CHARS_MAX && id.bytes().all(is_good)
}

/// Stops a plan: it begins no more jobs, and those that it has not begun stay `Pending`. What it has done
/// stays done, and jobs that it has in hand are done to their end. One that is over stays as it is.
#[utoipa::path(post, path = "/alterations/{id}/stop", tag = "alterations", params(("id" = String, Path)),
    responses((status = 200, body = shape::alteration::Stopped), (status = 400, body = ProblemBody),
        (status = 404, body = ProblemBody)))]
pub(super) async fn stop(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    caller: Caller,
) -> Result<Json<Value>, Problem> {
    bounds::name("the id", &id)?;
    let find = async || {
        let plan = app.cx.store.plan(&id).await?;
        plan.ok_or_else(|| Problem::not_found(format!("there is no plan {id}")))
    };
    let is_over = find().await?.status.is_final();
    app.cx.store.end_plan(&id, PlanStatus::Completed, app.now()).await?;
    if !is_over {
        app.audit(&caller, "alterations.stop", &id, Value::Null).await;
    }
    let plan = find().await?;
    Ok(Json(json!({
        "planId": plan.id,
        "stopped": !is_over,
        "status": plan.status.as_str(),
        "completedAt": plan.completed_at,
    })))
}

/// A plan, its progress, and one page of its jobs. With `status`, the jobs and `totalCount` are those of
/// the jobs in this state; the progress is of all.
#[utoipa::path(get, path = "/alterations/{id}", tag = "alterations",
    params(("id" = String, Path), ("status" = Option<String>, Query), ("page" = Option<u64>, Query),
        ("pageSize" = Option<u64>, Query)),
    responses((status = 200, body = shape::alteration::PlanSeen), (status = 400, body = ProblemBody),
        (status = 404, body = ProblemBody)))]
pub(super) async fn get(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    bounds::name("the id", &id)?;
    let page = Part::of_list(&params, &["status"])?.or_all().page()?;
    let status = params.one("status").map(job_status).transpose()?;
    let plan = app.cx.store.plan(&id).await?;
    let plan = plan.ok_or_else(|| Problem::not_found(format!("there is no plan {id}")))?;
    let jobs = app.cx.store.jobs(&id, status, page).await?;
    let Progress { pending, running, completed, failed } = app.cx.store.progress(&id).await?;
    let shown: Vec<Value> = jobs.items.iter().map(|job| shown(&id, job)).collect();
    Ok(Json(json!({
        "plan": {
            "id": plan.id,
            "alterations": plan.alterations,
            "workflowInstanceFilter": plan.filter,
            "status": plan.status.as_str(),
            "createdAt": plan.created_at,
            "startedAt": plan.started_at,
            "completedAt": plan.completed_at,
        },
        "progress": {
            "pending": pending, "running": running, "completed": completed, "failed": failed,
        },
        "jobs": shown,
        "totalCount": jobs.total,
    })))
}

/// The phase of jobs with this name, in any case.
fn job_status(text: &str) -> Result<JobStatus, Problem> {
    let mut all = JobStatus::ALL.iter();
    let found = all.find(|status| status.as_str().eq_ignore_ascii_case(text));
    found.copied().ok_or_else(|| {
        let shown: String = text.chars().take(50).collect();
        let names: Vec<_> = JobStatus::ALL.iter().map(|status| status.as_str()).collect();
        Problem::bad_request(format!(
            "query parameter status is {shown:?}: use one of {}",
            names.join(", ")
        ))
    })
}

fn shown(plan: &str, job: &AlterationJob) -> Value {
    let log = job.message.iter().map(
        |message| json!({"message": message, "logLevel": "Error", "timestamp": job.completed_at}),
    );
    json!({
        "id": model::derived(&["alteration", plan, job.instance_id.as_str()]),
        "planId": plan,
        "workflowInstanceId": job.instance_id,
        "status": job.status.as_str(),
        "log": log.collect::<Vec<_>>(),
        "createdAt": job.created_at,
        "startedAt": job.started_at,
        "completedAt": job.completed_at,
    })
}
