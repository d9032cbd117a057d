//! Activity types that workers register: an activity of such a type is performed outside of Staunch.
//!
//! The document of a type is what its worker writes. A published version of a definition keeps the
//! documents of the types that it uses ([`Definition::activity_types`](crate::Definition)), so that it
//! means the same for ever.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{Argument, Map, Retry, limits, span};

/// The prefixes of the types that Staunch itself has.
const RESERVED: [&str; 2] = ["Elsa.", "Staunch."];
/// The output that every type has: the result as a whole.
pub const RESULT: &str = "result";
/// The greatest version, as the API's clients read numbers.
pub const VERSION_MAX: u32 = i32::MAX.unsigned_abs();
/// The outcome of a type that declares none.
const DONE: &str = "Done";

/// How an activity reaches its worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// By a task, which waits until a worker takes it.
    #[default]
    Task,
    /// By a request, which a responder has to answer at once.
    Request,
}

/// The document of one version of an activity type.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ActivityType {
    /// Its name, such as `Acme.ChargeCard`.
    #[serde(rename = "type")]
    pub type_name: String,
    /// 1, 2, 3 …
    #[serde(deserialize_with = "crate::whole::ordinal")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 2_147_483_647)))]
    pub version: u32,
    /// The name in a designer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// Its purpose, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The group in which a designer lists it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// The name or the address of its picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
    /// How it reaches its worker.
    pub mode: Mode,
    /// The JSON Schema of the input: an object, whose properties are the inputs of the activity.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub input: Map,
    /// The JSON Schema of the result. The properties of an object are outputs of the activity.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub output: Map,
    /// The outcomes that a result may name; without them there is `Done` alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outcomes: Vec<String>,
    /// The retries of an activity that does not have its own, as in `customProperties.retry`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<Value>,
    /// The longest wait for the result: of a task all attempts together, of a request one try.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
}

impl ActivityType {
    /// Refuses the text of a document that has a member twice: of the two, a parser takes one. What else is
    /// wrong with it is found when it is read.
    ///
    /// # Errors
    /// The member.
    pub fn check_members(text: &[u8]) -> Result<(), String> {
        match serde_json::from_slice::<Self>(text) {
            Err(error) if error.to_string().starts_with("duplicate field") => {
                Err(error.to_string())
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Everything that is wrong with the document, each with its member. Whether the schemas are
    /// valid is for the caller to find out.
    #[must_use]
    pub fn flaws(&self) -> Vec<String> {
        let mut flaws = Vec::new();
        let mut flaw = |member: &str, reason: String| flaws.push(format!("{member}: {reason}"));
        if let Err(reason) = named(&self.type_name) {
            flaw("type", reason);
        }
        match self.version {
            1..=VERSION_MAX => {}
            0 => flaw(
                "version",
                format!("it is missing, or 0: give a number from 1 to {VERSION_MAX}"),
            ),
            other => flaw("version", format!("{other} is not a number from 1 to {VERSION_MAX}")),
        }
        for (member, schema) in [("input", &self.input), ("output", &self.output)] {
            let properties = schema.get("properties");
            if properties.is_some_and(|properties| !properties.is_object()) {
                flaw(member, "its properties are no object".to_owned());
            }
            let count = properties.and_then(Value::as_object).map_or(0, Map::len);
            if count > limits::ACTIVITY_PROPERTIES_MAX {
                let max = limits::ACTIVITY_PROPERTIES_MAX;
                flaw(member, format!("it has {count} properties, more than {max}"));
            }
        }
        let kind = self.input.get("type");
        if kind.is_some_and(|kind| kind != "object") {
            let kind = kind.cloned().unwrap_or_default();
            flaw("input", format!("its type is {kind}: the inputs of an activity are an object"));
        }
        for name in properties(&self.input).map(|(name, _)| name) {
            if TAKEN.iter().any(|taken| taken.eq_ignore_ascii_case(name)) {
                flaw("input", format!("every activity has a member {name}: use another name"));
            }
        }
        for name in properties(&self.output).map(|(name, _)| name) {
            let is_input =
                properties(&self.input).any(|(input, _)| input.eq_ignore_ascii_case(name));
            if is_input || TAKEN.iter().any(|taken| taken.eq_ignore_ascii_case(name)) {
                flaw(
                    "output",
                    format!("{name} is another member of the activity: use another name"),
                );
            }
        }
        if self.outcomes.len() > limits::ACTIVITY_PROPERTIES_MAX
            || self.outcomes.iter().any(|outcome| outcome.trim().is_empty())
        {
            flaw("outcomes", "there is one without a name, or there are too many".to_owned());
        }
        let mut seen = BTreeSet::new();
        if let Some(twice) = self.outcomes.iter().find(|outcome| !seen.insert(*outcome)) {
            flaw("outcomes", format!("{twice} is there twice"));
        }
        if let Some(Err(reason)) = self.retry.as_ref().map(Retry::read) {
            flaw("retry", reason);
        }
        if let Some(Err(reason)) = self.timeout.as_deref().map(span::parse) {
            flaw("timeout", reason);
        }
        flaws
    }

    /// What is wrong with a new document, and is left as it is in one that a published version has.
    #[must_use]
    pub fn oversights(&self) -> Vec<String> {
        let names = properties(&self.input).map(|(name, _)| name);
        let taken = names.filter(|name| name.eq_ignore_ascii_case(RESULT));
        taken
            .map(|name| {
                format!("input: {name} is an output that every activity has: use another name")
            })
            .collect()
    }

    /// The inputs of an activity of this type.
    #[must_use]
    pub fn inputs(&self) -> Vec<Argument> {
        let required = self.input.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|it| it == name));
        properties(&self.input)
            .map(|(name, schema)| {
                let mut argument = argument(name, schema);
                if is_required(name) {
                    argument.extra.insert("isRequired".to_owned(), true.into());
                }
                if let Some(default) = schema.get("default") {
                    argument.extra.insert("defaultValue".to_owned(), default.clone());
                }
                argument
            })
            .collect()
    }

    /// The outputs of an activity of this type: the result as a whole, and the properties of an
    /// object.
    #[must_use]
    pub fn outputs(&self) -> Vec<Argument> {
        let schema = Value::Object(self.output.clone());
        let mut outputs = vec![argument(RESULT, &schema)];
        let parts = properties(&self.output).filter(|(name, _)| !name.eq_ignore_ascii_case(RESULT));
        outputs.extend(parts.map(|(name, schema)| argument(name, schema)));
        outputs
    }

    /// The outcomes of an activity of this type.
    #[must_use]
    pub fn outcomes(&self) -> Vec<String> {
        if self.outcomes.is_empty() { vec![DONE.to_owned()] } else { self.outcomes.clone() }
    }

    /// `Acme.ChargeCard@2`
    #[must_use]
    pub fn label(&self) -> String {
        format!("{}@{}", self.type_name, self.version)
    }
}

/// The part of a type's name of which the ids of its activities are made where they have none:
/// `ChargeCard` of `Acme.ChargeCard`.
#[must_use]
pub fn short_name(type_name: &str) -> &str {
    type_name.rsplit('.').next().unwrap_or(type_name)
}

/// Members that an activity of any type has.
const TAKEN: [&str; 12] = [
    "id",
    "nodeId",
    "name",
    "type",
    "version",
    "customProperties",
    "metadata",
    "canStartWorkflow",
    "runAsynchronously",
    "displayName",
    "variables",
    "next",
];

fn named(name: &str) -> Result<(), String> {
    let max = limits::ACTIVITY_TYPE_BYTES_MAX;
    if name.trim().is_empty() {
        return Err("there is no name: write one, such as Acme.ChargeCard".to_owned());
    }
    if name.len() > max {
        return Err(format!("it has {} bytes, more than {max}", name.len()));
    }
    if name.chars().any(|c| c.is_control() || c.is_whitespace() || "<>@/*".contains(c)) {
        return Err(format!("{name:?} has a character other than letters, digits, . - and _"));
    }
    match RESERVED.iter().find(|prefix| name.starts_with(**prefix)) {
        Some(prefix) => Err(format!("names that begin with {prefix} are Staunch's own")),
        None => Ok(()),
    }
}

fn properties(schema: &Map) -> impl Iterator<Item = (&str, &Value)> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().map(|(name, schema)| (name.as_str(), schema))
}

/// An input or output with the type that a schema says.
fn argument(name: &str, schema: &Value) -> Argument {
    let text = |member: &str| schema.get(member).and_then(Value::as_str);
    let is_array = kind(schema) == Some("array");
    let element = if is_array { schema.get("items").unwrap_or(&Value::Null) } else { schema };
    let mut extra = Map::new();
    for (member, value) in [("displayName", text("title")), ("description", text("description"))] {
        if let Some(value) = value {
            extra.insert(member.to_owned(), value.into());
        }
    }
    if let Some(options) = schema.get("enum").and_then(Value::as_array) {
        extra.insert("uiHint".to_owned(), "dropdown".into());
        extra.insert("options".to_owned(), json!(options));
    }
    if kind(schema) == Some("object") {
        extra.insert("uiHint".to_owned(), "dictionary".into());
        if let Some(values @ Value::Object(_)) = schema.get("additionalProperties") {
            extra.insert("valueType".to_owned(), alias(values).into());
        }
    }
    Argument { name: name.to_owned(), type_name: Some(alias(element).to_owned()), is_array, extra }
}

/// The type of a schema, if it has one beside null.
fn kind(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::String(one) => Some(one),
        Value::Array(several) => {
            let mut kinds = several.iter().filter_map(Value::as_str).filter(|kind| *kind != "null");
            let first = kinds.next();
            if kinds.next().is_none() { first } else { None }
        }
        _ => None,
    }
}

fn alias(schema: &Value) -> &'static str {
    match (kind(schema), schema.get("format").and_then(Value::as_str)) {
        (Some("string"), Some("date-time")) => "DateTimeOffset",
        (Some("string"), _) => "String",
        (Some("integer"), _) => "Int64",
        (Some("number"), _) => "Double",
        (Some("boolean"), _) => "Boolean",
        (Some("object"), _) => "ObjectDictionary",
        _ => "Object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(document: Value) -> ActivityType {
        serde_json::from_value(document).unwrap()
    }

    #[test]
    fn the_version_is_a_whole_number_as_json_schema_has_them() {
        assert_eq!(read(json!({"type": "Acme.ChargeCard", "version": 1.0})).version, 1);
        let half = serde_json::from_value::<ActivityType>(json!({"type": "a", "version": 1.5}));
        assert!(half.unwrap_err().to_string().contains("expected a whole number"));
    }

    #[test]
    fn the_inputs_are_the_properties_of_the_schema() {
        let charge = read(json!({"type": "Acme.ChargeCard", "version": 1, "input": {
        "required": ["amount"],
        "properties": {
            "amount": {"type": "number", "title": "Amount"},
            "currency": {"type": ["string", "null"], "enum": ["EUR", "USD"], "default": "EUR"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "at": {"type": "string", "format": "date-time"},
            "any": {}
        }}}));
        assert_eq!(charge.flaws(), Vec::<String>::new());
        let mut types: Vec<_> = charge
            .inputs()
            .iter()
            .map(|input| (input.name.clone(), input.type_name.clone().unwrap(), input.is_array))
            .collect();
        types.sort();
        let expected = [
            ("amount", "Double", false),
            ("any", "Object", false),
            ("at", "DateTimeOffset", false),
            ("currency", "String", false),
            ("tags", "String", true),
        ];
        assert_eq!(types, expected.map(|(name, ty, list)| (name.to_owned(), ty.to_owned(), list)));
        let inputs = charge.inputs();
        let find = |name: &str| inputs.iter().find(|input| input.name == name).unwrap();
        assert!(find("amount").is_required() && !find("currency").is_required());
        assert_eq!(find("currency").extra["defaultValue"], "EUR");
        assert_eq!(find("amount").extra["displayName"], "Amount");
        assert_eq!((charge.outcomes(), charge.outputs().len()), (vec!["Done".to_owned()], 1));
    }

    #[test]
    fn an_object_is_edited_as_a_dictionary_with_values_of_the_type_that_the_schema_names() {
        let document = json!({"type": "a", "version": 1, "input": {"properties": {
            "meta": {"type": "object", "additionalProperties": {"type": "integer"}},
            "more": {"type": ["object", "null"]},
            "list": {"type": "array", "items": {"type": "object"}}}}});
        let inputs = read(document).inputs();
        let hints = ["meta", "more", "list"].map(|name| {
            let input = inputs.iter().find(|input| input.name == name).unwrap();
            let text = |member| input.extra.get(member).and_then(Value::as_str);
            (text("uiHint"), text("valueType"))
        });
        let dictionary = Some("dictionary");
        assert_eq!(hints, [(dictionary, Some("Int64")), (dictionary, None), (None, None)]);
    }

    #[test]
    fn the_parts_of_an_object_are_outputs_beside_the_result() {
        let document = json!({"type": "a", "version": 1, "outcomes": ["Paid", "Declined"],
            "output": {"type": "object", "properties": {"receipt": {"type": "string"}}}});
        let outputs: Vec<_> = read(document).outputs().into_iter().map(|it| it.name).collect();
        assert_eq!(outputs, ["result", "receipt"]);
    }

    #[test]
    fn everything_that_is_wrong_is_named() {
        let check = |document: Value, expected: &[&str]| {
            let flaws = read(document).flaws();
            assert_eq!(flaws.len(), expected.len(), "{flaws:?}");
            for (flaw, part) in flaws.iter().zip(expected) {
                assert!(flaw.contains(part), "{flaw}");
            }
        };
        check(
            json!({"type": "Elsa.X", "input": {"type": "string", "properties": {"id": {}}},
                "outcomes": [""], "retry": {"attempts": 0}, "timeout": "soon"}),
            &[
                "type: ",
                "version: it is missing, or 0: give a number from 1",
                "its type is",
                "member id",
                "outcomes:",
                "retry:",
                "timeout:",
            ],
        );
        check(
            json!({"type": "a", "version": 1, "outcomes": ["Paid", "No", "Paid"]}),
            &["outcomes: Paid is there twice"],
        );
        check(json!({"type": "a b", "version": 1}), &["character"]);
        check(json!({"version": 1}), &["no name"]);
        check(json!({"type": "a", "version": u32::MAX}), &["version: 4294967295 is not a number"]);
        check(json!({"type": "x".repeat(129), "version": 1}), &["129 bytes"]);
        check(json!({"type": "a", "version": 1, "output": {"properties": 1}}), &["no object"]);
        let result =
            read(json!({"type": "a", "version": 1, "input": {"properties": {"Result": {}}}}));
        assert!(result.flaws().is_empty(), "published versions go on");
        assert_eq!(
            result.oversights(),
            ["input: Result is an output that every activity has: use another name"]
        );
        let same = json!({"type": "a", "version": 1, "input": {"properties": {"x": {}}},
            "output": {"properties": {"X": {}}}});
        check(same, &["another member"]);
        let misspelled = serde_json::from_value::<ActivityType>(json!({"type": "a", "colour": 1}));
        assert!(misspelled.is_err());
    }
}
