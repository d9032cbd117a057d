//! Incidents.

use utoipa::ToSchema;

/// Incidents by cause.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IncidentGroups {
    /// Those with the most incidents first.
    items: Vec<IncidentGroup>,
    /// The number of groups.
    total_count: u64,
    /// The number of instances that were read for it.
    instances_read: u64,
    /// Those of them whose state cannot be read.
    instances_unreadable: u64,
    /// The number of instances that the filter selects.
    instances_with_incidents: u64,
    /// Not all of these were read: there may be more groups, and more incidents in each.
    is_cut_short: bool,
}

/// Incidents with one cause, of one activity of one definition.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IncidentGroup {
    /// The same for the same cause.
    id: String,
    definition_id: String,
    activity_id: String,
    /// Ids from the workflow down to the activity.
    activity_node_id: String,
    activity_type: String,
    /// The code of the failure.
    code: String,
    /// The message with `#` for words that have a digit.
    cause: String,
    /// The message of the newest incident.
    message: String,
    /// The number of incidents.
    count: u64,
    /// The number of instances that have them.
    instance_count: u64,
    first_at: String,
    last_at: String,
    /// The incidents in each five minutes of the last hour, the oldest first.
    last_hour_parts: Vec<u64>,
    newest_instance_id: String,
    /// The newest 100 of these instances.
    workflow_instance_ids: Vec<String>,
}
