//! A workflow definition as Elsa 3 writes it. Unknown fields survive a round trip.
//!
//! A version that was published once is immutable ([`Definition::is_immutable`]): ingress, the
//! stores and the catalogue all use this one test.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{ActivityType, DefinitionId, Map, Searchable, Timestamp, VersionId, limits};

/// One version of a workflow's graph. Immutable once published.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Definition {
    /// Id of this version.
    #[serde(default, deserialize_with = "null_is_default")]
    pub id: VersionId,
    /// Id of the definition across its versions.
    #[serde(default, deserialize_with = "null_is_default")]
    pub definition_id: DefinitionId,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its purpose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The time of the first save of this version.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "lenient_time")]
    pub created_at: Option<Timestamp>,
    /// The time of the last save that changed this version.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "lenient_time")]
    pub saved_at: Option<Timestamp>,
    /// The time of the first publication of this version. It stays when the version is retracted
    /// or replaced.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "lenient_time")]
    pub published_at: Option<Timestamp>,
    /// 1, 2, 3 …
    #[serde(default, deserialize_with = "null_is_default")]
    pub version: u32,
    /// Workflow variables.
    #[serde(default, deserialize_with = "null_is_default")]
    pub variables: Vec<Variable>,
    /// Declared inputs.
    #[serde(default, deserialize_with = "null_is_default")]
    pub inputs: Vec<Argument>,
    /// Declared outputs.
    #[serde(default, deserialize_with = "null_is_default")]
    pub outputs: Vec<Argument>,
    /// Outcomes when used as an activity.
    #[serde(default, deserialize_with = "null_is_default")]
    pub outcomes: Vec<String>,
    /// Data that tools keep with it.
    #[serde(default, deserialize_with = "null_is_default")]
    pub custom_properties: Map,
    /// The definition cannot be changed by saves or imports.
    #[serde(default, deserialize_with = "null_is_default")]
    pub is_readonly: bool,
    /// Not shown to people.
    #[serde(default, deserialize_with = "null_is_default")]
    pub is_system: bool,
    /// The newest version; exactly one per definition.
    #[serde(default, deserialize_with = "null_is_default")]
    pub is_latest: bool,
    /// The version that starts; at most one per definition.
    #[serde(default, deserialize_with = "null_is_default")]
    pub is_published: bool,
    /// The rules for starting and failing.
    #[serde(default, deserialize_with = "null_is_default")]
    pub options: Options,
    /// The documents of the types of its activities that workers perform: those of a version that was
    /// published once never change.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_is_default")]
    pub activity_types: Vec<ActivityType>,
    /// The root activity, as written.
    #[serde(default)]
    pub root: Value,
    /// Fields that this model does not know.
    #[serde(flatten)]
    pub extra: Map,
}

impl Definition {
    /// Whether this version is, or once was, published. Its content never changes again, because
    /// instances may run it and nodes may cache it.
    #[must_use]
    pub fn is_immutable(&self) -> bool {
        self.is_published || self.published_at.is_some()
    }

    /// Whether other workflows may use it as an activity. Old exports say so beside the options.
    #[must_use]
    pub fn is_usable_as_activity(&self) -> bool {
        let old = || self.extra.get("usableAsActivity").and_then(Value::as_bool);
        self.options.usable_as_activity.or_else(old).unwrap_or_default()
    }

    /// The searchable variables, by their names. Mistakes are left out: a publication refuses them.
    #[must_use]
    pub fn searchable(&self) -> BTreeMap<&str, Searchable> {
        let kinds = self.variables.iter().filter_map(|variable| {
            let kind = variable.searchable().ok().flatten()?;
            Some((variable.shown_name(), kind))
        });
        kinds.take(limits::SEARCHABLE_MAX).collect()
    }

    /// Its name as an activity type: in Pascal case.
    #[must_use]
    pub fn activity_type(&self) -> String {
        let name = self.name.as_deref().unwrap_or(self.definition_id.as_str());
        let words = name.split(|c: char| !c.is_alphanumeric());
        let capitalized = words.map(|word| {
            let mut chars = word.chars();
            chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect::<String>()
        });
        capitalized.collect()
    }

    /// The part that its author wrote: without version, times, flags and other fields that the
    /// server sets. The definition id stays.
    #[must_use]
    pub fn content(&self) -> Self {
        let mut content = self.clone();
        content.id = VersionId::default();
        content.version = 0;
        (content.created_at, content.saved_at, content.published_at) = (None, None, None);
        (content.is_latest, content.is_published, content.is_readonly) = (false, false, false);
        // Elsa's answers have these; they are never part of a definition.
        content.extra.remove("links");
        unplaced(&mut content.root);
        content
    }

    /// Whether both have the same content; see [`Definition::content`].
    #[must_use]
    pub fn has_content_of(&self, other: &Self) -> bool {
        self.content() == other.content()
    }

    /// A hash of the content: 32 hexadecimal characters, the same for the same content, in any
    /// order of its members.
    #[must_use]
    pub fn content_hash(&self) -> String {
        let document = serde_json::to_value(self.content()).unwrap_or_default();
        let digest = Sha256::digest(sorted(&document).to_string());
        digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Removes from every activity what answers add to it: its place, its version where that is 1, and members
/// in which nothing is. A place ends with the activity's id; any other `nodeId` is a value that the author
/// wrote.
fn unplaced(value: &mut Value) {
    match value {
        Value::Object(members) => {
            let text = |name: &str| members.get(name).and_then(Value::as_str);
            let is_placed = match (text("type"), text("nodeId"), text("id")) {
                (Some(_), Some(place), Some(id)) => {
                    place.strip_suffix(id).is_some_and(|owner| owner.ends_with(':'))
                }
                _ => false,
            };
            if is_placed {
                members.remove("nodeId");
                if members.get("version") == Some(&Value::from(1)) {
                    members.remove("version");
                }
                if members.get("name").is_some_and(Value::is_null) {
                    members.remove("name");
                }
                for member in ["customProperties", "metadata"] {
                    let held = members.get(member).and_then(Value::as_object);
                    if held.is_some_and(Map::is_empty) {
                        members.remove(member);
                    }
                }
            }
            members.values_mut().for_each(unplaced);
        }
        Value::Array(items) => items.iter_mut().for_each(unplaced),
        _ => {}
    }
}

/// The value with the members of every object sorted.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| name.as_str());
            members.into_iter().map(|(name, value)| (name.clone(), sorted(value))).collect()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

/// A workflow variable.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Variable {
    /// The id that outputs and `SetVariable` refer to.
    pub id: String,
    /// The name that expressions refer to.
    pub name: String,
    /// Type alias, such as `String` or `Int32`.
    pub type_name: Option<String>,
    /// An array of `type_name`.
    pub is_array: bool,
    /// Default value, converted to the type.
    pub value: Option<Value>,
    /// Kept for the round trip; Staunch persists every variable.
    pub storage_driver_type_name: Option<String>,
    /// Fields that this model does not know.
    #[serde(flatten)]
    pub extra: Map,
}

impl Variable {
    /// Its name; the id of one without a name.
    #[must_use]
    pub fn shown_name(&self) -> &str {
        if self.name.is_empty() { &self.id } else { &self.name }
    }

    /// What its values are compared as, if instances can be found by them: the member `searchable`.
    ///
    /// # Errors
    /// The member has another value than `text`, `number`, `time` and `boolean`.
    pub fn searchable(&self) -> Result<Option<Searchable>, String> {
        match self.extra.get("searchable") {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => text.parse().map(Some),
            Some(other) => Err(format!("{other} is not one of text, number, time and boolean")),
        }
    }
}

/// A declared input or output.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// Type alias.
    #[serde(rename = "type")]
    pub type_name: Option<String>,
    /// An array of the type.
    pub is_array: bool,
    /// Fields that this model does not know.
    #[serde(flatten)]
    pub extra: Map,
}

impl Argument {
    /// A start must give it a value.
    #[must_use]
    pub fn is_required(&self) -> bool {
        ["isRequired", "required"].iter().any(|name| self.extra.get(*name) == Some(&true.into()))
    }

    /// The value of this name, in any case where there is none of exactly this name.
    #[must_use]
    pub fn given<'m>(name: &str, values: &'m Map) -> Option<&'m Value> {
        let same = |key: &&String| key.eq_ignore_ascii_case(name);
        values.get(name).or_else(|| values.get(values.keys().find(same)?))
    }
}

/// Elsa's workflow options.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    /// The rule for instances that run at the same time; none means that all may.
    pub activation_strategy_type: Option<String>,
    /// The effect of an incident; none means `FaultStrategy`.
    pub incident_strategy_type: Option<String>,
    /// Usable as an activity of other workflows.
    pub usable_as_activity: Option<bool>,
    /// When a version is published, the definitions that use another one as an activity get a new
    /// version that uses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_update_consuming_workflows: Option<bool>,
    /// Fields that this model does not know.
    #[serde(flatten)]
    pub extra: Map,
}

fn null_is_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// Exports spell times in several ways. The server sets its own times, so one that it cannot read
/// is no error.
fn lenient_time<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Timestamp>, D::Error> {
    if deserializer.is_human_readable() {
        let text = Option::<Value>::deserialize(deserializer)?;
        Ok(text.as_ref().and_then(Value::as_str).and_then(|text| Timestamp::parse(text).ok()))
    } else {
        Option::<Timestamp>::deserialize(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_fields_survive_a_round_trip() {
        let document = serde_json::json!({
            "id": "v1", "definitionId": "order", "version": 2, "toolVersion": "3.6.0.0",
            "variables": [{"id": "a", "name": "A", "typeName": "Int32", "hint": 1}],
            "inputs": null, "root": {"type": "Elsa.WriteLine", "x": {"y": [1]}}, "links": []
        });
        let definition: Definition = serde_json::from_value(document).unwrap();
        let back = serde_json::to_value(&definition).unwrap();
        assert_eq!(back["toolVersion"], "3.6.0.0");
        assert_eq!(back["variables"][0]["hint"], 1);
        assert_eq!(back["root"]["x"]["y"][0], 1);
        assert_eq!(back["links"], serde_json::json!([]));
    }

    #[test]
    fn searchable_variables_are_read_and_written_as_they_are() {
        let document = serde_json::json!({"variables": [
            {"id": "a", "name": "Amount", "searchable": "number"}, {"id": "b", "searchable": "Text"},
            {"id": "c", "searchable": "colour"}, {"id": "d", "searchable": true}, {"id": "e"},
            {"id": "f", "searchable": null}
        ]});
        let definition: Definition = serde_json::from_value(document.clone()).unwrap();
        let found: Vec<_> = definition.searchable().into_iter().collect();
        assert_eq!(found, [("Amount", Searchable::Number), ("b", Searchable::Text)]);
        assert!(definition.variables[2].searchable().unwrap_err().contains("colour"));
        assert!(definition.variables[3].searchable().unwrap_err().contains("true"));
        let back = serde_json::to_value(&definition).unwrap();
        for (at, variable) in document["variables"].as_array().unwrap().iter().enumerate() {
            let same = &back["variables"][at]["searchable"];
            assert_eq!(same, variable.get("searchable").unwrap_or(&Value::Null));
        }
    }

    #[test]
    fn a_version_that_was_published_once_is_immutable() {
        let draft = Definition { is_latest: true, ..Definition::default() };
        assert!(!draft.is_immutable());
        assert!(Definition { is_published: true, ..draft }.is_immutable());
        let document = serde_json::json!({"publishedAt": "2026-01-31T08:00:00Z"});
        let retracted: Definition = serde_json::from_value(document).unwrap();
        assert!(retracted.is_immutable());
        let back = serde_json::to_value(&retracted).unwrap();
        assert_eq!(back["publishedAt"], "2026-01-31T08:00:00.000Z");
    }

    #[test]
    fn content_is_what_the_author_wrote_in_any_order() {
        let read = |text: &str| serde_json::from_str::<Definition>(text).unwrap();
        let first =
            read(r#"{"id": "a", "version": 1, "root": {"type": "X", "y": [{"b": 1, "c": 2}]}}"#);
        let same = read(
            r#"{"isPublished": true, "links": [], "publishedAt": "2026-01-31T08:00:00Z",
                "root": {"y": [{"c": 2, "b": 1}], "type": "X"}, "id": "b", "version": 2,
                "savedAt": "2026-01-31T09:00:00Z"}"#,
        );
        assert!(first.has_content_of(&same));
        assert_eq!(first.content_hash(), same.content_hash());
        let placed = read(
            r#"{"root": {"type": "X", "id": "a", "nodeId": "Workflow1:a", "version": 1, "y": []}}"#,
        );
        let plain = read(r#"{"root": {"type": "X", "id": "a", "y": []}}"#);
        assert!(placed.has_content_of(&plain));
        let filled = |metadata: &str| {
            let root = r#"{"type": "X", "id": "a", "nodeId": "Workflow1:a", "version": 1, "y": [],
                "name": null, "customProperties": {}, "metadata": "#;
            read(&format!(r#"{{"root": {root}{metadata}}}}}"#))
        };
        assert!(filled("{}").has_content_of(&plain));
        assert!(!filled(r#"{"x": 1}"#).has_content_of(&plain));
        let written = r#"{"root": {"type": "X", "y": {"type": "t", "id": "a", "nodeId": "NODE"}}}"#;
        let changed = written.replace("NODE", "OTHER");
        assert!(!read(written).has_content_of(&read(&changed)));
        let other = read(r#"{"root": {"type": "X", "y": [{"b": 2, "c": 2}]}}"#);
        assert!(!first.has_content_of(&other));
        assert_ne!(first.content_hash(), other.content_hash());
        assert_eq!(first.content_hash().len(), 32);
    }
}
