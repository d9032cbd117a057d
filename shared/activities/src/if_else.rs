//! If: runs one of two branches.

use engine::{Activity, Decision, Descriptor, Next, PortKind, Step, Type};

/// `Elsa.If`
pub(crate) struct IfElse;

impl Activity for IfElse {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("Elsa.If", "Branching", "Runs one branch or the other.")
            .input("condition", Type::Boolean, "True runs then, false else.")
            .default(false)
            .output("result", Type::Boolean, "The condition's value.")
            .port("then", PortKind::Embedded)
            .port("else", PortKind::Embedded)
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let condition = step.flag("condition")?;
        step.set_output("result", condition.into())?;
        match step.child(if condition { "then" } else { "else" }) {
            Some(branch) => {
                step.schedule(Some(branch), None);
                Ok(Next::Wait)
            }
            None => Ok(Next::done()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::tests::check_lines;

    #[test]
    fn the_condition_chooses_the_branch() {
        let check = |condition: Value, expected: &[&str]| {
            check_lines(
                json!({"type": "If", "condition": condition,
                    "then": {"type": "WriteLine", "text": "yes"},
                    "else": {"type": "WriteLine", "text": "no"}}),
                expected,
            );
        };
        check(json!(true), &["yes"]);
        check(json!("False"), &["no"]);
        check(json!({"js": "1 + 1 == 2"}), &["yes"]);
        check(Value::Null, &["no"]);
        check_lines(json!({"type": "If", "condition": true}), &[]);
    }
}
