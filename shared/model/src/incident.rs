//! A failure inside a workflow: data, never an `Err`.

use serde::{Deserialize, Serialize};

use crate::{ActivityId, Timestamp};

/// What failed, where and when.
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
    /// What happened, for a person.
    pub message: String,
    /// When.
    pub timestamp: Timestamp,
}
