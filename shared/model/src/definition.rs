//! A workflow definition as Elsa 3 writes it. Unknown fields survive a round trip.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{DefinitionId, Map, Timestamp, VersionId};

/// One version of a workflow's graph. Immutable once published.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Definition {
    /// Id of this version.
    #[serde(default)]
    pub id: VersionId,
    /// Id of the definition across its versions.
    #[serde(default)]
    pub definition_id: DefinitionId,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// When this version was made.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "lenient_time")]
    pub created_at: Option<Timestamp>,
    /// 1, 2, 3 …
    #[serde(default)]
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
    /// Free-form.
    #[serde(default, deserialize_with = "null_is_default")]
    pub custom_properties: Map,
    /// Refuses imports over it.
    #[serde(default)]
    pub is_readonly: bool,
    /// Hidden from people.
    #[serde(default)]
    pub is_system: bool,
    /// The newest version; exactly one per definition.
    #[serde(default)]
    pub is_latest: bool,
    /// The version that starts; at most one per definition.
    #[serde(default)]
    pub is_published: bool,
    /// How it starts and fails.
    #[serde(default, deserialize_with = "null_is_default")]
    pub options: Options,
    /// The root activity, as written.
    #[serde(default)]
    pub root: Value,
    /// Everything else that was there.
    #[serde(flatten)]
    pub extra: Map,
}

/// A workflow variable.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Variable {
    /// What outputs and `SetVariable` bind to.
    pub id: String,
    /// What expressions bind to.
    pub name: String,
    /// Type alias, such as `String` or `Int32`.
    pub type_name: Option<String>,
    /// An array of `type_name`.
    pub is_array: bool,
    /// Default value, converted to the type.
    pub value: Option<Value>,
    /// Kept for the round trip; every variable is persisted here.
    pub storage_driver_type_name: Option<String>,
    /// Everything else that was there.
    #[serde(flatten)]
    pub extra: Map,
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
    /// Everything else that was there.
    #[serde(flatten)]
    pub extra: Map,
}

/// Elsa's workflow options.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    /// Who may start; none means everyone.
    pub activation_strategy_type: Option<String>,
    /// What an incident does; none means `FaultStrategy`.
    pub incident_strategy_type: Option<String>,
    /// Usable as an activity of other workflows.
    pub usable_as_activity: Option<bool>,
    /// Everything else that was there.
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

/// Exports carry times in several spellings; the server sets its own, so a strange one is no error.
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
}
