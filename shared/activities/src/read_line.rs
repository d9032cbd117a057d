//! ReadLine: waits until somebody gives it a line of text.

use engine::{Activity, Decision, Descriptor, Kind, Next, Resumed, Step, Type};
use model::{Map, Stimulus};
use serde_json::{Value, json};

/// `Elsa.ReadLine`
pub(crate) struct ReadLine;

/// The member of a resume's input with the line.
const LINE: &str = "Line";

impl Activity for ReadLine {
    fn descriptor(&self) -> Descriptor {
        let what = "Waits for a line of text: resume its bookmark with {\"Line\": \"…\"}.";
        Descriptor::new("Elsa.ReadLine", "Console", what)
            .called("Read Line")
            .kind(Kind::Task)
            .output("result", Type::String, "The line.")
            .outcomes(&["Done"])
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let shown = json!({"ActivityId": step.activity_id()});
        let stimulus = Stimulus { name: step.type_name().to_owned(), payload: shown.clone() };
        step.wait(&stimulus, shown, None)?;
        Ok(Next::Wait)
    }

    fn resume(&self, step: &mut Step<'_, '_>, resumed: Resumed) -> Decision {
        step.set_output("result", line(resumed.input))?;
        Ok(Next::done())
    }
}

/// The member `Line` in any case, or else the only member there is.
fn line(input: Map) -> Value {
    let count = input.len();
    let mut members = input.into_iter();
    let found = members.find(|(name, _)| count == 1 || name.eq_ignore_ascii_case(LINE));
    match found.map(|(_, value)| value) {
        None | Some(Value::Null) => Value::String(String::new()),
        Some(Value::String(text)) => Value::String(text),
        Some(other) => Value::String(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::player;

    #[test]
    fn the_line_is_what_the_bookmark_is_resumed_with() {
        let check = |input: Value, expected: &str| {
            let mut player = player(json!({"outputs": [{"name": "Got"}],
                "root": {"type": "ReadLine",
                    "result": {"typeName": "String", "memoryReference": {"id": "Got"}}}}));
            player.start(json!({}));
            assert!(player.resume("Elsa.ReadLine", input.clone()), "it waits");
            assert_eq!(player.state().output["Got"], json!(expected), "{input}");
        };
        check(json!({"Line": "hello", "other": 1}), "hello");
        check(json!({"line": "hello"}), "hello");
        check(json!({"answer": 42}), "42");
        check(json!({"a": "x", "b": "y"}), "");
        check(json!({}), "");
    }
}
