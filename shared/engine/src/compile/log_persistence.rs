//! Reads what a definition says about the values that the journal keeps: `logPersistenceMode` and the
//! newer `logPersistenceConfig`, in all the forms that Elsa writes.

use std::collections::BTreeMap;

use model::{ActivityId, Map};
use serde_json::Value;

use super::findings::Findings;
use super::raw::class_of;
use crate::keeping::{Mode, Said};
use crate::property::find;

/// What these custom properties say; the newer property is the stronger one.
pub(super) fn said(findings: &mut Findings, id: Option<&ActivityId>, custom: &Map) -> Said {
    let mut said = Said::default();
    for property in ["logPersistenceMode", "logPersistenceConfig"] {
        let Some(value) = find(custom, property) else { continue };
        let mut read = |value: &Value| mode(findings, id, property, value);
        let members = value.as_object().filter(|members| !is_mode(members));
        let Some(members) = members else {
            said.by_default = read(value).or(said.by_default);
            continue;
        };
        if let Some(value) = find(members, "default") {
            said.by_default = read(value).or(said.by_default);
        }
        for (name, into) in [("inputs", &mut said.inputs), ("outputs", &mut said.outputs)] {
            let named = find(members, name).and_then(Value::as_object);
            for (name, value) in named.into_iter().flatten() {
                add(into, name, read(value));
            }
        }
    }
    said
}

fn add(modes: &mut BTreeMap<String, Mode>, name: &str, mode: Mode) {
    if mode != Mode::Inherit {
        modes.insert(name.to_ascii_lowercase(), mode);
    }
}

/// The object stands for one mode, not for modes by name.
fn is_mode(members: &Map) -> bool {
    ["evaluationMode", "strategyType", "expression"]
        .iter()
        .any(|name| find(members, name).is_some())
}

/// A mode: a word, the name of a strategy, or an object that has one of them.
fn mode(findings: &mut Findings, id: Option<&ActivityId>, property: &str, value: &Value) -> Mode {
    let text = match value {
        Value::Null => return Mode::Inherit,
        Value::String(text) => text.as_str(),
        Value::Object(members) => {
            let expression = find(members, "expression").filter(|value| !value.is_null());
            let strategy = find(members, "strategyType").and_then(Value::as_str);
            match (strategy, expression) {
                (Some(strategy), _) => strategy,
                (None, Some(expression)) => return computed(findings, id, property, expression),
                (None, None) => "",
            }
        }
        _ => "?",
    };
    word(text).unwrap_or_else(|| {
        let message = format!(
            "there is no log persistence {value}: use Include, Exclude, Inherit or Configuration; \
             nothing is kept here"
        );
        findings.warning(id, Some(property), message);
        Mode::Exclude
    })
}

/// An expression is not evaluated: whoever writes one has something to leave out.
fn computed(
    findings: &mut Findings,
    id: Option<&ActivityId>,
    property: &str,
    expression: &Value,
) -> Mode {
    let members = expression.as_object();
    let is_literal = members
        .and_then(|members| find(members, "type"))
        .is_some_and(|kind| kind == "Literal" || kind == "Object");
    let literal = members.and_then(|members| find(members, "value")).and_then(Value::as_str);
    if let Some(mode) = literal.filter(|_| is_literal).and_then(word) {
        return mode;
    }
    let message = "expressions are not evaluated here, so nothing is kept: use Include, Exclude, \
                   Inherit or Configuration";
    findings.warning(id, Some(property), message.to_owned());
    Mode::Exclude
}

fn word(text: &str) -> Option<Mode> {
    match class_of(text) {
        "" | "Inherit" | "Default" => Some(Mode::Inherit),
        "Include" => Some(Mode::Include),
        "Exclude" => Some(Mode::Exclude),
        "Configuration" => Some(Mode::Configuration),
        _ => None,
    }
}
