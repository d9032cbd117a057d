//! FlowDecision: leaves through `True` or `False`.

use engine::{Activity, Decision, Descriptor, Next, Step, Type};

/// `Elsa.FlowDecision`
pub(crate) struct FlowDecision;

impl Activity for FlowDecision {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("Elsa.FlowDecision", "Branching", "Leaves through True or False.")
            .called("Decision")
            .input("condition", Type::Boolean, "The outcome: True or False.")
            .default(false)
            .outcomes(&["True", "False"])
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        Ok(Next::outcome(if step.flag("condition")? { "True" } else { "False" }))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::tests::check_outcomes;

    #[test]
    fn the_condition_is_the_outcome() {
        let check = |condition: Value, expected: &str| {
            check_outcomes(json!({"type": "FlowDecision", "condition": condition}), &[expected]);
        };
        check(json!(true), "True");
        check(json!("false"), "False");
        check(json!({"liquid": "true"}), "True");
        check(Value::Null, "False");
    }
}
