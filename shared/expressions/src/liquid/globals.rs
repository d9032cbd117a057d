//! The names of the workflow that a template can use. Only those that its text contains are copied.

use std::collections::BTreeSet;

use engine::Scope;
use liquid_core::model::KString;
use liquid_core::{Object, Value};
use serde_json::Value as Json;

use super::convert::to_liquid;
use crate::config::Config;

/// The outermost names of a template.
pub(super) struct Globals {
    pub(super) names: Object,
    /// The approximate size of the variables and inputs, in bytes.
    pub(super) bytes: usize,
}

/// The names that this text may use.
pub(super) fn of(source: &str, scope: &dyn Scope, config: &Config) -> Globals {
    let identity = scope.identity();
    let mut globals = Object::new();
    let mut add = |name: &'static str, value: Value| {
        globals.insert(KString::from_static(name), value);
    };
    let correlation = identity.correlation_id.map_or(Value::Nil, Value::scalar);
    add("CorrelationId", correlation);
    add("WorkflowDefinitionId", Value::scalar(identity.definition_id));
    add("WorkflowDefinitionVersionId", Value::scalar(identity.version_id));
    add("WorkflowDefinitionVersion", Value::scalar(i64::from(identity.version)));
    add("WorkflowInstanceId", Value::scalar(identity.instance_id));
    let variables = named(source, "Variables", || scope.variable_names(), |n| scope.variable(n));
    let inputs = named(
        source,
        "Input",
        || scope.input_names(),
        |n| scope.activity_input(n).or_else(|| scope.input(n)),
    );
    let bytes = variables.iter().chain(&inputs).map(|(_, value)| weight(value)).sum();
    add("Variables", members(variables));
    add("Input", members(inputs));
    if source.contains("Configuration") {
        add("Configuration", to_liquid(Json::Object(config.root().clone())));
    }
    Globals { names: globals, bytes }
}

/// The members of one object that the text names; all of them if a name is computed.
fn named(
    source: &str,
    object: &str,
    all: impl Fn() -> Vec<String>,
    value: impl Fn(&str) -> Option<Json>,
) -> Vec<(String, Json)> {
    let mut names: BTreeSet<String> = BTreeSet::new();
    for (at, _) in source.match_indices(object) {
        let rest = source.get(at + object.len()..).unwrap_or_default().trim_start();
        match rest.strip_prefix('.').map(|rest| member(rest.trim_start())) {
            Some(name) if !name.is_empty() => {
                names.insert(name.to_owned());
            }
            _ => {
                names = all().into_iter().collect();
                break;
            }
        }
    }
    let found = names.into_iter().map(|name| (value(&name), name));
    found.filter_map(|(value, name)| Some((name, value?))).collect()
}

fn members(values: Vec<(String, Json)>) -> Value {
    let members = values.into_iter().map(|(name, value)| (KString::from(name), to_liquid(value)));
    Value::Object(members.collect())
}

/// The approximate size of a value in bytes.
fn weight(value: &Json) -> usize {
    const ELEMENT: usize = 8;
    ELEMENT
        + match value {
            Json::String(text) => text.len(),
            Json::Array(items) => items.iter().map(weight).sum(),
            Json::Object(map) => map.iter().map(|(name, value)| name.len() + weight(value)).sum(),
            Json::Null | Json::Bool(_) | Json::Number(_) => 0,
        }
}

fn member(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}
