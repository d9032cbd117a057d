//! DispatchWorkflow: starts another workflow, and waits for its end if it is told to.

use engine::{
    Activity, Decision, Descriptor, Dispatch, Effect, Failure, Next, Resumed, Step, Type,
};
use model::{DefinitionId, InstanceId, Stimulus};
use serde_json::{Value, json};

/// `Elsa.DispatchWorkflow`
pub(crate) struct DispatchWorkflow;

/// Under this name the executor says how the child ended.
pub(crate) const CHILD: &str = "__Child";

impl Activity for DispatchWorkflow {
    fn descriptor(&self) -> Descriptor {
        let descriptor = Descriptor::new(
            "Elsa.DispatchWorkflow",
            "Composition",
            "Starts another workflow, and waits for its end if it is told to.",
        );
        with_inputs(descriptor.called("Dispatch Workflow"))
            .input("startNewTrace", Type::Boolean, "The child begins a trace of its own.")
            .default(false)
            .input("channelName", Type::String, "Kept for the round trip.")
            .output("result", Type::Object, "The child's output.")
            .outcomes(&["Done"])
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let waits = step.flag("waitForCompletion")?;
        dispatch(step, waits)?;
        Ok(if waits { Next::Wait } else { Next::done() })
    }

    fn resume(&self, step: &mut Step<'_, '_>, mut resumed: Resumed) -> Decision {
        resumed.input.remove(CHILD);
        step.set_output("result", Value::Object(resumed.input))?;
        Ok(Next::done())
    }
}

/// Adds the inputs that every start of a child has.
pub(crate) fn with_inputs(descriptor: Descriptor) -> Descriptor {
    descriptor
        .input("workflowDefinitionId", Type::String, "Which workflow.")
        .input("correlationId", Type::String, "The child's correlation id.")
        .input("input", Type::Dictionary, "The child's input.")
        .input("waitForCompletion", Type::Boolean, "Wait until the child is over.")
        .default(false)
}

/// Asks for a child to be started; its id is known at once. Gives the child's id.
pub(crate) fn dispatch(step: &mut Step<'_, '_>, waits: bool) -> Result<String, Failure> {
    let definition_id = DefinitionId::new(step.required("workflowDefinitionId")?);
    let correlation_id = step.text("correlationId")?;
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
}
