//! Completes the description with examples of bodies. They are in `examples.json`, by the name of the
//! schema, or of the operation where the body has none; a test holds each against its schema. Answers
//! and parameters without one of their own get what [`super::sample`] makes.

use serde_json::{Value, json};

use super::answers::slug;
use super::sample::Samples;
use crate::problem::title;

const EXAMPLES: &str = include_str!("examples.json");

/// Adds the examples to the requests and the answers.
pub(super) fn add(document: &mut Value) {
    let examples: Value = serde_json::from_str(EXAMPLES).unwrap_or_default();
    let schemas = document.pointer("/components/schemas").cloned().unwrap_or_default();
    let samples = Samples::of(schemas);
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
            for (status, response) in responses.into_iter().flatten() {
                add_to(response, &examples);
                complete(response, status, &samples);
            }
            let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
            parameters.into_iter().flatten().for_each(|one| illustrate(one, &samples));
        }
    }
    let shared = document.pointer_mut("/components/responses").and_then(Value::as_object_mut);
    for (name, response) in shared.into_iter().flatten() {
        add_to(response, &examples);
        if let Some(status) = super::answers::status_of(name) {
            complete(response, status, &samples);
        }
    }
}

/// Gives an answer an example, if it is JSON and has none; that of a problem has the status.
fn complete(response: &mut Value, status: &str, samples: &Samples) {
    let description = response["description"].clone();
    let content = response.get_mut("content").and_then(Value::as_object_mut);
    for (kind, media) in content.into_iter().flatten() {
        if media["schema"]["$ref"] == "#/components/schemas/Problem" {
            let slug = slug(status);
            let problem = &mut media["example"];
            if problem["status"].as_u64() == status.parse().ok() {
                continue;
            }
            problem["status"] = json!(status.parse::<u16>().unwrap_or_default());
            problem["type"] = json!(format!("urn:staunch:problem:{slug}"));
            problem["title"] = json!(title(slug));
            problem["detail"] = description.clone();
            problem["errors"] = json!({"generalErrors": [description]});
        } else if kind == "application/json"
            && media.get("example").is_none()
            && let Some(sample) = samples.of_body(&media["schema"])
        {
            media["example"] = sample;
        }
    }
}

/// Gives a parameter an example, if it has none.
fn illustrate(parameter: &mut Value, samples: &Samples) {
    let name = parameter["name"].as_str().unwrap_or_default().to_owned();
    if parameter.get("example").is_some() {
        return;
    }
    if let Some(media) = parameter.pointer_mut("/content/application~1json") {
        media["example"] = json!({"Amount": 120});
    } else if let Some(sample) = samples.of_member(&name, &parameter["schema"]) {
        parameter["example"] = sample;
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
