//! Completes the description with what holds for many operations: the problems that each may answer,
//! the credentials and the permissions that it needs, and whether it needs a body.

use std::collections::BTreeSet;

use axum::http::Method;
use chassis::Auth;
use model::limits;
use serde_json::{Map, Value, json};

use super::answers::{self, PROBLEM};
use super::headers::Headers;
use super::parameters::{Parameters, is_kept};
use super::{constraints, examples};
use crate::auth::permission::{self, Need};
use crate::paging::PAGE_MAX;

/// The document for a server on which these schemes are on.
pub(super) fn completed(mut document: Value, auth: Auth) -> Value {
    constraints::add(&mut document);
    let requests = requests(&document);
    answers::schemas(&mut document, &requests);
    let (more, headers) = (Parameters::read(), Headers::read());
    let schemas = document.pointer("/components/schemas").cloned().unwrap_or_default();
    let paths = document.get_mut("paths").and_then(Value::as_object_mut);
    for (path, item) in paths.into_iter().flatten() {
        for (method, operation) in item.as_object_mut().into_iter().flatten() {
            let Some(operation) = operation.as_object_mut() else { continue };
            let Ok(verb) = Method::from_bytes(method.to_uppercase().as_bytes()) else { continue };
            let need = permission::of(&verb, path);
            let is_kept = is_kept(&verb, path, &need);
            let at = (method.as_str(), path.as_str());
            more.add(operation, at, is_kept);
            parameters(operation);
            body(operation, &schemas);
            problems(operation, &need, is_kept);
            answers::describe(operation, &schemas);
            headers.add(operation, at, is_kept);
            security(operation, &need, auth);
        }
    }
    document["components"]["headers"] = headers.all().clone();
    answers::share(&mut document, |status| headers.of_status(status));
    examples::add(&mut document);
    let schemas = document.pointer_mut("/components/schemas").and_then(Value::as_object_mut);
    for (name, schema) in schemas.into_iter().flatten() {
        if requests.contains(name) {
            nullable(schema);
            any(schema);
        }
    }
    let schemas = document.pointer_mut("/components/schemas").and_then(Value::as_object_mut);
    for schema in schemas.into_iter().flat_map(Map::values_mut) {
        let members = schema.get_mut("properties").and_then(Value::as_object_mut);
        members.into_iter().flatten().for_each(|(name, schema)| bounds(name, schema));
    }
    if auth == Auth::NONE
        && let Some(document) = document.as_object_mut()
    {
        document.remove("security");
        if let Some(components) = document.get_mut("components").and_then(Value::as_object_mut) {
            components.remove("securitySchemes");
        }
    }
    document
}

/// The names of the schemas of requests, and of their parts.
fn requests(document: &Value) -> BTreeSet<String> {
    let operations = document["paths"].as_object().into_iter().flatten();
    let operations = operations.filter_map(|(_, item)| item.as_object()).flatten();
    let mut rest: Vec<&Value> =
        operations.map(|(_, operation)| &operation["requestBody"]).collect();
    let mut found = BTreeSet::new();
    while let Some(value) = rest.pop() {
        match value {
            Value::Object(members) => rest.extend(members.values()),
            Value::Array(items) => rest.extend(items),
            Value::String(text) => {
                let name = text.strip_prefix("#/components/schemas/").unwrap_or_default();
                let schema = &document["components"]["schemas"][name];
                if schema.is_object() && found.insert(name.to_owned()) {
                    rest.push(schema);
                }
            }
            _ => {}
        }
    }
    found
}

/// A member that may be absent may be null.
fn nullable(schema: &mut Value) {
    let needed = schema["required"].as_array().cloned().unwrap_or_default();
    let members = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, member) in members.into_iter().flatten() {
        if needed.contains(&json!(name)) {
            continue;
        }
        if member["type"].is_string() {
            member["type"] = json!([member["type"], "null"]);
        } else if let Some(reference) = member.get("$ref").cloned() {
            *member = json!({"oneOf": [{"type": "null"}, {"$ref": reference}]});
        }
    }
}

/// What has no schema is any JSON within the limits of numbers: members that are not listed, and values
/// of the caller.
fn any(schema: &mut Value) {
    let json = || json!({"$ref": "#/components/schemas/Json"});
    match schema {
        Value::Object(members) => {
            if members.keys().all(|name| name == "description") {
                members.extend(json().as_object().cloned().unwrap_or_default());
                return;
            }
            let is_object = members.get("type").is_some_and(|kind| {
                kind == "object"
                    || kind.as_array().is_some_and(|kinds| kinds.contains(&"object".into()))
            });
            let is_open = members.get("additionalProperties").is_none_or(|others| *others == true);
            if is_object && is_open {
                members.insert("additionalProperties".to_owned(), json());
            }
            for (name, member) in members {
                match (name.as_str(), member) {
                    ("properties", Value::Object(properties)) => {
                        properties.values_mut().for_each(any);
                    }
                    ("items" | "additionalProperties", schema) => any(schema),
                    ("oneOf" | "anyOf" | "allOf", Value::Array(forms)) => {
                        forms.iter_mut().for_each(any);
                    }
                    _ => {}
                }
            }
        }
        other if *other == true => *other = json(),
        _ => {}
    }
}

/// A parameter that is needed is not empty; one that is empty is as good as absent otherwise, unless it has a
/// shortest length. For a list, no item says that already. None has a NUL.
fn parameters(operation: &mut Map<String, Value>) {
    let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
    for parameter in parameters.into_iter().flatten() {
        let is_needed = parameter["required"] == true;
        let schema = &parameter["schema"];
        let may_be_empty =
            !is_needed && schema.get("minLength").is_none() && !is_of(schema, "array");
        if may_be_empty && parameter["in"] == "query" && schema.is_object() {
            parameter["allowEmptyValue"] = json!(true);
        }
        let name = parameter["name"].as_str().unwrap_or_default().to_owned();
        let is_of_uri = parameter["in"] == "query" || parameter["in"] == "path";
        let Some(schema) = parameter.get_mut("schema") else { continue };
        bounds(&name, schema);
        if is_of_uri {
            without_nul(schema);
        }
        if is_needed && schema["type"] == "string" && schema.get("minLength").is_none() {
            schema["minLength"] = json!(1);
        }
    }
}

/// Whether a schema's type is this one, or may be.
fn is_of(schema: &Value, kind: &str) -> bool {
    let kinds = &schema["type"];
    kinds == kind || kinds.as_array().is_some_and(|kinds| kinds.contains(&json!(kind)))
}

/// A text has no NUL, and a list has no such text: see [`crate::head::check_nul`].
fn without_nul(schema: &mut Value) {
    if is_of(schema, "array") {
        schema.get_mut("items").into_iter().for_each(without_nul);
    }
    let says_which = ["pattern", "enum", "const", "format"];
    if is_of(schema, "string") && says_which.iter().all(|one| schema.get(one).is_none()) {
        schema["pattern"] = json!("^[^\\u0000]*$");
    }
}

/// A page is of any size, and has at most 1000 items; it begins within the first items of a list.
fn bounds(name: &str, schema: &mut Value) {
    let max = match name {
        "page" => PAGE_MAX,
        "skip" => limits::PAGE_SKIP_MAX,
        "pageSize" | "take" => u64::MAX,
        _ => return,
    };
    if let Some(schema) = schema.as_object_mut() {
        schema.remove("format");
        schema.insert("maximum".to_owned(), json!(max));
    }
}

/// An absent body is an empty object: one is needed only where it has members that are.
fn body(operation: &mut Map<String, Value>, schemas: &Value) {
    let Some(body) = operation.get_mut("requestBody").and_then(Value::as_object_mut) else {
        return;
    };
    let schema =
        body.get("content").and_then(|content| content.pointer("/application~1json/schema"));
    let Some(schema) = schema else { return };
    let is_needed = needs_members(schema, schemas);
    body.insert("required".to_owned(), json!(is_needed));
}

/// Whether an empty object does not fit.
fn needs_members(schema: &Value, schemas: &Value) -> bool {
    let named = schema["$ref"].as_str().and_then(|name| name.rsplit('/').next());
    if let Some(schema) = named.and_then(|name| schemas.get(name)) {
        return needs_members(schema, schemas);
    }
    let is_listed = schema["required"].as_array().is_some_and(|members| !members.is_empty());
    let forms = schema["anyOf"].as_array();
    is_listed || forms.is_some_and(|forms| forms.iter().all(|form| needs_members(form, schemas)))
}

/// Names the problems that every such operation may answer, all as problem details.
///
/// There is none for all other statuses: each that is sent has a name.
fn problems(operation: &mut Map<String, Value>, need: &Need, is_kept: bool) {
    let has_body = operation.contains_key("requestBody");
    let parameters = operation.get("parameters").and_then(Value::as_array);
    let has_name = parameters.is_some_and(|all| all.iter().any(|one| one["in"] == "path"));
    let Some(responses) = operation.get_mut("responses").and_then(Value::as_object_mut) else {
        return;
    };
    for (status, response) in responses.iter_mut() {
        let is_problem = status.starts_with(['4', '5']);
        let content = response.get_mut("content").and_then(Value::as_object_mut);
        if let Some(content) = content.filter(|_| is_problem)
            && let Some(schema) = content.remove("application/json")
        {
            content.insert(PROBLEM.to_owned(), schema);
        }
    }
    let mut add = |status: &str| {
        responses.entry(status).or_insert_with(|| answers::problem(status));
    };
    // Whose fingerprint is kept, its body is read.
    if has_body || is_kept {
        add("408");
        add("413");
    }
    if has_body {
        add("415");
    }
    if is_kept {
        add("409");
        add("422");
    }
    if has_name {
        add("404");
    }
    if !matches!(need, Need::Public) {
        add("401");
    }
    // Of what stands before every handler: headers, origins, limits, faults.
    ["400", "403", "429", "500", "503", "504"].into_iter().for_each(add);
}

/// The permissions of which a caller needs one, and the credentials.
fn security(operation: &mut Map<String, Value>, need: &Need, auth: Auth) {
    let permissions: Vec<&str> = match need {
        Need::Permission(permission) => vec![permission],
        Need::OneOf(permissions) | Need::Key(permissions) => permissions.to_vec(),
        Need::Public | Need::Inside | Need::Unlisted => Vec::new(),
    };
    operation.insert("x-permissions".to_owned(), json!(permissions));
    if auth == Auth::NONE {
        operation.remove("security");
    } else if matches!(need, Need::Public) {
        operation.insert("security".to_owned(), json!([]));
    } else if matches!(need, Need::Inside) {
        // A server that only this machine can reach wants none.
        let some = json!([{}, {"apiKey": []}, {"bearer": []}]);
        operation.insert("security".to_owned(), some);
    }
}
