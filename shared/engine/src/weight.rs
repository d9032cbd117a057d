//! The size of values, for the limits of turns.

use serde_json::Value;

/// The approximate size of a value in bytes, counted without recursion.
pub(crate) fn weight(value: &Value) -> usize {
    const EACH: usize = 8;
    let mut bytes = 0;
    let mut rest = vec![value];
    while let Some(value) = rest.pop() {
        bytes += EACH;
        match value {
            Value::String(text) => bytes += text.len(),
            Value::Array(items) => rest.extend(items),
            Value::Object(map) => {
                bytes += map.keys().map(String::len).sum::<usize>();
                rest.extend(map.values());
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    bytes
}
