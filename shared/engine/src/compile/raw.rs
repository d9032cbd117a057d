//! Reads the JSON of an activity, in all the forms that Elsa writes.

use model::Map;
use serde_json::Value;

use crate::Descriptor;
use crate::property::find;

/// True or false, also as text; false for anything else.
pub(super) fn flag(value: Option<&Value>) -> bool {
    match value {
        Some(Value::Bool(flag)) => *flag,
        Some(Value::String(text)) => text.eq_ignore_ascii_case("true"),
        _ => false,
    }
}

/// Custom properties with camelCase keys, however they were spelled.
pub(super) fn custom_properties(raw: &Map) -> Map {
    let custom = find(raw, "customProperties").and_then(Value::as_object);
    custom.map(camel_cased).unwrap_or_default()
}

/// The same members, each name beginning with a small letter.
pub(super) fn camel_cased(custom: &Map) -> Map {
    let camel = |key: &String| {
        let mut chars = key.chars();
        let first = chars.next().map(|c| c.to_ascii_lowercase());
        first.into_iter().chain(chars).collect::<String>()
    };
    custom.iter().map(|(key, value)| (camel(key), value.clone())).collect()
}

/// The bindings of outputs: `{"memoryReference": {"id": …}}`, or a bare name.
pub(super) fn bindings(raw: &Map, descriptor: &Descriptor) -> Vec<(String, String)> {
    let found = descriptor
        .outputs
        .iter()
        .filter_map(|output| Some((output.name.to_owned(), bound(find(raw, output.name)?)?)));
    found.collect()
}

/// The name of the variable or workflow output that an output is bound to.
pub(super) fn bound(output: &Value) -> Option<String> {
    match output {
        Value::String(name) => Some(name.clone()),
        Value::Object(wrapper) => {
            let reference = find(wrapper, "memoryReference")?.as_object()?;
            find(reference, "id")?.as_str().map(str::to_owned)
        }
        _ => None,
    }
}

/// The class of a .NET type name.
pub(super) fn class_of(name: &str) -> &str {
    let name = name.split(',').next().unwrap_or(name).trim();
    name.rsplit('.').next().unwrap_or(name)
}
