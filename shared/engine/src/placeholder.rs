//! Elsa's placeholder for an activity of a type that its server did not know. It has the original as
//! text, and where the type exists, the original is what counts.

use model::Map;
use serde_json::Value;

use crate::property::find;

const TYPE: &str = "Elsa.NotFoundActivity";
const ORIGINAL: &str = "originalActivityJson";

/// Whether an activity is a placeholder.
pub(crate) fn is(raw: &Map) -> bool {
    find(raw, "type").and_then(Value::as_str) == Some(TYPE)
}

/// The activity that a placeholder stands for; none if it is no placeholder, or does not have it.
pub(crate) fn original(raw: &Map) -> Option<Map> {
    if !is(raw) {
        return None;
    }
    let text = find(raw, ORIGINAL)?.as_str()?;
    let mut original: Map = serde_json::from_str(text).ok()?;
    if is(&original) || !find(&original, "type").is_some_and(Value::is_string) {
        return None;
    }
    // Connections name the placeholder.
    if let Some(id) = find(raw, "id").filter(|id| id.is_string()).cloned() {
        original.insert("id".to_owned(), id);
    }
    Some(original)
}

/// Puts a changed original into its placeholder.
pub(crate) fn put(raw: &mut Map, original: &Value) {
    raw.insert(ORIGINAL.to_owned(), Value::String(original.to_string()));
}
