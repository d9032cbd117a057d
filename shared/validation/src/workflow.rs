//! The definitions that validate runs.

use serde_json::{Value, json};

fn input(type_name: &str, kind: &str, value: &Value) -> Value {
    json!({"typeName": type_name, "expression": {"type": kind, "value": value}})
}

fn literal(type_name: &str, text: &str) -> Value {
    input(type_name, "Literal", &json!(text))
}

/// The activity whose times are measured.
pub(crate) const WAIT: &str = "wait";

/// Writes one line, so that the journal has one line for each run.
fn line() -> Value {
    let text = literal("String", "ran");
    json!({"id": "say", "type": "Elsa.WriteLine", "version": 1, "text": text})
}

fn result(number: u32) -> Value {
    json!({
        "id": "tell", "type": "Elsa.SetOutput", "version": 1,
        "outputName": literal("String", "Result"),
        "outputValue": input("Object", "Literal", &json!(number)),
    })
}

fn sequence(id: &str, activities: &[Value]) -> Value {
    json!({
        "definitionId": id, "name": id,
        "description": "Made by `staunch validate`, which removes it at its end",
        "outputs": [{"name": "Result", "type": "Object"}],
        "root": {"id": "root", "type": "Elsa.Sequence", "version": 1, "activities": activities}
    })
}

/// Runs from start to end in one burst; its output is this number.
pub(crate) fn quick(id: &str, number: u32) -> Value {
    sequence(id, &[line(), result(number)])
}

/// Waits for a resume, then runs to its end.
pub(crate) fn waiting(id: &str) -> Value {
    let name = literal("String", id);
    let wait = json!({"id": WAIT, "type": "Elsa.Event", "version": 1, "eventName": name});
    sequence(id, &[wait, line(), result(1)])
}

/// Waits for this many seconds, at most 59, then runs to its end.
pub(crate) fn delayed(id: &str, seconds: u64) -> Value {
    let span = literal("TimeSpan", &format!("00:00:{seconds:02}"));
    let delay = json!({"id": WAIT, "type": "Elsa.Delay", "version": 1, "timeSpan": span});
    sequence(id, &[delay, line(), result(1)])
}

/// Starts one instance each second, by a schedule.
pub(crate) fn every_second(id: &str) -> Value {
    let cron = json!({
        "id": "each", "type": "Elsa.Cron", "version": 1, "canStartWorkflow": true,
        "cronExpression": literal("String", "* * * * * *"),
    });
    sequence(id, &[cron, line()])
}
