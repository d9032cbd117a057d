//! JSON Schemas (draft 2020-12 unless they name another) of what workers are given and give back.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError, Validator};
use model::{ActivityType, Map};
use serde_json::Value;

/// Flaws that one check reports.
const FLAWS_MAX: usize = 10;
/// Characters of one flaw.
const FLAW_CHARS_MAX: usize = 300;

/// A compiled schema. One that is empty takes everything.
#[derive(Default)]
pub(crate) struct Schema(Option<Validator>);

impl Schema {
    /// Compiles a schema. It cannot refer to another document, and its patterns take linear time.
    pub(crate) fn new(schema: &Map) -> Result<Self, String> {
        if schema.is_empty() {
            return Ok(Self(None));
        }
        let options = jsonschema::options()
            .should_validate_formats(true)
            .with_pattern_options(PatternOptions::regex());
        let built = options.build(&Value::Object(schema.clone()));
        built.map(|validator| Self(Some(validator))).map_err(|error| unusable(&error))
    }

    /// What does not fit, each with its place (RFC 6901). The value itself is not named.
    pub(crate) fn flaws(&self, value: &Value) -> Vec<(String, String)> {
        let errors = self.0.iter().flat_map(|validator| validator.iter_errors(value));
        let flaw = |error: ValidationError<'_>| {
            (error.instance_path().to_string(), short(&error.masked().to_string()))
        };
        errors.take(FLAWS_MAX).map(flaw).collect()
    }
}

/// Reads the document of an activity type.
///
/// # Errors
/// Everything that is wrong with it.
pub fn activity_type(document: Value) -> Result<ActivityType, Vec<String>> {
    if !document.is_object() {
        return Err(vec!["a document is a JSON object".to_owned()]);
    }
    let kind: Result<ActivityType, _> = serde_path_to_error::deserialize(document);
    let kind = kind.map_err(|error| {
        let (member, reason) = (error.path().to_string(), error.inner().to_string());
        vec![if member == "." { reason } else { format!("{member}: {reason}") }]
    })?;
    let mut flaws = [kind.flaws(), kind.oversights()].concat();
    for (member, schema) in [("input", &kind.input), ("output", &kind.output)] {
        if let Err(reason) = Schema::new(schema) {
            flaws.push(format!("{member}: {reason}"));
        }
    }
    if flaws.is_empty() {
        flaws.extend(unfit_defaults(&kind.input));
    }
    if flaws.is_empty() { Ok(kind) } else { Err(flaws) }
}

/// The default values of inputs that do not fit their own schemas, each with its place in the document
/// (RFC 6901).
fn unfit_defaults(input: &Map) -> Vec<String> {
    let properties = input.get("properties").and_then(Value::as_object);
    let given = properties.into_iter().flatten();
    let given =
        given.filter_map(|(name, schema)| Some((name.clone(), schema.get("default")?.clone())));
    let given = Value::Object(given.collect());
    // What the schema says about the inputs together is not about their defaults, unless one refers to it.
    let mut alone = input.clone();
    alone.retain(|keyword, _| {
        keyword.starts_with('$') || ["properties", "definitions"].contains(&keyword.as_str())
    });
    let schema = Schema::new(&alone).or_else(|_| Schema::new(input)).unwrap_or_default();
    let flaws = schema.flaws(&given).into_iter();
    let flaw = |(place, flaw): (String, String)| {
        let (name, inside) = place.strip_prefix('/').map(|place| match place.find('/') {
            Some(end) => place.split_at(end),
            None => (place, ""),
        })?;
        let pointer = format!("/input/properties/{name}/default{inside}");
        Some(format!("{pointer}: {flaw}: a default has to fit the schema of its input"))
    };
    flaws.filter_map(flaw).collect()
}

/// Why a schema cannot be used, with the place in it (RFC 6901).
fn unusable(error: &ValidationError<'_>) -> String {
    let place = error.instance_path().to_string();
    let reason = match error.kind() {
        ValidationErrorKind::Referencing(_) => {
            "it refers to another document or to a part that is not there: a schema has all that it \
             needs, for example below $defs"
                .to_owned()
        }
        ValidationErrorKind::AnyOf { .. } if place.ends_with("/type") => format!(
            "{} is no type: use string, number, integer, boolean, array, object or null, or a list of \
             them",
            error.instance()
        ),
        _ => error.to_string(),
    };
    short(&if place.is_empty() { reason } else { format!("{place}: {reason}") })
}

fn short(text: &str) -> String {
    text.chars().take(FLAW_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema(value: Value) -> Result<Schema, String> {
        let Value::Object(members) = value else { return Err("no object".to_owned()) };
        Schema::new(&members)
    }

    #[test]
    fn each_flaw_has_its_place_and_does_not_show_the_value() {
        let card =
            schema(json!({"properties": {"number": {"type": "string", "pattern": "^[0-9]+$"},
            "amount": {"type": "number", "minimum": 1}}}));
        let found = card.unwrap().flaws(&json!({"number": "secret", "amount": 0}));
        let mut places: Vec<_> = found.iter().map(|(place, _)| place.as_str()).collect();
        places.sort_unstable();
        assert_eq!(places, ["/amount", "/number"]);
        assert!(found.iter().all(|(_, flaw)| !flaw.contains("secret")), "{found:?}");
        assert!(schema(json!({})).unwrap().flaws(&json!(1)).is_empty());
    }

    #[test]
    fn what_is_wrong_with_a_schema_has_its_place() {
        let wrong = json!({"properties": {"amount": {"type": "numbr"}}});
        let reason = schema(wrong).err().unwrap();
        assert!(
            reason.starts_with("/properties/amount/type: \"numbr\" is no type: use"),
            "{reason}"
        );
        let elsewhere = json!({"$ref": "https://example.com/schema.json"});
        let reason = schema(elsewhere).err().unwrap();
        assert!(reason.contains("refers to another document"), "{reason}");
    }

    #[test]
    fn a_default_has_to_fit_the_schema_of_its_input() {
        let check = |input: Value, places: &[&str]| {
            let read = activity_type(json!({"type": "Q", "version": 1, "input": input}));
            let flaws = read.err().unwrap_or_default();
            assert_eq!(flaws.len(), places.len(), "{flaws:?}");
            for (flaw, place) in flaws.iter().zip(places) {
                assert!(flaw.starts_with(&format!("{place}: ")), "{flaw}");
            }
        };
        check(
            json!({"properties": {"a": {"type": "string", "default": 5}, "b": {"default": 5}}}),
            &["/input/properties/a/default"],
        );
        check(
            json!({"properties": {"a/b": {"items": {"$ref": "#/$defs/n"}, "default": [1, "x"]}},
                "$defs": {"n": {"type": "number"}}}),
            &["/input/properties/a~1b/default/1"],
        );
        check(
            json!({"properties": {"a": {"type": "string", "default": null}}}),
            &["/input/properties/a/default"],
        );
        check(
            json!({"required": ["b"], "minProperties": 2, "properties":
                {"a": {"enum": ["x"], "default": "x"}, "b": {"type": "string"}}}),
            &[],
        );
    }

    #[test]
    fn a_schema_that_cannot_be_used_is_refused() {
        for wrong in [
            json!({"type": "colour"}),
            json!({"properties": {"a": {"pattern": "("}}}),
            json!({"$ref": "https://example.com/schema.json"}),
            json!({"properties": {"a": {"pattern": "(a+)+\\1"}}}),
        ] {
            assert!(schema(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
