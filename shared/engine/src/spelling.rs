//! The members of activities under the names that they have here. The engine reads them in any case; a
//! client that reads a definition back, such as a designer, knows one spelling alone. What an author keeps
//! in an activity stays as it is: values of inputs and variables, metadata, custom properties.

use std::iter::zip;

use model::{Definition, Map, limits};
use serde_json::Value;

use crate::compile::members_of;
use crate::descriptor::PortKind;
use crate::property::find;
use crate::registry::Registry;

/// The members of a variable.
pub const VARIABLE_MEMBERS: [&str; 7] =
    ["id", "name", "typeName", "isArray", "value", "storageDriverTypeName", "searchable"];
/// The members of a connection, and of an end of one.
const CONNECTION: [&str; 5] = ["source", "target", "sourcePort", "targetPort", "vertices"];
const END: [&str; 2] = ["activity", "port"];
const VERTEX: [&str; 2] = ["x", "y"];
/// The members of an input or output of the workflow.
pub const ARGUMENT_MEMBERS: [&str; 12] = [
    "name",
    "type",
    "isArray",
    "isRequired",
    "required",
    "defaultValue",
    "displayName",
    "description",
    "category",
    "uiHint",
    "storageDriverType",
    "options",
];
/// The members of what holds activities in parts, such as a case, beside these activities.
const PART: [&str; 7] = ["name", "displayName", "label", "condition", "statusCode", "from", "to"];
/// The members of what stands around the expression of an input, or names the variable of an output.
const WRAPPER: [&str; 4] = ["typeName", "expression", "memoryReference", "converter"];
const EXPRESSION: [&str; 2] = ["type", "value"];

/// Gives the members of all activities of a definition the names that they have here. Of two members of
/// one name both stay.
pub(crate) fn of(definition: &mut Definition, registry: &Registry) {
    let mut walk = Walk { registry, left: limits::ACTIVITIES_MAX };
    walk.activity(&mut definition.root, 0);
}

struct Walk<'w> {
    registry: &'w Registry,
    /// The number of activities that may come.
    left: usize,
}

impl Walk<'_> {
    fn activity(&mut self, value: &mut Value, depth: usize) {
        let Some(raw) = value.as_object_mut() else { return };
        let Some(type_name) = find(raw, "type").and_then(Value::as_str) else { return };
        // What is more or deeper is refused elsewhere.
        if depth > limits::NESTING_MAX || self.left == 0 {
            return;
        }
        self.left -= 1;
        let registry = self.registry;
        let descriptor = registry.get(type_name).map(|known| &*known.descriptor);
        named(raw, &members_of(descriptor));
        let Some(descriptor) = descriptor else { return };
        if descriptor.is_container {
            objects(raw.get_mut("variables"))
                .for_each(|variable| named(variable, &VARIABLE_MEMBERS));
            objects(raw.get_mut("connections")).for_each(connection);
        }
        for input in descriptor.inputs.iter().filter(|input| input.is_wrapped) {
            wrapper(raw.get_mut(input.name));
        }
        for output in &descriptor.outputs {
            wrapper(raw.get_mut(output.name));
        }
        // Its cases lead to lines, and hold no activities.
        if descriptor.name == "FlowSwitch" {
            objects(raw.get_mut("cases")).for_each(part);
        }
        if descriptor.name == "SetVariable"
            && let Some(Value::Object(variable)) = raw.get_mut("variable")
        {
            named(variable, &VARIABLE_MEMBERS);
        }
        for port in &descriptor.ports {
            self.port(raw.get_mut(port.name), port.kind, depth + 1);
        }
    }

    /// The activities in a property.
    fn port(&mut self, value: Option<&mut Value>, kind: PortKind, depth: usize) {
        let Some(value) = value else { return };
        match kind {
            PortKind::Flow => {}
            PortKind::Embedded => self.activity(value, depth),
            PortKind::List => {
                for item in value.as_array_mut().into_iter().flatten() {
                    self.activity(item, depth);
                }
            }
            PortKind::Parts(members) => {
                let known = [&PART[..], members].concat();
                for part in objects(Some(value)) {
                    named(part, &known);
                    condition(part);
                    for member in members {
                        if let Some(activity) = part.get_mut(*member) {
                            self.activity(activity, depth);
                        }
                    }
                }
            }
        }
    }
}

/// The objects in a list.
fn objects(list: Option<&mut Value>) -> impl Iterator<Item = &mut Map> {
    let items = list.and_then(Value::as_array_mut).into_iter().flatten();
    items.filter_map(Value::as_object_mut)
}

fn connection(connection: &mut Map) {
    named(connection, &CONNECTION);
    for end in ["source", "target"] {
        if let Some(Value::Object(end)) = connection.get_mut(end) {
            named(end, &END);
        }
    }
    objects(connection.get_mut("vertices")).for_each(|vertex| named(vertex, &VERTEX));
}

fn part(part: &mut Map) {
    named(part, &PART);
    condition(part);
}

/// The condition of a part is an expression, with something around it or without; or it is data.
fn condition(part: &mut Map) {
    let is_member = |name: &String| EXPRESSION.iter().any(|known| known.eq_ignore_ascii_case(name));
    let Some(value) = part.get_mut("condition") else { return };
    match value {
        Value::Object(members)
            if members.keys().all(is_member)
                && find(members, "type").is_some_and(Value::is_string) =>
        {
            expression(members);
        }
        value => wrapper(Some(value)),
    }
}

/// What stands around an expression, or names a variable; any other value of an input is data.
fn wrapper(value: Option<&mut Value>) {
    let Some(Value::Object(members)) = value else { return };
    let has = |name: &str| find(members, name).is_some_and(Value::is_object);
    if !has("expression") && !has("memoryReference") {
        return;
    }
    named(members, &WRAPPER);
    if let Some(Value::Object(inner)) = members.get_mut("expression") {
        expression(inner);
    }
    if let Some(Value::Object(reference)) = members.get_mut("memoryReference") {
        named(reference, &["id"]);
    }
}

/// An expression; its value is data, unless it names a variable or an input.
fn expression(members: &mut Map) {
    named(members, &EXPRESSION);
    let known = match members.get("type").and_then(Value::as_str) {
        Some("Variable") => &VARIABLE_MEMBERS[..],
        Some("Input") => &ARGUMENT_MEMBERS[..],
        _ => return,
    };
    if let Some(Value::Object(value)) = members.get_mut("value") {
        named(value, known);
    }
}

/// Gives these members the known names. Their order stays.
fn named(members: &mut Map, known: &[&str]) {
    let place = |name: &str| known.iter().position(|known| known.eq_ignore_ascii_case(name));
    if !members.keys().any(|name| !known.contains(&name.as_str()) && place(name).is_some()) {
        return;
    }
    let places: Vec<_> = members.keys().map(|name| place(name)).collect();
    let mut counts = vec![0_usize; known.len()];
    for place in places.iter().flatten() {
        counts[*place] += 1;
    }
    let renamed = zip(std::mem::take(members), places).map(|((name, value), place)| {
        let own = place.filter(|place| counts[*place] == 1).map(|place| known[place].to_owned());
        (own.unwrap_or(name), value)
    });
    *members = renamed.collect();
}
