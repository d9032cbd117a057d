//! Completes the description with examples of bodies. They are in `examples.json`, by the name of the
//! schema, or of the operation where the body has none; a test holds each against its schema.

use serde_json::Value;

const EXAMPLES: &str = include_str!("examples.json");

/// Adds the examples to the requests and the answers.
pub(super) fn add(document: &mut Value) {
    let examples: Value = serde_json::from_str(EXAMPLES).unwrap_or_default();
    let paths = document.get_mut("paths").and_then(Value::as_object_mut);
    for (path, item) in paths.into_iter().flatten() {
        for (method, operation) in item.as_object_mut().into_iter().flatten() {
            let own = &examples[format!("{} {path}", method.to_uppercase())];
            if let Some(body) = operation.get_mut("requestBody") {
                add_to(body, &examples);
                if !own.is_null() {
                    body["content"]["application/json"]["example"] = own.clone();
                }
            }
            let responses = operation.get_mut("responses").and_then(Value::as_object_mut);
            for (_, response) in responses.into_iter().flatten() {
                add_to(response, &examples);
            }
        }
    }
    let shared = document.pointer_mut("/components/responses").and_then(Value::as_object_mut);
    for (_, response) in shared.into_iter().flatten() {
        add_to(response, &examples);
    }
}

fn add_to(body: &mut Value, examples: &Value) {
    let content = body.get_mut("content").and_then(Value::as_object_mut);
    for (_, media) in content.into_iter().flatten() {
        let name = media["schema"]["$ref"].as_str().and_then(|name| name.rsplit('/').next());
        if let Some(example) = name.and_then(|name| examples.get(name)) {
            media["example"] = example.clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_has_its_place() {
        let document = crate::description::openapi_text(chassis::Auth::BOTH);
        let document: Value = serde_json::from_str(document).unwrap();
        let examples: Value = serde_json::from_str(EXAMPLES).unwrap();
        let shown =
            document["paths"].to_string() + &document["components"]["responses"].to_string();
        for name in examples.as_object().unwrap().keys() {
            let is_operation = name.split_once(' ').is_some_and(|(method, path)| {
                document["paths"][path][method.to_lowercase()].is_object()
            });
            let is_used = shown.contains(&format!("#/components/schemas/{name}\""));
            assert!(is_operation || is_used, "{name}");
        }
    }
}
