//! The properties of an activity in a definition.

use std::collections::BTreeMap;

use model::Map;
use serde_json::Value;

/// A property by name: an exact match first, else in any case.
pub(crate) fn find<'a>(raw: &'a Map, name: &str) -> Option<&'a Value> {
    raw.get(name).or_else(|| {
        raw.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    })
}

/// The members that have the name of an earlier one in another case, each after that one; one pair for
/// each name. Known names that differ in case only are two names, and a member that is null is absent.
pub(crate) fn twins<'m>(members: &'m Map, known: &[&str]) -> Vec<[&'m str; 2]> {
    let is_known = |name: &str| known.iter().any(|known| known.eq_ignore_ascii_case(name));
    let is_exact = |name: &str| known.contains(&name);
    let mut firsts: BTreeMap<String, &str> = BTreeMap::new();
    let mut found: BTreeMap<String, [&str; 2]> = BTreeMap::new();
    let present = members.iter().filter(|(name, value)| !value.is_null() && is_known(name));
    for (name, _) in present {
        let key = name.to_ascii_lowercase();
        match firsts.get(&key) {
            None => {
                firsts.insert(key, name);
            }
            Some(first) if is_exact(first) && is_exact(name) => {}
            Some(first) => {
                found.entry(key).or_insert([*first, name.as_str()]);
            }
        }
    }
    found.into_values().collect()
}

/// Says that a member has the name of another one in another case.
pub(crate) fn same_as(first: &str) -> String {
    format!("this is {first:?} once more, as names are read in any case: remove one of them")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn members_whose_names_differ_in_case_only_are_found_once() {
        let found = |members: Value, known: &[&str]| {
            let members = members.as_object().unwrap();
            twins(members, known).iter().map(|pair| pair.join(" ")).collect::<Vec<_>>()
        };
        let known = ["type", "id", "name"];
        let members = json!({"Type": 1, "id": 2, "type": 3, "TYPE": 4, "ID": 5, "other": 6,
            "Other": 7});
        assert_eq!(found(members, &known), ["id ID", "Type type"]);
        assert_eq!(found(json!({"type": 1, "Type": null, "id": 2}), &known), [""; 0]);
        // The inputs of a workflow may have any name.
        let known = ["name", "Name"];
        assert_eq!(found(json!({"name": 1, "Name": 2}), &known), [""; 0]);
        assert_eq!(found(json!({"name": 1, "NAME": 2}), &known), ["name NAME"]);
    }
}
