//! A statement as every database needs it: its text, its parameters, and the form of its result.

use engine::Statement;
use model::Map;
use serde_json::Value;

/// The text of a statement, with the markers of its parameters: 1, 2, 3 …
pub(super) fn text(statement: &Statement, marker: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for (position, part) in statement.parts.iter().enumerate() {
        if position > 0 {
            text.push_str(&marker(position));
        }
        text.push_str(part);
    }
    text
}

/// The values of the parameters, with the key where it is wanted.
pub(super) fn values(statement: &Statement, key: &str) -> Vec<Value> {
    let mut values = statement.values.clone();
    for position in &statement.keys {
        if let Some(value) = values.get_mut(*position) {
            *value = Value::from(key);
        }
    }
    values
}

/// A result with one member.
pub(super) fn result(name: &str, value: impl Into<Value>) -> Map {
    Map::from_iter([(name.to_owned(), value.into())])
}
