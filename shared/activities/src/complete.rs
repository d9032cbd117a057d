//! Complete: ends the innermost workflow with the given outcomes.

use engine::{Activity, Decision, Descriptor, Next, Step, Type};
use serde_json::Value;

/// `Elsa.Complete`
pub(crate) struct Complete;

impl Activity for Complete {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new(
            "Elsa.Complete",
            "Composition",
            "Ends the innermost workflow with the given outcomes.",
        )
        .input("outcomes", Type::Object, "A name, or a list of names.")
        .default("Done")
        .terminal()
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let outcomes = named(step.value("outcomes")?);
        let done = || vec!["Done".to_owned()];
        Ok(Next::CompleteWorkflow(if outcomes.is_empty() { done() } else { outcomes }))
    }
}

/// Names from a name, a list, or a JSON array in a text.
fn named(value: Value) -> Vec<String> {
    match value {
        Value::String(text) if text.trim_start().starts_with('[') => {
            match serde_json::from_str::<Value>(&text) {
                Ok(list) => named(list),
                Err(_) => vec![text],
            }
        }
        Value::String(text) if text.is_empty() => Vec::new(),
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use model::SubStatus;
    use serde_json::{Value, json};

    use crate::tests::player;

    #[test]
    fn the_workflow_ends_with_the_outcomes() {
        let check = |outcomes: Value, expected: &[&str]| {
            let mut player = player(json!({"type": "Sequence", "id": "root", "activities": [
                {"type": "If", "condition": true,
                    "then": {"type": "Complete", "outcomes": outcomes}},
                {"type": "WriteLine", "text": "never"}
            ]}));
            player.start(json!({}));
            assert_eq!(player.status(), SubStatus::Finished);
            assert_eq!(player.outcomes("root"), expected);
            assert!(player.lines().is_empty());
        };
        check(Value::Null, &["Done"]);
        check(json!("Yes"), &["Yes"]);
        check(json!(["A", "B"]), &["A", "B"]);
        check(json!("[\"A\"]"), &["A"]);
    }
}
