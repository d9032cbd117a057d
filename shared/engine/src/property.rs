//! The properties of an activity in a definition.

use model::Map;
use serde_json::Value;

/// A property by name: an exact match first, else in any case.
pub(crate) fn find<'a>(raw: &'a Map, name: &str) -> Option<&'a Value> {
    raw.get(name).or_else(|| {
        raw.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    })
}
