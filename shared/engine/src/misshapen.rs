//! What of a definition has another shape than a workflow has, whatever else may be missing in it: a
//! draft may be unfinished, but what is read of it has the members that are described.

use model::{Definition, Map, Misread, limits};
use serde_json::Value;

use crate::Descriptor;
use crate::compile::members_of;
use crate::convert::shown;
use crate::descriptor::PortKind;
use crate::property::{find, same_as, twins};
use crate::registry::Registry;

/// The most mistakes that are looked for.
const FOUND_MAX: usize = 100;

/// The members of an activity that are texts, beside its type.
const TEXTS: [&str; 3] = ["id", "nodeId", "name"];

/// The parts of a definition that have the wrong shape. `is_compiled`: without those that its
/// compilation reports.
pub(crate) fn of(definition: &Definition, registry: &Registry, is_compiled: bool) -> Vec<Misread> {
    let mut walk = Walk { registry, is_compiled, found: Vec::new() };
    if let Some(version) = definition.extra.get("toolVersion") {
        walk.text(version, "toolVersion");
    }
    if !definition.root.is_null() {
        walk.activity(&definition.root, "root", 0);
    }
    walk.found
}

struct Walk<'w> {
    registry: &'w Registry,
    is_compiled: bool,
    found: Vec<Misread>,
}

impl Walk<'_> {
    fn activity(&mut self, value: &Value, place: &str, depth: usize) {
        let Some(raw) = value.as_object() else {
            return self.part(value, place, "an activity: write an object with a type");
        };
        // What is deeper is refused elsewhere.
        if depth > limits::NESTING_MAX || self.found.len() >= FOUND_MAX {
            return;
        }
        if let Some(kind) = find(raw, "type").filter(|kind| !kind.is_null() && !kind.is_string()) {
            self.part(kind, &format!("{place}.type"), "a text");
        }
        for name in TEXTS {
            if let Some(value) = find(raw, name) {
                self.text(value, &format!("{place}.{name}"));
            }
        }
        if let Some(version) = find(raw, "version")
            && !is_whole(version)
        {
            self.wrong(version, &format!("{place}.version"), "a whole number from 0 on");
        }
        if let Some(custom) = find(raw, "customProperties")
            && !custom.is_null()
            && !custom.is_object()
        {
            let place = format!("{place}.customProperties");
            self.wrong(custom, &place, "an object: write { … }");
        }
        let type_name = find(raw, "type").and_then(Value::as_str).unwrap_or_default();
        if let Some(known) = self.registry.get(type_name) {
            let descriptor = known.descriptor.clone();
            self.twins(raw, &descriptor, place);
            for port in &descriptor.ports {
                self.port(raw, port.name, port.kind, place, depth);
            }
            if descriptor.is_container {
                self.objects(raw, "connections", place);
            }
        }
    }

    /// Members whose names differ in case only.
    fn twins(&mut self, raw: &Map, descriptor: &Descriptor, place: &str) {
        if self.is_compiled {
            return;
        }
        for [first, second] in twins(raw, &members_of(Some(descriptor))) {
            self.say(&format!("{place}.{second}"), same_as(first));
        }
    }

    /// Activities in a property.
    fn port(&mut self, raw: &Map, port: &str, kind: PortKind, place: &str, depth: usize) {
        if kind == PortKind::Flow {
            return;
        }
        let Some(value) = find(raw, port).filter(|value| !value.is_null()) else { return };
        let place = format!("{place}.{port}");
        if kind == PortKind::Embedded {
            return self.activity(value, &place, depth + 1);
        }
        let Some(items) = value.as_array() else {
            return self.part(value, &place, "a list: write [ … ]");
        };
        for (at, item) in items.iter().enumerate() {
            let place = format!("{place}[{at}]");
            match kind {
                PortKind::Parts(members) => {
                    for member in members {
                        let held = item.as_object().and_then(|item| find(item, member));
                        if let Some(held) = held.filter(|held| !held.is_null()) {
                            self.activity(held, &format!("{place}.{member}"), depth + 1);
                        }
                    }
                }
                _ => self.activity(item, &place, depth + 1),
            }
        }
    }

    /// A property that is a list of objects.
    fn objects(&mut self, raw: &Map, name: &str, place: &str) {
        let Some(value) = find(raw, name).filter(|value| !value.is_null()) else { return };
        let place = format!("{place}.{name}");
        match value.as_array() {
            None => self.part(value, &place, "a list: write [ … ]"),
            Some(items) => {
                let items = items.iter().enumerate().filter(|(_, item)| !item.is_object());
                for (at, item) in items {
                    self.part(item, &format!("{place}[{at}]"), "an object: write { … }");
                }
            }
        }
    }

    fn text(&mut self, value: &Value, place: &str) {
        if !value.is_null() && !value.is_string() {
            self.wrong(value, place, "a text");
        }
    }

    /// A part of the graph, of which a compilation reports the same.
    fn part(&mut self, value: &Value, place: &str, expected: &str) {
        if !self.is_compiled {
            self.wrong(value, place, expected);
        }
    }

    fn wrong(&mut self, value: &Value, place: &str, expected: &str) {
        if self.found.len() < FOUND_MAX {
            self.say(place, format!("this is {}, and has to be {expected}", shown(value)));
        }
    }

    fn say(&mut self, place: &str, message: String) {
        if self.found.len() < FOUND_MAX {
            self.found.push(Misread { place: place.to_owned(), message });
        }
    }
}

/// A whole number, perhaps with a point: some clients write `1.0`.
fn is_whole(value: &Value) -> bool {
    let is_float = |number: f64| number >= 0.0 && number.fract() == 0.0;
    value.is_null() || value.is_u64() || (value.is_f64() && value.as_f64().is_some_and(is_float))
}
