//! The result of `ExecuteWorkflow`. Elsa's is a .NET object, whose members scripts also find under
//! their names there: `result.Output`.

use serde_json::{Map, Value};

/// The names of .NET, and the members that they mean.
pub(crate) const NAMES: [(&str, &str); 4] = [
    ("WorkflowInstanceId", "workflowInstanceId"),
    ("Status", "status"),
    ("SubStatus", "subStatus"),
    ("Output", "output"),
];

/// Whether an object is such a result: it has its members, and no others.
pub(crate) fn is_one(object: &Map<String, Value>) -> bool {
    has_its_members(object.len(), |member| object.contains_key(member))
}

/// Whether an object of this number of members, which has these, is such a result.
pub(crate) fn has_its_members(count: usize, has: impl Fn(&str) -> bool) -> bool {
    count == NAMES.len() && NAMES.iter().all(|(_, member)| has(member))
}

/// The member that a name of .NET means.
pub(crate) fn member(name: &str) -> Option<&'static str> {
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, member)| *member)
}
