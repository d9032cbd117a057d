//! The ids of activities: as written, or generated where there is none.

use std::collections::{BTreeMap, BTreeSet};

use model::Map;
use serde_json::Value;

use crate::property::find;

/// The ids of activities without a type begin with this word where they are generated.
pub const UNTYPED: &str = "Activity";

/// The ids in one definition. Generated ones are the same in every reading, as long as the activities
/// are read in the same order.
pub(crate) struct Ids {
    /// Every id in the document, so that generated ids do not collide with them.
    taken: BTreeSet<String>,
    /// The last number of generated ids, by type.
    numbers: BTreeMap<String, usize>,
}

impl Ids {
    /// The ids in this document.
    pub(crate) fn of(root: &Value) -> Self {
        Self { taken: ids_in(root), numbers: BTreeMap::new() }
    }

    /// The id of an activity; a new one, such as `WriteLine1`, if it has none.
    pub(crate) fn of_activity(&mut self, raw: &Map, short_name: &str) -> String {
        match find(raw, "id").and_then(Value::as_str) {
            Some(id) if !id.trim().is_empty() => id.to_owned(),
            _ => self.generated(short_name),
        }
    }

    fn generated(&mut self, short_name: &str) -> String {
        let number = self.numbers.entry(short_name.to_owned()).or_default();
        *number += 1;
        while !self.taken.insert(format!("{short_name}{number}")) {
            *number += 1;
        }
        format!("{short_name}{number}")
    }
}

/// Every text under a key `id`, anywhere in the document.
fn ids_in(root: &Value) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    let mut rest = vec![root];
    while let Some(value) = rest.pop() {
        match value {
            Value::Array(items) => rest.extend(items),
            Value::Object(map) => {
                if let Some(id) = find(map, "id").and_then(Value::as_str) {
                    ids.insert(id.to_owned());
                }
                rest.extend(map.values());
            }
            _ => {}
        }
    }
    ids
}
