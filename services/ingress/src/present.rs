//! The shapes of answers: Elsa's, and our own where Elsa has none.

use model::{Bookmark, Definition, Entry, Instance, InstanceId, SubStatus};
use protocol::{Noticed, Outcome};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::publication::Changed;
use crate::record::Seen;

/// One page of a list.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Paged<T> {
    /// The page's items.
    pub(crate) items: Vec<T>,
    /// Items in the whole list.
    pub(crate) total_count: u64,
}

/// A definition in a list.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DefinitionSummary {
    /// Id of this version.
    id: String,
    /// Id across versions.
    definition_id: String,
    name: Option<String>,
    description: Option<String>,
    version: u32,
    tool_version: Option<Value>,
    is_latest: bool,
    is_published: bool,
    is_readonly: bool,
    is_system: bool,
    /// Always `Json`.
    materializer_name: &'static str,
    /// RFC 3339.
    created_at: Option<String>,
}

impl From<&Definition> for DefinitionSummary {
    fn from(definition: &Definition) -> Self {
        Self {
            id: definition.id.to_string(),
            definition_id: definition.definition_id.to_string(),
            name: definition.name.clone(),
            description: definition.description.clone(),
            version: definition.version,
            tool_version: definition.extra.get("toolVersion").cloned(),
            is_latest: definition.is_latest,
            is_published: definition.is_published,
            is_readonly: definition.is_readonly,
            is_system: definition.is_system,
            materializer_name: "Json",
            created_at: definition.created_at.map(|at| at.to_string()),
        }
    }
}

/// The answer to a save or publication.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SavedDefinition {
    /// The definition as it is stored now.
    #[schema(value_type = Object)]
    workflow_definition: Value,
    /// It was published before, with this content.
    already_published: bool,
    /// The workflows that use this one as an activity and that were published anew with it.
    consuming_workflow_count: usize,
    /// Always empty: with a problem, the answer is 400.
    #[schema(value_type = Vec<Object>)]
    validation_errors: Vec<Value>,
    /// What its author should know, though it runs: each with `message`, `activityId`, `property`.
    #[schema(value_type = Vec<Object>)]
    validation_warnings: Vec<Value>,
    /// Every live node has the new version. Absent for a draft.
    #[serde(skip_serializing_if = "Option::is_none")]
    everywhere: Option<bool>,
    /// Nodes that have not confirmed it yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<Vec<String>>,
    /// Revision of the published pointer; 0 if the cluster could not be reached yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<u64>,
}

impl From<&Changed> for SavedDefinition {
    fn from(saved: &Changed) -> Self {
        let noticed = saved.noticed.as_ref();
        Self {
            workflow_definition: definition(&saved.definition),
            already_published: saved.already_published,
            consuming_workflow_count: saved.consumers.len(),
            validation_errors: Vec::new(),
            validation_warnings: saved.warnings.clone(),
            everywhere: noticed.map(|noticed| noticed.everywhere),
            missing: noticed.map(|noticed| noticed.missing.clone()),
            revision: noticed.map(|noticed| noticed.revision),
        }
    }
}

/// A definition in full, with Elsa's empty `links`.
pub(crate) fn definition(definition: &Definition) -> Value {
    let mut value = json!(definition);
    if let Some(value) = value.as_object_mut() {
        value.insert("links".to_owned(), json!([]));
    }
    value
}

/// Adds the nodes that have the new version to a definition in full.
pub(crate) fn with_news(mut value: Value, noticed: Option<&Noticed>) -> Value {
    if let (Some(value), Some(noticed)) = (value.as_object_mut(), noticed) {
        value.insert("everywhere".to_owned(), json!(noticed.everywhere));
        value.insert("missing".to_owned(), json!(noticed.missing));
    }
    value
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

    /// Adds the definition that the row names.
    pub(crate) fn of_definition(mut self, instance: &Instance) -> Self {
        self.definition_id = Some(instance.definition_id.to_string());
        self.definition_version = Some(instance.definition_version);
        self
    }
}

/// A bookmark of an instance.
pub(crate) fn bookmark(bookmark: &Bookmark) -> Value {
    json!({
        "id": bookmark.id,
        "name": bookmark.name,
        "hash": bookmark.hash,
        "activityId": bookmark.activity_id,
        "activityNodeId": bookmark.activity_node_id,
        "activityInstanceId": bookmark.activity_instance_id,
        "payload": bookmark.payload,
        "createdAt": bookmark.created_at,
        "dueAt": bookmark.due_at,
    })
}

/// One of several open bookmarks, for the caller to choose from.
pub(crate) fn choice(bookmark: &Bookmark) -> Value {
    json!({"id": bookmark.id, "name": bookmark.name, "activityId": bookmark.activity_id})
}

/// A line of the journal, in the shape of Elsa's execution log.
pub(crate) fn entry(instance: &Instance, entry: &Entry) -> Value {
    let mut value = json!(entry);
    if let Some(value) = value.as_object_mut() {
        value.insert("id".to_owned(), json!(format!("{}-{}", instance.id, entry.sequence)));
        value.insert("workflowInstanceId".to_owned(), json!(instance.id));
        value.insert("workflowDefinitionId".to_owned(), json!(instance.definition_id));
        value.insert("workflowDefinitionVersionId".to_owned(), json!(instance.version_id));
        value.insert("workflowVersion".to_owned(), json!(instance.definition_version));
    }
    value
}
