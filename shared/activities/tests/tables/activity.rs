//! Short names for the activities that scenarios have beside the one that they show.

use serde_json::{Value, json};

/// Writes a line.
pub(crate) fn line(text: &str) -> Value {
    json!({"type": "WriteLine", "text": text})
}

/// Writes what a script gives.
pub(crate) fn says(script: &str) -> Value {
    json!({"type": "WriteLine", "text": {"js": script}})
}

/// Waits for an event that never comes.
pub(crate) fn waits() -> Value {
    json!({"type": "Event", "eventName": "Never"})
}

/// Runs activities one after the other.
pub(crate) fn sequence(activities: &[Value]) -> Value {
    json!({"type": "Sequence", "activities": activities})
}

/// A whole definition.
pub(crate) fn whole(root: &Value) -> Value {
    json!({ "root": root })
}
