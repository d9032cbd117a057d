//! An activity's place in the document of a definition: the activities around it, and those that may
//! have run before it. The document may have mistakes.

use std::collections::{BTreeMap, BTreeSet};

use model::Map;
use serde_json::Value;

use crate::{Descriptor, Registry};

/// The place of one activity.
pub(crate) struct Place<'d> {
    /// The activity, and those around it, the outermost first.
    pub(crate) around: Vec<&'d Map>,
    /// The activities that may have run before it, in the order of the document.
    pub(crate) before: Vec<&'d Map>,
}

impl<'d> Place<'d> {
    /// The place of the activity with this id; none if the document has no such activity.
    pub(crate) fn of(root: &'d Value, id: &str, registry: &Registry) -> Option<Self> {
        let mut around = Vec::new();
        find(root, id, registry, &mut around).then_some(())?;
        let mut before = Vec::new();
        for (container, child) in around.iter().zip(around.iter().skip(1)) {
            let descriptor = descriptor(container, registry)?;
            if descriptor.is_loop {
                // Everything in it may have run in an earlier round.
                container.values().for_each(|value| all(value, registry, &mut before));
                break;
            }
            let mut siblings = Vec::new();
            container.values().for_each(|value| direct(value, registry, &mut siblings));
            let earlier = earlier(descriptor, container, child, &siblings);
            let is_again = earlier.iter().any(|one| std::ptr::eq(*one, *child));
            earlier.into_iter().for_each(|one| with_all(one, registry, &mut before));
            if is_again {
                break;
            }
        }
        Some(Self { around, before })
    }
}

/// Every activity in a value, an activity before those in it.
pub(crate) fn all<'d>(value: &'d Value, registry: &Registry, found: &mut Vec<&'d Map>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| all(item, registry, found)),
        Value::Object(map) => with_all(map, registry, found),
        _ => {}
    }
}

fn with_all<'d>(map: &'d Map, registry: &Registry, found: &mut Vec<&'d Map>) {
    if descriptor(map, registry).is_some() {
        found.push(map);
    }
    map.values().for_each(|value| all(value, registry, found));
}

/// The activities in a value that are in no other one there.
fn direct<'d>(value: &'d Value, registry: &Registry, found: &mut Vec<&'d Map>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| direct(item, registry, found)),
        Value::Object(map) if descriptor(map, registry).is_some() => found.push(map),
        Value::Object(map) => map.values().for_each(|value| direct(value, registry, found)),
        _ => {}
    }
}

/// Finds an activity, and notes those around it.
fn find<'d>(value: &'d Value, id: &str, registry: &Registry, around: &mut Vec<&'d Map>) -> bool {
    match value {
        Value::Array(items) => items.iter().any(|item| find(item, id, registry, around)),
        Value::Object(map) => {
            let is_activity = descriptor(map, registry).is_some();
            if is_activity {
                around.push(map);
                if text(map, "id") == Some(id) {
                    return true;
                }
            }
            let is_inside = map.values().any(|value| find(value, id, registry, around));
            if is_activity && !is_inside {
                around.pop();
            }
            is_inside
        }
        _ => false,
    }
}

pub(crate) fn descriptor<'r>(map: &Map, registry: &'r Registry) -> Option<&'r Descriptor> {
    registry.get(text(map, "type")?).map(|registered| &*registered.descriptor)
}

pub(crate) fn text<'d>(map: &'d Map, name: &str) -> Option<&'d str> {
    map.get(name).and_then(Value::as_str)
}

/// The activities of a container that may have run before one of them; that one too, if it may run
/// again.
fn earlier<'d>(
    descriptor: &Descriptor,
    container: &Map,
    child: &Map,
    siblings: &[&'d Map],
) -> Vec<&'d Map> {
    let is_child = |one: &&Map| std::ptr::eq(*one, child);
    match descriptor.type_name {
        "Elsa.Sequence" => siblings.iter().take_while(|one| !is_child(one)).copied().collect(),
        "Elsa.Flowchart" => {
            let sources = sources(container, text(child, "id").unwrap_or_default());
            let leads = |one: &&&Map| text(one, "id").is_some_and(|id| sources.contains(id));
            siblings.iter().filter(leads).copied().collect()
        }
        // One of its branches runs.
        "Elsa.If" => Vec::new(),
        _ => siblings.iter().filter(|one| !is_child(one)).copied().collect(),
    }
}

/// The activities of a flowchart from which connections lead to this one.
fn sources<'d>(flowchart: &'d Map, id: &'d str) -> BTreeSet<&'d str> {
    let connections = flowchart.get("connections").and_then(Value::as_array);
    let mut into: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for connection in connections.into_iter().flatten() {
        let end = |name: &str| match connection.get(name)? {
            Value::String(id) => Some(id.as_str()),
            end => end.get("activity")?.as_str(),
        };
        if let (Some(source), Some(target)) = (end("source"), end("target")) {
            into.entry(target).or_default().push(source);
        }
    }
    let (mut found, mut rest) = (BTreeSet::new(), vec![id]);
    while let Some(target) = rest.pop() {
        for source in into.get(target).into_iter().flatten() {
            if found.insert(*source) {
                rest.push(source);
            }
        }
    }
    found
}
