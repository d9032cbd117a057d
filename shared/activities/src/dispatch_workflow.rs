//! DispatchWorkflow: starts another workflow, and waits for its end if asked to.

use engine::{
    Activity, Decision, Descriptor, Dispatch, Effect, Failure, Next, Resumed, Step, Type,
};
use model::{DefinitionId, InstanceId, Stimulus};
use serde_json::{Value, json};

use crate::shown;

/// `Elsa.DispatchWorkflow`
pub(crate) struct DispatchWorkflow;

/// The name of the input that carries the result of the child from the executor.
pub(crate) const CHILD: &str = "__Child";
/// The member of [`CHILD`] with the reason why the parent gets no output.
pub(crate) const REFUSED: &str = "refused";

/// Fails when the executor could not start the child, or could not hand over its output.
pub(crate) fn check(child: &Value) -> Result<(), Failure> {
    match child.get(REFUSED).and_then(Value::as_str) {
        Some(reason) => Err(Failure::new("ChildRefused", reason)),
        None => Ok(()),
    }
}

impl Activity for DispatchWorkflow {
    fn descriptor(&self) -> Descriptor {
        let descriptor = Descriptor::new(
            "Elsa.DispatchWorkflow",
            "Composition",
            "Starts another workflow, and waits for its end if asked to.",
        );
        with_inputs(descriptor.called("Dispatch Workflow"))
            .input("startNewTrace", Type::Boolean, "The child begins its own trace.")
            .default(false)
            .input("channelName", Type::String, "Not used; kept for exports.")
            .output("result", Type::Object, "The child's output.")
            .outcomes(&["Done"])
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let waits = step.flag("waitForCompletion")?;
        dispatch(step, waits)?;
        Ok(if waits { Next::Wait } else { Next::done() })
    }

    fn resume(&self, step: &mut Step<'_, '_>, mut resumed: Resumed) -> Decision {
        let child = resumed.input.remove(CHILD).unwrap_or_default();
        check(&child)?;
        step.set_output("result", Value::Object(resumed.input))?;
        Ok(Next::done())
    }
}

/// Adds the inputs that every start of a child has.
pub(crate) fn with_inputs(descriptor: Descriptor) -> Descriptor {
    descriptor
        .input("workflowDefinitionId", Type::String, "The workflow's definition id.")
        .required()
        .input("correlationId", Type::String, "The child's correlation id.")
        .input("input", Type::Dictionary, "The child's input.")
        .input("waitForCompletion", Type::Boolean, "Wait until the child has ended.")
        .default(false)
}

/// Asks for the start of a child, and returns the child's id, which is known at once.
pub(crate) fn dispatch(step: &mut Step<'_, '_>, waits: bool) -> Result<String, Failure> {
    let definition_id = DefinitionId::new(step.required("workflowDefinitionId")?);
    let correlation_id = step.text("correlationId")?;
    shown::check("correlationId", correlation_id.as_deref())?;
    let mut input = step.object("input")?;
    let parent = step.instance_id().as_str().to_owned();
    input.insert("ParentInstanceId".to_owned(), parent.into());
    let child_id = step.new_id();
    let bookmark_id = if waits {
        let stimulus = Stimulus::child(step.type_name(), &child_id);
        let shown = json!({"ChildInstanceId": child_id, "WorkflowDefinitionId": definition_id});
        Some(step.wait(&stimulus, shown, None)?)
    } else {
        None
    };
    step.emit(Effect::Dispatch(Dispatch {
        instance_id: InstanceId::new(child_id.as_str()),
        definition_id,
        correlation_id,
        input,
        bookmark_id,
    }));
    Ok(child_id)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tests::player;

    fn document(waits: bool) -> Value {
        json!({
            "outputs": [{"name": "Got"}],
            "root": {"type": "DispatchWorkflow", "workflowDefinitionId": "child",
                "correlationId": "c1", "input": {"a": 1}, "waitForCompletion": waits,
                "result": {"typeName": "Object", "memoryReference": {"id": "Got"}}}
        })
    }

    #[test]
    fn without_waiting_it_only_starts_the_child() {
        let mut player = player(document(false));
        player.start(json!({}));
        let Effect::Dispatch(dispatch) = player.effects[0].clone() else { panic!("no dispatch") };
        assert_eq!(dispatch.definition_id.as_str(), "child");
        assert_eq!(dispatch.correlation_id.as_deref(), Some("c1"));
        assert_eq!(dispatch.input["a"], json!(1));
        assert_eq!(dispatch.input["ParentInstanceId"], json!("instance-1"));
        assert_eq!(dispatch.bookmark_id, None);
        assert!(player.status().is_final());
    }

    #[test]
    fn waiting_it_gives_the_output_of_the_child() {
        let mut player = player(document(true));
        player.start(json!({}));
        let Effect::Dispatch(dispatch) = player.effects[0].clone() else { panic!("no dispatch") };
        let bookmark = player.state().bookmarks.values().next().unwrap();
        assert_eq!(dispatch.bookmark_id.as_ref(), Some(&bookmark.id));
        let hash = Stimulus::child("Elsa.DispatchWorkflow", dispatch.instance_id.as_str()).hash();
        assert_eq!(bookmark.hash, hash);
        player.resume("Elsa.DispatchWorkflow", json!({"b": 2, CHILD: {"status": "Finished"}}));
        assert_eq!(player.state().output["Got"], json!({"b": 2}));
    }

    #[test]
    fn a_refused_child_is_an_incident_with_the_reason() {
        for kind in ["DispatchWorkflow", "ExecuteWorkflow"] {
            let mut document = document(true);
            document["root"]["type"] = kind.into();
            let mut player = player(document);
            player.start(json!({}));
            let child = json!({"status": "Finished", "output": {}, REFUSED: "too large"});
            player.resume(&format!("Elsa.{kind}"), json!({CHILD: child}));
            assert_eq!(player.status(), model::SubStatus::Faulted);
            assert_eq!(player.state().incidents[0].message, "too large");
            assert_eq!(player.state().output.get("Got"), None);
        }
    }
}
