//! Checks a definition without saving it: every problem with its place in what was sent.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use super::definitions::definition_id;
use super::reading::{Reading, publishable};
use super::saving::unwrapped;
use crate::body::Body;
use crate::present::shape;
use crate::problem::ProblemBody;
use crate::{App, Problem, publication};

/// The id of a definition that is sent without one.
const UNNAMED: &str = "unnamed";
/// The problems that one answer has at most.
const PROBLEMS_MAX: usize = 1_000;

/// Checks a definition as a publication would, and changes nothing. The body is that of a save. Each
/// problem has its place in the body as a JSON pointer: that of the activity, or of its property where
/// the body has it.
#[utoipa::path(post, path = "/workflow-definitions/validation/check", tag = "definitions", request_body = Value,
    responses((status = 200, body = shape::definition::Checked),
        (status = 400, body = ProblemBody, description = "Nothing of the body can be read as a definition")))]
pub(super) async fn check(
    State(app): State<Arc<App>>,
    Body(body): Body<Value>,
) -> Result<Json<Value>, Problem> {
    let sent = body.clone();
    let document = unwrapped(body)?.document;
    let mut reading = Reading::of(document, "the body")?;
    let id = &mut reading.definition.definition_id;
    *id = definition_id(if id.as_str().is_empty() { UNNAMED } else { id.as_str() })?;
    let checked = match publishable(&app, vec![reading]).await {
        Ok(contents) => publication::check_together(&app, contents).await,
        Err(problem) => Err(problem),
    };
    let (errors, warnings) = match checked {
        Ok(changed) => (Vec::new(), changed.into_iter().flat_map(|one| one.warnings).collect()),
        Err(problem) => {
            let listed = |name: &str| problem.member(name).and_then(Value::as_array).cloned();
            let Some(errors) = listed("validationErrors") else { return Err(problem) };
            (errors, listed("validationWarnings").unwrap_or_default())
        }
    };
    let base = if sent.get("model").is_some_and(Value::is_object) { "/model" } else { "" };
    let document = sent.pointer(base).unwrap_or(&Value::Null);
    let is_valid = errors.is_empty();
    let errors = errors.into_iter().map(|problem| ("error", problem));
    let warnings = warnings.into_iter().map(|problem| ("warning", problem));
    let mut problems = errors.chain(warnings);
    let shown: Vec<_> = problems
        .by_ref()
        .take(PROBLEMS_MAX)
        .map(|(severity, problem)| {
            let pointer = place(document, &problem).map(|place| format!("{base}{place}"));
            json!({
                "severity": severity,
                "message": problem["message"],
                "activityId": problem["activityId"],
                "property": problem["property"],
                "pointer": pointer,
            })
        })
        .collect();
    Ok(Json(json!({
        "isValid": is_valid,
        "problems": shown,
        "isCutShort": problems.next().is_some(),
    })))
}

/// The place of a problem in a definition.
fn place(document: &Value, problem: &Value) -> Option<String> {
    let property = problem["property"].as_str().unwrap_or_default();
    match problem["activityId"].as_str() {
        Some(id) => {
            let activity = activity(document.get("root")?, "/root", id)?;
            let members = document.pointer(&activity).and_then(Value::as_object)?;
            let name = members.keys().find(|name| name.eq_ignore_ascii_case(property));
            Some(name.map_or(activity.clone(), |name| format!("{activity}/{}", escaped(name))))
        }
        None => longest(document, property),
    }
}

/// The place of the activity with this id, or with this path of ids.
fn activity(value: &Value, place: &str, id: &str) -> Option<String> {
    match value {
        Value::Object(members) => {
            let own = members.get("id").and_then(Value::as_str);
            if own == Some(id) && members.get("type").is_some_and(Value::is_string) {
                return Some(place.to_owned());
            }
            let mut below = members.iter();
            below.find_map(|(name, value)| {
                activity(value, &format!("{place}/{}", escaped(name)), id)
            })
        }
        Value::Array(items) => {
            let mut below = items.iter().enumerate();
            below.find_map(|(at, value)| activity(value, &format!("{place}/{at}"), id))
        }
        _ => None,
    }
}

/// The pointer to a place such as `variables[1].name`, as far as the document has it.
fn longest(document: &Value, place: &str) -> Option<String> {
    let parts = place.split(['.', '[', ']']).filter(|part| !part.is_empty());
    let mut found = String::new();
    for part in parts {
        let next = format!("{found}/{}", escaped(part));
        if document.pointer(&next).is_none() {
            break;
        }
        found = next;
    }
    (!found.is_empty()).then_some(found)
}

/// A name as one part of a JSON pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_found_where_it_is() {
        let document = json!({"variables": [{"name": "a"}, {"name": "b"}], "root": {
            "type": "Elsa.Sequence", "id": "seq", "activities": [
                {"type": "Elsa.WriteLine", "id": "line", "text": "x", "a/b": 1},
                {"type": "Elsa.If", "id": "if", "then": {"type": "Elsa.WriteLine", "id": "yes"}}]}});
        let at = |activity: Value, property: Value| {
            place(&document, &json!({"activityId": activity, "property": property}))
        };
        let line = Some("/root/activities/0".to_owned());
        assert_eq!(at(json!("line"), Value::Null), line);
        assert_eq!(at(json!("line"), json!("missing")), line);
        assert_eq!(at(json!("line"), json!("Text")), Some("/root/activities/0/text".to_owned()));
        assert_eq!(at(json!("line"), json!("a/b")), Some("/root/activities/0/a~1b".to_owned()));
        assert_eq!(at(json!("yes"), Value::Null), Some("/root/activities/1/then".to_owned()));
        assert_eq!(at(json!("gone"), Value::Null), None);
        assert_eq!(
            at(Value::Null, json!("variables[1].name")),
            Some("/variables/1/name".to_owned())
        );
        assert_eq!(at(Value::Null, json!("variables[7]")), Some("/variables".to_owned()));
        assert_eq!(at(Value::Null, Value::Null), None);
    }
}
