//! Whether a schema keeps what an older one promises.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// Nesting of schemas that is followed; a type that contains itself ends there.
const DEPTH_MAX: usize = 16;
/// Members that narrow or widen a value, and do neither silently.
const RULES: [&str; 12] = [
    "type",
    "format",
    "const",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "uniqueItems",
    "contentEncoding",
];

/// Who writes the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Clients do: nothing may become required.
    Read,
    /// Staunch does: what was always there stays so.
    Written,
}

/// Every change that breaks a client, with its place.
pub(super) fn breaks(old: &Value, new: &Value, side: Side) -> Vec<String> {
    let mut comparison = Comparison { old, new, side, found: Vec::new() };
    comparison.compare(old, new, "", DEPTH_MAX);
    comparison.found
}

struct Comparison<'a> {
    old: &'a Value,
    new: &'a Value,
    side: Side,
    found: Vec<String>,
}

impl Comparison<'_> {
    fn say(&mut self, at: &str, what: impl std::fmt::Display) {
        let at = if at.is_empty() { "/" } else { at };
        self.found.push(format!("{at} {what}"));
    }

    fn compare(&mut self, old: &Value, new: &Value, at: &str, depth: usize) {
        let (Some(left), true) = (depth.checked_sub(1), old != new || has_reference(old)) else {
            return;
        };
        let (old, new) = (resolved(self.old, old), resolved(self.new, new));
        let (Value::Object(old), Value::Object(new)) = (&old, &new) else {
            // `true` takes everything.
            if old != new {
                self.say(at, format_args!("was {old} and is {new}"));
            }
            return;
        };
        for rule in RULES {
            if old.get(rule) != new.get(rule) {
                let (old, new) = (shown(old, rule), shown(new, rule));
                self.say(at, format_args!("has another {rule}: {old} was, {new} is"));
            }
        }
        self.required(old, new, at);
        self.values(old, new, at);
        self.members(old, new, at, left);
        for part in ["items", "additionalProperties"] {
            let everything = Value::Bool(true);
            let of = |schema: &Map<String, Value>| schema.get(part).cloned();
            let (old, new) = (of(old), of(new));
            if old.is_some() || new.is_some() {
                let (old, new) = (old.as_ref(), new.as_ref());
                let (old, new) = (old.unwrap_or(&everything), new.unwrap_or(&everything));
                self.compare(old, new, &format!("{at}/{part}"), left);
            }
        }
        for part in ["oneOf", "anyOf", "allOf"] {
            self.variants(old, new, part, at, left);
        }
    }

    fn required(&mut self, old: &Map<String, Value>, new: &Map<String, Value>, at: &str) {
        let (old, new) = (names(old, "required"), names(new, "required"));
        let (lost, what) = match self.side {
            Side::Read => (new.difference(&old), "has become required"),
            Side::Written => (old.difference(&new), "is not always there any more"),
        };
        for name in lost.cloned().collect::<Vec<_>>() {
            self.say(&format!("{at}/{name}"), what);
        }
    }

    /// The values of an enumeration.
    fn values(&mut self, old: &Map<String, Value>, new: &Map<String, Value>, at: &str) {
        if old.contains_key("enum") != new.contains_key("enum") {
            self.say(at, "had a list of values and has none, or has one now");
        }
        let (old, new) = (names(old, "enum"), names(new, "enum"));
        for gone in old.difference(&new) {
            self.say(at, format_args!("has lost the value {gone}"));
        }
    }

    fn members(
        &mut self,
        old: &Map<String, Value>,
        new: &Map<String, Value>,
        at: &str,
        left: usize,
    ) {
        let none = Map::new();
        let of = |schema: &Map<String, Value>| {
            schema.get("properties").and_then(Value::as_object).unwrap_or(&none).clone()
        };
        let (old, new) = (of(old), of(new));
        for (name, schema) in &old {
            let at = format!("{at}/{name}");
            match new.get(name) {
                Some(now) => self.compare(schema, now, &at, left),
                None => self.say(&at, "is gone"),
            }
        }
    }

    /// Each form that there was is still there.
    fn variants(
        &mut self,
        old: &Map<String, Value>,
        new: &Map<String, Value>,
        part: &str,
        at: &str,
        left: usize,
    ) {
        let of = |schema: &Map<String, Value>| {
            schema.get(part).and_then(Value::as_array).cloned().unwrap_or_default()
        };
        let (old, new) = (of(old), of(new));
        if part == "allOf" && old.len() != new.len() {
            self.say(at, "has another number of rules");
        }
        for (number, schema) in old.iter().enumerate() {
            let fits = |now: &&Value| {
                let mut inner =
                    Comparison { old: self.old, new: self.new, side: self.side, found: Vec::new() };
                inner.compare(schema, now, at, left);
                inner.found.is_empty()
            };
            if !new.iter().any(|now| fits(&now)) {
                self.say(at, format_args!("has lost form {number} of {part}, or changed it"));
            }
        }
        if old.is_empty() && !new.is_empty() {
            self.say(at, format_args!("has {part} now"));
        }
    }
}

fn has_reference(schema: &Value) -> bool {
    schema.to_string().contains("\"$ref\"")
}

/// The schema that a reference stands for; what stands beside the reference is kept.
fn resolved(document: &Value, schema: &Value) -> Value {
    let Some(reference) = schema.get("$ref").and_then(Value::as_str) else { return schema.clone() };
    let found = reference.strip_prefix('#').and_then(|place| document.pointer(place));
    let mut found = found.cloned().unwrap_or(Value::Null);
    if let (Value::Object(found), Value::Object(beside)) = (&mut found, schema) {
        let beside = beside.iter().filter(|(name, _)| *name != "$ref");
        found.extend(beside.map(|(name, value)| (name.clone(), value.clone())));
    }
    found
}

fn names(schema: &Map<String, Value>, member: &str) -> BTreeSet<String> {
    let list = schema.get(member).and_then(Value::as_array);
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    list.into_iter().flatten().map(text).collect()
}

fn shown(schema: &Map<String, Value>, rule: &str) -> String {
    schema.get(rule).map_or_else(|| "none".to_owned(), Value::to_string)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn old() -> Value {
        json!({
            "type": "object",
            "properties": {
                "id": {"type": "string"},
                "status": {"$ref": "#/$defs/Status"},
                "list": {"type": "array", "items": {"$ref": "#/$defs/Item"}},
                "any": true,
                "one": {"oneOf": [
                    {"type": "object", "properties": {"type": {"const": "A"}}, "required": ["type"]},
                    {"type": "object", "properties": {"type": {"const": "B"}}, "required": ["type"]}]},
            },
            "required": ["id"],
            "$defs": {
                "Status": {"type": "string", "enum": ["a", "b"]},
                "Item": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 0},
                    "inner": {"$ref": "#/$defs/Item"}}},
            },
        })
    }

    /// What the change of one place breaks.
    fn after(place: &str, value: Value, side: Side) -> Vec<String> {
        let mut new = old();
        match place.rsplit_once('/').unwrap() {
            (parent, name) if value.is_null() => {
                new.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(name);
            }
            (parent, name) => new.pointer_mut(parent).unwrap()[name] = value,
        }
        breaks(&old(), &new, side)
    }

    #[test]
    fn what_is_added_breaks_nothing() {
        for side in [Side::Read, Side::Written] {
            assert!(breaks(&old(), &old(), side).is_empty());
            for (place, value) in [
                ("/properties/more", json!({"type": "string"})),
                ("/$defs/Item/properties/more", json!(true)),
                ("/$defs/Status/enum", json!(["a", "b", "c"])),
                ("/description", json!("another")),
                ("/$defs/More", json!({"type": "string"})),
                ("/properties/id/description", json!("an id")),
            ] {
                assert_eq!(after(place, value, side), Vec::<String>::new(), "{place} {side:?}");
            }
        }
        let more = json!(["id", "any"]);
        assert!(after("/required", more, Side::Written).is_empty(), "always there from now on");
        assert!(after("/required", json!([]), Side::Read).is_empty(), "may be left out now");
    }

    #[test]
    fn what_is_taken_away_or_changed_breaks_clients() {
        for side in [Side::Read, Side::Written] {
            for (place, value, part) in [
                ("/properties/id", Value::Null, "/id is gone"),
                ("/properties/id/type", json!("integer"), "/id has another type"),
                ("/properties/id/type", json!(["string", "null"]), "/id has another type"),
                ("/$defs/Item/properties/n", Value::Null, "/list/items/n is gone"),
                ("/$defs/Item/properties/n/minimum", json!(1), "another minimum"),
                ("/$defs/Status/enum", json!(["a"]), "lost the value b"),
                ("/properties/any", json!({"type": "string"}), "/any was true"),
                (
                    "/properties/one/oneOf",
                    json!([{"type": "object", "properties":
                    {"type": {"const": "A"}}, "required": ["type"]}]),
                    "lost form 1",
                ),
                ("/additionalProperties", json!(false), "/additionalProperties was true"),
                ("/properties/list/items", json!(false), "/list/items"),
            ] {
                let found = after(place, value, side).join("\n");
                assert!(found.contains(part), "{place} {side:?}: {found}");
            }
        }
        let more = after("/required", json!(["id", "any"]), Side::Read).join("\n");
        assert_eq!(more, "/any has become required");
        let fewer = after("/required", json!([]), Side::Written).join("\n");
        assert_eq!(fewer, "/id is not always there any more");
    }
}
