//! The values of the configuration that scripts may read: those that the operator has named, and no
//! others.

use std::collections::BTreeMap;

use model::Map;
use serde_json::Value;

/// The deepest nesting of a key, such as 3 of `A:B:C`.
const DEPTH_MAX: usize = 16;

/// The values, and the sections that their keys make.
#[derive(Clone, Debug, Default)]
pub struct Config {
    root: Map,
}

impl Config {
    /// With these values. `Shop:Url` is the value `Url` in the section `Shop`.
    #[must_use]
    pub fn new(values: &BTreeMap<String, String>) -> Self {
        let mut config = Self::default();
        for (key, value) in values {
            config.add(key, value);
        }
        config
    }

    fn add(&mut self, key: &str, value: &str) {
        let mut parts: Vec<&str> = key.splitn(DEPTH_MAX, ':').collect();
        let Some(last) = parts.pop() else { return };
        let mut section = &mut self.root;
        for part in parts {
            let member =
                section.entry(part.to_owned()).or_insert_with(|| Value::Object(Map::new()));
            if !member.is_object() {
                *member = Value::Object(Map::new());
            }
            let Some(inner) = member.as_object_mut() else { return };
            section = inner;
        }
        section.insert(last.to_owned(), Value::String(value.to_owned()));
    }

    /// The value of a key, or the section of this name, in any case; null if there is none.
    pub(crate) fn get(&self, key: &str) -> Value {
        let mut section = &self.root;
        let mut parts = key.split(':').peekable();
        while let Some(part) = parts.next() {
            let found = section.iter().find(|(name, _)| name.eq_ignore_ascii_case(part));
            let Some((_, found)) = found else { return Value::Null };
            if parts.peek().is_none() {
                return found.clone();
            }
            let Some(inner) = found.as_object() else { return Value::Null };
            section = inner;
        }
        Value::Null
    }

    /// No value may be read.
    pub(crate) fn is_empty(&self) -> bool {
        self.root.is_empty()
    }

    /// All values, in their sections.
    pub(crate) fn root(&self) -> &Map {
        &self.root
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_name_values_in_sections() {
        let values = [("Shop:Url", "u"), ("Shop:Api:Key", "k"), ("Plain", "p")];
        let values = values.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let config = Config::new(&BTreeMap::from(values));
        assert_eq!(config.get("Shop:Url"), json!("u"));
        assert_eq!(config.get("shop:api:key"), json!("k"));
        assert_eq!(config.get("Shop"), json!({"Api": {"Key": "k"}, "Url": "u"}));
        assert_eq!(config.get("Plain"), json!("p"));
        assert_eq!(config.get("Plain:x"), Value::Null);
        assert_eq!(config.get("Nothing"), Value::Null);
    }
}
