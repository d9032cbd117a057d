//! Activities.

use engine::{Descriptor, PortKind};
use model::Map;
use serde_json::{Value, json};

use super::Shortening;
use crate::expand::{Defaults, FULL, PATH, path_of};
use crate::tree::Tree;
use crate::vocabulary::{Role, role};

/// Members that come first, so that a reader finds them.
const FIRST: [&str; 3] = ["type", "id", "name"];

impl Shortening<'_> {
    /// An activity in the short form, or in `{full: …}` if it has none.
    pub(super) fn activity(&mut self, full: &Value, path: &str) -> Value {
        let Value::Object(members) = full else { return full.clone() };
        let short = self.tried(members, path);
        let mut expansion = self.expansion();
        let back = expansion.activity(&Tree::of(&short), path).value();
        if expansion.flaws.is_empty() && back == *full { short } else { json!({FULL: full}) }
    }

    fn tried(&mut self, full: &Map, owner_path: &str) -> Value {
        let type_name = full.get("type").and_then(Value::as_str).unwrap_or_default();
        let descriptor = self.vocabulary.get(type_name).filter(|it| it.type_name == type_name);
        let descriptor = descriptor.cloned();
        let path = path_of(owner_path, full.get("id").and_then(Value::as_str));
        let declared = full.get("variables").map(Tree::of);
        let before = self.scope.enter(declared.as_ref().filter(|_| descriptor.is_some()));
        let mut short = Map::new();
        let firsts = FIRST.iter().filter_map(|name| full.get_key_value(*name));
        let others = full.iter().filter(|(name, _)| !FIRST.contains(&name.as_str()));
        for (name, value) in firsts.chain(others) {
            let is_common = self.each.get(name).is_some_and(|common| {
                let is_path = name == "nodeId" && common == PATH && !path.is_empty();
                common == value || is_path && *value == json!(path)
            });
            if is_common {
                continue;
            }
            let value = match &descriptor {
                Some(descriptor) => self.member(descriptor, name, value, &path),
                None => self.guessed(value),
            };
            short.insert(name.clone(), value);
        }
        self.scope.leave(before);
        match type_name {
            "Elsa.Flowchart" => self.charted(short),
            "Elsa.Sequence"
                if short.len() == 2 && short.get("activities").is_some_and(Value::is_array) =>
            {
                short.shift_remove("activities").unwrap_or_default()
            }
            _ => Value::Object(short),
        }
    }

    fn member(&mut self, descriptor: &Descriptor, name: &str, full: &Value, path: &str) -> Value {
        if full.is_null() {
            return Value::Null;
        }
        match name {
            "type" => return self.vocabulary.short(descriptor.type_name).into(),
            "variables" => return self.variables(full),
            "variable" => {
                return self
                    .variable_name(full)
                    .map(Value::from)
                    .filter(|it| self.expands_to(it, name, descriptor, full))
                    .unwrap_or_else(|| full.clone());
            }
            "cases" if descriptor.ports.iter().all(|port| port.name != "cases") => {
                return each_item(full, |item| self.case(item));
            }
            _ => {}
        }
        match role(descriptor, name) {
            Role::Input(input) => self.value(full, &input.ty.alias()),
            Role::Output(_) => self.binding(full, name, descriptor),
            Role::Port(port) => match port.kind {
                PortKind::Flow => full.clone(),
                PortKind::Embedded => self.activity(full, path),
                PortKind::List => each_item(full, |item| self.activity(item, path)),
                PortKind::Parts(members) => {
                    let is_cases = port.name == "cases";
                    each_item(full, |item| self.part(item, members, is_cases, path))
                }
            },
            Role::Plain => full.clone(),
        }
    }

    /// Whether a member of an activity of this type expands to this value.
    fn expands_to(&self, short: &Value, name: &str, descriptor: &Descriptor, full: &Value) -> bool {
        let activity = json!({"type": descriptor.type_name, name: short});
        let mut expansion = self.expansion();
        expansion.each = Defaults::default();
        let back = expansion.activity(&Tree::of(&activity), "").value();
        back.get(name) == Some(full)
    }

    fn binding(&self, full: &Value, name: &str, descriptor: &Descriptor) -> Value {
        let id = full.pointer("/memoryReference/id").and_then(Value::as_str);
        let names = id.and_then(|id| self.scope.name_of(id)).into_iter().chain(id);
        let mut names = names.map(Value::from);
        names
            .find(|short| self.expands_to(short, name, descriptor, full))
            .unwrap_or_else(|| full.clone())
    }

    /// A member of an activity whose type is not known here.
    fn guessed(&self, full: &Value) -> Value {
        let short = self.value(full, "Object");
        let back = self.expansion().guessed(&Tree::of(&short)).value();
        if back == *full { short } else { full.clone() }
    }

    fn part(&mut self, full: &Value, activities: &[&str], is_case: bool, path: &str) -> Value {
        let Some(members) = full.as_object() else { return full.clone() };
        let mut short = Map::new();
        for (name, value) in members {
            let value = match name.as_str() {
                _ if value.is_null() => Value::Null,
                name if activities.contains(&name) => self.activity(value, path),
                "condition" if is_case => self.typed(value),
                "condition" => self.value(value, "Boolean"),
                _ => value.clone(),
            };
            short.insert(name.clone(), value);
        }
        Value::Object(short)
    }

    fn case(&self, full: &Value) -> Value {
        let mut short = full.clone();
        if let Some(condition) = short.get_mut("condition") {
            *condition = self.typed(condition);
        }
        short
    }
}

fn each_item(full: &Value, mut shorten: impl FnMut(&Value) -> Value) -> Value {
    match full {
        Value::Array(items) => items.iter().map(&mut shorten).collect(),
        other => other.clone(),
    }
}
