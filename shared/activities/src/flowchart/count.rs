//! The memory of a flowchart: how often each activity and each connection was visited.

use model::Map;
use serde_json::{Value, json};

/// The counts of one execution of a flowchart, kept in its memory.
pub(super) struct Counts<'m>(Option<&'m mut Map>);

impl<'m> Counts<'m> {
    pub(super) fn new(memory: Option<&'m mut Value>) -> Self {
        let Some(memory) = memory else { return Self(None) };
        if !memory.is_object() {
            *memory = json!({"visits": {}, "links": {}, "followed": {}});
        }
        Self(memory.as_object_mut())
    }

    /// Counts a visit of an activity.
    pub(super) fn visit(&mut self, at: usize) {
        self.add("visits", at);
    }

    /// Counts a pass of a connection.
    pub(super) fn pass(&mut self, link: usize, followed: bool) {
        self.add("links", link);
        if let Some(table) = self.table_mut("followed") {
            table.insert(link.to_string(), followed.into());
        }
    }

    pub(super) fn visits(&self, at: usize) -> u64 {
        self.get("visits", at).and_then(Value::as_u64).unwrap_or_default()
    }

    pub(super) fn link(&self, link: usize) -> u64 {
        self.get("links", link).and_then(Value::as_u64).unwrap_or_default()
    }

    pub(super) fn was_followed(&self, link: usize) -> bool {
        self.get("followed", link).and_then(Value::as_bool).unwrap_or_default()
    }

    fn add(&mut self, table: &str, at: usize) {
        if let Some(table) = self.table_mut(table) {
            let count = table.entry(at.to_string()).or_insert_with(|| 0.into());
            *count = (count.as_u64().unwrap_or_default() + 1).into();
        }
    }

    fn get(&self, table: &str, at: usize) -> Option<&Value> {
        self.0.as_ref()?.get(table)?.get(at.to_string())
    }

    fn table_mut(&mut self, table: &str) -> Option<&mut Map> {
        self.0.as_mut()?.get_mut(table)?.as_object_mut()
    }
}
