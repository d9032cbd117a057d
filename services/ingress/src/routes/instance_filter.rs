//! The filter of lists of instances, in Elsa's words.

use std::fmt::Display;

use model::{DefinitionId, InstanceId, SubStatus, Timestamp, VersionId};
use serde::{Deserialize, Serialize};
use store::{InstanceFilter, InstanceOrder, TimeColumn, TimeFilter, TimeOperator};
use utoipa::ToSchema;

use super::cursor;
use super::searching::{self, VariableFilter};
use crate::body::{Params, lenient};
use crate::paging::Part;
use crate::{Problem, bounds, present};

/// A sub-status of Elsa's that no instance has here: a filter for it finds nothing.
const INTERRUPTED: &str = "Interrupted";
/// The columns of comparisons with a time.
const COLUMNS: &str = "CreatedAt, UpdatedAt or FinishedAt";
/// The operators of comparisons with a time.
const OPERATORS: &str = "Is, IsNot, LessThan, GreaterThan, LessThanOrEqual or GreaterThanOrEqual";

/// The names that a filter has in a query and in a body, and what says which page it is.
const NAMES: [&str; 22] = [
    "page",
    "pageSize",
    "skip",
    "take",
    "cursor",
    "searchTerm",
    "ids",
    "definitionId",
    "definitionIds",
    "definitionVersionId",
    "correlationId",
    "name",
    "version",
    "parentWorkflowInstanceId",
    "hasIncidents",
    "isSystem",
    "status",
    "statuses",
    "subStatus",
    "subStatuses",
    "orderBy",
    "orderDirection",
];
/// The names that only a query has.
const IN_QUERY: [&str; 1] = ["variable"];
/// The names that only a body has.
const IN_BODY: [&str; 2] = ["timestampFilters", "variableFilters"];
/// The names that the body of a start has, too.
const OF_STARTS: [&str; 3] = ["definitionId", "correlationId", "name"];

/// All names that the query of a list may have.
pub(super) fn in_query() -> Vec<&'static str> {
    [&NAMES[..], &IN_QUERY].concat()
}

/// All names that the body of a list may have.
pub(super) fn in_body() -> Vec<&'static str> {
    [&NAMES[..], &IN_BODY].concat()
}

/// Whether only the body of a list has a member of this name, and that of a start does not.
pub(super) fn is_of_list(name: &str) -> bool {
    let is_in = |names: &[&str]| lenient::is_member(name, names);
    (is_in(&NAMES) || is_in(&IN_BODY)) && !is_in(&OF_STARTS)
}

/// Whether the query has a parameter that only a list has, such as `page`. Elsa Studio sends the page of
/// a POST there.
pub(super) fn is_query_of_list(params: &Params) -> bool {
    params.names().any(|name| is_of_list(name) || lenient::is_member(name, &IN_QUERY))
}

/// The filter, in Elsa's words.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListRequest {
    /// From 0.
    pub(super) page: Option<u64>,
    pub(super) page_size: Option<u64>,
    pub(super) skip: Option<u64>,
    pub(super) take: Option<u64>,
    /// The `nextCursor` of the page before, instead of `page` and `skip`.
    pub(super) cursor: Option<String>,
    /// Part of id, name, correlation id or definition id.
    pub(super) search_term: Option<String>,
    pub(super) ids: Option<Vec<String>>,
    pub(super) definition_id: Option<String>,
    pub(super) definition_ids: Option<Vec<String>>,
    pub(super) definition_version_id: Option<String>,
    pub(super) correlation_id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) version: Option<u32>,
    /// The children of this instance.
    pub(super) parent_workflow_instance_id: Option<String>,
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
    #[serde(default)]
    #[schema(required = true)]
    column: String,
    /// `Is`, `IsNot`, `LessThan`, `GreaterThan`, `LessThanOrEqual` or `GreaterThanOrEqual`.
    #[serde(default)]
    #[schema(required = true)]
    operator: String,
    /// RFC 3339.
    #[serde(default)]
    #[schema(required = true)]
    timestamp: String,
}

impl ListRequest {
    /// The filter that the query of a GET names.
    pub(super) fn of(params: &Params) -> Result<Self, Problem> {
        let list = |name: &str| Some(params.many(name)).filter(|values| !values.is_empty());
        let text = |name: &str| params.one(name).map(str::to_owned);
        let comparisons = params.whole("variable").into_iter().map(VariableFilter::parse);
        Ok(Self {
            page: params.read("page")?,
            page_size: params.read("pageSize")?,
            skip: params.read("skip")?,
            take: params.read("take")?,
            cursor: text("cursor"),
            search_term: text("searchTerm"),
            ids: list("ids"),
            definition_id: text("definitionId"),
            definition_ids: list("definitionIds"),
            definition_version_id: text("definitionVersionId"),
            correlation_id: text("correlationId"),
            name: text("name"),
            version: params.read("version")?,
            parent_workflow_instance_id: text("parentWorkflowInstanceId"),
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
        })
    }

    pub(super) fn part(&self) -> Part {
        Part { page: self.page, page_size: self.page_size, skip: self.skip, take: self.take }
    }

    /// The same list. What the query of a POST names is read instead of what its body says; comparisons
    /// with variables are read from both.
    pub(super) fn within(self, params: &Params) -> Result<Self, Problem> {
        params.only(&in_query())?;
        let asked = Self::of(params)?;
        let Part { page, page_size, skip, take } = asked.part().or(self.part())?;
        // A query has both kinds of status as lists.
        let status = self.status.filter(|_| asked.statuses.is_none());
        let sub_status = self.sub_status.filter(|_| asked.sub_statuses.is_none());
        let mut variables = self.variable_filters.unwrap_or_default();
        variables.extend(asked.variable_filters.unwrap_or_default());
        Ok(Self {
            page,
            page_size,
            skip,
            take,
            cursor: asked.cursor.or(self.cursor),
            search_term: asked.search_term.or(self.search_term),
            ids: asked.ids.or(self.ids),
            definition_id: asked.definition_id.or(self.definition_id),
            definition_ids: asked.definition_ids.or(self.definition_ids),
            definition_version_id: asked.definition_version_id.or(self.definition_version_id),
            correlation_id: asked.correlation_id.or(self.correlation_id),
            name: asked.name.or(self.name),
            version: asked.version.or(self.version),
            parent_workflow_instance_id: asked
                .parent_workflow_instance_id
                .or(self.parent_workflow_instance_id),
            has_incidents: asked.has_incidents.or(self.has_incidents),
            is_system: asked.is_system.or(self.is_system),
            status,
            statuses: asked.statuses.or(self.statuses),
            sub_status,
            sub_statuses: asked.sub_statuses.or(self.sub_statuses),
            order_by: asked.order_by.or(self.order_by),
            order_direction: asked.order_direction.or(self.order_direction),
            timestamp_filters: self.timestamp_filters,
            variable_filters: Some(variables),
        })
    }

    /// Refuses lists and names that are too long, and a part that begins too late.
    pub(super) fn check(&self) -> Result<(), Problem> {
        self.part().page()?;
        for (what, text) in [
            ("searchTerm", &self.search_term),
            ("definitionId", &self.definition_id),
            ("definitionVersionId", &self.definition_version_id),
            ("correlationId", &self.correlation_id),
            ("name", &self.name),
            ("parentWorkflowInstanceId", &self.parent_workflow_instance_id),
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
        let times = self.timestamp_filters.as_deref().unwrap_or_default();
        bounds::count("timestampFilters", times.len())?;
        times.iter().enumerate().try_for_each(|(at, filter)| filter.check(at))?;
        searching::check(self.variable_filters.as_deref().unwrap_or_default())?;
        let skips = self.page.unwrap_or(0) > 0 || self.skip.unwrap_or(0) > 0;
        if skips && self.cursor.as_deref().is_some_and(|cursor| !cursor.is_empty()) {
            return Err(Problem::bad_request(
                "a cursor says where the page begins: use it without page and skip",
            ));
        }
        bounds::version(self.version)
    }

    /// The filter, once its lists and names are found to be short enough.
    pub(super) fn checked(self) -> Result<Option<InstanceFilter>, Problem> {
        self.check()?;
        self.filter()
    }

    /// The filter without its comparisons with variables, which [`searching::resolve`] adds; `None`
    /// if its members contradict each other, so that no instance matches.
    pub(super) fn filter(self) -> Result<Option<InstanceFilter>, Problem> {
        let sub_statuses = match self.sub_statuses()? {
            Some(none) if none.is_empty() => return Ok(None),
            Some(some) => some,
            None => Vec::new(),
        };
        let order = self.order()?;
        let cursor = self.cursor.as_deref().filter(|cursor| !cursor.is_empty());
        let after = cursor.map(|cursor| cursor::read(cursor, order)).transpose()?;
        let parent = self.parent_workflow_instance_id.filter(|id| !id.is_empty());
        let times = self.timestamp_filters.unwrap_or_default();
        let times = times.iter().enumerate().map(|(at, filter)| filter.read(at));
        let times = times.collect::<Result<_, _>>()?;
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
            parent_id: parent.map(InstanceId::new),
            has_incidents: self.has_incidents,
            search: self.search_term.filter(|term| !term.is_empty()),
            times,
            values: Vec::new(),
            order: Some(order),
            after,
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

    fn order(&self) -> Result<InstanceOrder, Problem> {
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
            Some(_) => {
                let other = self.order_by.as_deref().unwrap_or_default();
                return Err(Problem::bad_request(format!(
                    "orderBy {other:?} is not valid: use Created, UpdatedAt, \
                     LastExecuted, Finished or Name"
                )));
            }
        };
        Ok(InstanceOrder { by, ascending })
    }
}

impl TimestampFilter {
    /// Refuses the filter at this position if it lacks a member.
    fn check(&self, at: usize) -> Result<(), Problem> {
        let members = [
            ("column", &self.column, COLUMNS),
            ("operator", &self.operator, OPERATORS),
            ("timestamp", &self.timestamp, "a time such as 2026-01-31T08:00:00Z"),
        ];
        match members.into_iter().find(|(_, text, _)| text.is_empty()) {
            None => Ok(()),
            Some((member, _, forms)) => Err(Problem::bad_request(format!(
                "timestampFilters[{at}] has no {member}: use {forms}"
            ))),
        }
    }

    /// The comparison that the filter at this position is.
    fn read(&self, at: usize) -> Result<TimeFilter, Problem> {
        let wrong =
            |why: &dyn Display| Problem::bad_request(format!("timestampFilters[{at}]: {why}"));
        let column = match self.column.to_ascii_lowercase().as_str() {
            "createdat" => TimeColumn::CreatedAt,
            "updatedat" => TimeColumn::UpdatedAt,
            "finishedat" => TimeColumn::FinishedAt,
            _ => {
                let other = &self.column;
                return Err(wrong(&format!("column {other:?} is not valid: use {COLUMNS}")));
            }
        };
        let operator = match self.operator.to_ascii_lowercase().as_str() {
            "is" => TimeOperator::Is,
            "isnot" => TimeOperator::IsNot,
            "lessthan" => TimeOperator::LessThan,
            "greaterthan" => TimeOperator::GreaterThan,
            "lessthanorequal" => TimeOperator::LessThanOrEqual,
            "greaterthanorequal" => TimeOperator::GreaterThanOrEqual,
            _ => {
                let other = &self.operator;
                return Err(wrong(&format!("operator {other:?} is not valid: use {OPERATORS}")));
            }
        };
        let at = Timestamp::parse(&self.timestamp).map_err(|error| wrong(&error))?;
        Ok(TimeFilter { column, operator, at })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_filter_has_one_list_of_names() {
        let text = crate::description::openapi_text(chassis::Auth::BOTH);
        let document: serde_json::Value = serde_json::from_str(text).unwrap();
        let schema = &document["components"]["schemas"]["ListRequest"]["properties"];
        let members: BTreeSet<&str> =
            schema.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(members, in_body().into_iter().collect());
        let listed = document["paths"]["/elsa/api/workflow-instances"]["get"]["parameters"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|parameter| parameter["in"] == "query")
            .filter_map(|parameter| parameter["name"].as_str());
        let unknown: Vec<_> = listed.filter(|name| !in_query().contains(name)).collect();
        assert_eq!(unknown, [""; 0]);
        assert!(is_of_list("Status") && is_of_list("variableFilters"));
        assert!(!is_of_list("definitionId") && !is_of_list("input"));
        // A token in a query is for the hub.
        assert!(!in_query().contains(&"access_token"));
    }
}
