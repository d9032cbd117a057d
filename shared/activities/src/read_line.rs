//! ReadLine: waits until somebody gives it a line of text.

use engine::{Activity, Decision, Descriptor, Failure, Kind, Next, Resumed, Step, Type};
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
        step.set_output("result", Value::String(line(resumed.input)?))?;
        Ok(Next::done())
    }
}

/// The member `Line`, in any case: a text, or a number or a truth value as a text.
fn line(input: Map) -> Result<String, Failure> {
    let found = input.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(LINE));
    match found.map(|(_, value)| value) {
        Some(Value::String(text)) => Ok(text),
        Some(value @ (Value::Number(_) | Value::Bool(_))) => Ok(value.to_string()),
        Some(_) => Err(Failure::input(LINE, "the line has to be a text")),
        None => Err(Failure::input(LINE, "there is no line: resume with {\"Line\": \"…\"}")),
    }
}

#[cfg(test)]
mod tests {
    use engine::testing::Player;

    use super::*;
    use crate::tests::player;

    fn resumed(input: &Value) -> Player<'static> {
        let mut player = player(json!({"outputs": [{"name": "Got"}],
            "root": {"type": "ReadLine",
                "result": {"typeName": "String", "memoryReference": {"id": "Got"}}}}));
        player.start(json!({}));
        assert!(player.resume("Elsa.ReadLine", input.clone()), "it waits");
        player
    }

    #[test]
    fn the_line_is_what_the_bookmark_is_resumed_with() {
        let check = |input: Value, expected: &str| {
            assert_eq!(resumed(&input).state().output["Got"], json!(expected), "{input}");
        };
        check(json!({"Line": "hello", "other": 1}), "hello");
        check(json!({"line": "hello"}), "hello");
        check(json!({"Line": 42}), "42");
        check(json!({"Line": true}), "true");
        check(json!({"Line": ""}), "");
    }

    #[test]
    fn what_has_no_line_is_refused() {
        let check = |input: Value, expected: &str| {
            let player = resumed(&input);
            let incident = &player.state().incidents[0];
            assert_eq!(incident.code, "InvalidInput", "{input}");
            assert!(incident.message.contains(expected), "{input}: {}", incident.message);
        };
        for input in [json!({}), json!({"answer": 42}), json!({"a": "x", "b": "y"})] {
            check(input, "there is no line: resume with {\"Line\": \"…\"}");
        }
        for value in [Value::Null, json!({"a": 1}), json!(["x"])] {
            check(json!({ "Line": value }), "Line: the line has to be a text");
        }
    }
}
