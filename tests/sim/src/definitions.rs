//! The definitions of a world.

use std::time::Duration;

use serde_json::{Value, json};

/// The address that workflows call.
pub(crate) const URL: &str = "http://outside.test/";
/// The path that is called again until it answers.
pub(crate) const BUSY: &str = "busy";
/// The interval of the schedule.
pub(crate) const TICK: Duration = Duration::from_secs(7);
/// The definition that several clients publish at the same time.
pub(crate) const CONTENDED: &str = "contended";

/// The definition that reads the content of its input, waits, and reads it again.
pub(crate) const KEEPER: &str = "keeper";
/// The input of that definition.
pub(crate) const FILE: &str = "File";
/// How long a payload is kept that no instance uses: longer than a start may wait in any world.
pub(crate) const KEPT: Duration = Duration::from_secs(100);

/// The bytes above which a value rests in a payload.
pub(crate) const LARGE_ABOVE: usize = 500;
/// So many times an id is as long as such a value.
pub(crate) const LONG: usize = 1_000;

/// The definition that messages start, their subject, and the stream that has them.
pub(crate) const LISTENING: &str = "listening";
pub(crate) const OUTER: &str = "outer.>";
pub(crate) const OUTER_STREAM: &str = "OUTER";

/// An activity that writes a line.
pub(crate) fn line(text: &str) -> Value {
    json!({"type": "WriteLine", "text": text})
}

/// An activity that writes how long the content of the input is, in base64.
fn content(before: &str) -> Value {
    let text = format!("'{before}' + getInput('{FILE}').content.length");
    json!({"type": "WriteLine",
        "text": {"typeName": "String", "expression": {"type": "JavaScript", "value": text}}})
}

/// Reads the content of its input, makes a large value, waits, and reads both.
fn keeper() -> Value {
    let computed = |script: &str| json!({"typeName": "String", "expression": {"type": "JavaScript", "value": script}});
    let long = json!({"type": "SetVariable", "variable": {"id": "long", "name": "Long"},
        "value": computed(&format!("getWorkflowInstanceId().repeat({LONG})"))});
    let said = json!({"type": "WriteLine", "text": computed("'long ' + variables.Long.length")});
    json!({"type": "Sequence",
        "variables": [{"id": "long", "name": "Long", "typeName": "String"}],
        "activities": [content(""), long, wait_for("kept"), content("again "), said]})
}

fn wait_for(event: &str) -> Value {
    json!({"type": "Event", "eventName": event})
}

fn sequence(activities: Vec<Value>) -> Value {
    json!({"type": "Sequence", "activities": activities})
}

fn delay(span: &str) -> Value {
    json!({"type": "Delay", "timeSpan": span})
}

/// Versions of the definition that instances are migrated to; each writes another line at its end.
pub(crate) fn moved(end: &str) -> Value {
    json!({"type": "Sequence", "id": "moved", "activities": [
        {"type": "WriteLine", "id": "begin", "text": "begin"},
        {"type": "Event", "id": "wait", "eventName": "moved"},
        {"type": "WriteLine", "id": "end", "text": end}]})
}

/// All definitions, each with its root.
pub(crate) fn all() -> Vec<(&'static str, Value)> {
    let child = json!({"type": "ExecuteWorkflow", "workflowDefinitionId": "child",
        "waitForCompletion": true});
    let calls = |path: &str, then: &str| {
        json!({"type": "SendHttpRequest", "url": format!("{URL}{path}"), "method": "POST",
            "expectedStatusCodes": [{"statusCode": 200, "activity": line(then)}]})
    };
    let mut stubborn = calls(BUSY, "called");
    stubborn["customProperties"] = json!({"retry": {"attempts": 9, "backoff": "constant",
        "delay": "2s", "on": [503]}});
    let rounds =
        |body: Vec<Value>| json!({"type": "For", "start": 1, "end": 3, "body": sequence(body)});
    let told = json!({"type": "PublishEvent", "eventName": "told"});
    let on_tick = json!({"type": "Event", "id": "on-tick", "canStartWorkflow": true,
        "eventName": "tick"});
    vec![
        ("hello", sequence(vec![line("a"), line("b")])),
        (
            "waiter",
            sequence(vec![line("a"), wait_for("one"), line("b"), wait_for("two"), line("c")]),
        ),
        ("tasker", rounds(vec![json!({"type": "RunTask", "taskName": "Ship"}), line("shipped")])),
        (
            LISTENING,
            sequence(vec![
                json!({"type": "Staunch.MessageReceived", "id": "message", "from": "all",
                    "canStartWorkflow": true, "subject": OUTER, "stream": OUTER_STREAM}),
                line("took"),
            ]),
        ),
        (KEEPER, keeper()),
        ("sleeper", sequence(vec![line("a"), delay("00:00:03"), line("b"), delay("00:00:08")])),
        ("child", sequence(vec![line("x"), delay("00:00:01"), line("y")])),
        ("parent", sequence(vec![line("a"), child, line("b")])),
        ("rounds", rounds(vec![line("in"), delay("00:00:02"), line("out")])),
        ("collector", rounds(vec![wait_for("item"), line("item")])),
        ("listener", sequence(vec![wait_for("tick"), line("heard")])),
        ("triggered", sequence(vec![on_tick, line("triggered")])),
        ("caller", sequence(vec![calls("first", "called"), line("a"), calls("second", "again")])),
        ("stubborn", sequence(vec![line("a"), stubborn, line("b")])),
        ("versioned", line("v1")),
        // It fails until an operator gives the variable a value that is a duration.
        (
            "faulty",
            json!({"type": "Sequence", "variables": [
                {"id": "span", "name": "Span", "typeName": "String", "value": "no duration"}],
                "activities": [line("a"), {"type": "Delay", "id": "delay",
                    "timeSpan": {"typeName": "TimeSpan", "expression": {"type": "Variable",
                    "value": {"id": "span", "name": "Span"}}}},
                    line("b")]}),
        ),
        (
            "chart",
            json!({"type": "Flowchart", "id": "chart", "activities": [
                {"type": "Event", "id": "wait", "eventName": "chart"},
                {"type": "WriteLine", "id": "line", "text": "line"}],
                "connections": [{"source": "wait", "target": "line"}]}),
        ),
        ("moved", moved("old")),
        (CONTENDED, line("v1")),
        ("teller", sequence(vec![line("a"), told, line("b")])),
        ("told", sequence(vec![wait_for("told"), line("heard")])),
        (
            "ticker",
            sequence(vec![
                json!({"type": "Timer", "id": "every", "canStartWorkflow": true,
                "interval": format!("00:00:{:02}", TICK.as_secs())}),
                line("tock"),
            ]),
        ),
    ]
}
