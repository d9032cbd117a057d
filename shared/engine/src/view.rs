//! The state in readable form: Elsa's workflow state, and members of our own.

use model::{Bookmark, Incident, SubStatus, execution_id};
use serde_json::{Value, json};

use crate::chart::{Charted, WORKFLOW_ID, WORKFLOW_TYPE};
use crate::outline::{Declared, Outline};
use crate::program::Program;
use crate::state::{Execution, State, Work};

impl State {
    /// The state in readable form: variables by name, outputs, running activities, bookmarks. Variables
    /// of the memory driver are not in it.
    #[must_use]
    pub fn view(&self, program: &Program) -> Value {
        let outline = &program.outline;
        let mut properties = self.properties.clone();
        if let Some(parent) = &self.parent {
            properties.insert("ParentInstanceId".to_owned(), json!(parent.instance_id));
        }
        json!({
            "id": self.instance_id,
            "definitionId": outline.definition_id,
            "definitionVersionId": outline.version_id,
            "definitionVersion": outline.version,
            "status": self.status.main(),
            "subStatus": self.status,
            "isExecuting": self.status == SubStatus::Executing,
            "correlationId": self.correlation_id,
            "name": self.name,
            "isPaused": self.is_paused,
            "parentWorkflowInstanceId": self.parent.as_ref().map(|parent| &parent.instance_id),
            "triggerActivityId": self.trigger,
            "input": self.input,
            "output": self.output,
            "properties": properties,
            "variables": named(&outline.variables, &self.variables),
            "incidents": self.incidents.iter().map(incident).collect::<Vec<_>>(),
            "bookmarks": self.bookmarks.values().map(bookmark).collect::<Vec<_>>(),
            "completionCallbacks": [],
            "calls": self.calls.values().map(called).collect::<Vec<_>>(),
            "activityExecutionContexts": self.contexts(outline),
            "scheduledActivities": self.work.iter().map(|work| self.scheduled(outline, work))
                .collect::<Vec<_>>(),
            "turns": self.turns,
            "steps": self.steps,
            "executionLogSequence": self.journal_sequence,
        })
    }

    /// The workflow itself, and the activities that run or wait.
    fn contexts(&self, outline: &Outline) -> Vec<Value> {
        let workflow = json!({
            "id": self.workflow_id(),
            "parentContextId": null,
            "scheduledActivityNodeId": WORKFLOW_ID,
            "ownerActivityNodeId": null,
            "properties": {"Variables": by_id(&outline.variables, &self.variables)},
            "metadata": {},
            "activityState": {},
            "dynamicVariables": [],
            "status": workflow_status(self.status),
            "isExecuting": self.status == SubStatus::Executing,
            "faultCount": self.incident_count,
            "startedAt": null,
            "completedAt": null,
            "tag": null,
            "callStackDepth": 0,
            "activityId": WORKFLOW_ID,
            "activityNodeId": WORKFLOW_ID,
            "activityType": WORKFLOW_TYPE,
            "activityName": outline.name,
            "variables": named(&outline.variables, &self.variables),
        });
        let running = self.executions.values();
        let running = running.filter_map(|execution| self.context(outline, execution));
        std::iter::once(workflow).chain(running).collect()
    }

    fn context(&self, outline: &Outline, execution: &Execution) -> Option<Value> {
        let node = outline.node(outline.find(&execution.node)?);
        let variables = by_id(&node.variables, &execution.variables);
        let properties = match variables.is_empty() {
            true => json!({}),
            false => json!({ "Variables": variables }),
        };
        let waits = execution.bookmarks > 0 || execution.children > 0;
        Some(json!({
            "id": execution.id,
            "parentContextId": self.owner_id(execution.owner),
            "scheduledActivityNodeId": node.path,
            "ownerActivityNodeId": self.owner_path(outline, execution.owner),
            "properties": properties,
            "metadata": {},
            "activityState": constants(outline, node),
            "dynamicVariables": execution.given.iter().map(dynamic).collect::<Vec<_>>(),
            "status": status(execution),
            "isExecuting": !waits && !execution.faulted,
            "faultCount": u8::from(execution.faulted),
            "startedAt": execution.started_at,
            "completedAt": null,
            "tag": execution.tag,
            "callStackDepth": self.depth(execution),
            "activityId": node.id,
            "activityNodeId": node.path,
            "activityType": node.type_name(),
            "activityName": node.name,
            "variables": named(&node.variables, &execution.variables),
        }))
    }

    fn scheduled(&self, outline: &Outline, work: &Work) -> Value {
        let node = work.node.as_ref().and_then(|key| outline.find(key));
        json!({
            "activityNodeId": node.map(|node| &outline.node(node).path),
            "ownerContextId": self.owner_id(work.owner),
            "tag": work.tag,
            "variables": work.given.iter().map(dynamic).collect::<Vec<_>>(),
            "existingActivityExecutionContextId": null,
            "input": {},
            "activityId": node.map(|node| &outline.node(node).id),
        })
    }

    /// The id of the workflow's own execution.
    fn workflow_id(&self) -> String {
        execution_id(&self.instance_id, 0)
    }

    fn owner_id(&self, owner: Option<u64>) -> String {
        let owner = owner.and_then(|number| self.executions.get(&number));
        owner.map_or_else(|| self.workflow_id(), |owner| owner.id.clone())
    }

    fn owner_path<'o>(&self, outline: &'o Outline, owner: Option<u64>) -> &'o str {
        let owner = owner.and_then(|number| self.executions.get(&number));
        let node = owner.and_then(|owner| outline.find(&owner.node));
        node.map_or(WORKFLOW_ID, |node| outline.node(node).path.as_str())
    }

    /// The number of executions around one, the workflow included. Executions that belong to each
    /// other have growing numbers, so this ends.
    fn depth(&self, execution: &Execution) -> usize {
        let mut depth = 1;
        let mut at = execution.owner;
        while let Some(owner) = at.and_then(|number| self.executions.get(&number)) {
            depth += 1;
            at = owner.owner;
        }
        depth
    }
}

/// A bookmark, in Elsa's shape.
#[must_use]
pub fn bookmark(bookmark: &Bookmark) -> Value {
    json!({
        "id": bookmark.id,
        "name": bookmark.name,
        "hash": bookmark.hash,
        "payload": bookmark.payload,
        "activityId": bookmark.activity_id,
        "activityNodeId": bookmark.activity_node_id,
        "activityInstanceId": bookmark.activity_instance_id,
        "createdAt": bookmark.created_at,
        "autoBurn": true,
        "callbackMethodName": null,
        "autoComplete": false,
        "metadata": {},
        "dueAt": bookmark.due_at,
    })
}

/// An incident, in Elsa's shape.
#[must_use]
pub fn incident(incident: &Incident) -> Value {
    json!({
        "activityId": incident.activity_id,
        "activityNodeId": incident.activity_node_id,
        "activityInstanceId": incident.activity_instance_id,
        "activityType": incident.activity_type,
        "code": incident.code,
        "message": incident.message,
        "exception": exception(&incident.code, &incident.message),
        "timestamp": incident.timestamp,
    })
}

/// A failure as an exception, in Elsa's shape: the same wherever it is shown. There is no stack trace: a
/// failure of a workflow is data.
#[must_use]
pub fn exception(code: &str, message: &str) -> Value {
    json!({
        "type": code,
        "message": message,
        "stackTrace": null,
        "innerException": null,
        "metadata": {"code": code},
    })
}

/// The status of the workflow itself, in the words of activities.
#[must_use]
pub fn workflow_status(status: SubStatus) -> &'static str {
    match status {
        SubStatus::Pending => "Pending",
        SubStatus::Executing | SubStatus::Suspended => "Running",
        SubStatus::Finished => "Completed",
        SubStatus::Cancelled => "Canceled",
        SubStatus::Faulted => "Faulted",
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

/// A variable that a container gives to an activity, such as `CurrentValue`.
fn dynamic((name, value): (&String, &Value)) -> Value {
    json!({
        "id": name,
        "name": name,
        "typeName": "Object",
        "isArray": false,
        "value": value,
        "storageDriverTypeName": null,
    })
}

fn constants(outline: &Outline, node: &crate::outline::Node) -> model::Map {
    let charted = Charted::new(outline, node);
    let constants = charted.constants(false).into_iter();
    constants.map(|(name, value)| (charted.descriptor_name(&name), value)).collect()
}

fn named(declared: &[Declared], values: &model::Map) -> model::Map {
    shown(declared, values).map(|(variable, value)| (variable.name.clone(), value)).collect()
}

fn by_id(declared: &[Declared], values: &model::Map) -> model::Map {
    shown(declared, values).map(|(variable, value)| (variable.id.clone(), value)).collect()
}

fn shown<'d>(
    declared: &'d [Declared],
    values: &'d model::Map,
) -> impl Iterator<Item = (&'d Declared, Value)> {
    let value = |id: &str| values.get(id).cloned().unwrap_or_default();
    let shown = declared.iter().filter(|variable| !variable.is_hidden);
    shown.map(move |variable| (variable, value(&variable.id)))
}
