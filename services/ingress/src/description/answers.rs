//! Completes the answers: their schemas have all members, so that no other is sent; times have their
//! format; each answer says what it is; and the problems that many operations answer are there once.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// The media type of problems.
pub(super) const PROBLEM: &str = "application/problem+json";

/// Members that are times, beside those whose names end with `At`.
const TIMES: [&str; 3] = ["at", "since", "timestamp"];

/// The problems that many operations answer: status, name in the document, description.
const PROBLEMS: [(&str, &str, &str); 14] = [
    (
        "400",
        "BadRequest",
        "A part of the request is wrong: `detail` says which, and what to do instead",
    ),
    ("401", "Unauthorized", "The caller is not known"),
    ("403", "Forbidden", "The caller may not do this"),
    ("404", "NotFound", "What the request names is not there"),
    ("408", "BodyTimeout", "The body did not arrive in time"),
    ("409", "Conflict", "It does not fit what is there: `detail` says why"),
    (
        "412",
        "PreconditionFailed",
        "The precondition does not hold: with `version`, `versionId` and `etag` of the latest version",
    ),
    ("413", "TooLarge", "The body is too large"),
    ("415", "UnsupportedMediaType", "The body is not of a type that is understood"),
    ("422", "KeyReused", "The `Idempotency-Key` was used with another body or query"),
    (
        "429",
        "TooManyRequests",
        "There are too many requests, where an operator has limited their rate",
    ),
    ("500", "Failed", "A fault of this server: its log has the `incident`"),
    ("503", "Unavailable", "The server, the database or the broker has too much to do, or is away"),
    ("504", "TooSlow", "It took too long; what was accepted goes on"),
];

/// A problem of this status, in the words that hold for every operation.
pub(super) fn problem(status: &str) -> Value {
    let known = PROBLEMS.iter().find(|(of, ..)| *of == status);
    let description = known.map_or("It failed", |(_, _, description)| description);
    json!({"description": description,
        "content": {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}}})
}

/// The status of the problems that stand in the document under this name.
pub(super) fn status_of(name: &str) -> Option<&'static str> {
    PROBLEMS.iter().find(|(_, known, _)| *known == name).map(|(status, ..)| *status)
}

/// The end of the type of a usual problem of this status.
pub(super) fn slug(status: &str) -> &'static str {
    match status {
        "400" => "bad-request",
        "401" => "unauthorized",
        "403" => "forbidden",
        "404" => "not-found",
        "408" => "body-timeout",
        "409" => "unfit",
        "412" => "stale-base",
        "413" => "too-large",
        "415" => "unsupported-media-type",
        "422" => "key-reused",
        "429" => "rate-limited",
        "503" => "overloaded",
        "504" => "timeout",
        _ => "internal",
    }
}

/// Completes the schemas that no request has.
pub(super) fn schemas(document: &mut Value, requests: &BTreeSet<String>) {
    let Some(schemas) = document.pointer_mut("/components/schemas") else { return };
    let all = schemas.clone();
    for (name, schema) in schemas.as_object_mut().into_iter().flatten() {
        if !requests.contains(name) {
            flat(schema, &all);
            closed(schema);
        }
    }
}

/// Joins the parts of an object. One with a part that names no members has others beside its own.
fn flat(schema: &mut Value, all: &Value) {
    parts(schema).into_iter().for_each(|part| flat(part, all));
    let Some(object) = schema.as_object_mut() else { return };
    let Some(Value::Array(forms)) = object.remove("allOf") else { return };
    let (mut members, mut required, mut is_open) = (Map::new(), Vec::new(), false);
    for mut form in forms {
        let name = form["$ref"].as_str().and_then(|name| name.rsplit('/').next());
        if let Some(named) = name.and_then(|name| all.get(name)) {
            form = named.clone();
            flat(&mut form, all);
        }
        is_open |= form["additionalProperties"] == true || form.get("properties").is_none();
        members.extend(form["properties"].as_object().cloned().unwrap_or_default());
        required.extend(form["required"].as_array().cloned().unwrap_or_default());
    }
    object.insert("type".to_owned(), json!("object"));
    object.insert("properties".to_owned(), Value::Object(members));
    object.insert("required".to_owned(), Value::Array(required));
    if is_open {
        object.insert("additionalProperties".to_owned(), json!(true));
    }
}

/// An object that names its members has no others; those that are times say so.
fn closed(schema: &mut Value) {
    if let Some(object) = schema.as_object_mut()
        && object.contains_key("properties")
    {
        object.entry("additionalProperties").or_insert(json!(false));
    }
    let members = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, member) in members.into_iter().flatten() {
        let is_text = member["type"] == "string" || member["type"] == json!(["string", "null"]);
        if is_text && (name.ends_with("At") || TIMES.contains(&name.as_str())) {
            member["format"] = json!("date-time");
        }
    }
    parts(schema).into_iter().for_each(closed);
}

/// The schemas that a schema has directly in it.
fn parts(schema: &mut Value) -> Vec<&mut Value> {
    let members = schema.as_object_mut().into_iter().flatten();
    let parts = members.flat_map(|(name, member)| match (name.as_str(), member) {
        ("properties", Value::Object(members)) => members.values_mut().collect(),
        ("items" | "additionalProperties", schema) => vec![schema],
        ("oneOf" | "anyOf" | "allOf", Value::Array(forms)) => forms.iter_mut().collect(),
        _ => Vec::new(),
    });
    parts.collect()
}

/// Says what each answer of an operation is, where its handler does not.
pub(super) fn describe(operation: &mut Map<String, Value>, schemas: &Value) {
    let responses = operation.get_mut("responses").and_then(Value::as_object_mut);
    for (status, response) in responses.into_iter().flatten() {
        let is_file = response.pointer("/content/application~1zip").is_some();
        if is_file {
            response["content"]["application/zip"] =
                json!({"schema": {"type": "string", "contentMediaType": "application/zip"}});
        }
        if response["description"].as_str().is_some_and(|text| !text.is_empty()) {
            continue;
        }
        let name = response.pointer("/content/application~1json/schema/$ref");
        let name = name.and_then(Value::as_str).and_then(|name| name.rsplit('/').next());
        let text = name.and_then(|name| schemas[name]["description"].as_str());
        response["description"] = match (text, status.as_str()) {
            (Some(text), _) => json!(text),
            (None, "200" | "204") => json!("It is done"),
            (None, status) => problem(status)["description"].take(),
        };
    }
}

/// Puts the problems that many operations answer in one place. The headers of a problem depend on its
/// status.
pub(super) fn share(document: &mut Value, headers: impl Fn(&str) -> Value) {
    let shared = PROBLEMS.map(|(status, name, _)| {
        let mut response = problem(status);
        response["headers"] = headers(status);
        (status, name, response)
    });
    let paths = document.get_mut("paths").and_then(Value::as_object_mut);
    let operations = paths.into_iter().flatten().filter_map(|(_, item)| item.as_object_mut());
    for (_, operation) in operations.flatten() {
        let responses = operation.get_mut("responses").and_then(Value::as_object_mut);
        for (status, response) in responses.into_iter().flatten() {
            let same = shared.iter().find(|(of, _, one)| of == status && *one == *response);
            if let Some((_, name, _)) = same {
                *response = json!({"$ref": format!("#/components/responses/{name}")});
            }
        }
    }
    let responses = shared.into_iter().map(|(_, name, response)| (name.to_owned(), response));
    document["components"]["responses"] = Value::Object(responses.collect());
}
