//! The scenarios of activities that reach other instances and the world outside.

use serde_json::{Value, json};

use crate::activity::says;
use crate::play::{Table, row};

pub(crate) fn tables() -> Vec<Table> {
    let mut all = events();
    all.extend(children());
    all
}

fn events() -> Vec<Table> {
    let failed = json!({"RunTaskInput": null, "RunTaskReport": {"status": "failed",
        "error": {"type": "no-stock", "title": "no stock"}}});
    let twice = json!({"taskName": "Ship", "customProperties": {"retry": {"attempts": 2}}});
    vec![
        Table::new(
            "Elsa.Event",
            vec![
                row("It waits for the event.", json!({"eventName": "Paid"})),
                row("The payload is the result.", json!({"eventName": "Paid"}))
                    .then(json!({"__EventPayloadWorkflowInput": {"payload": {"sum": 7}}})),
                row("Without a payload.", json!({"eventName": "Paid"})).then(json!({})),
                row("No name.", json!({})),
            ],
        ),
        Table::new(
            "Elsa.PublishEvent",
            vec![
                row("The event is raised.", json!({"eventName": "Paid", "payload": {"sum": 7}})),
                row(
                    "For instances with a correlation id.",
                    json!({"eventName": "Paid", "correlationId": "c-1"}),
                ),
                row("For this instance alone.", json!({"eventName": "Paid", "isLocalEvent": true})),
                row("No name.", json!({})),
            ],
        ),
        Table::new(
            "Elsa.RunTask",
            vec![
                row(
                    "A worker gets the task.",
                    json!({"taskName": "Ship", "payload": {"order": 1}}),
                ),
                row("Its result is the result.", json!({"taskName": "Ship"}))
                    .then(json!({"RunTaskInput": "shipped"})),
                row(
                    "Another version of the type, with a time limit.",
                    json!({"taskName": "Ship", "taskVersion": 2, "timeout": "00:05:00"}),
                ),
                row("Its time is over.", json!({"taskName": "Ship", "timeout": "00:05:00"}))
                    .then(Value::Null),
                row("The worker reports a failure.", json!({"taskName": "Ship"}))
                    .then(failed.clone()),
                row("Another attempt follows.", twice).then(failed).then(Value::Null),
                row("No name.", json!({})),
            ],
        ),
    ]
}

fn children() -> Vec<Table> {
    let child = |status: &str| {
        json!({"__Child": {"workflowInstanceId": "$child", "status": "Finished", "subStatus": status,
            "output": {"total": 7}}, "total": 7})
    };
    let waiting = json!({"workflowDefinitionId": "child", "waitForCompletion": true});
    let refused = json!({"__Child": {"refused": "its output is too large"}});
    vec![
        Table::new(
            "Elsa.DispatchWorkflow",
            vec![
                row(
                    "The child is started.",
                    json!({"workflowDefinitionId": "child", "correlationId": "c-1", "input": {"a": 1}}),
                ),
                row("It waits for the end.", waiting.clone()),
                row("The output of the child is the result.", waiting.clone()).then(child("Finished")),
                row("A child that faulted has ended, too.", waiting.clone()).then(child("Faulted")),
                row("A child that could not be started.", waiting.clone()).then(refused.clone()),
                row("No definition.", json!({})),
            ],
        )
        .idle(&["startNewTrace", "channelName"]),
        Table::new(
            "Elsa.ExecuteWorkflow",
            vec![
                row(
                    "The child is started.",
                    json!({"workflowDefinitionId": "child", "correlationId": "c-1", "input": {"a": 1}}),
                ),
                row("It waits for the end.", waiting.clone()),
                row("The result says how it ended.", waiting.clone()).then(child("Finished")),
                row("A child that faulted has ended, too.", waiting.clone()).then(child("Faulted")),
                row("A child that could not be started.", waiting).then(refused),
                row("No definition.", json!({})),
            ],
        ),
        bulk(&child),
    ]
}

fn bulk(child: &dyn Fn(&str) -> Value) -> Table {
    let given =
        json!({"workflowDefinitionId": "child", "items": [{"a": 1}], "waitForCompletion": false});
    let with = |more: Value| {
        let mut given = given.clone();
        for (name, value) in more.as_object().into_iter().flatten() {
            given[name] = value.clone();
        }
        given
    };
    let ports = json!({"waitForCompletion": true, "childCompleted": says("'done ' + getWorkflowOutput().total"),
        "childFaulted": says("'failed ' + getWorkflowSubStatus()")});
    Table::new(
        "Elsa.BulkDispatchWorkflows",
        vec![
            row("A child for each item; its members are inputs.", given.clone()),
            row(
                "An item without members has a name, and every child the same input.",
                with(json!({"items": [7], "defaultItemInputKey": "Number", "input": {"b": 2}})),
            ),
            row(
                "Each child has its correlation id.",
                with(json!({"correlationIdFunction": {"js": "'c-' + args.item.a"}})),
            ),
            row("No items.", with(json!({"items": []}))),
            row("It waits for all of them.", with(json!({"waitForCompletion": true}))),
            row("One has finished, and all are over.", with(ports.clone())).then(child("Finished")),
            row("One has failed, and all are over.", with(ports.clone())).then(child("Faulted")),
            row("One was cancelled, and all are over.", with(ports.clone()))
                .then(child("Cancelled")),
            row("A child that could not be started.", with(ports.clone()))
                .then(json!({"__Child": {"workflowInstanceId": "$child", "status": "Finished",
                    "subStatus": "Faulted", "refused": "there is no such definition"}})),
            row("An end of another instance counts for nothing.", with(ports)).then(
                json!({"__Child": {"workflowInstanceId": "another", "subStatus": "Finished"}}),
            ),
            row("No definition.", json!({"items": [1]})),
        ],
    )
    .idle(&["startNewTrace", "channelName", "Canceled"])
}
