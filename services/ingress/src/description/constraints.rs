//! Completes the description with what types of Rust do not say: the bounds of members, the forms of
//! names, and the bodies that a handler takes apart itself. They are in `constraints.json`; a run of
//! schemathesis holds them against the server (`just api-fuzz`).

use serde_json::{Map, Value, json};

const CONSTRAINTS: &str = include_str!("constraints.json");

/// Adds the constraints to the document.
pub(super) fn add(document: &mut Value) {
    let constraints: Value = serde_json::from_str(CONSTRAINTS).unwrap_or_default();
    merge(&mut document["components"]["schemas"], &constraints["schemas"]);
    let schemas = document.pointer_mut("/components/schemas").and_then(Value::as_object_mut);
    if let Some(schemas) = schemas {
        dry_run(schemas);
        schemas.values_mut().for_each(alterations);
    }
    let paths = document.get_mut("paths").and_then(Value::as_object_mut);
    for (path, item) in paths.into_iter().flatten() {
        for (method, operation) in item.as_object_mut().into_iter().flatten() {
            let name = format!("{} {path}", method.to_uppercase());
            body(operation, &constraints["bodies"][&name]);
            parameters(operation, &constraints["parameters"][&name]);
            named(operation, path, &constraints["names"]);
        }
    }
}

/// A dry run has the members of a filter, and alterations beside them.
fn dry_run(schemas: &mut Map<String, Value>) {
    let mut request = schemas.get("PlanFilter").cloned().unwrap_or_default();
    request["properties"]["alterations"] = json!({"type": "array"});
    schemas.insert("DryRunRequest".to_owned(), request);
}

/// Lists of alterations are not empty.
fn alterations(schema: &mut Value) {
    let list = schema.pointer_mut("/properties/alterations");
    if let Some(list) = list.filter(|list| list["type"] == "array") {
        list["items"] = json!({"$ref": "#/components/schemas/Alteration"});
        list["minItems"] = json!(1);
        list["maxItems"] = json!(model::limits::ALTERATIONS_MAX);
    }
}

/// Gives an operation a body of this schema.
fn body(operation: &mut Value, schema: &Value) {
    let Some(name) = schema.as_str() else { return };
    let schema = json!({"$ref": format!("#/components/schemas/{name}")});
    operation["requestBody"] = json!({"content": {"application/json": {"schema": schema}}});
}

fn parameters(operation: &mut Value, constraints: &Value) {
    let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
    for parameter in parameters.into_iter().flatten() {
        let name = parameter["name"].as_str().unwrap_or_default().to_owned();
        let own = &constraints[&name];
        if own == "json" {
            // A JSON object as text.
            let content = json!({"application/json": {"schema": {"type": "object",
                "additionalProperties": {"$ref": "#/components/schemas/Json"}}}});
            parameter["content"] = content;
            parameter.as_object_mut().map(|members| members.remove("schema"));
        } else {
            merge(&mut parameter["schema"], own);
        }
    }
}

/// Adds what holds for all parameters of a name, in paths with a certain part.
fn named(operation: &mut Value, path: &str, names: &Value) {
    let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
    for parameter in parameters.into_iter().flatten() {
        let fits = |row: &&Value| {
            let part = row["in"].as_str();
            row["name"] == parameter["name"] && part.is_some_and(|part| path.contains(part))
        };
        let rows = names.as_array().into_iter().flatten().filter(fits);
        let changes: Vec<_> = rows.map(|row| row["schema"].clone()).collect();
        for change in changes {
            merge(&mut parameter["schema"], &change);
        }
    }
}

/// Merges a change into a document as RFC 7396 has it, but null changes nothing where the change as a
/// whole is null.
fn merge(target: &mut Value, change: &Value) {
    let Value::Object(change) = change else {
        if !change.is_null() {
            target.clone_from(change);
        }
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    let Some(target) = target.as_object_mut() else { return };
    for (name, value) in change {
        if value.is_null() {
            target.remove(name);
        } else {
            merge(target.entry(name.as_str()).or_insert(Value::Null), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_constraint_has_its_place() {
        let mut document = crate::description::plain();
        let constraints: Value = serde_json::from_str(CONSTRAINTS).unwrap();
        add(&mut document);
        let schemas = document.pointer("/components/schemas").unwrap();
        for (name, change) in constraints["schemas"].as_object().unwrap() {
            for member in change["properties"].as_object().into_iter().flat_map(Map::keys) {
                let found = schemas[name]["properties"].get(member);
                assert!(found.is_some_and(|found| found.is_object()), "{name}.{member}");
            }
        }
        for kind in ["bodies", "parameters"] {
            for name in constraints[kind].as_object().unwrap().keys() {
                let (method, path) = name.split_once(' ').unwrap();
                let operation = &document["paths"][path][method.to_lowercase()];
                assert!(operation.is_object(), "{name} is no route");
            }
        }
    }
}
