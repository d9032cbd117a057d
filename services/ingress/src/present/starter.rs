//! What starts the instances of a definition, read from its text: lists show it without compiling each.

use model::Definition;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// The most activities of one definition that are named.
const STARTERS_MAX: usize = 8;

/// The input that says when an activity of a type starts an instance.
const INPUTS: [(&str, &str); 8] = [
    ("Elsa.Cron", "cronExpression"),
    ("Elsa.Timer", "interval"),
    ("Elsa.StartAt", "dateTime"),
    ("Elsa.Event", "eventName"),
    ("Elsa.HttpEndpoint", "path"),
    ("Staunch.MessageReceived", "subject"),
    ("Staunch.KeyChanged", "bucket"),
    ("Staunch.ObjectStored", "bucket"),
];

/// An activity that starts instances of its definition, once it is published.
#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Starter {
    activity_id: String,
    activity_type: String,
    /// The schedule, path, event, subject or bucket, where it is a text and no expression.
    value: Option<String>,
}

/// The activities that start instances of a definition, in the order of its text.
pub(crate) fn starters(definition: &Definition) -> Vec<Starter> {
    let mut found = Vec::new();
    look(&definition.root, &mut found);
    found
}

fn look(value: &Value, found: &mut Vec<Starter>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| look(item, found)),
        Value::Object(members) => {
            if found.len() < STARTERS_MAX {
                found.extend(starter(value));
            }
            members.values().for_each(|member| look(member, found));
        }
        _ => {}
    }
}

fn starter(activity: &Value) -> Option<Starter> {
    let kind = activity.get("type")?.as_str()?;
    let (_, input) = INPUTS.iter().find(|(name, _)| *name == kind)?;
    let custom = activity.get("customProperties").and_then(|all| all.get("canStartWorkflow"));
    let own = activity.get("canStartWorkflow");
    let can_start = [own, custom].into_iter().flatten().any(|flag| flag.as_bool() == Some(true));
    can_start.then(|| Starter {
        activity_id: activity.get("id").and_then(Value::as_str).unwrap_or_default().to_owned(),
        activity_type: kind.to_owned(),
        value: activity.get(input).and_then(literal).map(str::to_owned),
    })
}

/// The text of an input that is no expression of a language.
fn literal(input: &Value) -> Option<&str> {
    let Some(expression) = input.get("expression") else { return input.as_str() };
    let is_literal = expression.get("type").and_then(Value::as_str) == Some("Literal");
    expression.get("value").and_then(Value::as_str).filter(|_| is_literal)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(root: &Value) -> Vec<(String, Option<String>)> {
        let mut found = Vec::new();
        look(root, &mut found);
        found.into_iter().map(|one| (one.activity_id, one.value)).collect()
    }

    #[test]
    fn what_may_start_the_workflow_is_named_with_its_text() {
        let written =
            |kind: &str, value: &str| json!({"expression": {"type": kind, "value": value}});
        let root = json!({"type": "Elsa.Flowchart", "id": "root", "activities": [
            {"type": "Elsa.Cron", "id": "nightly", "canStartWorkflow": true,
                "cronExpression": written("Literal", "0 3 * * *")},
            {"type": "Elsa.Event", "id": "paid", "customProperties": {"canStartWorkflow": true},
                "eventName": written("JavaScript", "'Paid'")},
            {"type": "Elsa.HttpEndpoint", "id": "asked", "canStartWorkflow": true, "path": "orders"},
            {"type": "Elsa.Timer", "id": "waits", "interval": "PT10S"},
            {"type": "Elsa.WriteLine", "id": "line", "canStartWorkflow": true}]});
        let expected = [("nightly", Some("0 3 * * *")), ("paid", None), ("asked", Some("orders"))];
        let expected = expected.map(|(id, value)| (id.to_owned(), value.map(str::to_owned)));
        assert_eq!(found(&root), expected);
    }

    #[test]
    fn of_many_the_first_are_named() {
        let many: Vec<_> = (0..20)
            .map(|id| json!({"type": "Elsa.Event", "id": id.to_string(), "canStartWorkflow": true}))
            .collect();
        assert_eq!(found(&json!(many)).len(), STARTERS_MAX);
    }
}
