//! The shapes of answers: Elsa's, and our own where Elsa has none.

pub(crate) mod definition;
pub(crate) mod descriptor;
pub(crate) mod shape;
pub(crate) mod starter;

use model::{Bookmark, Instance, InstanceId, SubStatus};
use protocol::Outcome;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::record::Seen;
use crate::{App, large};

/// One page of a list.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Paged<T> {
    /// The page's items.
    pub(crate) items: Vec<T>,
    /// Items in the whole list.
    pub(crate) total_count: u64,
}

/// An instance in a list.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InstanceSummary {
    id: String,
    definition_id: String,
    definition_version_id: String,
    /// The definition version's number.
    version: u32,
    /// `Running` or `Finished`.
    status: String,
    /// `Pending`, `Executing`, `Suspended`, `Finished`, `Cancelled` or `Faulted`.
    sub_status: String,
    /// It runs now.
    is_executing: bool,
    correlation_id: Option<String>,
    name: Option<String>,
    parent_workflow_instance_id: Option<String>,
    incident_count: u32,
    /// RFC 3339.
    created_at: String,
    /// RFC 3339.
    updated_at: String,
    /// RFC 3339.
    finished_at: Option<String>,
}

impl From<&Instance> for InstanceSummary {
    fn from(instance: &Instance) -> Self {
        Self {
            id: instance.id.to_string(),
            definition_id: instance.definition_id.to_string(),
            definition_version_id: instance.version_id.to_string(),
            version: instance.definition_version,
            status: main(instance.status),
            sub_status: instance.status.to_string(),
            is_executing: instance.status == SubStatus::Executing,
            correlation_id: instance.correlation_id.clone(),
            name: instance.name.clone(),
            parent_workflow_instance_id: instance
                .parent
                .as_ref()
                .map(|p| p.instance_id.to_string()),
            incident_count: instance.incidents,
            created_at: instance.created_at.to_string(),
            updated_at: instance.updated_at.to_string(),
            finished_at: instance.finished_at.map(|at| at.to_string()),
        }
    }
}

/// One page of a list of instances.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InstancePage {
    /// The page's items.
    pub(crate) items: Vec<InstanceSummary>,
    /// Items in the whole list.
    pub(crate) total_count: u64,
    /// The `cursor` of the next page; null after the last one.
    pub(crate) next_cursor: Option<String>,
}

/// Elsa's main status.
pub(crate) fn main(status: SubStatus) -> String {
    format!("{:?}", status.main())
}

/// The sub-statuses of instances that are not over.
pub(crate) fn running() -> Vec<SubStatus> {
    vec![SubStatus::Pending, SubStatus::Executing, SubStatus::Suspended]
}

/// The status of an instance, as the answer to a start, resume, cancel or completed task.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InstanceStatus {
    pub(crate) workflow_instance_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) definition_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) definition_version: Option<u32>,
    /// `Running` or `Finished`.
    pub(crate) status: String,
    /// `Pending`, `Executing`, `Suspended`, `Finished`, `Cancelled` or `Faulted`.
    pub(crate) sub_status: String,
    /// Workflow output so far.
    #[schema(value_type = Object)]
    pub(crate) output: model::Map,
    /// Messages of its incidents.
    pub(crate) incidents: Vec<String>,
    /// Ids of the bookmarks where it waits.
    pub(crate) bookmarks: Vec<String>,
}

impl InstanceStatus {
    /// From the outcome of a command.
    pub(crate) fn of_outcome(id: &InstanceId, outcome: &Outcome, otherwise: SubStatus) -> Self {
        let status = outcome.sub_status.unwrap_or(otherwise);
        Self {
            workflow_instance_id: id.to_string(),
            definition_id: None,
            definition_version: None,
            status: main(status),
            sub_status: status.to_string(),
            output: outcome.output.clone(),
            incidents: outcome.incidents.clone(),
            bookmarks: outcome.bookmarks.iter().map(ToString::to_string).collect(),
        }
    }

    /// From the database.
    pub(crate) fn of_seen(seen: &Seen) -> Self {
        let (instance, state) = (&seen.instance, seen.state());
        Self {
            output: state.output.clone(),
            incidents: state.incidents.iter().map(|incident| incident.message.clone()).collect(),
            bookmarks: seen.open().map(|open| open.id.to_string()).collect(),
            ..Self::of_row(instance)
        }
    }

    /// From the row alone, without the state.
    pub(crate) fn of_row(instance: &Instance) -> Self {
        Self {
            workflow_instance_id: instance.id.to_string(),
            definition_id: Some(instance.definition_id.to_string()),
            definition_version: Some(instance.definition_version),
            status: main(instance.status),
            sub_status: instance.status.to_string(),
            output: model::Map::new(),
            incidents: Vec::new(),
            bookmarks: Vec::new(),
        }
    }

    /// The same with large outputs in it, for a caller who waits for them.
    pub(crate) async fn whole(self, app: &App) -> Self {
        Self { output: large::whole(app, self.output).await, ..self }
    }

    /// Adds the definition that the row names.
    pub(crate) fn of_definition(mut self, instance: &Instance) -> Self {
        self.definition_id = Some(instance.definition_id.to_string());
        self.definition_version = Some(instance.definition_version);
        self
    }
}

/// One of several open bookmarks, for the caller to choose from.
pub(crate) fn choice(bookmark: &Bookmark) -> Value {
    json!({"id": bookmark.id, "name": bookmark.name, "activityId": bookmark.activity_id})
}
