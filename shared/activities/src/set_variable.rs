//! SetVariable: gives a variable a value of its type.

use engine::{Activity, Decision, Descriptor, Next, Plan, Planning, Step, Type};
use serde_json::Value;

/// `Elsa.SetVariable`
pub(crate) struct SetVariable;

/// The variable, as the definition names it.
struct Target {
    id: String,
    name: String,
}

impl Activity for SetVariable {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("Elsa.SetVariable", "Primitives", "Gives a variable a value.")
            .called("Set Variable")
            .input("variable", Type::Object, "The variable.")
            .raw()
            .input("value", Type::Object, "The value; converted to the variable's type.")
            .outcomes(&["Done"])
    }

    fn plan(&self, node: &mut Planning<'_>) -> Plan {
        let text = |value: &Value, member: &str| {
            value.get(member).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let target = match node.raw("variable") {
            Some(Value::String(name)) => Target { id: name.clone(), name: name.clone() },
            Some(variable) => Target { id: text(variable, "id"), name: text(variable, "name") },
            None => Target { id: String::new(), name: String::new() },
        };
        if target.id.is_empty() && target.name.is_empty() {
            node.problem("variable", "there is no variable: choose one");
        } else {
            node.names_variable("variable", &target.id, &target.name);
        }
        Some(Box::new(target))
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let value = step.value("value")?;
        if let Some(target) = step.plan::<Target>() {
            step.assign(&target.id, &target.name, value)?;
        }
        Ok(Next::done())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::tests::{player, problems};

    fn set(ty: &str, value: Value) -> (Value, Option<String>) {
        let mut player = player(json!({
            "variables": [{"id": "v1", "name": "V", "typeName": ty, "value": null}],
            "root": {"type": "SetVariable", "variable": {"id": "v1", "name": "V"}, "value": value}
        }));
        player.start(json!({}));
        let view = player.state().view(player.program());
        (view["variables"]["V"].clone(), player.incident().map(str::to_owned))
    }

    #[test]
    fn values_take_the_type_of_the_variable() {
        let check = |ty: &str, value: Value, expected: Value| {
            assert_eq!(set(ty, value), (expected, None), "{ty}");
        };
        check("Int32", json!("5"), json!(5));
        check("String", json!(5), json!("5"));
        check("Object", json!({"a": [1]}), json!({"a": [1]}));
        check("TimeSpan", json!("PT5S"), json!("00:00:05"));
        check("Int32", json!({"js": "1 + 1"}), json!(2));
    }

    #[test]
    fn a_value_that_does_not_fit_is_an_incident() {
        let (_, incident) = set("Int32", json!("many"));
        assert_eq!(
            incident.as_deref(),
            Some("variable v1 is Int32: \"many\" is not a whole number")
        );
    }

    #[test]
    fn a_missing_variable_is_a_problem() {
        let problems = problems(json!({"type": "SetVariable", "id": "s", "value": 1}));
        assert_eq!(problems, ["activity s: variable: there is no variable: choose one"]);
    }
}
