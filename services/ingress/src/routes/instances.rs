//! Reading workflow instances, and removing them.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use model::{DefinitionId, InstanceId, SubStatus, limits};
use serde_json::{Value, json};
use store::{DefinitionFilter, InstanceFilter, InstanceOrder, Page};

use super::instance_filter::ListRequest;
use super::resume::cancel_and_wait;
use super::side_by_side::side_by_side;
use super::{cursor, instance_filter, searching};
use crate::body::{Body, Params};
use crate::pipeline::identify::Asking;
use crate::present::{self, InstancePage, InstanceSummary, shape};
use crate::problem::ProblemBody;
use crate::record::{self, Seen};
use crate::{App, Problem};

/// The instances that are counted at most, of one state or of a filter.
pub(super) const COUNTED_MAX: u64 = 100_000;
/// The system definitions that a filter can name: a database binds each of them.
const SYSTEMS_MAX: usize = 10_000;

/// Lists instances, newest first. `nextCursor` of an answer is the `cursor` of the next page: that way
/// the last page of a long list costs as little as the first.
#[utoipa::path(get, path = "/workflow-instances", tag = "instances",
    params(("page" = Option<u64>, Query, description = "From 0"), ("pageSize" = Option<u64>, Query),
        ("searchTerm" = Option<String>, Query), ("definitionId" = Option<String>, Query),
        ("definitionIds" = Option<Vec<String>>, Query), ("correlationId" = Option<String>, Query),
        ("name" = Option<String>, Query), ("version" = Option<u32>, Query),
        ("parentWorkflowInstanceId" = Option<String>, Query), ("cursor" = Option<String>, Query),
        ("hasIncidents" = Option<bool>, Query), ("isSystem" = Option<bool>, Query), ("status" = Option<String>, Query),
        ("subStatus" = Option<String>, Query), ("orderBy" = Option<String>, Query),
        ("orderDirection" = Option<String>, Query),
        ("variable" = Option<Vec<String>>, Query, example = json!(["Amount:gte:100"]),
            description = "A comparison with a searchable variable, as `name:operator:value`, repeated for more: `variable=Amount:gte:100&variable=Customer:prefix:Mu`. The operators are those of `VariableFilter`.")),
    responses((status = 200, body = InstancePage), (status = 400, body = ProblemBody)))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<InstancePage>, Problem> {
    params.only(&instance_filter::in_query())?;
    listed(&app, ListRequest::of(&params)?).await
}

/// Counts the instances that match a filter, by their state. Each figure is counted up to 100000.
#[utoipa::path(get, path = "/workflow-instances/counts", tag = "instances",
    params(("searchTerm" = Option<String>, Query), ("definitionId" = Option<String>, Query),
        ("definitionIds" = Option<Vec<String>>, Query), ("correlationId" = Option<String>, Query),
        ("name" = Option<String>, Query), ("version" = Option<u32>, Query),
        ("parentWorkflowInstanceId" = Option<String>, Query),
        ("hasIncidents" = Option<bool>, Query), ("isSystem" = Option<bool>, Query), ("status" = Option<String>, Query),
        ("subStatus" = Option<String>, Query),
        ("variable" = Option<Vec<String>>, Query, example = json!(["Amount:gte:100"]),
            description = "As for the list")),
    responses((status = 200, body = shape::instance::InstanceCounts), (status = 400, body = ProblemBody)))]
pub(super) async fn counts(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    params.only(&instance_filter::in_query())?;
    counted(&app, ListRequest::of(&params)?).await
}

/// Counts the instances that match a filter, by their state. Each figure is counted up to 100000.
#[utoipa::path(post, path = "/workflow-instances/counts", tag = "instances",
    request_body = ListRequest,
    responses((status = 200, body = shape::instance::InstanceCounts), (status = 400, body = ProblemBody)))]
pub(super) async fn counts_by_post(
    State(app): State<Arc<App>>,
    Body(request): Body<ListRequest>,
) -> Result<Json<Value>, Problem> {
    counted(&app, request).await
}

async fn counted(app: &App, request: ListRequest) -> Result<Json<Value>, Problem> {
    request.check()?;
    let filter = resolved(app, request).await?;
    let known = |status: &SubStatus| {
        let wanted = filter.as_ref().map(|filter| &filter.sub_statuses);
        wanted.is_some_and(|wanted| wanted.is_empty() || wanted.contains(status))
    };
    let of = |status: Option<SubStatus>| {
        let mut narrowed = filter.clone().unwrap_or_default();
        match status {
            Some(status) => narrowed.sub_statuses = vec![status],
            None => narrowed.has_incidents = Some(true),
        }
        // Those without incidents have none with incidents.
        let is_none = match status {
            Some(status) => !known(&status),
            None => filter.as_ref().is_none_or(|filter| filter.has_incidents == Some(false)),
        };
        async move {
            match is_none {
                true => Ok(0),
                false => app.cx.store.count(&narrowed, COUNTED_MAX).await,
            }
        }
    };
    let states = SubStatus::ALL.into_iter().map(Some).chain([None]);
    let counts = side_by_side(states.map(of)).await;
    let mut counts = counts.into_iter().collect::<Result<Vec<u64>, store::Error>>()?;
    let with_incidents = counts.pop().unwrap_or_default();
    let is_cut_short = counts.iter().any(|count| *count >= COUNTED_MAX);
    let total: u64 = counts.iter().sum();
    let counts: Vec<_> = SubStatus::ALL
        .iter()
        .zip(counts)
        .map(
            |(status, count)| json!({"status": status.main(), "subStatus": status, "count": count}),
        )
        .collect();
    Ok(Json(json!({
        "counts": counts,
        "totalCount": total,
        "withIncidents": with_incidents,
        "isCutShort": is_cut_short,
    })))
}

/// Lists the instances that match a request.
pub(super) async fn listed(app: &App, request: ListRequest) -> Result<Json<InstancePage>, Problem> {
    request.check()?;
    let page = request.part().page()?;
    let filter = resolved(app, request).await?;
    let Some(filter) = filter else { return Ok(Json(InstancePage::default())) };
    let found = app.cx.store.list(&filter, page).await?;
    let is_full = found.items.len() as u64 >= page.take();
    let order = filter.order.unwrap_or(InstanceOrder::NEWEST);
    let last = found.items.last().filter(|_| is_full);
    let next_cursor = last.map(|last| cursor::written(order, &order.place(last)));
    let items = found.items.iter().map(InstanceSummary::from).collect();
    Ok(Json(InstancePage { items, total_count: found.total, next_cursor }))
}

/// The filter of a request; none if no instance can match.
async fn resolved(app: &App, mut request: ListRequest) -> Result<Option<InstanceFilter>, Problem> {
    let is_system = request.is_system;
    let variables = request.variable_filters.take().unwrap_or_default();
    let Some(mut filter) = request.filter()? else { return Ok(None) };
    if let Some(wanted) = is_system {
        let systems = system_definitions(app).await?;
        if !wanted {
            filter.excluded_definition_ids = systems;
        } else if filter.definition_ids.is_empty() {
            filter.definition_ids = systems;
        } else {
            filter.definition_ids.retain(|id| systems.contains(id));
        }
        if wanted && filter.definition_ids.is_empty() {
            return Ok(None);
        }
    }
    searching::resolve(app, &mut filter, &variables).await?;
    Ok(Some(filter))
}

/// The definitions whose instances are system instances.
async fn system_definitions(app: &App) -> Result<Vec<DefinitionId>, Problem> {
    let systems = DefinitionFilter { is_system: Some(true), ..DefinitionFilter::default() };
    let mut ids = Vec::new();
    while ids.len() < SYSTEMS_MAX {
        let page = Page::new(ids.len() as u64, limits::PAGE_ITEMS_MAX);
        let found = app.cx.store.definitions(&systems, page).await?;
        let is_last = ids.len() as u64 + found.items.len() as u64 >= found.total;
        ids.extend(found.items.into_iter().map(|definition| definition.definition_id));
        if is_last {
            return Ok(ids);
        }
    }
    Err(Problem::bad_request(format!(
        "there are more than {SYSTEMS_MAX} system definitions: list without isSystem"
    )))
}

/// An instance, with its state.
#[utoipa::path(get, path = "/workflow-instances/{id}", tag = "instances",
    params(("id" = String, Path)),
    responses((status = 200, body = shape::instance::InstanceDetail),
        (status = 404, body = ProblemBody)))]
pub(super) async fn get(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let seen = record::get_to_show(&app, &record::id(&id)?).await?;
    let mut value = json!(InstanceSummary::from(&seen.instance));
    if let Some(members) = value.as_object_mut() {
        members.insert("isSystem".to_owned(), json!(seen.is_system(&app).await));
        members.insert("workflowState".to_owned(), seen.view(&app).await);
    }
    Ok(seen.answer(&app, &value))
}

/// The status of an instance.
#[utoipa::path(get, path = "/workflow-instances/{id}/execution-state", tag = "instances",
    params(("id" = String, Path)),
    responses((status = 200, body = shape::instance::ExecutionState),
        (status = 404, body = ProblemBody)))]
pub(super) async fn execution_state(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, Problem> {
    let seen = record::get(&app, &record::id(&id)?).await?;
    Ok(Json(json!({
        "status": present::main(seen.status()),
        "subStatus": seen.status(),
        "updatedAt": seen.instance.updated_at,
    })))
}

/// The workflow variables of an instance. A searchable one also has `searchable`, what it is compared
/// as, and `isIndexed`: false if its value is of another type, so that no filter finds it.
#[utoipa::path(get, path = "/workflow-instances/{id}/variables", tag = "instances",
    params(("id" = String, Path)),
    responses((status = 200, body = shape::Items<shape::instance::VariableSeen>), (status = 404, body = ProblemBody)))]
pub(super) async fn variables(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    params: Params,
) -> Result<Response, Problem> {
    params.only(&[])?;
    variables_of(&app, &record::id(&id)?).await
}

/// The variables of an instance, with their values.
pub(super) async fn variables_of(app: &App, id: &InstanceId) -> Result<Response, Problem> {
    let seen = record::get_to_show(app, id).await?;
    let view = seen.view(app).await;
    let values = view.get("variables").and_then(Value::as_object).cloned().unwrap_or_default();
    let declared = app.cx.store.version(&seen.instance.version_id).await?;
    let declared = declared.map(|definition| definition.variables).unwrap_or_default();
    let id_of = |name: &str| {
        let found = declared.iter().find(|variable| variable.name == name);
        found.map_or_else(|| name.to_owned(), |variable| variable.id.clone())
    };
    let kinds: BTreeMap<_, _> =
        declared.iter().map(|one| (one.shown_name(), one.searchable().ok().flatten())).collect();
    let indexed = match kinds.values().any(Option::is_some) {
        true => app.cx.store.values(&seen.instance.id).await?,
        false => BTreeMap::new(),
    };
    let item = |(name, value): (&String, &Value)| {
        let mut item = json!({"id": id_of(name), "name": name, "value": value});
        if let Some(Some(kind)) = kinds.get(name.as_str()) {
            item["searchable"] = json!(kind);
            item["isIndexed"] = json!(indexed.contains_key(name));
        }
        item
    };
    let items: Vec<_> = values.iter().map(item).collect();
    Ok(seen.answer(app, &json!({"count": items.len(), "items": items})))
}

/// The open bookmarks of an instance.
#[utoipa::path(get, path = "/workflow-instances/{id}/bookmarks", tag = "instances",
    params(("id" = String, Path)),
    responses((status = 200, body = shape::Items<shape::instance::OpenBookmark>), (status = 404, body = ProblemBody)))]
pub(super) async fn bookmarks(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    params.only(&[])?;
    let seen = record::get(&app, &record::id(&id)?).await?;
    let items: Vec<_> = seen.open().map(engine::bookmark).collect();
    Ok(Json(json!({"count": items.len(), "items": items})))
}

/// Cancels an instance if it is not over, and removes it. Its children stay: select them as a filter with
/// `parentWorkflowInstanceId`, or remove them with `parentWorkflowInstanceIds` of
/// `/bulk-actions/delete/workflow-instances/by-filter`.
#[utoipa::path(delete, path = "/workflow-instances/{id}", tag = "instances",
    params(("id" = String, Path)),
    responses((status = 204), (status = 404, body = ProblemBody),
        (status = 409, body = ProblemBody, description = "Cancelling it takes longer: try again")))]
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    asking: Asking,
) -> Result<StatusCode, Problem> {
    let id = record::id(&id)?;
    if !remove(&app, &asking, &id).await? {
        return Err(Problem::not_found(format!("there is no workflow instance {id}")));
    }
    app.audit(&asking.caller, "instance.delete", id.as_str(), Value::Null).await;
    Ok(StatusCode::NO_CONTENT)
}

/// Cancels an instance and removes it; false if there is none.
pub(super) async fn remove(
    app: &Arc<App>,
    asking: &Asking,
    id: &InstanceId,
) -> Result<bool, Problem> {
    let Some(row) = record::find(app, id).await?.map(Seen::into_row) else { return Ok(false) };
    if !row.status.is_final() {
        let reason = Some("to be deleted".to_owned());
        let status = cancel_and_wait(app, asking, id, reason).await?.status;
        if !status.is_some_and(SubStatus::is_final) {
            let detail = format!(
                "instance {id} is being cancelled, which takes longer: delete it again in a moment"
            );
            return Err(Problem::conflict("contended", detail));
        }
    }
    Ok(app.cx.store.delete(id).await?)
}
