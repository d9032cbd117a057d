//! SetOutput: gives an output of the innermost workflow a value.

use engine::{Activity, Decision, Descriptor, Next, Plan, Planning, Step, Type};
use serde_json::Value;

/// `Elsa.SetOutput`
pub(crate) struct SetOutput;

impl Activity for SetOutput {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new(
            "Elsa.SetOutput",
            "Composition",
            "Gives an output of the innermost workflow a value.",
        )
        .called("Set Output")
        .input("outputName", Type::String, "The output's name.")
        .required()
        .input("outputValue", Type::Object, "The value.")
        .outcomes(&["Done"])
    }

    fn plan(&self, node: &mut Planning<'_>) -> Plan {
        let name = node.literal("outputName").and_then(Value::as_str).unwrap_or_default();
        if !name.trim().is_empty() {
            let name = name.to_owned();
            node.names_output("outputName", &name);
        }
        None
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let name = step.required("outputName")?;
        let value = step.value("outputValue")?;
        step.set_workflow_output(&name, value)?;
        Ok(Next::done())
    }
}

#[cfg(test)]
mod tests {
    use model::SubStatus;
    use serde_json::json;

    use engine::testing::env;

    use crate::tests::{engine, player};

    #[test]
    fn outputs_take_their_declared_type() {
        let mut player = player(json!({
            "outputs": [{"name": "Sum", "type": "Int32"}],
            "root": {"type": "SetOutput", "outputName": "Sum", "outputValue": "9"}
        }));
        player.start(json!({}));
        assert_eq!(player.state().output["Sum"], json!(9));
    }

    #[test]
    fn a_value_that_is_not_of_the_declared_type_is_an_incident() {
        let outputs = json!([{"name": "X", "type": "Int32"}]);
        let expected = "output X is Int32: \"abc\" is not a whole number";
        let mut set = player(json!({"outputs": outputs,
            "root": {"type": "SetOutput", "outputName": "X", "outputValue": "abc"}}));
        set.start(json!({}));
        assert_eq!((set.incident(), set.status()), (Some(expected), SubStatus::Faulted));
        assert!(set.state().output.is_empty());
        let mut bound = player(json!({"outputs": outputs,
            "root": {"type": "RunJavaScript", "script": "'abc'", "result": "X"}}));
        bound.start(json!({}));
        assert_eq!(bound.incident(), Some(expected));
        // What must not be shown is not in the incident either.
        let mut hidden = player(json!({"outputs": outputs,
            "variables": [{"name": "P", "typeName": "String", "value": "abc",
                "storageDriverTypeName": "MemoryStorageDriver"}],
            "root": {"type": "SetOutput", "outputName": "X", "outputValue": {"js": "variables.P"}}
        }));
        hidden.start(json!({}));
        let message = hidden.incident().unwrap();
        assert!(message.starts_with("output X is Int32") && !message.contains("abc"), "{message}");
    }

    #[test]
    fn a_workflow_does_not_end_without_a_required_output() {
        let run = |root: serde_json::Value| {
            let mut player = player(json!({"root": root, "outputs": [
                {"name": "X", "type": "Int32", "isRequired": true}, {"name": "Y"}]}));
            player.start(json!({}));
            (player.status(), player.incident().map(str::to_owned))
        };
        let missing = "output X is required, and has no value: set it before the workflow ends";
        let faulted = (SubStatus::Faulted, Some(missing.to_owned()));
        let line = json!({"type": "WriteLine", "text": "a"});
        let empty = json!({"type": "SetOutput", "outputName": "X", "outputValue": null});
        let set = json!({"type": "SetOutput", "outputName": "X", "outputValue": 1});
        let then = |last: &str| json!({"type": "Sequence", "activities": [line, {"type": last}]});
        for root in [line.clone(), empty, then("Finish"), then("Complete"), then("Break")] {
            assert_eq!(run(root.clone()), faulted, "{root}");
        }
        let with = json!({"type": "Sequence", "activities": [set, {"type": "Finish"}]});
        for root in [set, with] {
            assert_eq!(run(root.clone()), (SubStatus::Finished, None), "{root}");
        }
    }

    /// A name that an expression computes is not known before it runs.
    #[test]
    fn an_output_that_is_not_declared_is_warned_of() {
        let check = |name: serde_json::Value, expected: Option<&str>| {
            let root = json!({"type": "SetOutput", "outputName": name, "outputValue": 1});
            let document = json!({"root": root, "outputs": [{"name": "Total"}]});
            let definition = engine::testing::parsed(document).unwrap();
            let found =
                engine().examine(&definition, &engine::Library::default(), &env(0)).problems;
            let shown: Vec<_> = found.iter().map(ToString::to_string).collect();
            let expected = expected.map(|it| format!("activity SetOutput1: outputName: {it}"));
            assert_eq!(shown, expected.into_iter().collect::<Vec<_>>());
            assert!(found.iter().all(|one| !one.is_error()));
        };
        check(json!("Total"), None);
        check(json!({"js": "'Other'"}), None);
        let near = "the workflow declares no output total: did you mean Total?";
        check(json!("total"), Some(near));
        check(json!("Sum"), Some("the workflow declares no output Sum: declare it"));
    }

    #[test]
    fn a_missing_name_is_an_incident() {
        let mut player = player(json!({"type": "SetOutput", "outputValue": 1}));
        player.start(json!({}));
        assert_eq!(player.incident(), Some("outputName: there is no value: give one"));
    }
}
