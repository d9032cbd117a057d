//! What a template sees of its workflow. Only what its text names is copied in.

use engine::Scope;
use liquid_core::model::KString;
use liquid_core::{Object, Value};

use super::convert::to_liquid;

/// The names that this text may use.
pub(super) fn of(source: &str, scope: &dyn Scope) -> Object {
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
    add("Variables", variables);
    let inputs = named(source, "Input", || scope.input_names(), |n| scope.input(n));
    add("Input", inputs);
    globals
}

/// The members of one object that the text names; all of them where it computes names.
fn named(
    source: &str,
    object: &str,
    all: impl Fn() -> Vec<String>,
    value: impl Fn(&str) -> Option<serde_json::Value>,
) -> Value {
    let mut names = Vec::new();
    for (at, _) in source.match_indices(object) {
        let rest = source.get(at + object.len()..).unwrap_or_default().trim_start();
        match rest.strip_prefix('.').map(|rest| member(rest.trim_start())) {
            Some(name) if !name.is_empty() => names.push(name.to_owned()),
            _ => {
                names = all();
                break;
            }
        }
    }
    let mut members = Object::new();
    for name in names {
        if let Some(value) = value(&name) {
            members.insert(KString::from(name), to_liquid(value));
        }
    }
    Value::Object(members)
}

fn member(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}
