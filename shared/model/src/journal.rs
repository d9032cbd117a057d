//! The journal of an instance: its events, in order.

use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::{ActivityId, InstanceId, Timestamp};

type Map = serde_json::Map<String, Value>;

/// Elsa's event names, as they are written in its execution log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(skip_serializing_if = "Option::is_none"))]
    pub node: Option<String>,
    /// The number of the execution that the activity belongs to; 0 for the workflow itself. See
    /// [`execution_id`].
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(skip_serializing_if = "Option::is_none"))]
    pub owner: Option<u64>,
    /// The values of the activity and the changes of variables, if there are any.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(skip_serializing_if = "Option::is_none"))]
    pub recorded: Option<Box<Recorded>>,
}

/// The values that a line of the journal keeps. Kept without the names of its members, as lines are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Recorded {
    /// The path of the activity, where its id alone does not name it.
    pub node_id: Option<String>,
    /// Evaluated inputs by name, without those that the definition has as they are.
    pub inputs: Map,
    /// Outputs by name.
    pub outputs: Map,
    /// Variables that have changed since the last line with some, up to this one.
    pub variables: Vec<Changed>,
}

/// A variable and its new value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Changed {
    /// The number of the execution that has the variable; 0 for a variable of the workflow.
    pub owner: u64,
    /// Its id.
    pub id: String,
    /// Its value then.
    pub value: Value,
}

/// The id of an execution: the instance, and the number of the execution in it, which is 0 for the
/// workflow itself.
#[must_use]
pub fn execution_id(instance_id: &InstanceId, number: u64) -> String {
    format!("{instance_id}:{number}")
}

/// The instance and the number in the id of an execution; none for an id of an earlier version, which
/// is 32 hexadecimal digits.
#[must_use]
pub fn instance_of(execution_id: &str) -> Option<(InstanceId, u64)> {
    let (instance, number) = execution_id.rsplit_once(':')?;
    Some((InstanceId::parse(instance).ok()?, number.parse().ok()?))
}

impl Entry {
    /// The line without values, as listeners get it.
    #[must_use]
    pub fn bare(&self) -> Self {
        Self {
            sequence: self.sequence,
            timestamp: self.timestamp,
            activity_id: self.activity_id.clone(),
            activity_instance_id: self.activity_instance_id.clone(),
            activity_type: self.activity_type.clone(),
            activity_name: self.activity_name.clone(),
            what: self.what,
            message: self.message.clone(),
            payload: self.payload.clone(),
            node: self.node.clone(),
            owner: None,
            recorded: None,
        }
    }
}

/// Absent members at the end are left out. One before a member that is there keeps its place: where
/// names are left out, members are found by their places.
impl Serialize for Entry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const ALWAYS: usize = 9;
        let optional = match self {
            Self { recorded: Some(_), .. } => 3,
            Self { owner: Some(_), .. } => 2,
            Self { node: Some(_), .. } => 1,
            _ => 0,
        };
        let mut line = serializer.serialize_struct("Entry", ALWAYS + optional)?;
        line.serialize_field("sequence", &self.sequence)?;
        line.serialize_field("timestamp", &self.timestamp)?;
        line.serialize_field("activityId", &self.activity_id)?;
        line.serialize_field("activityInstanceId", &self.activity_instance_id)?;
        line.serialize_field("activityType", &self.activity_type)?;
        line.serialize_field("activityName", &self.activity_name)?;
        line.serialize_field("eventName", &self.what)?;
        line.serialize_field("message", &self.message)?;
        line.serialize_field("payload", &self.payload)?;
        if optional >= 1 {
            line.serialize_field("node", &self.node)?;
        }
        if optional >= 2 {
            line.serialize_field("owner", &self.owner)?;
        }
        if optional >= 3 {
            line.serialize_field("recorded", &self.recorded)?;
        }
        line.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_an_execution_names_its_instance() {
        let instance = InstanceId::new("order-7");
        assert_eq!(instance_of(&execution_id(&instance, 12)), Some((instance, 12)));
        for other in ["6b1f4f0e7a534c539a5e57a09c48a11e", "order-7:", ":3", "a b:3", "a:-1"] {
            assert_eq!(instance_of(other), None, "{other}");
        }
    }
}
