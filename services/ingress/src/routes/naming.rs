//! The members of a definition that was sent, under the names that they have here: clients of .NET
//! write them in any case. Members that are not known stay as they are.

use std::fmt::Display;

use engine::{ARGUMENT_MEMBERS, VARIABLE_MEMBERS};
use model::Map;
use serde_json::Value;

use crate::body::lenient::is_member;
use crate::problem::Problem;

/// The members of a body that is a definition, or has one.
pub(super) const SENT: &[&str] = &["model", "publish", "root"];

const DEFINITION: &[&str] = &[
    "id",
    "definitionId",
    "name",
    "description",
    "createdAt",
    "publishedAt",
    "version",
    "variables",
    "inputs",
    "outputs",
    "outcomes",
    "customProperties",
    "isReadonly",
    "isSystem",
    "isLatest",
    "isPublished",
    "options",
    "activityTypes",
    "root",
    "links",
    "tenantId",
    "toolVersion",
    "usableAsActivity",
];

const OPTIONS: &[&str] = &[
    "activationStrategyType",
    "incidentStrategyType",
    "usableAsActivity",
    "autoUpdateConsumingWorkflows",
    "activityCategory",
];

/// Gives the members of a definition, and those of its variables, inputs, outputs and options, the
/// names that they have here.
///
/// # Errors
/// The names of two members that differ in case only.
pub(super) fn of_definition(document: &mut Value, what: &str) -> Result<(), Problem> {
    let Value::Object(members) = document else { return Ok(()) };
    named(members, DEFINITION, what)?;
    for (list, known) in [
        ("variables", &VARIABLE_MEMBERS[..]),
        ("inputs", &ARGUMENT_MEMBERS),
        ("outputs", &ARGUMENT_MEMBERS),
    ] {
        let items = members.get_mut(list).and_then(Value::as_array_mut);
        for (at, item) in items.into_iter().flatten().enumerate() {
            if let Value::Object(item) = item {
                named(item, known, format_args!("{list}[{at}] of {what}"))?;
            }
        }
    }
    match members.get_mut("options") {
        Some(Value::Object(options)) => named(options, OPTIONS, format_args!("options of {what}")),
        _ => Ok(()),
    }
}

/// Gives these members the known names. Their order stays.
///
/// # Errors
/// The names of two members that differ in case only.
pub(super) fn named(members: &mut Map, known: &[&str], what: impl Display) -> Result<(), Problem> {
    let is_other = |name: &str| !known.contains(&name) && is_member(name, known);
    if !members.keys().any(|name| is_other(name)) {
        return Ok(());
    }
    if let Some((first, second)) = same(members, known) {
        return Err(Problem::bad_request(format!(
            "{what} has the members {first:?} and {second:?}: send one of them, names are read in \
             any case"
        )));
    }
    let renamed = std::mem::take(members).into_iter().map(|(name, value)| {
        let right = known.iter().find(|one| one.eq_ignore_ascii_case(&name));
        (right.map_or(name, |one| (*one).to_owned()), value)
    });
    *members = renamed.collect();
    Ok(())
}

/// Two members of one name.
fn same<'m>(members: &'m Map, known: &[&str]) -> Option<(&'m str, &'m str)> {
    let mut seen: Vec<&str> = Vec::new();
    for name in members.keys().filter(|name| is_member(name, known)) {
        if let Some(first) = seen.iter().find(|one| one.eq_ignore_ascii_case(name)) {
            return Some((*first, name.as_str()));
        }
        seen.push(name);
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn known_members_have_their_names_and_others_stay() {
        let mut document = json!({"Name": "Order", "X": 1, "VARIABLES": [{"Id": "a", "Hint": 2}, 7],
            "inputs": [{"Type": "String", "NAME": "n"}], "Options": {"UsableAsActivity": true},
            "Root": {"Type": "T", "Text": "t"}, "CustomProperties": {"Name": 1}});
        of_definition(&mut document, "the body").unwrap();
        let expected = json!({"name": "Order", "X": 1, "variables": [{"id": "a", "Hint": 2}, 7],
            "inputs": [{"type": "String", "name": "n"}], "options": {"usableAsActivity": true},
            "root": {"Type": "T", "Text": "t"}, "customProperties": {"Name": 1}});
        assert_eq!(document.to_string(), expected.to_string());
    }

    #[test]
    fn a_document_with_these_names_stays_as_it_is() {
        let document = json!({"toolVersion": "3.6.0.0", "root": {}, "Other": 1, "other": 2,
            "variables": [{"name": "a", "X": 1, "x": 2}], "options": null, "inputs": 7});
        let mut read = document.clone();
        of_definition(&mut read, "the body").unwrap();
        assert_eq!(read.to_string(), document.to_string());
    }

    #[test]
    fn two_members_of_one_name_are_refused_with_both() {
        let refused = |mut document: Value| {
            of_definition(&mut document, "the body").unwrap_err().detail().to_owned()
        };
        let top = refused(json!({"name": "a", "Name": "b"}));
        assert!(top.starts_with("the body has the members \"name\" and \"Name\""), "{top}");
        let below = refused(json!({"outputs": [{}, {"NAME": "a", "Name": "b"}]}));
        assert!(below.starts_with("outputs[1] of the body has the members \"NAME\""), "{below}");
    }
}
