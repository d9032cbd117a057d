//! The state in readable form.

use serde_json::{Value, json};

use crate::outline::{Declared, Outline};
use crate::program::Program;
use crate::state::{Execution, State};

impl State {
    /// The state in readable form: variables by name, outputs, running activities, bookmarks. Variables
    /// of the memory driver are not in it.
    #[must_use]
    pub fn view(&self, program: &Program) -> Value {
        let outline = &program.outline;
        json!({
            "id": self.instance_id,
            "definitionId": outline.definition_id,
            "definitionVersionId": outline.version_id,
            "definitionVersion": outline.version,
            "status": self.status.main(),
            "subStatus": self.status,
            "correlationId": self.correlation_id,
            "name": self.name,
            "isPaused": self.is_paused,
            "parentWorkflowInstanceId": self.parent.as_ref().map(|parent| &parent.instance_id),
            "triggerActivityId": self.trigger,
            "input": self.input,
            "output": self.output,
            "variables": named(&outline.variables, &self.variables),
            "incidents": self.incidents,
            "bookmarks": self.bookmarks.values().collect::<Vec<_>>(),
            "calls": self.calls.values().map(called).collect::<Vec<_>>(),
            "activityExecutionContexts": self.contexts(outline),
            "scheduledActivities": self.work.iter().map(|work| json!({
                "activityId": work.node,
                "ownerContextId": work.owner.and_then(|owner| self.id_of(owner)),
            })).collect::<Vec<_>>(),
            "turns": self.turns,
            "steps": self.steps,
            "executionLogSequence": self.journal_sequence,
        })
    }

    fn contexts(&self, outline: &Outline) -> Vec<Value> {
        let contexts = self.executions.values().filter_map(|execution| {
            let node = outline.node(outline.find(&execution.node)?);
            Some(json!({
                "id": execution.id,
                "parentContextId": execution.owner.and_then(|owner| self.id_of(owner)),
                "activityId": node.id,
                "activityNodeId": node.path,
                "activityType": node.type_name(),
                "activityName": node.name,
                "status": status(execution),
                "variables": named(&node.variables, &execution.variables),
                "dynamicVariables": execution.given,
                "tag": execution.tag,
            }))
        });
        contexts.collect()
    }

    fn id_of(&self, number: u64) -> Option<&str> {
        self.executions.get(&number).map(|execution| execution.id.as_str())
    }
}

/// A call without its values, which may hold secrets.
fn called(call: &crate::Call) -> Value {
    let mut view = json!({
        "key": call.key,
        "bookmarkId": call.bookmark_id,
        "activityId": call.activity_id,
        "kind": call.operation.kind(),
        "summary": call.operation.summary(),
    });
    if let crate::Operation::Http(request) = &call.operation {
        view["method"] = json!(request.method);
        view["url"] = json!(request.url);
    }
    view
}

fn status(execution: &Execution) -> &'static str {
    if execution.faulted { "Faulted" } else { "Running" }
}

fn named(declared: &[Declared], values: &model::Map) -> model::Map {
    let value = |id: &str| values.get(id).cloned().unwrap_or_default();
    let shown = declared.iter().filter(|variable| !variable.is_hidden);
    shown.map(|variable| (variable.name.clone(), value(&variable.id))).collect()
}
