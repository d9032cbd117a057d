//! ForEach: runs its body for each item of a list, one after the other.

use engine::{Activity, Child, Decision, Descriptor, Next, PortKind, Step, Type};
use model::Map;
use serde_json::Value;

/// `Elsa.ForEach`
pub(crate) struct ForEach;

impl Activity for ForEach {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("Elsa.ForEach", "Looping", "Runs its body for each item, in order.")
            .called("For Each")
            .input("items", Type::List(Box::new(Type::Object)), "The items.")
            .output("currentValue", Type::Object, "The item of this round.")
            .port("body", PortKind::Embedded)
            .loops()
            .gives(&["CurrentIndex", "CurrentValue"])
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let items = step.list("items")?;
        if let Some(memory) = step.memory() {
            *memory = Value::Array(items);
        }
        round(step, 0)
    }

    fn child_completed(&self, step: &mut Step<'_, '_>, child: Child) -> Decision {
        let at = child.tag.as_ref().and_then(Value::as_u64).unwrap_or_default();
        round(step, at + 1)
    }
}

fn round(step: &mut Step<'_, '_>, at: u64) -> Decision {
    let position = usize::try_from(at).unwrap_or(usize::MAX);
    let item = step.memory().and_then(|items| items.get(position).cloned());
    let Some(item) = item else { return Ok(Next::done()) };
    step.set_output("currentValue", item.clone())?;
    step.schedule_with(step.child("body"), Some(at.into()), given(at, item));
    Ok(Next::Wait)
}

/// The variables of one round.
pub(crate) fn given(at: u64, item: Value) -> Map {
    Map::from_iter([
        ("CurrentIndex".to_owned(), Value::from(at)),
        ("CurrentValue".to_owned(), item),
    ])
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::tests::check_lines;

    #[test]
    fn every_item_has_its_round() {
        let check = |items: Value, expected: &[&str]| {
            let text = "`${getVariable('CurrentIndex')}=${getVariable('CurrentValue')}`";
            check_lines(
                json!({"type": "ForEach", "items": items,
                    "body": {"type": "WriteLine", "text": {"js": text}}}),
                expected,
            );
        };
        check(json!(["a", "b"]), &["0=a", "1=b"]);
        check(json!({"js": "[7, 8]"}), &["0=7", "1=8"]);
        check(json!([]), &[]);
        check(json!("[\"x\"]"), &["0=x"]);
    }

    #[test]
    fn break_ends_the_nearest_loop_only() {
        let text = "`${getVariable('CurrentValue')}`";
        check_lines(
            json!({"type": "ForEach", "items": ["a", "b"], "body":
            {"type": "Sequence", "activities": [
                {"type": "WriteLine", "text": {"js": text}},
                {"type": "ForEach", "items": [1, 2, 3], "body":
                    {"type": "Sequence", "activities": [
                        {"type": "WriteLine", "text": {"js": text}},
                        {"type": "If", "condition": {"js": "getVariable('CurrentValue') == 2"},
                            "then": {"type": "Break"}},
                        {"type": "WriteLine", "text": "next"}
                    ]}}
            ]}}),
            &["a", "1", "next", "2", "b", "1", "next", "2"],
        );
    }
}
