//! The activity types that workers have registered, in the JSON Schema of the short form.

use std::collections::BTreeMap;

use model::{ActivityType, Argument, Map};
use serde_json::{Value, json};

use super::{Form, NUMBER, output_schema, reference, shared, short};
use crate::vocabulary::Vocabulary;

/// The places in the schema of the names of types, and of what each means for its activity.
const NAMES: &str = "/$defs/activity/anyOf/1/allOf/0/properties/type/anyOf";
const MEANINGS: &str = "/$defs/activity/anyOf/1/allOf/0/allOf";

/// The JSON Schema of definitions in the short form, with these types beside those of the vocabulary.
#[must_use]
pub fn short_with(vocabulary: &Vocabulary, types: &[ActivityType]) -> Value {
    let mut versions: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for kind in types {
        versions.entry(&kind.type_name).or_default().push(kind.version);
    }
    let (mut names, mut meanings) = (Vec::new(), Vec::new());
    let mut definitions = Map::new();
    for (index, kind) in types.iter().enumerate() {
        // A name may have characters that a reference cannot have.
        let key = format!("worker-{}", index + 1);
        let name = kind.type_name.as_str();
        let all = versions.get(name).map(Vec::as_slice).unwrap_or_default();
        let is_newest = all.iter().all(|version| *version <= kind.version);
        let mut when = json!({"required": ["type"], "properties": {"type": {"enum": [name]}}});
        if is_newest {
            let said = kind.description.as_deref().unwrap_or("An activity of a worker.");
            names.push(json!({"enum": [name], "description": said}));
            let mut older = all.iter().filter(|version| **version != kind.version).peekable();
            if older.peek().is_some() {
                let older: Vec<_> = older.collect();
                when["properties"]["version"] = json!({"not": {"enum": older}});
            }
        } else {
            when = json!({"required": ["type", "version"],
                "properties": {"type": {"enum": [name]}, "version": {"enum": [kind.version]}}});
        }
        meanings.push(json!({"if": when, "then": reference(&key)}));
        definitions.insert(key, of_worker(kind));
    }
    let mut schema = short(vocabulary);
    if let Some(known) = schema.pointer_mut(NAMES).and_then(Value::as_array_mut) {
        drop(known.splice(0..0, names));
    }
    if let Some(known) = schema.pointer_mut(MEANINGS).and_then(Value::as_array_mut) {
        known.extend(meanings);
    }
    if let Some(all) = schema["$defs"].as_object_mut() {
        all.extend(definitions);
    }
    schema
}

/// The activities of one version of a type.
fn of_worker(kind: &ActivityType) -> Value {
    let mut properties = shared(Form::Short);
    for output in kind.outputs() {
        let said = text(&output, "description").unwrap_or("What the worker gives back.");
        properties.insert(output.name.clone(), output_schema(said, Form::Short));
    }
    let schemas = kind.input.get("properties").and_then(Value::as_object);
    for input in kind.inputs() {
        let own = schemas.and_then(|schemas| schemas.get(&input.name));
        properties.insert(input.name.clone(), input_schema(&input, own));
    }
    json!({
        "title": kind.display_name.as_deref().unwrap_or(&kind.type_name),
        "description": kind.description.as_deref().unwrap_or("An activity of a worker."),
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}

/// The value of an input: what its own schema takes, or an expression.
fn input_schema(input: &Argument, own: Option<&Value>) -> Value {
    let own = own.filter(|own| stands_alone(own)).cloned().unwrap_or_else(|| json!({}));
    let mut any = vec![own];
    // What is written is converted, as for other activities.
    let kind = input.type_name.as_deref();
    if input.is_array || kind == Some("Boolean") {
        any.push(json!({"type": "string"}));
    } else if matches!(kind, Some("Double" | "Int64")) {
        any.push(json!({"type": "string", "pattern": NUMBER}));
    } else if matches!(kind, Some("String" | "DateTimeOffset")) {
        any.push(json!({"type": ["number", "boolean"]}));
    }
    any.extend([reference("expression"), reference("wrapped"), json!({"type": "null"})]);
    let mut schema = json!({"anyOf": any});
    if let Some(said) = text(input, "description").or_else(|| text(input, "displayName")) {
        schema["description"] = said.into();
    }
    if let Some(default) = input.extra.get("defaultValue") {
        schema["default"] = default.clone();
    }
    schema
}

/// Whether a schema means the same in another document: it has no keyword that begins with `$`, such as
/// a reference to another part of its own.
fn stands_alone(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => {
            members.iter().all(|(name, value)| !name.starts_with('$') && stands_alone(value))
        }
        Value::Array(items) => items.iter().all(stands_alone),
        _ => true,
    }
}

fn text<'a>(argument: &'a Argument, member: &str) -> Option<&'a str> {
    argument.extra.get(member).and_then(Value::as_str)
}
