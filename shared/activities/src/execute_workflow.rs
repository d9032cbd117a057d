//! ExecuteWorkflow: runs another workflow as a part of this one. The child is a separate instance,
//! started durably; the activity may wait for its end.

use engine::{Activity, Decision, Descriptor, Kind, Next, Resumed, Step, Type};
use serde_json::{Value, json};

use crate::dispatch_workflow::{CHILD, check, dispatch, with_inputs};

/// `Elsa.ExecuteWorkflow`
pub(crate) struct ExecuteWorkflow;

impl Activity for ExecuteWorkflow {
    fn descriptor(&self) -> Descriptor {
        let what = "Runs another workflow as a part of this one.";
        let descriptor = Descriptor::new("Elsa.ExecuteWorkflow", "Composition", what);
        with_inputs(descriptor.called("Execute Workflow").kind(Kind::Task))
            .output("result", Type::Object, "Id, status, sub-status and output of the child.")
            .outcomes(&["Done"])
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let waits = step.flag("waitForCompletion")?;
        let child_id = dispatch(step, waits)?;
        if waits {
            return Ok(Next::Wait);
        }
        let started = json!({
            "workflowInstanceId": child_id, "status": "Running", "subStatus": "Pending",
            "output": {}
        });
        step.set_output("result", started)?;
        Ok(Next::done())
    }

    fn resume(&self, step: &mut Step<'_, '_>, mut resumed: Resumed) -> Decision {
        let child = resumed.input.remove(CHILD).unwrap_or_default();
        check(&child)?;
        // The output is `child.output` where that is there, else the rest of the input.
        let output = match child.get("output") {
            Some(output) if !output.is_null() => output.clone(),
            _ => Value::Object(resumed.input),
        };
        let result = json!({
            "workflowInstanceId": child["workflowInstanceId"], "status": child["status"],
            "subStatus": child["subStatus"], "output": output
        });
        step.set_output("result", result)?;
        Ok(Next::done())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tests::player;

    fn document(waits: bool) -> Value {
        json!({
            "outputs": [{"name": "Got"}],
            "root": {"type": "ExecuteWorkflow", "workflowDefinitionId": "child",
                "waitForCompletion": waits,
                "result": {"typeName": "Object", "memoryReference": {"id": "Got"}}}
        })
    }

    #[test]
    fn waiting_it_gives_how_the_child_ended() {
        let mut player = player(document(true));
        player.start(json!({}));
        let child = json!({"workflowInstanceId": "i2", "status": "Finished",
            "subStatus": "Finished", "output": {"b": 2}});
        player.resume("Elsa.ExecuteWorkflow", json!({"b": 2, CHILD: child}));
        assert_eq!(player.state().output["Got"], child);
    }

    #[test]
    fn without_waiting_it_gives_who_the_child_is() {
        let mut player = player(document(false));
        player.start(json!({}));
        assert!(player.status().is_final());
        assert_eq!(player.state().output["Got"]["subStatus"], "Pending");
    }
}
