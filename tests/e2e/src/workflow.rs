//! The definitions that the stories run.

use serde_json::{Value, json};

fn input(type_name: &str, kind: &str, value: &Value) -> Value {
    json!({"typeName": type_name, "expression": {"type": kind, "value": value}})
}

/// Writes a line.
pub(crate) fn line(id: &str, script: &str) -> Value {
    let text = input("String", "JavaScript", &json!(script));
    json!({"id": id, "type": "Elsa.WriteLine", "version": 1, "text": text})
}

/// Waits this many seconds.
pub(crate) fn delay(id: &str, seconds: u32) -> Value {
    let span = input("TimeSpan", "Literal", &json!(format!("00:00:{seconds:02}")));
    json!({"id": id, "type": "Elsa.Delay", "version": 1, "timeSpan": span})
}

/// Waits for an event.
pub(crate) fn event(id: &str, name: &str) -> Value {
    let name = input("String", "Literal", &json!(name));
    json!({"id": id, "type": "Elsa.Event", "version": 1, "eventName": name})
}

/// Sets an output.
pub(crate) fn set_output(id: &str, name: &str, script: &str) -> Value {
    json!({
        "id": id, "type": "Elsa.SetOutput", "version": 1,
        "outputName": input("String", "Literal", &json!(name)),
        "outputValue": input("Object", "JavaScript", &json!(script)),
    })
}

/// A definition whose activities run one after the other.
pub(crate) fn sequence(definition_id: &str, activities: &[Value]) -> Value {
    json!({
        "definitionId": definition_id, "name": definition_id,
        "inputs": [{"name": "Number", "type": "Int32"}],
        "outputs": [{"name": "Result", "type": "Object"}],
        "root": {"id": "root", "type": "Elsa.Sequence", "version": 1, "activities": activities}
    })
}

/// Finishes at once: writes one line, and returns twice the input.
pub(crate) fn quick(definition_id: &str) -> Value {
    sequence(
        definition_id,
        &[
            line("say", "`number ${getInput('Number')}`"),
            set_output("double", "Result", "getInput('Number') * 2"),
        ],
    )
}

/// Waits for the event `go`, then finishes.
pub(crate) fn waiting(definition_id: &str) -> Value {
    sequence(
        definition_id,
        &[event("wait", "go"), line("say", "'went on'"), set_output("one", "Result", "1")],
    )
}

/// Waits for a timer.
pub(crate) fn delayed(definition_id: &str, seconds: u32) -> Value {
    sequence(definition_id, &[delay("pause", seconds), set_output("one", "Result", "1")])
}
