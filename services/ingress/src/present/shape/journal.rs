//! The journal of an instance, and its variables as they were.

use model::Map;
use serde_json::Value;
use utoipa::ToSchema;

/// One page of a journal.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JournalPage {
    items: Vec<JournalEntry>,
    /// Lines in the whole journal, or those that fit the filter.
    total_count: u64,
    /// The filter was applied to the newest 50000 lines only.
    is_cut: Option<bool>,
}

/// A line of a journal.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JournalEntry {
    id: String,
    workflow_instance_id: String,
    workflow_definition_id: String,
    /// The version that wrote the line.
    workflow_definition_version_id: String,
    workflow_version: u32,
    activity_instance_id: Option<String>,
    /// The execution around it.
    parent_activity_instance_id: Option<String>,
    /// `Workflow1` for a line about the instance as a whole.
    activity_id: String,
    activity_type: String,
    activity_type_version: u32,
    activity_name: Option<String>,
    /// Ids from the workflow down to the activity.
    node_id: String,
    timestamp: String,
    /// 1, 2, 3 … without gaps.
    sequence: u64,
    event_name: String,
    message: Option<String>,
    source: Option<String>,
    /// Inputs, as far as they are known; null for a line about the instance as a whole.
    #[schema(value_type = Option<Object>)]
    activity_state: Option<Map>,
    /// Outcomes, and other details.
    payload: Value,
    #[schema(value_type = Object)]
    outputs: Map,
    /// The node that ran the burst; only in the first line of each burst.
    node: Option<String>,
}

/// The variables of an instance, as they were after a line of its journal.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StateThen {
    workflow_instance_id: String,
    /// The `sequence` of the line.
    at: u64,
    timestamp: Option<String>,
    definition_version_id: String,
    /// Values by name.
    #[schema(value_type = Object)]
    variables: Map,
    /// The `sequence` of the last line up to there with changes of variables, 0 if there is none. Inside
    /// a burst, variables are known at its end: they are those as of this line.
    variables_at: u64,
    /// The activities with variables of their own that were open then.
    containers: Vec<ContainerThen>,
}

/// The variables of an activity that was open.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ContainerThen {
    activity_instance_id: Option<String>,
    activity_id: Option<String>,
    activity_node_id: String,
    /// Values by name.
    #[schema(value_type = Object)]
    variables: Map,
}
