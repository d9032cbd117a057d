//! Reading workflow instances, and removing them.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use model::{DefinitionId, InstanceId, SubStatus, Timestamp, VersionId, limits};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::{
    DefinitionFilter, InstanceFilter, InstanceOrder, Page, TimeColumn, TimeFilter, TimeOperator,
};
use utoipa::ToSchema;

use super::resume::cancel_and_wait;
use super::searching::{self, VariableFilter};
use crate::body::Params;
use crate::paging::Part;
use crate::pipeline::identify::Asking;
use crate::present::{self, InstanceSummary, Paged, shape};
use crate::problem::ProblemBody;
use crate::{App, Problem, bounds, record};

/// The system definitions that a filter can name: a database binds each of them.
const SYSTEMS_MAX: usize = 10_000;
/// A sub-status of Elsa's that no instance has here: a filter for it finds nothing.
const INTERRUPTED: &str = "Interrupted";

/// The filter, in Elsa's words.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListRequest {
    /// From 0.
    pub(super) page: Option<u64>,
    pub(super) page_size: Option<u64>,
    pub(super) skip: Option<u64>,
    pub(super) take: Option<u64>,
    /// Part of id, name, correlation id or definition id.
    pub(super) search_term: Option<String>,
    pub(super) ids: Option<Vec<String>>,
    pub(super) definition_id: Option<String>,
    pub(super) definition_ids: Option<Vec<String>>,
    pub(super) definition_version_id: Option<String>,
    pub(super) correlation_id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) version: Option<u32>,
    pub(super) has_incidents: Option<bool>,
    /// Instances of system definitions only, or of others only.
    pub(super) is_system: Option<bool>,
    /// `Running` or `Finished`.
    pub(super) status: Option<String>,
    pub(super) statuses: Option<Vec<String>>,
    /// `Pending`, `Executing`, `Suspended`, `Finished`, `Cancelled` or `Faulted`; no instance is
    /// `Interrupted`.
    pub(super) sub_status: Option<String>,
    pub(super) sub_statuses: Option<Vec<String>>,
    /// `Created` (default), `UpdatedAt`, `LastExecuted`, `Finished` or `Name`.
    pub(super) order_by: Option<String>,
    /// `Descending` (default) or `Ascending`.
    pub(super) order_direction: Option<String>,
    pub(super) timestamp_filters: Option<Vec<TimestampFilter>>,
    /// All of these comparisons with searchable variables.
    pub(super) variable_filters: Option<Vec<VariableFilter>>,
}

/// One comparison with a time.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TimestampFilter {
    /// `CreatedAt`, `UpdatedAt` or `FinishedAt`.
    column: String,
    /// `Is`, `IsNot`, `LessThan`, `GreaterThan`, `LessThanOrEqual` or `GreaterThanOrEqual`.
    operator: String,
    /// RFC 3339.
    timestamp: String,
}

/// Lists instances, newest first.
#[utoipa::path(get, path = "/workflow-instances", tag = "instances",
    params(("page" = Option<u64>, Query, description = "From 0"), ("pageSize" = Option<u64>, Query),
        ("searchTerm" = Option<String>, Query), ("definitionId" = Option<String>, Query),
        ("definitionIds" = Option<Vec<String>>, Query), ("correlationId" = Option<String>, Query),
        ("name" = Option<String>, Query), ("version" = Option<u32>, Query),
        ("hasIncidents" = Option<bool>, Query), ("isSystem" = Option<bool>, Query), ("status" = Option<String>, Query),
        ("subStatus" = Option<String>, Query), ("orderBy" = Option<String>, Query),
        ("orderDirection" = Option<String>, Query),
        ("variable" = Option<Vec<String>>, Query, example = json!(["Amount:gte:100"]),
            description = "A comparison with a searchable variable, as `name:operator:value`, repeated for more: `variable=Amount:gte:100&variable=Customer:prefix:Mu`. The operators are those of `VariableFilter`.")),
    responses((status = 200, body = Paged<InstanceSummary>), (status = 400, body = ProblemBody)))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<Paged<InstanceSummary>>, Problem> {
    let list = |name: &str| Some(params.many(name)).filter(|values| !values.is_empty());
    let text = |name: &str| params.one(name).map(str::to_owned);
    let comparisons = params.whole("variable").into_iter().map(VariableFilter::parse);
    let request = ListRequest {
        page: params.read("page")?,
        page_size: params.read("pageSize")?,
        skip: params.read("skip")?,
        take: params.read("take")?,
        search_term: text("searchTerm"),
        ids: list("ids"),
        definition_id: text("definitionId"),
        definition_ids: list("definitionIds"),
        definition_version_id: text("definitionVersionId"),
        correlation_id: text("correlationId"),
        name: text("name"),
        version: params.read("version")?,
        has_incidents: params.flag("hasIncidents")?,
        is_system: params.flag("isSystem")?,
        status: None,
        statuses: list("status").or_else(|| list("statuses")),
        sub_status: None,
        sub_statuses: list("subStatus").or_else(|| list("subStatuses")),
        order_by: text("orderBy"),
        order_direction: text("orderDirection"),
        timestamp_filters: None,
        variable_filters: Some(comparisons.collect::<Result<_, _>>()?),
    };
    listed(&app, request).await
}

/// Lists the instances that match a request.
pub(super) async fn listed(
    app: &App,
    mut request: ListRequest,
) -> Result<Json<Paged<InstanceSummary>>, Problem> {
    request.check()?;
    let page = request.part().page()?;
    let is_system = request.is_system;
    let variables = request.variable_filters.take().unwrap_or_default();
    let none = || Ok(Json(Paged { items: Vec::new(), total_count: 0 }));
    let Some(mut filter) = request.filter()? else { return none() };
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
            return none();
        }
    }
    searching::resolve(app, &mut filter, &variables).await?;
    let found = app.cx.store.list(&filter, page).await?;
    let items = found.items.iter().map(InstanceSummary::from).collect();
    Ok(Json(Paged { items, total_count: found.total }))
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

impl ListRequest {
    fn part(&self) -> Part {
        Part { page: self.page, page_size: self.page_size, skip: self.skip, take: self.take }
    }

    /// The same list, of the part that the query names.
    pub(super) fn within(self, asked: Part) -> Result<Self, Problem> {
        let Part { page, page_size, skip, take } = asked.or(self.part())?;
        Ok(Self { page, page_size, skip, take, ..self })
    }

    /// Refuses lists and names that are too long.
    fn check(&self) -> Result<(), Problem> {
        for (what, text) in [
            ("searchTerm", &self.search_term),
            ("definitionId", &self.definition_id),
            ("definitionVersionId", &self.definition_version_id),
            ("correlationId", &self.correlation_id),
            ("name", &self.name),
        ] {
            bounds::optional(what, text.as_deref())?;
        }
        for (what, items) in [
            ("ids", &self.ids),
            ("definitionIds", &self.definition_ids),
            ("statuses", &self.statuses),
            ("subStatuses", &self.sub_statuses),
        ] {
            bounds::list(what, items.as_deref().unwrap_or_default())?;
        }
        bounds::count("timestampFilters", self.timestamp_filters.as_ref().map_or(0, Vec::len))?;
        bounds::version(self.version)
    }

    /// The filter, once its lists and names are found to be short enough.
    pub(super) fn checked(self) -> Result<Option<InstanceFilter>, Problem> {
        self.check()?;
        self.filter()
    }

    /// The filter without its comparisons with variables, which [`searching::resolve`] adds; `None`
    /// if its members contradict each other, so that no instance matches.
    fn filter(self) -> Result<Option<InstanceFilter>, Problem> {
        let sub_statuses = match self.sub_statuses()? {
            Some(none) if none.is_empty() => return Ok(None),
            Some(some) => some,
            None => Vec::new(),
        };
        let order = self.order()?;
        let times = self.timestamp_filters.unwrap_or_default();
        let times = times.iter().map(TimestampFilter::read).collect::<Result<_, _>>()?;
        let definitions = self.definition_ids.unwrap_or_default().into_iter();
        let ids = self.ids.unwrap_or_default();
        Ok(Some(InstanceFilter {
            ids: ids.into_iter().map(InstanceId::new).collect(),
            definition_ids: definitions
                .chain(self.definition_id.filter(|id| !id.is_empty()))
                .map(DefinitionId::new)
                .collect(),
            excluded_definition_ids: Vec::new(),
            version_id: self.definition_version_id.filter(|id| !id.is_empty()).map(VersionId::new),
            definition_version: self.version,
            sub_statuses,
            correlation_id: self.correlation_id.filter(|id| !id.is_empty()),
            name: self.name.filter(|name| !name.is_empty()),
            has_incidents: self.has_incidents,
            search: self.search_term.filter(|term| !term.is_empty()),
            times,
            values: Vec::new(),
            order,
        }))
    }

    /// The sub-statuses that match both kinds of status; `None` if the request has neither.
    fn sub_statuses(&self) -> Result<Option<Vec<SubStatus>>, Problem> {
        let all = |one: &Option<String>, many: &Option<Vec<String>>| -> Vec<String> {
            let many = many.iter().flatten().cloned();
            one.iter().cloned().chain(many).filter(|text| !text.is_empty()).collect()
        };
        let mains = all(&self.status, &self.statuses);
        let subs = all(&self.sub_status, &self.sub_statuses);
        if mains.is_empty() && subs.is_empty() {
            return Ok(None);
        }
        let ends = vec![SubStatus::Finished, SubStatus::Cancelled, SubStatus::Faulted];
        let mut fitting = if mains.is_empty() {
            [present::running(), ends].concat()
        } else {
            let mut fitting = Vec::new();
            for main in &mains {
                fitting.extend(match main.to_ascii_lowercase().as_str() {
                    "running" => present::running(),
                    "finished" => ends.clone(),
                    _ => {
                        return Err(Problem::bad_request(format!(
                            "status {main:?} is not valid: use Running or Finished"
                        )));
                    }
                });
            }
            fitting
        };
        if !subs.is_empty() {
            let known = subs.iter().filter(|sub| !sub.eq_ignore_ascii_case(INTERRUPTED));
            let wanted: Result<Vec<SubStatus>, _> = known.map(|sub| sub.parse()).collect();
            let wanted = wanted.map_err(Problem::bad_request)?;
            fitting.retain(|status| wanted.contains(status));
        }
        Ok(Some(fitting))
    }

    fn order(&self) -> Result<Option<InstanceOrder>, Problem> {
        let ascending = match self.order_direction.as_deref() {
            None | Some("") => false,
            Some(text) if text.eq_ignore_ascii_case("Ascending") => true,
            Some(text) if text.eq_ignore_ascii_case("Descending") => false,
            Some(text) => {
                return Err(Problem::bad_request(format!(
                    "orderDirection {text:?} is not valid: use Ascending or Descending"
                )));
            }
        };
        let by = match self.order_by.as_deref().map(str::to_ascii_lowercase).as_deref() {
            None | Some("" | "created" | "createdat") => Some(TimeColumn::CreatedAt),
            Some("updatedat" | "updated" | "lastexecuted") => Some(TimeColumn::UpdatedAt),
            Some("finished" | "finishedat") => Some(TimeColumn::FinishedAt),
            Some("name") => None,
            Some(other) => {
                return Err(Problem::bad_request(format!(
                    "orderBy {other:?} is not valid: use Created, UpdatedAt, \
                     LastExecuted, Finished or Name"
                )));
            }
        };
        Ok(Some(InstanceOrder { by, ascending }))
    }
}

impl TimestampFilter {
    fn read(&self) -> Result<TimeFilter, Problem> {
        let column = match self.column.to_ascii_lowercase().as_str() {
            "createdat" => TimeColumn::CreatedAt,
            "updatedat" => TimeColumn::UpdatedAt,
            "finishedat" => TimeColumn::FinishedAt,
            other => {
                return Err(Problem::bad_request(format!(
                    "column {other:?} is not valid: use CreatedAt, UpdatedAt or FinishedAt"
                )));
            }
        };
        let operator = match self.operator.to_ascii_lowercase().as_str() {
            "is" => TimeOperator::Is,
            "isnot" => TimeOperator::IsNot,
            "lessthan" => TimeOperator::LessThan,
            "greaterthan" => TimeOperator::GreaterThan,
            "lessthanorequal" => TimeOperator::LessThanOrEqual,
            "greaterthanorequal" => TimeOperator::GreaterThanOrEqual,
            other => {
                return Err(Problem::bad_request(format!(
                    "operator {other:?} is not valid: use Is, IsNot, LessThan, GreaterThan, \
                     LessThanOrEqual or GreaterThanOrEqual"
                )));
            }
        };
        let at = Timestamp::parse(&self.timestamp)
            .map_err(|error| Problem::bad_request(error.to_string()))?;
        Ok(TimeFilter { column, operator, at })
    }
}

/// An instance, with its state.
#[utoipa::path(get, path = "/workflow-instances/{id}", tag = "instances",
    params(("id" = String, Path)),
    responses((status = 200, body = shape::instance::InstanceDetail),
        (status = 404, body = ProblemBody)))]
pub(super) async fn get(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, Problem> {
    let seen = record::get(&app, &record::id(&id)?).await?;
    let mut value = json!(InstanceSummary::from(&seen.instance));
    if let Some(members) = value.as_object_mut() {
        members.insert("isSystem".to_owned(), json!(seen.is_system(&app).await));
        members.insert("workflowState".to_owned(), seen.view(&app).await);
    }
    Ok(Json(value))
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
) -> Result<Json<Value>, Problem> {
    let seen = record::get(&app, &record::id(&id)?).await?;
    let view = seen.view(&app).await;
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
    Ok(Json(json!({"count": items.len(), "items": items})))
}

/// The open bookmarks of an instance.
#[utoipa::path(get, path = "/workflow-instances/{id}/bookmarks", tag = "instances",
    params(("id" = String, Path)),
    responses((status = 200, body = shape::Items<shape::instance::OpenBookmark>), (status = 404, body = ProblemBody)))]
pub(super) async fn bookmarks(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, Problem> {
    let seen = record::get(&app, &record::id(&id)?).await?;
    let items: Vec<_> = seen.open().map(engine::bookmark).collect();
    Ok(Json(json!({"count": items.len(), "items": items})))
}

/// Cancels an instance if it is not over, and removes it.
#[utoipa::path(delete, path = "/workflow-instances/{id}", tag = "instances",
    params(("id" = String, Path)),
    responses((status = 204), (status = 404, body = ProblemBody),
        (status = 503, body = ProblemBody, description = "Cancelling it takes longer: try again")))]
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
    let Some(seen) = record::find(app, id).await? else { return Ok(false) };
    if !seen.status().is_final() {
        let reason = Some("to be deleted".to_owned());
        let status = cancel_and_wait(app, asking, id, reason).await?.status;
        if !status.is_some_and(SubStatus::is_final) {
            return Err(Problem::unavailable(format!(
                "instance {id} is being cancelled, which takes longer: delete it again in a moment"
            )));
        }
    }
    Ok(app.cx.store.delete(id).await?)
}
