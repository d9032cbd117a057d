//! Completes the description with what parameters mean, and with those that many operations read:
//! headers, and other names of the page. They are in `parameters.json`.

use axum::http::Method;
use serde_json::{Map, Value, json};

use crate::auth::permission::{Need, is_live, takes_secret, unmounted};

const PARAMETERS: &str = include_str!("parameters.json");

/// The name of the header of a change that is made once.
const KEY: &str = "Idempotency-Key";

/// What parameters mean.
pub(super) struct Parameters(Value);

impl Parameters {
    pub(super) fn read() -> Self {
        Self(serde_json::from_str(PARAMETERS).unwrap_or_default())
    }

    /// Completes the parameters of an operation.
    pub(super) fn add(
        &self,
        operation: &mut Map<String, Value>,
        (method, path): (&str, &str),
        is_kept: bool,
    ) {
        let name = format!("{} {}", method.to_uppercase(), unmounted(path));
        let mut all = match operation.remove("parameters") {
            Some(Value::Array(all)) => all,
            _ => Vec::new(),
        };
        for more in self.0["more"][&name].as_array().into_iter().flatten() {
            all.push(json!({"name": more, "in": "query", "required": false,
                "schema": self.schema(more)}));
        }
        let headers = self.0["headers"].as_object().into_iter().flatten();
        for (header, about) in headers {
            let listed = self.0["operations"][header].as_array();
            let is_listed = listed.is_some_and(|of| of.iter().any(|one| *one == name));
            if is_listed || (header == KEY && is_kept) {
                let mut parameter = json!({"name": header, "in": "header", "required": false});
                for (member, value) in about.as_object().into_iter().flatten() {
                    parameter[member] = value.clone();
                }
                all.push(parameter);
            }
        }
        for parameter in &mut all {
            self.describe(parameter, path);
        }
        if !all.is_empty() {
            operation.insert("parameters".to_owned(), Value::Array(all));
        }
    }

    /// The schema of a parameter that handlers do not list.
    fn schema(&self, name: &Value) -> Value {
        let is_in = |list: &str| self.0[list].as_array().is_some_and(|all| all.contains(name));
        if is_in("numbers") {
            json!({"type": "integer", "minimum": 0})
        } else if is_in("lists") {
            json!({"type": "array", "items": {"type": "string"}})
        } else {
            json!({"type": "string"})
        }
    }

    fn describe(&self, parameter: &mut Value, path: &str) {
        // A header that is there has a value: a document's null would be the text `null`.
        if parameter["in"] == "header"
            && let Some([kind, _]) = parameter["schema"]["type"].as_array().map(Vec::as_slice)
        {
            parameter["schema"]["type"] = kind.clone();
        }
        let rows = self.0["texts"].as_array().into_iter().flatten();
        let fits = |row: &&Value| {
            row[0] == parameter["name"] && row[1].as_str().is_some_and(|part| path.contains(part))
        };
        let Some(row) = rows.into_iter().find(fits) else { return };
        if parameter["description"].as_str().is_none_or(str::is_empty) {
            parameter["description"] = row[2].clone();
        }
        if let (Some(example), true) = (row.get(3), parameter["in"] == "path") {
            parameter["example"] = example.clone();
        }
    }
}

/// Whether an operation changes something, and so takes an `Idempotency-Key`.
pub(super) fn is_kept(method: &Method, path: &str, need: &Need) -> bool {
    let reads = |permission: &&str| permission.starts_with("read:");
    let is_read = match need {
        Need::Permission(permission) => reads(permission),
        Need::OneOf(permissions) => permissions.iter().all(reads),
        Need::Public | Need::Inside | Need::Key(_) | Need::Unlisted => path.contains("/hubs/"),
    };
    *method != Method::GET && !is_read && !takes_secret(path) && !is_live(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_its_place() {
        let document = crate::description::plain();
        let listed = Parameters::read();
        let paths = document["paths"].as_object().unwrap();
        let mut known = Vec::new();
        for (path, item) in paths {
            for (method, operation) in item.as_object().unwrap() {
                let mut operation = operation.as_object().unwrap().clone();
                let name = format!("{} {}", method.to_uppercase(), unmounted(path));
                listed.add(&mut operation, (method.as_str(), path.as_str()), false);
                let all = operation.get("parameters").and_then(Value::as_array);
                for parameter in all.into_iter().flatten() {
                    known.push((name.clone(), path, parameter["name"].clone()));
                }
            }
        }
        for row in listed.0["texts"].as_array().unwrap() {
            let part = row[1].as_str().unwrap();
            let has = known.iter().any(|(_, path, name)| *name == row[0] && path.contains(part));
            assert!(has, "{row} is no parameter");
        }
        for list in ["more", "operations"] {
            for (key, values) in listed.0[list].as_object().unwrap() {
                let names = values.as_array().unwrap().iter().map(|one| match list {
                    "more" => key.as_str(),
                    _ => one.as_str().unwrap(),
                });
                for name in names {
                    assert!(known.iter().any(|(of, ..)| of == name), "{name} is no route");
                }
            }
        }
    }
}
