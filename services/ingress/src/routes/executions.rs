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

/// What the query of a list may have, beside the part of it.
const FILTERS: [&str; 4] = ["workflowInstanceId", "activityNodeId", "activityId", "completed"];

/// Records of an instance.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Listed<T> {
    items: Vec<T>,
    /// The number of all records that fit, as Elsa has it.
    count: usize,
    /// The same number, as other lists have it.
    total_count: usize,
    /// Records are missing: the answer has fewer than there are, by its page or size, the journal is
    /// longer than what is read at once, or executions that repeat others in a long turn are counted
    /// and have none of their own. The report and the count have these, too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_cut: bool,
}

/// The number of executions in an instance.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Counted {
    /// The number of all executions that fit, also of those that have no record.
    count: u64,
    /// The journal is longer than what is read at once: older executions are not counted.
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
        self.is_of(&summary.activity_node_id, &summary.activity_id)
            && self.completed.is_none_or(|wanted| wanted == summary.completed_at.is_some())
    }

    fn is_of(&self, node_id: &str, activity_id: &str) -> bool {
        self.node_id.as_ref().is_none_or(|wanted| wanted == node_id)
            && self.activity_id.as_ref().is_none_or(|wanted| wanted == activity_id)
    }

    /// The executions of the instance; none if it is not there, as with Elsa.
    async fn executions(&self, app: &App) -> Result<Option<Executions>, Problem> {
        match record::find(app, &record::id(&self.instance_id)?).await? {
            Some(seen) => Executions::of(app, &seen).await.map(Some),
            None => Ok(None),
        }
    }

    /// The number of the executions that fit, also of those that have no record. Records without a line
    /// for their start, such as those of an instance that came without its journal, are counted, too.
    fn number(&self, executions: &Executions) -> u64 {
        let records = executions.all().iter().filter(|one| self.fits(one)).count() as u64;
        let is_of = |node_id: &str, activity_id: &str| self.is_of(node_id, activity_id);
        executions.count(is_of, self.completed).max(records)
    }

    /// The records that fit.
    async fn list<T>(
        &self,
        app: &App,
        part: Part,
        shown: impl Fn(&ExecutionRecord) -> T,
    ) -> Result<Listed<T>, Problem> {
        // Without a size, all that one answer may have.
        let size = part.page_size.or(part.take).or(Some(limits::PAGE_ITEMS_MAX));
        let page = Part { page_size: size, ..part }.page()?;
        let Some(executions) = self.executions(app).await? else {
            return Ok(Listed { items: Vec::new(), count: 0, total_count: 0, is_cut: false });
        };
        let fitting: Vec<_> = executions.all().iter().filter(|one| self.fits(one)).collect();
        let count = fitting.len();
        let found = page.of(fitting.into_iter());
        let items: Vec<T> = found.items.into_iter().map(shown).collect();
        let is_cut =
            executions.is_cut || self.number(&executions) > count as u64 || items.len() < count;
        Ok(Listed { items, count, total_count: count, is_cut })
    }
}

/// The executions of the activities of an instance, in the order in which they began.
///
/// Without a page and a size the answer has the first 1000. `isCut: true` says that records are missing, also
/// those of other pages.
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
    let part = Part::of_list(&params, &FILTERS)?;
    Ok(Json(Wanted::of(&params)?.list(&app, part, Clone::clone).await?))
}

/// The same executions, without their values.
///
/// Without a page and a size the answer has the first 1000. `isCut: true` says that records are missing, also
/// those of other pages.
#[utoipa::path(get, path = "/activity-execution-summaries/list", tag = "instances",
    params(("workflowInstanceId" = String, Query, min_length = 1), ("activityNodeId" = Option<String>, Query),
        ("activityId" = Option<String>, Query), ("completed" = Option<bool>, Query),
        ("skip" = Option<u64>, Query), ("take" = Option<u64>, Query)),
    responses((status = 200, body = Listed<ExecutionSummary>), (status = 400, body = ProblemBody)))]
pub(super) async fn summaries(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<Listed<ExecutionSummary>>, Problem> {
    let part = Part::of_list(&params, &FILTERS)?;
    let summary = |record: &ExecutionRecord| record.summary.clone();
    Ok(Json(Wanted::of(&params)?.list(&app, part, summary).await?))
}

/// The number of executions in an instance, as the report has it: also of those that repeat others in a
/// long turn and have no record of their own.
///
/// With `isCut: true` the journal is longer than what is read at once, and older executions are not counted.
#[utoipa::path(get, path = "/activity-executions/count", tag = "instances",
    params(("workflowInstanceId" = String, Query, min_length = 1), ("activityNodeId" = Option<String>, Query),
        ("activityId" = Option<String>, Query), ("completed" = Option<bool>, Query)),
    responses((status = 200, body = Counted), (status = 400, body = ProblemBody)))]
pub(super) async fn count(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<Counted>, Problem> {
    params.only(&FILTERS)?;
    let wanted = Wanted::of(&params)?;
    let executions = wanted.executions(&app).await?;
    let count = executions.as_ref().map_or(0, |executions| wanted.number(executions));
    Ok(Json(Counted { count, is_cut: executions.is_some_and(|executions| executions.is_cut) }))
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
        ("workflowInstanceId" = Option<String>, Query,
            description = "Only for an execution whose id does not name its instance"),
        ("skip" = Option<u64>, Query), ("take" = Option<u64>, Query)),
    responses((status = 200, body = CallStack), (status = 404, body = ProblemBody)))]
pub(super) async fn call_stack(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    params: Params,
) -> Result<Json<CallStack>, Problem> {
    let filters = ["includeCrossWorkflowChain", "workflowInstanceId"];
    let page = Part::of_list(&params, &filters)?.page()?;
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
    // One that waits no more was named when this instance started.
    let named = seen.state().parent.as_ref().and_then(|parent| parent.activity_instance_id.clone());
    let Some(parent) = seen.into_row().parent else { return Ok(None) };
    let Some(bookmark_id) = &parent.bookmark_id else { return Ok(None) };
    let Some(around) = record::find(app, &parent.instance_id).await? else { return Ok(None) };
    let bookmark = around.state().bookmarks.get(bookmark_id);
    let waiting = bookmark.map(|found| found.activity_instance_id.clone());
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
    bounds::activities("activityNodeIds", &node_ids)?;
    let Some(seen) = record::find(&app, &record::id(&id)?).await? else {
        return Ok(Json(Report { stats: Vec::new(), is_cut: false }));
    };
    let executions = Executions::of(&app, &seen).await?;
    let stats = executions.stats(&node_ids);
    Ok(Json(Report { stats, is_cut: executions.is_cut }))
}
