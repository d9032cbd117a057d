//! RunJavaScript: runs a script, which may choose the outcomes.

use engine::{Activity, Decision, Descriptor, Next, Step, Type};

/// `Elsa.RunJavaScript`
pub(crate) struct RunJavaScript;

impl Activity for RunJavaScript {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("Elsa.RunJavaScript", "Scripting", "Runs a script.")
            .called("Run JavaScript")
            .input("script", Type::Script("JavaScript"), "The script.")
            .sets_outcomes()
            .input("possibleOutcomes", Type::texts(), "The outcomes the designer offers.")
            .output("result", Type::Object, "The script's value.")
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let Some(script) = step.text("script")?.filter(|script| !script.trim().is_empty()) else {
            return Ok(Next::done());
        };
        let (value, outcomes) = step.run_script("JavaScript", &script)?;
        step.set_output("result", value)?;
        Ok(match outcomes {
            Some(outcomes) if !outcomes.is_empty() => Next::Complete(outcomes),
            _ => Next::done(),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::tests::{check_outcomes, player, problems};

    #[test]
    fn scripts_choose_the_outcomes() {
        let check = |script: Value, expected: &[&str]| {
            check_outcomes(json!({"type": "RunJavaScript", "script": script}), expected);
        };
        check(json!("setOutcome('Yes')"), &["Yes"]);
        check(json!("setOutcomes(['A', 'B'])"), &["A", "B"]);
        check(json!("1 + 1"), &["Done"]);
        check(json!({"js": "setOutcome('Js')"}), &["Js"]);
        check(json!("  "), &["Done"]);
        check(Value::Null, &["Done"]);
    }

    #[test]
    fn the_result_goes_where_it_is_bound() {
        let mut player = player(json!({
            "variables": [{"id": "v", "name": "V", "typeName": "Int32"}],
            "outputs": [{"name": "Result", "type": "String"}],
            "root": {"type": "Sequence", "activities": [
                {"type": "RunJavaScript", "script": "6 * 7",
                    "result": {"typeName": "Object", "memoryReference": {"id": "v"}}},
                {"type": "RunJavaScript", "script": "variables.V + 1",
                    "result": {"typeName": "Object", "memoryReference": {"id": "Result"}}},
                {"type": "WriteLine", "text": {"js": "getLastResult()"}}
            ]}
        }));
        player.start(json!({}));
        assert_eq!(player.state().output["Result"], json!("43"));
        assert_eq!(player.lines(), ["43"]);
    }

    #[test]
    fn a_script_that_cannot_be_parsed_is_a_problem() {
        let problems = problems(json!({"type": "RunJavaScript", "id": "r", "script": "1 +"}));
        assert_eq!(problems.len(), 1);
        assert!(problems[0].starts_with("activity r: script: line 1"), "{problems:?}");
    }

    #[test]
    fn a_script_that_throws_is_an_incident() {
        let mut player = player(json!({"type": "RunJavaScript", "script": "throw 'no'"}));
        player.start(json!({}));
        assert!(player.incident().is_some_and(|message| message.contains("no")));
    }
}
