//! The journal of an instance: its events, in order.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ActivityId, Timestamp};

/// Elsa's event names, as they are written in its execution log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum What {
    /// An activity began.
    Started,
    /// A bookmark was resumed.
    Resumed,
    /// An activity waits.
    Suspended,
    /// An activity completed without an incident.
    Completed,
    /// An activity was cancelled.
    Canceled,
    /// An activity failed.
    Faulted,
    /// An activity wrote a line (`Elsa.WriteLine`), which is the message.
    Line,
    /// A call failed and is made again; the message is the reason.
    Retrying,
    /// The instance as a whole changed; the message is its new sub-status.
    Workflow,
    /// An operator changed the instance; the message is the name of the alteration.
    Altered,
}

/// One line of the journal. Databases keep lines without the names of these members, so a new
/// member comes at the end and has a default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// 1, 2, 3 … within the instance, without gaps.
    pub sequence: u64,
    /// The time of the turn.
    pub timestamp: Timestamp,
    /// The activity; `None` for the instance as a whole.
    pub activity_id: Option<ActivityId>,
    /// The id of the activity's execution.
    pub activity_instance_id: Option<String>,
    /// The type of the activity.
    pub activity_type: Option<String>,
    /// The name of the activity, if it has one.
    pub activity_name: Option<String>,
    /// The event.
    #[serde(rename = "eventName")]
    pub what: What,
    /// The written line, the error, the sub-status.
    pub message: Option<String>,
    /// Outcomes, and other readable details.
    pub payload: Option<Value>,
    /// The node that ran the burst; only on the first line of each burst.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
}
