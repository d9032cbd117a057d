//! What is wrong with the JSON of a definition before anything is compiled: members of another kind of
//! value than they have.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_path_to_error::Segment;

use crate::Definition;

/// The most mistakes that are looked for.
const MISREAD_MAX: usize = 100;

/// A part of a definition that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misread {
    /// The part, such as `variables[0].name`.
    pub place: String,
    /// The mistake and its correction.
    pub message: String,
}

impl Misread {
    /// A place in what is left of a document, as it was before these parts were removed: the items
    /// of its lists had other positions.
    #[must_use]
    pub fn before(removed: &[Self], place: &str) -> String {
        let Some((list, rest)) = place.split_once('[') else { return place.to_owned() };
        let Some((number, rest)) = rest.split_once(']') else { return place.to_owned() };
        let Ok(mut position) = number.parse::<usize>() else { return place.to_owned() };
        let item = |one: &Self| {
            let number = one.place.strip_prefix(list)?.strip_prefix('[')?.strip_suffix(']')?;
            number.parse::<usize>().ok()
        };
        let mut items: Vec<_> = removed.iter().filter_map(item).collect();
        items.sort_unstable();
        for removed in items {
            position += usize::from(removed <= position);
        }
        format!("{list}[{position}]{rest}")
    }
}

impl Definition {
    /// Removes what cannot be read from a definition, so that mistakes in the rest of it can be found.
    pub fn repair(document: &mut Value) -> Vec<Misread> {
        let mut found = Vec::new();
        // The number of items that were removed from each list: mistakes come in their order.
        let mut removed = BTreeMap::new();
        while found.len() < MISREAD_MAX {
            let read: Result<Self, _> = serde_path_to_error::deserialize(&*document);
            let Err(error) = read else { break };
            let path: Vec<Segment> = error.path().iter().cloned().collect();
            let place = written(&path, &removed);
            let message = said(&error.into_inner().to_string());
            found.push(Misread { place, message });
            if !remove(document, &path, &mut removed) {
                break;
            }
        }
        found
    }
}

/// The place in the document as it was before anything was removed.
fn written(path: &[Segment], removed: &BTreeMap<String, usize>) -> String {
    let mut place = String::new();
    for segment in path {
        match segment {
            Segment::Map { key } if place.is_empty() => place.push_str(key),
            Segment::Map { key } => {
                place.push('.');
                place.push_str(key);
            }
            Segment::Seq { index } => {
                let before = removed.get(&place).copied().unwrap_or_default();
                place.push_str(&format!("[{}]", index + before));
            }
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    place
}

/// False if there is nothing at the end of the path.
fn remove(document: &mut Value, path: &[Segment], removed: &mut BTreeMap<String, usize>) -> bool {
    let Some((last, way)) = path.split_last() else { return false };
    let mut at = document;
    for segment in way {
        let next = match segment {
            Segment::Map { key } => at.get_mut(key),
            Segment::Seq { index } => at.get_mut(*index),
            Segment::Enum { .. } | Segment::Unknown => None,
        };
        let Some(next) = next else { return false };
        at = next;
    }
    match (last, at) {
        (Segment::Map { key }, Value::Object(members)) => members.remove(key).is_some(),
        (Segment::Seq { index }, Value::Array(items)) if *index < items.len() => {
            let place = written(way, removed);
            items.remove(*index);
            *removed.entry(place).or_default() += 1;
            true
        }
        _ => false,
    }
}

/// The error in plain words: `invalid type: integer `7`, expected a sequence`.
fn said(error: &str) -> String {
    let Some((found, expected)) = error.split_once(", expected ") else { return error.to_owned() };
    let found = ["invalid type: ", "invalid value: "]
        .iter()
        .find_map(|start| found.strip_prefix(start))
        .unwrap_or(found);
    let found = match found.split_once(' ') {
        Some(("integer" | "boolean" | "string", value)) => value.trim_matches('`'),
        Some(("floating", value)) => value.trim_start_matches("point ").trim_matches('`'),
        _ if found == "sequence" => "a list",
        _ if found == "map" => "an object",
        _ => found,
    };
    let expected = match expected {
        "a sequence" => "a list: write [ … ]",
        "a string" => "a text",
        "a boolean" => "true or false",
        "u32" => "a whole number from 0 on",
        other if other == "a map" || other.starts_with("struct ") => "an object: write { … }",
        other => other,
    };
    format!("this is {found}, and has to be {expected}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_part_of_the_wrong_kind_is_named_and_removed() {
        let mut document = json!({
            "definitionId": 5, "name": "A", "version": -1, "nmae": "B",
            "variables": [7, {"name": "N", "isArray": "often"}, "x", {"name": [1]}],
            "inputs": 7, "outputs": {"a": 1}, "outcomes": ["A", 2], "isSystem": "perhaps",
            "options": [], "customProperties": "x", "root": {"type": "WriteLine"}
        });
        let mut found: Vec<String> = Definition::repair(&mut document)
            .into_iter()
            .map(|one| format!("{}: {}", one.place, one.message))
            .collect();
        found.sort();
        let object = "an object: write { … }";
        assert_eq!(
            found,
            [
                format!("customProperties: this is \"x\", and has to be {object}"),
                "definitionId: this is 5, and has to be a text".to_owned(),
                "inputs: this is 7, and has to be a list: write [ … ]".to_owned(),
                "isSystem: this is \"perhaps\", and has to be true or false".to_owned(),
                format!("options: this is a list, and has to be {object}"),
                "outcomes[1]: this is 2, and has to be a text".to_owned(),
                "outputs: this is an object, and has to be a list: write [ … ]".to_owned(),
                format!("variables[0]: this is 7, and has to be {object}"),
                "variables[1].isArray: this is \"often\", and has to be true or false".to_owned(),
                format!("variables[2]: this is \"x\", and has to be {object}"),
                "variables[3].name: this is a list, and has to be a text".to_owned(),
                "version: this is -1, and has to be a whole number from 0 on".to_owned(),
            ]
        );
        let read: Definition = serde_json::from_value(document).unwrap();
        assert_eq!((read.name.as_deref(), read.variables.len()), (Some("A"), 2));
        assert!(read.extra.contains_key("nmae"));
    }

    #[test]
    fn places_in_what_is_left_are_those_of_the_document() {
        let list = json!([7, {"name": "A"}, "x", [], {"name": "B", "isArray": "often"}, {}]);
        let found = Definition::repair(&mut json!({"variables": list, "root": null}));
        let check = |place: &str, expected: &str| {
            assert_eq!(Misread::before(&found, place), expected, "{place}");
        };
        check("variables[0].typeName", "variables[1].typeName");
        check("variables[1].name", "variables[4].name");
        check("variables[2]", "variables[5]");
        check("variables", "variables");
        check("inputs[0].name", "inputs[0].name");
    }

    #[test]
    fn what_is_no_object_at_all_is_named() {
        let found = Definition::repair(&mut json!(7));
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].place.as_str(), found[0].message.as_str()),
            ("", "this is 7, and has to be an object: write { … }")
        );
    }
}
