//! An activity that a worker performs, as its code sees it: what the worker is to do, and what comes
//! of its result.

use std::time::Duration;

use model::{ActivityType, Argument, Map};
use serde_json::Value;

use crate::Step;
use crate::decision::{Decision, Failure, Next};
use crate::outline::Performed;

impl<'a> Step<'_, 'a> {
    /// The type that workers perform; none for any other activity.
    fn performed(&self) -> Option<&'a Performed> {
        self.node.used.as_ref()?.performed.as_ref()
    }

    /// The type of this activity, and the longest wait for its result.
    ///
    /// # Errors
    /// [`Failure`] when it is not one that workers perform.
    pub fn type_of_worker(&self) -> Result<(&'a ActivityType, Option<Duration>), Failure> {
        let found = self.performed().map(|performed| (&performed.kind, performed.timeout));
        found.ok_or_else(|| Failure::new("UnknownActivityType", "no worker performs this activity"))
    }

    /// The input of the worker: the values of the inputs, and defaults.
    ///
    /// # Errors
    /// [`Failure`] when a value cannot be evaluated, or does not fit the schema.
    pub fn input_of_worker(&mut self) -> Result<Value, Failure> {
        let used = self.node.used.as_deref();
        let Some((used, performed)) = used.and_then(|used| Some((used, used.performed.as_ref()?)))
        else {
            return Ok(Value::Null);
        };
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

    /// Ends the activity with the result of its worker.
    ///
    /// # Errors
    /// [`Failure`] when the result does not fit its schema or what is bound to it, or its outcome is
    /// none of the type.
    pub fn worker_done(&mut self, result: Value, outcome: Option<&str>) -> Decision {
        let Some(performed) = self.performed() else { return Ok(Next::done()) };
        let wrong =
            |message: String| Err(Failure::new("InvalidTaskResult", message).in_category("Task"));
        if let Some((place, flaw)) = performed.output.flaws(&result).into_iter().next() {
            let label = performed.kind.label();
            return wrong(format!("the result does not fit the type {label}: {place} {flaw}"));
        }
        let outcomes = performed.kind.outcomes();
        let outcome = match outcome {
            Some(outcome) if !outcomes.iter().any(|known| known == outcome) => {
                return wrong(format!(
                    "the type {} has no outcome {outcome}: it has {}",
                    performed.kind.label(),
                    outcomes.join(", ")
                ));
            }
            Some(outcome) => outcome.to_owned(),
            None => outcomes.into_iter().next().unwrap_or_default(),
        };
        let parts: Vec<(String, Value)> = match &result {
            Value::Object(members) => parts(&performed.kind, members),
            _ => Vec::new(),
        };
        for (name, value) in parts {
            self.set_output(&name, value)?;
        }
        self.set_output(model::activity_type::RESULT, result)?;
        Ok(Next::outcome(&outcome))
    }
}

/// The members of a result that are outputs of their own.
fn parts(kind: &ActivityType, members: &Map) -> Vec<(String, Value)> {
    let outputs = kind.outputs().into_iter().skip(1);
    outputs.filter_map(|it| Some((it.name.clone(), members.get(&it.name)?.clone()))).collect()
}
