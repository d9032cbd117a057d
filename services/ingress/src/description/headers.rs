//! Completes the description with the headers of answers. They are in `headers.json`; the tests hold
//! every answer that they get against it.

use serde_json::{Map, Value, json};

use crate::auth::permission::unmounted;

const HEADERS: &str = include_str!("headers.json");

/// The headers of answers, and where they are sent.
pub(super) struct Headers(Value);

impl Headers {
    pub(super) fn read() -> Self {
        Self(serde_json::from_str(HEADERS).unwrap_or_default())
    }

    /// The headers by name, for operations to refer to.
    pub(super) fn all(&self) -> &Value {
        &self.0["headers"]
    }

    /// The headers that answers of a status have, whatever the operation is.
    pub(super) fn of_status(&self, status: &str) -> Value {
        let names = [&self.0["everywhere"], &self.0["statuses"][status]];
        let names = names.into_iter().filter_map(Value::as_array).flatten();
        let names = names.filter_map(Value::as_str);
        Value::Object(names.map(|name| (name.to_owned(), reference(name))).collect())
    }

    /// Adds the headers to the answers of an operation. `is_kept` says whether it takes an
    /// `Idempotency-Key`.
    pub(super) fn add(&self, operation: &mut Map<String, Value>, at: (&str, &str), is_kept: bool) {
        let (method, path) = at;
        let name = format!("{} {}", method.to_uppercase(), unmounted(path));
        let rows = self.0["operations"].as_array().into_iter().flatten();
        let rows: Vec<_> = rows.filter(|row| has(&row["of"], &name)).collect();
        let responses = operation.get_mut("responses").and_then(Value::as_object_mut);
        for (status, response) in responses.into_iter().flatten() {
            let mut headers = self.of_status(status);
            let own = rows.iter().filter(|row| has(&row["statuses"], status));
            let own = own.filter_map(|row| row["headers"].as_array()).flatten();
            for name in own.filter_map(Value::as_str) {
                headers[name] = reference(name);
            }
            if is_kept && matches!(status.as_str(), "200" | "201" | "204") {
                headers["Idempotency-Replayed"] = reference("Idempotency-Replayed");
            }
            response["headers"] = headers;
        }
    }
}

fn has(list: &Value, name: &str) -> bool {
    list.as_array().is_some_and(|list| list.iter().any(|one| one == name))
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/headers/{name}")})
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_row_has_its_place() {
        let document = crate::description::plain();
        let paths = document["paths"].as_object().unwrap();
        let known: BTreeSet<String> = paths
            .iter()
            .flat_map(|(path, item)| {
                let methods = item.as_object().unwrap().keys();
                methods.map(move |method| format!("{} {}", method.to_uppercase(), unmounted(path)))
            })
            .collect();
        let headers = Headers::read();
        for row in headers.0["operations"].as_array().unwrap() {
            for operation in row["of"].as_array().unwrap() {
                assert!(known.contains(operation.as_str().unwrap()), "{operation} is no route");
            }
            for name in row["headers"].as_array().unwrap() {
                assert!(headers.all().get(name.as_str().unwrap()).is_some(), "{name}");
            }
        }
    }
}
