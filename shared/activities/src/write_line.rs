//! WriteLine: writes a line into the journal.

use engine::{Activity, Decision, Descriptor, Next, Step, Type};

/// `Elsa.WriteLine`
pub(crate) struct WriteLine;

impl Activity for WriteLine {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("Elsa.WriteLine", "Console", "Writes a line into the journal.")
            .called("Write Line")
            .input("text", Type::String, "The line.")
            .outcomes(&["Done"])
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let text = step.text("text")?.unwrap_or_default();
        step.line("text", text);
        Ok(Next::done())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::tests::check_lines;

    #[test]
    fn any_value_becomes_a_line() {
        let check = |text: Value, expected: &str| {
            check_lines(json!({"type": "Elsa.WriteLine", "text": text}), &[expected]);
        };
        check(json!("hello"), "hello");
        check(json!({"typeName": "String", "expression": {"type": "Literal", "value": "x"}}), "x");
        check(json!({"expression": {"type": "JavaScript", "value": "40 + 2"}}), "42");
        check(json!({"liquid": "{{ 1 | plus: 1 }}"}), "2");
        check(json!({"js": "({a: 1})"}), r#"{"a":1}"#);
        check(Value::Null, "");
    }
}
