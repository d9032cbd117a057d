//! Load that moves every figure: starts, waits, events, timers, a schedule, calls, children, a fault.

use cluster::NodePlan;
use serde_json::{Value, json};

use crate::api::Api;

/// Starts of each definition.
const STARTS: u64 = 5;

/// A node with these roles, whose workflows may call servers on this machine.
pub(crate) fn node(name: &str, roles: &str) -> NodePlan {
    let mut plan = NodePlan::new(name, roles);
    plan.arguments = vec!["--allow-private-addresses".to_owned()];
    plan
}

/// A definition whose activities run one after the other.
pub(crate) fn sequence(id: &str, activities: &[Value]) -> Value {
    json!({"definitionId": id, "name": id,
        "root": {"type": "Sequence", "activities": activities}})
}

pub(crate) fn line(text: &str) -> Value {
    json!({"type": "WriteLine", "text": text})
}

/// Publishes the definitions. The schedule fires each second from then on.
pub(crate) async fn publish(api: &Api, callee: &str) {
    let delay = json!({"type": "Delay", "timeSpan": "00:00:01"});
    let event = json!({"type": "Event", "eventName": "go"});
    let call = json!({"type": "SendHttpRequest", "url": format!("{callee}/health/live")});
    let cron = json!({"type": "Cron", "cronExpression": "* * * * * *", "canStartWorkflow": true});
    let child = json!({"type": "ExecuteWorkflow", "workflowDefinitionId": "quick",
        "waitForCompletion": true});
    let fault = json!({"type": "Fault", "message": "on purpose"});
    for definition in [
        sequence("quick", &[line("quick")]),
        sequence("delayed", &[delay, line("later")]),
        sequence("waiting", &[event, line("went on")]),
        sequence("calling", &[call, line("called")]),
        sequence("scheduled", &[cron, line("tick")]),
        sequence("parent", &[child, line("child over")]),
        sequence("failing", &[fault]),
    ] {
        api.publish(&definition).await;
    }
}

/// One round: some instances of each, brought to their ends.
pub(crate) async fn round(api: &Api, number: u64) {
    for definition in ["quick", "delayed", "waiting", "calling", "parent", "failing"] {
        for _ in 0..STARTS {
            api.start(definition).await;
        }
    }
    let all = STARTS * (number + 1);
    api.reaches("waiting", "Suspended", STARTS).await;
    let (status, body) = api.post("/events/go/trigger", &json!({})).await;
    assert!((200..300).contains(&status), "{status} {body}");
    for definition in ["waiting", "calling", "delayed", "parent"] {
        api.reaches(definition, "Finished", all).await;
    }
    api.reaches("failing", "Faulted", all).await;
}
