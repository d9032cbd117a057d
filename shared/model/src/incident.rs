//! Incidents: failures inside a workflow. They are data, never an `Err`.

use serde::{Deserialize, Serialize};

use crate::{ActivityId, Timestamp};

/// One failure of an activity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Incident {
    /// The activity that failed.
    pub activity_id: ActivityId,
    /// Its path from the root, ids joined with `:`.
    pub activity_node_id: String,
    /// Its type, such as `Elsa.SendHttpRequest`.
    pub activity_type: String,
    /// A short, stable code, such as `NoHttpContext` or the one given to `Elsa.Fault`.
    pub code: String,
    /// A description for people.
    pub message: String,
    /// The time of the failure.
    pub timestamp: Timestamp,
    /// The execution of the activity that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activity_instance_id: Option<String>,
}
