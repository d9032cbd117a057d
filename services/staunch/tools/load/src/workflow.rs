//! The definitions of the scenarios.

use serde_json::{Value, json};

use crate::scenario::CHILDREN;
use crate::{Scenario, outside};

/// The event that instances wait for.
const EVENT: &str = "bench-go";

/// The output with the message that started an instance of [`Scenario::Listen`].
pub(crate) const MESSAGE: &str = "Message";
/// The variable with the body of a request.
const BODY: &str = "Body";

/// The definitions that a scenario needs; lanes start the first.
pub(crate) fn definitions(scenario: Scenario, id: &str, callee: &str) -> Vec<Value> {
    let wait = || json!({"type": "Event", "eventName": EVENT});
    let call = |path: &str| json!({"type": "SendHttpRequest", "url": format!("{callee}/{path}")});
    let child = format!("{id}-child");
    let root = match scenario {
        Scenario::Start => sequence(&variables(2, &[result()])),
        Scenario::Steps => sequence(&variables(9, &[result()])),
        Scenario::Calls => sequence(&[call("1"), call("2"), call("3")]),
        Scenario::Resume | Scenario::Suspend => sequence(&[wait(), result()]),
        Scenario::Timer => {
            let at = json!({"typeName": "DateTime",
                "expression": {"type": "Input", "value": "At"}});
            sequence(&[json!({"type": "StartAt", "dateTime": at}), result()])
        }
        Scenario::Fanout => {
            let items: Vec<u32> = (0..CHILDREN).collect();
            let body = json!({"type": "DispatchWorkflow", "workflowDefinitionId": child,
                "waitForCompletion": true});
            json!({"type": "ParallelForEach", "items": items, "body": body})
        }
        Scenario::Contend => json!({"type": "While", "condition": true, "body": wait()}),
        Scenario::Io => sequence(&[call("slow")]),
        Scenario::Task => sequence(&[json!({"type": "RunTask", "taskName": id}), result()]),
        Scenario::Listen => sequence(&[json!({
            "type": "Staunch.MessageReceived", "id": "message", "canStartWorkflow": true,
            "subject": outside::message_subject(id, "*"), "stream": id, "from": "all",
            "result": {"memoryReference": {"id": MESSAGE}}
        })]),
        Scenario::Payload => sequence(&[
            json!({"type": "HttpEndpoint", "id": "body", "canStartWorkflow": true, "path": id,
                "supportedMethods": ["POST"], "parsedContent": {"memoryReference": {"id": BODY}}}),
            json!({"type": "WriteFileHttpResponse", "content": {"js": format!("variables.{BODY}")}}),
        ]),
        Scenario::Publish => version(0),
    };
    let mut all = vec![definition(id, &root)];
    if scenario == Scenario::Fanout {
        all.push(definition(&child, &sequence(&[result()])));
    }
    all
}

/// A definition for [`Scenario::Publish`]; each `number` gives another.
pub(crate) fn news(id: &str, number: u64) -> Value {
    definition(id, &version(number))
}

fn definition(id: &str, root: &Value) -> Value {
    json!({
        "definitionId": id, "name": id, "description": "Made by a benchmark",
        "inputs": [{"name": "At", "type": "DateTime"}],
        "outputs": [{"name": "Result", "type": "Int32"}, {"name": MESSAGE}],
        "variables": [{"name": "Last", "typeName": "Int32"},
            {"id": BODY, "name": BODY, "typeName": "Object"}],
        "root": root
    })
}

fn sequence(activities: &[Value]) -> Value {
    json!({"type": "Sequence", "activities": activities})
}

fn variables(count: u32, then: &[Value]) -> Vec<Value> {
    let set = |value| json!({"type": "SetVariable", "variable": "Last", "value": value});
    (0..count).map(set).chain(then.iter().cloned()).collect()
}

fn result() -> Value {
    json!({"type": "SetOutput", "outputName": "Result", "outputValue": 1})
}

fn version(number: u64) -> Value {
    json!({"type": "SetOutput", "outputName": "Result", "outputValue": number})
}
