//! SetOutput: gives an output of the innermost workflow a value.

use engine::{Activity, Decision, Descriptor, Next, Step, Type};

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
        .input("outputValue", Type::Object, "The value.")
        .outcomes(&["Done"])
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let name = step.required("outputName")?;
        let value = step.value("outputValue")?;
        step.set_workflow_output(&name, value);
        Ok(Next::done())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::tests::player;

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
    fn a_missing_name_is_an_incident() {
        let mut player = player(json!({"type": "SetOutput", "outputValue": 1}));
        player.start(json!({}));
        assert_eq!(player.incident(), Some("outputName: there is no value: give one"));
    }
}
