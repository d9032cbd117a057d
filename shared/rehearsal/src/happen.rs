//! Things that happen to an instance, as the engine takes them.

use model::Map;
use serde_json::{Value, json};

use crate::suite::Happening;

/// A happening in words.
pub(crate) fn told(happening: &Happening) -> String {
    match happening {
        Happening::Event { name, .. } => format!("the event {name}"),
        Happening::Http { method, path, .. } => format!("the request {method} {path}"),
        Happening::Resume { activity, .. } => format!("activity {activity}"),
        Happening::Cancel { .. } => "the cancellation".to_owned(),
    }
}

/// The payload of an event as the input of a workflow.
pub(crate) fn event(payload: &Value) -> Map {
    let payload = json!({"payload": payload});
    Map::from_iter([("__EventPayloadWorkflowInput".to_owned(), payload)])
}

/// The values of the route, if an endpoint of this name and payload fits the request.
pub(crate) fn route(name: &str, payload: &Value, method: &str, path: &str) -> Option<Map> {
    let text = |member: &str| payload.get(member).and_then(Value::as_str).unwrap_or_default();
    if name != "Elsa.HttpEndpoint" || !text("Method").eq_ignore_ascii_case(method) {
        return None;
    }
    let template: Vec<&str> = text("Path").trim_matches('/').split('/').collect();
    let given: Vec<&str> = path.trim_matches('/').split('/').collect();
    if template.len() != given.len() {
        return None;
    }
    let mut values = Map::new();
    for (part, value) in template.into_iter().zip(given) {
        match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
            Some(name) => {
                values.insert(name.to_owned(), value.into());
            }
            None if part.eq_ignore_ascii_case(value) => {}
            None => return None,
        }
    }
    Some(values)
}

/// A request as the input of a workflow.
pub(crate) fn asked(method: &str, path: &str, given: &Map, route: &Map) -> Map {
    let path = format!("/{}", path.trim_matches('/'));
    let mut request = json!({
        "method": method, "path": path, "routeData": route, "query": {}, "headers": {},
        "form": {}, "files": []
    });
    if let Some(request) = request.as_object_mut() {
        request.extend(given.clone());
    }
    Map::from_iter([
        ("__HttpRequest".to_owned(), request),
        ("HttpContext".to_owned(), Value::Bool(true)),
        ("Path".to_owned(), path.into()),
    ])
}
