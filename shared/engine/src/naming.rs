//! The members at the top of a definition under the names that they have here: clients of .NET write
//! them in any case. Members that are not known stay as they are; those of its activities are named by
//! [`Engine::spell`](crate::Engine::spell).

use std::sync::LazyLock;

use model::Map;
use serde_json::Value;

use crate::compile::members::{MEANT, SET};
use crate::spelling::{ARGUMENT_MEMBERS, VARIABLE_MEMBERS};

/// Members of a definition that change nothing, and are kept or left out by name.
const OTHER: [&str; 4] = ["links", "tenantId", "toolVersion", "usableAsActivity"];
/// The members of a definition.
pub static DEFINITION_MEMBERS: LazyLock<Vec<&str>> =
    LazyLock::new(|| [&MEANT[..], &SET, &OTHER].concat());

/// The members of the options of a definition.
pub const OPTION_MEMBERS: [&str; 5] = [
    "activationStrategyType",
    "incidentStrategyType",
    "usableAsActivity",
    "autoUpdateConsumingWorkflows",
    "activityCategory",
];

/// Two members of one object whose names differ in case only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Twice {
    /// The object, such as `variables[0]`; empty for the definition itself.
    pub place: String,
    /// The name that comes first.
    pub first: String,
    /// The other name.
    pub second: String,
}

/// The known name that a name means, in any case.
#[must_use]
pub fn known_name<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    known.iter().find(|known| known.eq_ignore_ascii_case(name)).copied()
}

/// Gives the members of a definition, and those of its variables, inputs, outputs and options, the
/// names that they have here.
///
/// # Errors
/// [`Twice`]: two members have one name, and it cannot be told which is meant.
pub fn name_members(definition: &mut Value) -> Result<(), Twice> {
    let Value::Object(members) = definition else { return Ok(()) };
    rename_members(members, &DEFINITION_MEMBERS)?;
    for (list, known) in [
        ("variables", &VARIABLE_MEMBERS[..]),
        ("inputs", &ARGUMENT_MEMBERS),
        ("outputs", &ARGUMENT_MEMBERS),
    ] {
        let items = members.get_mut(list).and_then(Value::as_array_mut);
        for (at, item) in items.into_iter().flatten().enumerate() {
            if let Value::Object(item) = item {
                rename_members(item, known)
                    .map_err(|twice| Twice { place: format!("{list}[{at}]"), ..twice })?;
            }
        }
    }
    match members.get_mut("options") {
        Some(Value::Object(options)) => rename_members(options, &OPTION_MEMBERS)
            .map_err(|twice| Twice { place: "options".to_owned(), ..twice }),
        _ => Ok(()),
    }
}

/// Gives these members the known names. Their order stays.
///
/// # Errors
/// [`Twice`]: two of them have one name.
pub fn rename_members(members: &mut Map, known: &[&str]) -> Result<(), Twice> {
    let is_other = |name: &str| !known.contains(&name) && known_name(name, known).is_some();
    if !members.keys().any(|name| is_other(name)) {
        return Ok(());
    }
    if let Some((first, second)) = same(members, known) {
        let (first, second) = (first.to_owned(), second.to_owned());
        return Err(Twice { place: String::new(), first, second });
    }
    let renamed = std::mem::take(members).into_iter().map(|(name, value)| {
        let right = known_name(&name, known).map(str::to_owned);
        (right.unwrap_or(name), value)
    });
    *members = renamed.collect();
    Ok(())
}

/// Two members of one name.
fn same<'m>(members: &'m Map, known: &[&str]) -> Option<(&'m str, &'m str)> {
    let mut seen: Vec<&str> = Vec::new();
    for name in members.keys().filter(|name| known_name(name, known).is_some()) {
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
        name_members(&mut document).unwrap();
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
        name_members(&mut read).unwrap();
        assert_eq!(read.to_string(), document.to_string());
    }

    #[test]
    fn two_members_of_one_name_are_found_at_their_place() {
        let twice = |mut document: Value| {
            let Twice { place, first, second } = name_members(&mut document).unwrap_err();
            [place, first, second]
        };
        assert_eq!(twice(json!({"name": "a", "Name": "b"})), ["", "name", "Name"]);
        let below = json!({"outputs": [{}, {"NAME": "a", "Name": "b"}]});
        assert_eq!(twice(below), ["outputs[1]", "NAME", "Name"]);
        let options = json!({"Options": {"UsableAsActivity": 1, "usableAsActivity": 2}});
        assert_eq!(twice(options), ["options", "UsableAsActivity", "usableAsActivity"]);
    }
}
