//! SQL with placeholders, as Elsa's SQL module writes it: `select … where id = {{Variable.Id}}`. A
//! placeholder is a parameter of the statement: its value is bound, and never becomes a part of the
//! text.
//!
//! A placeholder is `Variable.<name>` (also `Variables.<name>`) or `Input.<name>`, with a path such
//! as `.lines[0].price` behind it; `Secret.<name>`; or one of the names in [`fixed`]. `IdempotencyKey` is the key of
//! the call, the same when the statement is repeated.
//!
//! The value of an expression is an object: `parts`, the text around the parameters; `values`; and
//! `keys`, the positions of parameters that are the key of the call.

use engine::{Flaw, Language, Scope};
use serde_json::{Value, json};

use crate::flaw::flaw;

/// The number of parameters of one statement.
const PARAMETERS_MAX: usize = 1_000;
/// The placeholder of the key of the call.
const KEY: &str = "IdempotencyKey";

/// The language `Sql`.
pub struct Sql;

/// A text, cut at its placeholders.
struct Template<'a> {
    parts: Vec<&'a str>,
    names: Vec<&'a str>,
}

impl Language for Sql {
    fn name(&self) -> &'static str {
        "Sql"
    }

    fn check(&self, source: &str) -> Result<(), Flaw> {
        let template = Template::of(source)?;
        template.names.iter().try_for_each(|name| known(name))
    }

    fn keeps_sealed(&self) -> bool {
        true
    }

    fn evaluate(&self, source: &str, scope: &mut dyn Scope) -> Result<Value, Flaw> {
        let template = Template::of(source)?;
        let mut values = Vec::new();
        let mut keys = Vec::new();
        for (position, name) in template.names.iter().enumerate() {
            if *name == KEY {
                keys.push(position);
            }
            values.push(value(name, scope)?);
        }
        Ok(json!({"parts": template.parts, "values": values, "keys": keys}))
    }
}

impl<'a> Template<'a> {
    fn of(source: &'a str) -> Result<Self, Flaw> {
        let (mut parts, mut names) = (Vec::new(), Vec::new());
        let mut rest = source;
        while let Some((before, opened)) = rest.split_once("{{") {
            let Some((name, after)) = opened.split_once("}}") else {
                return Err(flaw("a placeholder begins with {{ and does not end with }}"));
            };
            let name = name.trim();
            if before.ends_with('\'') && after.starts_with('\'') {
                return Err(flaw(format!(
                    "{{{{{name}}}}} stands in quotes: remove them, a parameter needs none"
                )));
            }
            if names.len() == PARAMETERS_MAX {
                return Err(flaw(format!("there are more than {PARAMETERS_MAX} placeholders")));
            }
            parts.push(before);
            names.push(name);
            rest = after;
        }
        parts.push(rest);
        Ok(Self { parts, names })
    }
}

/// A name cut into its root, such as `Variable`, and the path behind it.
fn rooted(name: &str) -> Option<(bool, &str)> {
    let of = |root: &str| name.strip_prefix(root).filter(|path| !path.is_empty());
    let variable = of("Variable.").or_else(|| of("Variables."));
    variable.map(|path| (true, path)).or_else(|| of("Input.").map(|path| (false, path)))
}

/// The name of a secret, as in `Secret.pay.key`.
fn secret(name: &str) -> Option<&str> {
    name.strip_prefix("Secret.").filter(|name| !name.is_empty())
}

fn known(name: &str) -> Result<(), Flaw> {
    if name == KEY || secret(name).is_some() || rooted(name).is_some() || FIXED.contains(&name) {
        return Ok(());
    }
    Err(flaw(format!(
        "there is no {{{{{name}}}}}: use Variable.<name>, Input.<name>, Secret.<name>, CorrelationId, \
         WorkflowInstanceId, WorkflowDefinitionId, LastResult or {KEY}"
    )))
}

/// The names that [`fixed`] knows.
const FIXED: [&str; 15] = [
    "Activity.WorkflowExecutionContext.CorrelationId",
    "Activity.WorkflowExecutionContext.Id",
    "Correlation.Id",
    "CorrelationId",
    "LastResult",
    "Workflow.Definition.Id",
    "Workflow.Definition.Version",
    "Workflow.Definition.Version.Id",
    "Workflow.Identity.DefinitionId",
    "Workflow.Identity.Id",
    "Workflow.Identity.Version",
    "Workflow.Instance.Id",
    "WorkflowDefinitionId",
    "WorkflowDefinitionVersionId",
    "WorkflowInstanceId",
];

fn fixed(name: &str, scope: &dyn Scope) -> Value {
    let identity = scope.identity();
    match name {
        "CorrelationId" | "Correlation.Id" | "Activity.WorkflowExecutionContext.CorrelationId" => {
            json!(identity.correlation_id)
        }
        "WorkflowInstanceId" | "Workflow.Instance.Id" | "Activity.WorkflowExecutionContext.Id" => {
            json!(identity.instance_id)
        }
        "WorkflowDefinitionId" | "Workflow.Definition.Id" | "Workflow.Identity.DefinitionId" => {
            json!(identity.definition_id)
        }
        "Workflow.Definition.Version" | "Workflow.Identity.Version" => json!(identity.version),
        "LastResult" => scope.last_result().unwrap_or_default(),
        _ if name == KEY => Value::Null,
        _ => json!(identity.version_id),
    }
}

fn value(name: &str, scope: &mut dyn Scope) -> Result<Value, Flaw> {
    known(name)?;
    if let Some(name) = secret(name) {
        return scope.sealed_secret(name).map(Value::String).map_err(flaw);
    }
    let Some((is_variable, path)) = rooted(name) else { return Ok(fixed(name, scope)) };
    let end = path.find(['.', '[']).unwrap_or(path.len());
    let (root, rest) = path.split_at(end);
    let found = if is_variable { scope.variable(root) } else { scope.input(root) };
    let Some(found) = found else {
        // An input that was not given is null; a variable that is not declared is a mistake.
        return match is_variable {
            true => Err(flaw(format!("{{{{{name}}}}}: there is no variable {root}"))),
            false => Ok(Value::Null),
        };
    };
    let mut at = &found;
    for step in rest.split(['.', '[']).map(|step| step.trim_end_matches(']')) {
        if step.is_empty() {
            continue;
        }
        let next = match step.parse::<usize>() {
            Ok(index) if at.is_array() => at.get(index),
            _ => at.get(step),
        };
        match next {
            Some(next) => at = next,
            None => return Err(flaw(format!("{{{{{name}}}}}: there is no {step}"))),
        }
    }
    Ok(at.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage::Stage;

    #[test]
    fn placeholders_become_parameters() {
        let mut stage = Stage::default();
        stage.variables.push(("Name".into(), json!("x'; drop table orders; --")));
        stage.variables.push(("Order".into(), json!({"lines": [{"price": 2.5}]})));
        let text = "insert into a values ({{ Variable.Name }}, {{Variables.Order.lines[0].price}}, \
                    {{IdempotencyKey}}, {{Input.Missing}})";
        let value = Sql.evaluate(text, &mut stage).unwrap();
        assert_eq!(value["parts"], json!(["insert into a values (", ", ", ", ", ", ", ")"]));
        assert_eq!(value["values"], json!(["x'; drop table orders; --", 2.5, null, null]));
        assert_eq!(value["keys"], json!([2]));
    }

    #[test]
    fn mistakes_are_named() {
        let check = |text: &str, expected: &str| {
            let message = Sql.check(text).unwrap_err().message;
            assert!(message.contains(expected), "{text}: {message}");
        };
        check("select {{Variable.A", "does not end with }}");
        check("select {{Name}}", "there is no {{Name}}");
        check("select {{}}", "there is no {{}}");
        check("select '{{Variable.A}}'", "stands in quotes");
        assert!(Sql.check("select 1").is_ok());
        let mut stage = Stage::default();
        let error = Sql.evaluate("select {{Variable.Nobody}}", &mut stage).unwrap_err();
        assert!(error.message.contains("no variable Nobody"), "{error}");
    }

    #[test]
    fn every_fixed_name_has_a_value_of_its_own() {
        let mut stage = Stage::default();
        for name in FIXED {
            assert!(value(name, &mut stage).is_ok(), "{name}");
        }
    }
}
