//! Examples of what has none of its own: made of its schema, with the values that members of a name
//! have (`members.json`).

use serde_json::{Value, json};

const MEMBERS: &str = include_str!("members.json");

/// Schemas within schemas, at most: further ones are left out.
const DEPTH_MAX: usize = 12;

/// Makes examples of the schemas of a document.
pub(super) struct Samples {
    members: Value,
    schemas: Value,
}

impl Samples {
    /// Of these schemas, by name.
    pub(super) fn of(schemas: Value) -> Self {
        Self { members: serde_json::from_str(MEMBERS).unwrap_or_default(), schemas }
    }

    /// An example of a member or a parameter; none for a schema that nothing is known to fit.
    pub(super) fn of_member(&self, name: &str, schema: &Value) -> Option<Value> {
        self.member(name, schema, 0)
    }

    /// An example of a body.
    pub(super) fn of_body(&self, schema: &Value) -> Option<Value> {
        self.value("", schema, 0)
    }

    fn member(&self, name: &str, schema: &Value, depth: usize) -> Option<Value> {
        match self.members.get(name) {
            Some(known) if is_plain(known, schema) => Some(known.clone()),
            _ => self.value(name, schema, depth),
        }
    }

    fn value(&self, name: &str, schema: &Value, depth: usize) -> Option<Value> {
        if depth > DEPTH_MAX {
            return None;
        }
        if let Some(known) = ["const", "example", "default"].iter().find_map(|it| schema.get(it)) {
            return Some(known.clone());
        }
        if let Some(of) = schema["$ref"].as_str().and_then(|of| of.rsplit('/').next()) {
            // Any JSON.
            if of == "Json" {
                return Some(self.members.get(name).cloned().unwrap_or_else(|| json!("text")));
            }
            return self.value(name, self.schemas.get(of)?, depth + 1);
        }
        if let Some(values) = schema["enum"].as_array() {
            return values.iter().find(|value| **value != "" && !value.is_null()).cloned();
        }
        let forms = ["oneOf", "anyOf"].iter().find_map(|it| schema.get(it)?.as_array());
        if let Some(forms) = forms {
            let mut forms = forms.iter().filter(|form| form["type"] != "null");
            let found = forms.find_map(|form| self.value(name, form, depth + 1));
            return Some(found.unwrap_or_default());
        }
        match kind(schema) {
            Some("object") => Some(self.object(schema, depth)),
            Some("array") if schema["maxItems"] == 0 => Some(json!([])),
            Some("array") => {
                let item = self.value(name, &schema["items"], depth + 1);
                Some(Value::Array(item.into_iter().collect()))
            }
            Some("string") => Some(text(schema)),
            Some("integer" | "number") => Some(number(schema)),
            Some("boolean") => Some(json!(false)),
            Some("null") => Some(Value::Null),
            _ => Some(json!("text")),
        }
    }

    fn object(&self, schema: &Value, depth: usize) -> Value {
        let members = schema["properties"].as_object().into_iter().flatten();
        let members = members.filter_map(|(name, member)| {
            Some((name.clone(), self.member(name, member, depth + 1)?))
        });
        Value::Object(members.collect::<serde_json::Map<_, _>>())
    }
}

/// The kind of value, for one that may be null, too.
fn kind(schema: &Value) -> Option<&str> {
    match &schema["type"] {
        Value::String(kind) => Some(kind),
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        _ if schema["properties"].is_object() => Some("object"),
        _ => None,
    }
}

/// Whether a known value is of the kind that a schema has, and nothing more is asked of it.
fn is_plain(value: &Value, schema: &Value) -> bool {
    let is_of_kind = match kind(schema) {
        Some("string") => value.is_string(),
        Some("integer") => value.is_u64(),
        Some("boolean") => value.is_boolean(),
        Some("array") => {
            let item = value.get(0).unwrap_or(&Value::Null);
            value.is_array() && is_plain(item, &schema["items"])
        }
        Some("object") => value.is_object() && schema["properties"].is_null(),
        _ => false,
    };
    let format = schema["format"].as_str();
    let is_free = schema["enum"].is_null() && schema["const"].is_null();
    is_of_kind && is_free && (format != Some("date-time") || value.to_string().contains("T08:"))
}

fn text(schema: &Value) -> Value {
    match schema["format"].as_str() {
        Some("date-time") => json!("2026-01-31T08:00:00.000Z"),
        Some("uri" | "url") => json!("https://shop.example/orders"),
        _ => json!("text"),
    }
}

fn number(schema: &Value) -> Value {
    let min = schema["minimum"].as_i64().unwrap_or_default().max(0);
    match schema["maximum"].as_i64() {
        Some(max) => json!(max.min(min.max(1))),
        None => json!(min.max(1)),
    }
}
