//! Reads the results that are given to activities.

use engine::Pin;
use model::limits;
use shortform::Tree;

use crate::form;
use crate::reader::Reader;

/// Reads `pins`. Those of a test come before those of its file.
pub(crate) fn read(reader: &mut Reader, tree: &Tree, around: &[Pin]) -> Vec<Pin> {
    let mut pins = Vec::new();
    if let Some(given) = tree.get("pins").filter(|given| !given.is_null()) {
        match given.members() {
            Some(members) if members.len() <= limits::PINS_MAX => {
                for member in members {
                    pins.push(pin(reader, &member.name, &member.value));
                }
            }
            Some(members) => {
                let (count, max) = (members.len(), limits::PINS_MAX);
                reader.flaw(given.mark, format!("there are {count} pins: use {max} at most"));
            }
            None => reader.flaw(given.mark, "write an object: results by id or name of activity"),
        }
    }
    let others =
        around.iter().filter(|other| !pins.iter().any(|pin| pin.activity == other.activity));
    let others: Vec<_> = others.cloned().collect();
    pins.extend(others);
    pins
}

fn pin(reader: &mut Reader, activity: &str, tree: &Tree) -> Pin {
    reader.members(tree, form::PIN);
    let given = |name: &str| tree.get(name).filter(|value| !value.is_null());
    let mut outcomes: Vec<String> = reader.text(given("outcome")).into_iter().collect();
    for outcome in reader.list(given("outcomes")) {
        outcomes.extend(reader.text(Some(outcome)));
    }
    let outputs = reader.map(given("outputs"));
    Pin { activity: activity.to_owned(), outcomes, outputs }
}
