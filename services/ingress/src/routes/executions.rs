//! Activity execution records, as Elsa's routes show them.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use model::limits;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::body::{Body, Params};
use crate::executions::{
    ExecutionRecord, ExecutionStats, ExecutionSummary, Executions, instance_in, missing,
};
use crate::paging::Part;
use crate::problem::ProblemBody;
use crate::{App, Problem, bounds, record};

/// Instances whose chains of executions one answer joins.
const INSTANCES_MAX: usize = 8;

/// Records of an instance.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Listed<T> {
    items: Vec<T>,
    /// The number of all records that fit.
    count: usize,
    /// Records are missing: there are more than one answer has, the journal is longer than what is
    /// read at once, or executions that repeat others in a long turn are counted and have none of
    /// their own. The report counts these, too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_cut: bool,
}

/// The number of records of an instance.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Counted {
    /// The number of all records that fit.
    count: usize,
    /// There are more executions than records.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_cut: bool,
}

/// What a list is filtered by.
struct Wanted {
    instance_id: String,
    node_id: Option<String>,
    activity_id: Option<String>,
    completed: Option<bool>,
}

impl Wanted {
    fn of(params: &Params) -> Result<Self, Problem> {
        let text = |name: &str| params.one(name).map(str::to_owned);
        let Some(instance_id) = text("workflowInstanceId") else {
            let detail =
                "workflowInstanceId is missing: name the instance whose executions to list";
            return Err(Problem::bad_request(detail));
        };
        let (node_id, activity_id) = (text("activityNodeId"), text("activityId"));
        Ok(Self { instance_id, node_id, activity_id, completed: params.flag("completed")? })
    }

    fn fits(&self, record: &ExecutionRecord) -> bool {
        let summary = &record.summary;
        self.node_id.as_ref().is_none_or(|id| *id == summary.activity_node_id)
            && self.activity_id.as_ref().is_none_or(|id| *id == summary.activity_id)
            && self.completed.is_none_or(|wanted| wanted == summary.completed_at.is_some())
    }

    /// The records that fit. An instance that is not there has none, as with Elsa.
    async fn list<T>(
        &self,
        app: &App,
        part: Part,
        shown: impl Fn(&ExecutionRecord) -> T,
    ) -> Result<Listed<T>, Problem> {
        // Without a size, all that one answer may have.
        let size = part.page_size.or(part.take).or(Some(limits::PAGE_ITEMS_MAX));
        let page = Part { page_size: size, ..part }.page()?;
        let Some(seen) = record::find(app, &record::id(&self.instance_id)?).await? else {
            return Ok(Listed { items: Vec::new(), count: 0, is_cut: false });
        };
        let executions = Executions::of(app, &seen).await?;
        let fitting: Vec<_> = executions.all().iter().filter(|one| self.fits(one)).collect();
        let count = fitting.len();
        let found = page.of(fitting.into_iter());
        let items: Vec<T> = found.items.into_iter().map(shown).collect();
        let is_cut = executions.is_cut
            || executions.has_unwritten(|one| self.fits(one))
            || (part.skip.is_none() && items.len() < count);
        Ok(Listed { items, count, is_cut })
    }
}

/// The executions of the activities of an instance, in the order in which they began.
#[utoipa::path(get, path = "/activity-executions/list", tag = "instances",
    params(("workflowInstanceId" = String, Query, min_length = 1),
        ("activityNodeId" = Option<String>, Query, description = "Of this activity, by its path"),
        ("activityId" = Option<String>, Query), ("completed" = Option<bool>, Query),
        ("skip" = Option<u64>, Query), ("take" = Option<u64>, Query)),
    responses((status = 200, body = Listed<ExecutionRecord>), (status = 400, body = ProblemBody)))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<Listed<ExecutionRecord>>, Problem> {
    let part = Part::of(&params)?;
    Ok(Json(Wanted::of(&params)?.list(&app, part, Clone::clone).await?))
}

/// The same executions, without their values.
#[utoipa::path(get, path = "/activity-execution-summaries/list", tag = "instances",
    params(("workflowInstanceId" = String, Query, min_length = 1), ("activityNodeId" = Option<String>, Query),
        ("activityId" = Option<String>, Query), ("completed" = Option<bool>, Query),
        ("skip" = Option<u64>, Query), ("take" = Option<u64>, Query)),
    responses((status = 200, body = Listed<ExecutionSummary>), (status = 400, body = ProblemBody)))]
pub(super) async fn summaries(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<Listed<ExecutionSummary>>, Problem> {
    let part = Part::of(&params)?;
    let summary = |record: &ExecutionRecord| record.summary.clone();
    Ok(Json(Wanted::of(&params)?.list(&app, part, summary).await?))
}

/// The number of executions of an instance that have a record; `isCut` says that there are more.
#[utoipa::path(get, path = "/activity-executions/count", tag = "instances",
    params(("workflowInstanceId" = String, Query, min_length = 1), ("activityNodeId" = Option<String>, Query),
        ("activityId" = Option<String>, Query), ("completed" = Option<bool>, Query)),
    responses((status = 200, body = Counted), (status = 400, body = ProblemBody)))]
pub(super) async fn count(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<Counted>, Problem> {
    // The number of items on a page is not asked for.
    let part = Part { skip: Some(0), ..Part::default() };
    let Listed { count, is_cut, .. } = Wanted::of(&params)?.list(&app, part, |_| ()).await?;
    Ok(Json(Counted { count, is_cut }))
}

/// An execution, by its id in the query.
#[utoipa::path(get, path = "/activity-executions/by-id", tag = "instances",
    params(("id" = String, Query, min_length = 1), ("workflowInstanceId" = Option<String>, Query,
        description = "Only for an execution whose id does not name its instance")),
    responses((status = 200, body = ExecutionRecord), (status = 404, body = ProblemBody)))]
pub(super) async fn by_id(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<ExecutionRecord>, Problem> {
    let Some(id) = params.one("id") else {
        return Err(Problem::bad_request("id is missing: name the execution"));
    };
    one(&app, id, &params).await.map(Json)
}

/// An execution of an activity.
#[utoipa::path(get, path = "/activity-executions/{id}", tag = "instances",
    params(("id" = String, Path), ("workflowInstanceId" = Option<String>, Query,
        description = "Only for an execution whose id does not name its instance")),
    responses((status = 200, body = ExecutionRecord), (status = 404, body = ProblemBody)))]
pub(super) async fn get(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    params: Params,
) -> Result<Json<ExecutionRecord>, Problem> {
    one(&app, &id, &params).await.map(Json)
}

async fn one(app: &App, id: &str, params: &Params) -> Result<ExecutionRecord, Problem> {
    let executions = around(app, id, params).await?;
    executions.get(id).cloned().ok_or_else(|| missing(id))
}

/// The executions of the instance that this one belongs to.
async fn around(app: &App, id: &str, params: &Params) -> Result<Executions, Problem> {
    bounds::name("id", id)?;
    let instance = match params.one("workflowInstanceId") {
        Some(instance) => record::id(instance)?,
        None => instance_in(id)?,
    };
    let seen = record::find(app, &instance).await?.ok_or_else(|| missing(id))?;
    Executions::of(app, &seen).await
}

/// A chain of executions.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CallStack {
    activity_execution_id: String,
    /// The outermost execution first.
    items: Vec<ExecutionRecord>,
    total_count: u64,
}

/// An execution, and those around it: the outermost first.
#[utoipa::path(get, path = "/activity-executions/{id}/call-stack", tag = "instances",
    params(("id" = String, Path),
        ("includeCrossWorkflowChain" = Option<bool>, Query,
            description = "With the executions of the instances that waited for this one; the default"),
        ("skip" = Option<u64>, Query), ("take" = Option<u64>, Query)),
    responses((status = 200, body = CallStack), (status = 404, body = ProblemBody)))]
pub(super) async fn call_stack(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    params: Params,
) -> Result<Json<CallStack>, Problem> {
    let page = Part::of(&params)?.page()?;
    let crosses = params.flag("includeCrossWorkflowChain")?.unwrap_or(true);
    let executions = around(&app, &id, &params).await?;
    let mut chain: Vec<_> = executions.chain(&id).into_iter().cloned().collect();
    if chain.is_empty() {
        return Err(missing(&id));
    }
    for _ in 1..INSTANCES_MAX {
        let Some((parent, waiting)) = outside(&app, chain.first(), crosses).await? else { break };
        if let Some(outermost) = chain.first_mut() {
            outermost.scheduling_activity_execution_id = Some(waiting.clone());
        }
        chain.splice(..0, parent.chain(&waiting).into_iter().cloned());
    }
    let found = page.of(chain.into_iter());
    Ok(Json(CallStack { activity_execution_id: id, items: found.items, total_count: found.total }))
}

/// The executions of the instance that started this workflow, and the one among them that waits for it.
async fn outside(
    app: &App,
    outermost: Option<&ExecutionRecord>,
    crosses: bool,
) -> Result<Option<(Executions, String)>, Problem> {
    let Some(outermost) = outermost.filter(|_| crosses) else { return Ok(None) };
    if outermost.scheduling_workflow_instance_id.is_none() {
        return Ok(None);
    }
    let own = instance_in(&outermost.summary.id)?;
    let Some(seen) = record::find(app, &own).await? else { return Ok(None) };
    let Some(parent) = &seen.instance.parent else { return Ok(None) };
    let Some(bookmark_id) = &parent.bookmark_id else { return Ok(None) };
    let Some(around) = record::find(app, &parent.instance_id).await? else { return Ok(None) };
    let bookmark = around.state().bookmarks.get(bookmark_id);
    let waiting = bookmark.map(|found| found.activity_instance_id.clone());
    // One that waits no more was named when this instance started.
    let named = seen.state().parent.as_ref().and_then(|parent| parent.activity_instance_id.clone());
    let Some(waiting) = waiting.or(named) else { return Ok(None) };
    let executions = Executions::of(app, &around).await?;
    let is_there = executions.get(&waiting).is_some();
    Ok(is_there.then_some((executions, waiting)))
}

/// The activities to count.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReportRequest {
    workflow_instance_id: Option<String>,
    /// Their paths; all activities if there are none.
    activity_node_ids: Option<Vec<String>>,
}

/// The executions of activities, counted.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    /// One for each activity that has run.
    stats: Vec<ExecutionStats>,
    /// The journal is longer than what is read at once.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_cut: bool,
}

/// Counts the executions of activities of an instance.
#[utoipa::path(post, path = "/activity-executions/report", tag = "instances",
    request_body = ReportRequest,
    responses((status = 200, body = Report), (status = 400, body = ProblemBody)))]
pub(super) async fn report(
    State(app): State<Arc<App>>,
    Body(request): Body<ReportRequest>,
) -> Result<Json<Report>, Problem> {
    let Some(id) = request.workflow_instance_id.filter(|id| !id.is_empty()) else {
        let detail = "workflowInstanceId is missing: name the instance";
        return Err(Problem::bad_request(detail));
    };
    let node_ids = request.activity_node_ids.unwrap_or_default();
    bounds::list("activityNodeIds", &node_ids)?;
    let Some(seen) = record::find(&app, &record::id(&id)?).await? else {
        return Ok(Json(Report { stats: Vec::new(), is_cut: false }));
    };
    let executions = Executions::of(&app, &seen).await?;
    let stats = executions.stats(&node_ids);
    Ok(Json(Report { stats, is_cut: executions.is_cut }))
}
