//! FlowFork: leaves through every one of its branches.

use engine::{Activity, Decision, Descriptor, Next, Plan, Planning, Step, Type};
use serde_json::Value;

/// `Elsa.FlowFork`
pub(crate) struct FlowFork;

impl Activity for FlowFork {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("Elsa.FlowFork", "Branching", "Leaves through every branch.")
            .called("Fork (flow)")
            .input("branches", Type::texts(), "The names of the branches.")
    }

    fn plan(&self, node: &mut Planning<'_>) -> Plan {
        let named = match (node.raw("branches"), node.literal("branches")) {
            (_, Some(Value::Array(branches))) => Some(branches.clone()),
            (None, _) => Some(Vec::new()),
            _ => None,
        };
        let texts = |all: Vec<Value>| -> Vec<_> {
            all.iter().filter_map(|one| one.as_str().map(str::to_owned)).collect()
        };
        match named.map(texts) {
            Some(all) if all.is_empty() => node.leaves_by(["Done".to_owned()]),
            Some(all) => node.leaves_by(all),
            None => {}
        }
        None
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let branches = step.texts("branches")?;
        Ok(if branches.is_empty() { Next::done() } else { Next::Complete(branches) })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::tests::check_outcomes;

    #[test]
    fn branches_are_the_outcomes() {
        let check = |branches: Value, expected: &[&str]| {
            check_outcomes(json!({"type": "FlowFork", "branches": branches}), expected);
        };
        check(json!(["One", "Two"]), &["One", "Two"]);
        check(json!({"expression": {"type": "Object", "value": "[\"A\"]"}}), &["A"]);
        check(Value::Null, &["Done"]);
    }
}
