//! Inputs that must have a value, and have none.

use std::collections::BTreeMap;

use model::{ActivityId, Argument};
use serde_json::Value;

use super::Compiler;
use crate::outline::{Expression, Source};
use crate::{Descriptor, Type};

impl Compiler<'_> {
    /// Refuses an activity whose required inputs have no value. What is written and cannot be read is
    /// a problem already: one of those from the `known` one on.
    pub(super) fn refuse_missing(
        &mut self,
        id: &ActivityId,
        descriptor: &Descriptor,
        inputs: &BTreeMap<&'static str, Expression>,
        known: usize,
    ) {
        let is_given = |name: &str| inputs.get(name).is_some_and(is_value);
        for input in &descriptor.inputs {
            let Some(others) = input.required_unless else { continue };
            let is_known = self.findings.problems[known..].iter().any(|problem| {
                let property = problem.property.as_deref();
                property
                    .is_some_and(|property| property == input.name || others.contains(&property))
            });
            if is_known || is_given(input.name) || others.iter().any(|other| is_given(other)) {
                continue;
            }
            let instead = match others {
                [] => String::new(),
                others => format!(", or give {}", others.join(" or ")),
            };
            let message = format!("there is no value: give one{instead}");
            self.findings.oversight(Some(id), Some(input.name), message);
        }
    }

    /// Refuses an activity that gives no value to the required inputs of what it uses.
    pub(super) fn refuse_missing_of(
        &mut self,
        id: &ActivityId,
        inputs: &[Argument],
        given: &BTreeMap<String, (Expression, Type)>,
        known: usize,
    ) {
        for input in inputs.iter().filter(|input| input.is_required()) {
            let name = Some(input.name.as_str());
            let default = input.extra.get("defaultValue").filter(|value| !value.is_null());
            let is_given = given.get(&input.name).is_some_and(|(value, _)| is_value(value));
            let mut problems = self.findings.problems[known..].iter();
            let is_known = problems.any(|problem| problem.property.as_deref() == name);
            if default.is_none() && !is_given && !is_known {
                let message = "it is required: give it a value".to_owned();
                self.findings.oversight(Some(id), name, message);
            }
        }
    }
}

/// An expression may have a value; a blank text or an empty list is none.
fn is_value(expression: &Expression) -> bool {
    match &expression.0 {
        Source::Literal(Value::String(text)) => !text.trim().is_empty(),
        Source::Literal(Value::Array(items)) => !items.is_empty(),
        _ => true,
    }
}
