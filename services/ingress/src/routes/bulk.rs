//! One action on many definitions or instances.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use model::{DefinitionId, InstanceId, Map, VersionId, limits};
use serde::Deserialize;
use serde_json::{Value, json};
use store::{InstanceFilter, InstanceOrder, Page, VersionOption};
use utoipa::ToSchema;

use super::instances::{COUNTED_MAX, remove};
use super::plans::PlanFilter;
use super::removal::{Removal, remove_all};
use super::resume::cancel_and_wait;
use super::side_by_side::{side_by_side, while_it_works};
use crate::auth::caller::Caller;
use crate::body::Body;
use crate::pipeline::identify::Asking;
use crate::present::shape;
use crate::problem::ProblemBody;
use crate::publication::Precondition;
use crate::{App, Problem, present, publication};

/// The instances that one call removes at most if a filter selects them.
const REMOVED_MAX: u64 = 250;
/// The order in which a filter's instances are removed: those that come meanwhile are the last ones.
const OLDEST: InstanceOrder = InstanceOrder { ascending: true, ..InstanceOrder::NEWEST };

/// The definitions to act on.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DefinitionIds {
    definition_ids: Option<Vec<String>>,
}

impl DefinitionIds {
    fn read(self) -> Result<Vec<DefinitionId>, Problem> {
        let ids = self.definition_ids.unwrap_or_default();
        bounded(ids.len())?;
        Ok(each_once(ids.into_iter().map(DefinitionId::new)))
    }
}

/// Refuses more items than one request may have.
pub(super) fn bounded(count: usize) -> Result<(), Problem> {
    match u64::try_from(count) {
        Ok(count) if count <= limits::PAGE_ITEMS_MAX => Ok(()),
        _ => Err(Problem::bad_request(format!(
            "{count} items are too many: send at most {}",
            limits::PAGE_ITEMS_MAX
        ))),
    }
}

/// These ids in their order; one that is named again is left out.
pub(super) fn each_once<T: Clone + Ord>(ids: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut seen = BTreeSet::new();
    ids.into_iter().filter(|id| seen.insert(id.clone())).collect()
}

/// Publishes the latest versions of these definitions.
#[utoipa::path(post, path = "/bulk-actions/publish/workflow-definitions/by-definition-ids", tag = "definitions",
    request_body = DefinitionIds,
    responses((status = 200, body = shape::bulk::Publications), (status = 400, body = ProblemBody)))]
pub(super) async fn publish(
    State(app): State<Arc<App>>,
    caller: Caller,
    Body(request): Body<DefinitionIds>,
) -> Result<Json<Value>, Problem> {
    let (mut published, mut already) = (Vec::new(), Vec::new());
    let (mut not_found, mut failed, mut problems) = (Vec::new(), Vec::new(), Map::new());
    let (mut warnings, mut consumers) = (Map::new(), Vec::new());
    for id in request.read()? {
        let is_known = app.cx.store.definition(&id, VersionOption::Latest).await?.is_some();
        match publication::publish(&app, &id, &Precondition::None).await {
            _ if !is_known => not_found.push(id),
            Ok(saved) if saved.already_published => already.push(id),
            Ok(saved) => {
                consumers.extend(saved.consumers.into_iter().map(|used| used.definition_id));
                if !saved.warnings.is_empty() {
                    warnings.insert(id.to_string(), messages(&saved.warnings));
                }
                let details = json!({"version": saved.definition.version});
                app.audit_later(&caller, "definition.publish", id.as_str(), details).await;
                published.push(id);
            }
            Err(problem) => {
                problems.insert(id.to_string(), json!(problem.texts()));
                failed.push(id);
            }
        }
    }
    Ok(Json(json!({
        "published": published, "alreadyPublished": already, "notFound": not_found,
        "skipped": [], "updatedConsumers": consumers, "failed": failed, "problems": problems,
        "warnings": warnings,
    })))
}

/// The messages of these warnings.
fn messages(warnings: &[Value]) -> Value {
    warnings.iter().map(|warning| warning["message"].clone()).collect()
}

/// Retracts these definitions.
#[utoipa::path(post, path = "/bulk-actions/retract/workflow-definitions/by-definition-ids", tag = "definitions",
    request_body = DefinitionIds,
    responses((status = 200, body = shape::bulk::Retractions), (status = 400, body = ProblemBody)))]
pub(super) async fn retract(
    State(app): State<Arc<App>>,
    caller: Caller,
    Body(request): Body<DefinitionIds>,
) -> Result<Json<Value>, Problem> {
    let (mut retracted, mut not_published, mut not_found) = (Vec::new(), Vec::new(), Vec::new());
    for id in request.read()? {
        match publication::retract(&app, &id, &Precondition::None).await? {
            Some(_) => {
                app.audit_later(&caller, "definition.retract", id.as_str(), Value::Null).await;
                retracted.push(id);
            }
            None if publication::latest(&app, &id).await.is_ok() => not_published.push(id),
            None => not_found.push(id),
        }
    }
    Ok(Json(json!({
        "retracted": retracted, "alreadyRetracted": not_published, "notPublished": not_published,
        "notFound": not_found, "skipped": [],
    })))
}

/// Removes these definitions, at most 1000 in one call, except those that unfinished instances run or that
/// other definitions use as an activity. Where some stay, the others are removed all the same, and the
/// answer is a problem.
#[utoipa::path(post, path = "/bulk-actions/delete/workflow-definitions/by-definition-id", tag = "definitions",
    request_body = DefinitionIds,
    responses((status = 200, body = shape::bulk::Deletions), (status = 400, body = ProblemBody),
        (status = 409, body = ProblemBody, description = "Some stay: `deleted` is the number of those that \
            are removed, `failed` has the ids of the others, and `problems` the reasons by id")))]
pub(super) async fn delete_definitions(
    State(app): State<Arc<App>>,
    caller: Caller,
    Body(request): Body<DefinitionIds>,
) -> Result<Json<Value>, Problem> {
    let removals = request.read()?.into_iter().map(Removal::Definition).collect();
    remove_all(&app, &caller, removals, "definitions").await
}

/// Announces the published versions of these definitions to all nodes again; without ids, of all
/// definitions, if there are at most 1000. Nodes follow by themselves: this is for who does not want to wait.
#[utoipa::path(post, path = "/actions/workflow-definitions/refresh", tag = "definitions",
    request_body = DefinitionIds,
    responses((status = 200, body = shape::bulk::Refreshed), (status = 400, body = ProblemBody)))]
pub(super) async fn refresh(
    State(app): State<Arc<App>>,
    caller: Caller,
    Body(request): Body<DefinitionIds>,
) -> Result<Json<Value>, Problem> {
    announced(&app, &caller, request).await
}

/// The same as `refresh`: definitions are in the database alone, so there is nothing else to load.
#[utoipa::path(post, path = "/actions/workflow-definitions/reload", tag = "definitions",
    request_body = DefinitionIds,
    responses((status = 200, body = shape::bulk::Refreshed), (status = 400, body = ProblemBody)))]
pub(super) async fn reload(
    State(app): State<Arc<App>>,
    caller: Caller,
    Body(request): Body<DefinitionIds>,
) -> Result<Json<Value>, Problem> {
    announced(&app, &caller, request).await
}

async fn announced(
    app: &Arc<App>,
    caller: &Caller,
    request: DefinitionIds,
) -> Result<Json<Value>, Problem> {
    let mut ids = request.read()?;
    if ids.is_empty() {
        let published = app.cx.store.published_versions().await?;
        ids = published.into_iter().map(|version| version.definition_id).collect();
        bounded(ids.len())?;
    }
    let announcements = ids.clone().into_iter().map(|id| {
        let app = Arc::clone(app);
        async move { publication::announce_again(&app, &id).await }
    });
    let told = side_by_side(announcements).await;
    let (mut refreshed, mut not_found) = (Vec::new(), Vec::new());
    for (id, told) in ids.iter().zip(told) {
        if !told? {
            not_found.push(id);
            continue;
        }
        app.audit_later(caller, "definition.refresh", id.as_str(), Value::Null).await;
        refreshed.push(id);
    }
    Ok(Json(json!({"refreshed": refreshed, "notFound": not_found})))
}

/// The instances to act on: by id, or all of a definition.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct InstanceIds {
    ids: Option<Vec<String>>,
    definition_id: Option<String>,
    definition_version_id: Option<String>,
    workflow_definition_id: Option<String>,
    workflow_definition_ids: Option<Vec<String>>,
    /// Of `definitionId`: only instances of this version. `Latest`, `Published`, a number …
    version_options: Option<String>,
}

impl InstanceIds {
    /// The ids, at most one page. If the filter is a definition and `unfinished_only` is set, those
    /// of unfinished instances.
    async fn find(self, app: &App, unfinished_only: bool) -> Result<Vec<InstanceId>, Problem> {
        let mut ids: Vec<_> =
            self.ids.unwrap_or_default().into_iter().map(InstanceId::new).collect();
        let of_many = self.workflow_definition_ids.unwrap_or_default();
        let definition_ids: Vec<_> = of_many
            .into_iter()
            .chain(self.definition_id)
            .chain(self.workflow_definition_id)
            .map(DefinitionId::new)
            .collect();
        let mut version_id = self.definition_version_id.map(VersionId::new);
        let option = self.version_options.filter(|option| !option.is_empty());
        let option = option.map(|option| option.parse::<VersionOption>()).transpose();
        let option = option
            .map_err(|error| Problem::bad_request(format!("member versionOptions: {error}")))?;
        let option = option.filter(|option| *option != VersionOption::All);
        if let (None, Some(option), [id]) = (&version_id, option, definition_ids.as_slice()) {
            let Some(found) = app.cx.store.definition(id, option).await? else {
                return Ok(Vec::new());
            };
            version_id = Some(found.id);
        }
        if !definition_ids.is_empty() || version_id.is_some() {
            let filter = InstanceFilter {
                definition_ids,
                version_id,
                sub_statuses: if unfinished_only { present::running() } else { Vec::new() },
                ..InstanceFilter::default()
            };
            let found = app.cx.store.list(&filter, Page::first()).await?;
            ids.extend(found.items.into_iter().map(|instance| instance.id));
        }
        bounded(ids.len())?;
        Ok(each_once(ids))
    }
}

/// Cancels these instances; of a definition, at most 1000 in one call.
#[utoipa::path(post, path = "/bulk-actions/cancel/workflow-instances", tag = "instances",
    request_body = InstanceIds,
    responses((status = 200, body = shape::bulk::Cancellations), (status = 400, body = ProblemBody)))]
pub(super) async fn cancel(
    State(app): State<Arc<App>>,
    asking: Asking,
    Body(request): Body<InstanceIds>,
) -> Result<Json<Value>, Problem> {
    let ids = request.find(&app, true).await?;
    let cancels = ids.into_iter().map(|id| {
        let (app, asking) = (Arc::clone(&app), asking.about(id.as_str()));
        async move {
            // A cancel for an instance that does not exist would never be applied.
            if crate::record::find(&app, &id).await?.is_none_or(|seen| seen.status().is_final()) {
                return Ok(false);
            }
            Ok(cancel_and_wait(&app, &asking, &id, None).await?.by_us)
        }
    });
    let ends: Result<Vec<bool>, Problem> = side_by_side(cancels).await.into_iter().collect();
    let cancelled = ends?.into_iter().filter(|by_us| *by_us).count();
    Ok(Json(json!({"cancelled": cancelled})))
}

/// Removes these instances, and cancels those that are not over. Their children stay. If some cannot be
/// removed, the problem has the number of those that were: `deleted`.
#[utoipa::path(post, path = "/bulk-actions/delete/workflow-instances", tag = "instances",
    request_body = InstanceIds,
    responses((status = 200, body = shape::bulk::Deletions), (status = 400, body = ProblemBody),
        (status = 409, body = ProblemBody, description = "Cancelling one takes longer: try again")))]
pub(super) async fn delete_instances(
    State(app): State<Arc<App>>,
    asking: Asking,
    Body(request): Body<InstanceIds>,
) -> Result<Json<Value>, Problem> {
    let ids = request.find(&app, false).await?;
    let all = ids.len();
    let Removed { count, failure } = removed(&app, &asking, ids).await;
    match failure {
        None => Ok(Json(json!({ "deleted": count }))),
        Some(problem) => {
            let so_far = format!("{count} of {all} instances are removed");
            Err(problem.of(&so_far).with("deleted", count))
        }
    }
}

/// The end of removals.
struct Removed {
    count: usize,
    /// The reason why they ended early.
    failure: Option<Problem>,
}

/// Removes these instances. One that cannot be cancelled in time keeps few of the others back; a database
/// that has no room for one ends it.
async fn removed(app: &Arc<App>, asking: &Asking, ids: Vec<InstanceId>) -> Removed {
    let removals = ids.into_iter().map(|id| {
        let (app, asking) = (Arc::clone(app), asking.about(id.as_str()));
        async move {
            let is_removed = remove(&app, &asking, &id).await?;
            if is_removed {
                let what = "instance.delete";
                app.audit_later(&asking.caller, what, id.as_str(), Value::Null).await;
            }
            Ok::<_, Problem>(is_removed)
        }
    });
    let concerns_all = |problem: &Problem| problem.status().is_server_error();
    let at_once = app.config.removals_at_once;
    let (ends, failure) = while_it_works(removals, at_once, concerns_all).await;
    Removed { count: ends.into_iter().filter(|removed| *removed).count(), failure }
}

/// Removes these instances, and cancels those that are not over: the path of Elsa's clients. Their
/// children stay.
#[utoipa::path(post, path = "/bulk-actions/delete/workflow-instances/by-id", tag = "instances",
    request_body = InstanceIds,
    responses((status = 200, body = shape::bulk::Deletions), (status = 400, body = ProblemBody),
        (status = 409, body = ProblemBody, description = "Cancelling one takes longer: try again")))]
pub(super) async fn delete_instances_by_id(
    state: State<Arc<App>>,
    asking: Asking,
    body: Body<InstanceIds>,
) -> Result<Json<Value>, Problem> {
    delete_instances(state, asking, body).await
}

/// Removes instances that a filter selects, and cancels those that are not over: the oldest 250 in one
/// call. `remaining` says how many it selects after that: send the same again until there are none. If some
/// cannot be removed, `stoppedBy` says why; if none could, that is a problem. The filter is that of a plan,
/// without `activityFilters`; an empty one selects nothing, unless it says so. Children of these instances
/// stay, unless the filter selects them, too: `parentWorkflowInstanceIds` selects the children of one, also
/// after it is removed.
#[utoipa::path(post, path = "/bulk-actions/delete/workflow-instances/by-filter", tag = "instances",
    request_body = PlanFilter,
    responses((status = 200, body = shape::bulk::FilteredDeletions), (status = 400, body = ProblemBody),
        (status = 409, body = ProblemBody, description = "Cancelling one takes longer: try again")))]
pub(super) async fn delete_instances_by_filter(
    State(app): State<Arc<App>>,
    asking: Asking,
    Body(filter): Body<PlanFilter>,
) -> Result<Json<Value>, Problem> {
    let Some(selection) = filter.selection(&app).await? else {
        return Ok(Json(json!({"deleted": 0, "remaining": 0})));
    };
    if selection.reads_journals() {
        return Err(Problem::bad_request(
            "activityFilters select nothing to remove: send the filter to /alterations/dry-run, and \
             the ids of its answer to /bulk-actions/delete/workflow-instances",
        ));
    }
    let filter = InstanceFilter { order: Some(OLDEST), ..selection.instances };
    let found = app.cx.store.list(&filter, Page::new(0, REMOVED_MAX)).await?;
    let ids = found.items.into_iter().map(|instance| instance.id).collect();
    let Removed { count: deleted, failure } = removed(&app, &asking, ids).await;
    let stopped_by = match failure {
        Some(problem) if deleted == 0 => return Err(problem),
        failure => failure.map(|problem| problem.detail().to_owned()),
    };
    let remaining = match app.cx.store.count(&filter, COUNTED_MAX).await {
        Ok(remaining) => remaining,
        Err(error) if deleted == 0 => return Err(error.into()),
        // What was removed is said all the same.
        Err(_) => found.total.saturating_sub(deleted as u64).min(COUNTED_MAX),
    };
    let mut answer = json!({"deleted": deleted, "remaining": remaining});
    if let Some(reason) = stopped_by {
        answer["stoppedBy"] = json!(reason);
    }
    Ok(Json(answer))
}
