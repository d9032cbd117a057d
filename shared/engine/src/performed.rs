//! An activity that a worker performs, as its code sees it: what the worker is to do, and what comes
//! of its result.

use std::time::Duration;

use model::{ActivityType, Argument};
use serde_json::Value;

use crate::Step;
use crate::decision::{Decision, Failure, Next};
use crate::outline::{Performed, Used};

impl<'a> Step<'_, 'a> {
    /// The type that workers perform; none for any other activity.
    fn used_and_performed(&self) -> Option<(&'a Used, &'a Performed)> {
        let used = self.node.used.as_deref()?;
        Some((used, used.performed.as_ref()?))
    }

    /// The type of this activity, and the longest wait for its result.
    ///
    /// # Errors
    /// [`Failure`] when it is not one that workers perform.
    pub fn type_of_worker(&self) -> Result<(&'a ActivityType, Option<Duration>), Failure> {
        let found = self.used_and_performed();
        let found = found.map(|(_, performed)| (&performed.kind, performed.timeout));
        found.ok_or_else(|| Failure::new("UnknownActivityType", "no worker performs this activity"))
    }

    /// The input of the worker: the values of the inputs, and defaults.
    ///
    /// # Errors
    /// [`Failure`] when a value cannot be evaluated, or does not fit the schema.
    pub fn input_of_worker(&mut self) -> Result<Value, Failure> {
        let Some((used, performed)) = self.used_and_performed() else { return Ok(Value::Null) };
        let mut input = self.given(used)?;
        input.retain(|_, value| !value.is_null());
        for Argument { name, extra, .. } in &used.inputs {
            if let (None, Some(default)) = (input.get(name), extra.get("defaultValue")) {
                input.insert(name.clone(), default.clone());
            }
        }
        let input = Value::Object(input);
        match performed.input.flaws(&input).into_iter().next() {
            None => Ok(input),
            Some((place, flaw)) => {
                let name = place.trim_start_matches('/');
                Err(Failure::input(if name.is_empty() { "input" } else { name }, flaw))
            }
        }
    }

    /// Ends the activity with the result of its worker. Where an object stands for a large one, the value
    /// is looked into, and the object is the result.
    ///
    /// # Errors
    /// [`Failure`] when the result cannot be read, or does not fit its schema or what is bound to it, or
    /// its outcome is none of the type.
    pub fn worker_done(&mut self, result: Value, outcome: Option<&str>) -> Decision {
        let Some((used, performed)) = self.used_and_performed() else { return Ok(Next::done()) };
        let wrong =
            |message: String| Err(Failure::new("InvalidTaskResult", message).in_category("Task"));
        let label = performed.kind.label();
        let whole = match self.entire(result.clone()) {
            Ok(whole) => whole,
            Err(reason) => return wrong(format!("the result of the type {label}: {reason}")),
        };
        if let Some((place, flaw)) = performed.output.flaws(&whole).into_iter().next() {
            return wrong(format!("the result does not fit the type {label}: {place} {flaw}"));
        }
        let outcomes = used.outcomes.as_ref().map_or(&[][..], |outcomes| &outcomes.names);
        let outcome = match outcome {
            Some(outcome) if !outcomes.iter().any(|known| known == outcome) => {
                return wrong(format!(
                    "the type {label} has no outcome {outcome}: it has {}",
                    outcomes.join(", ")
                ));
            }
            Some(outcome) => outcome.to_owned(),
            None => outcomes.first().cloned().unwrap_or_default(),
        };
        // The members of an object that are outputs of their own.
        for output in used.outputs.iter().skip(1) {
            if let Some(value) = whole.get(&output.name) {
                self.set_output(&output.name, value.clone())?;
            }
        }
        self.set_output(model::activity_type::RESULT, result)?;
        Ok(Next::outcome(&outcome))
    }
}
