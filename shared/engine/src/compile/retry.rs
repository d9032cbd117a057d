//! The retries of an activity that makes calls: `customProperties.retry`, our own form, or
//! `customProperties.resilienceStrategy`, Elsa's.

use model::{ActivityId, Map, Retry};
use serde_json::Value;

use super::Compiler;
use super::expression::Parser;
use crate::outline::RetryPolicy;
use crate::property::find;
use crate::{Descriptor, Type};

/// Our own form.
const RETRY: &str = "retry";
/// Elsa's form: `{"mode": "Identifier", "strategyId": "…"}` or `{"mode": "Expression",
/// "expression": {"type": "…", "value": "…"}}`.
const STRATEGY: &str = "resilienceStrategy";

impl Compiler<'_> {
    /// Reads the retries of an activity; none when it has none.
    pub(super) fn retry(
        &mut self,
        id: &ActivityId,
        custom: &Map,
        descriptor: &Descriptor,
    ) -> Option<RetryPolicy> {
        let named = |name| Some((name, custom.get(name).filter(|value| !value.is_null())?));
        let (property, value) = named(RETRY).or_else(|| named(STRATEGY))?;
        if !descriptor.makes_calls {
            let message = format!("{} makes no calls, so it has no retries", descriptor.type_name);
            self.findings.oversight(Some(id), Some(property), message);
            return None;
        }
        let found = if property == RETRY {
            Retry::read(value).map(|retry| Some(RetryPolicy::Fixed(Box::new(retry))))
        } else {
            self.strategy(id, value)
        };
        match found {
            Ok(policy) => policy,
            Err(message) => {
                self.findings.problem(Some(id), Some(property), message);
                None
            }
        }
    }

    fn strategy(&mut self, id: &ActivityId, value: &Value) -> Result<Option<RetryPolicy>, String> {
        let text = || value.to_string();
        let members = value.as_object().ok_or_else(|| format!("{} is not an object", text()))?;
        let mode = find(members, "mode").and_then(Value::as_str).unwrap_or("Identifier");
        match mode {
            "Identifier" => {
                let strategy = find(members, "strategyId").and_then(Value::as_str);
                let strategy = strategy.filter(|strategy| !strategy.trim().is_empty());
                Ok(strategy.map(|strategy| RetryPolicy::Named(strategy.to_owned())))
            }
            "Expression" => {
                let Some(Value::Object(expression)) = find(members, "expression") else {
                    return Ok(None);
                };
                let mut parser = Parser {
                    languages: self.languages,
                    findings: &mut self.findings,
                    activity: id,
                    property: STRATEGY,
                    is_ordinal: false,
                };
                Ok(parser.typed(expression, &Type::Object).map(RetryPolicy::Computed))
            }
            other => Err(format!("the mode {other:?} is not Identifier or Expression")),
        }
    }
}
