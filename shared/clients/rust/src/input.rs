//! The large values of a task's input. Where a message could not carry one, an object stands for it:
//! `{"$payload": "sha256-…", "bytes": 600000}`.

use serde_json::Value;

use crate::{Client, Error, Failure};

/// Bytes that the large values of one input may have together.
const BYTES_MAX: u64 = 8 * 1024 * 1024;

/// The input with the large values themselves.
pub(crate) async fn whole(client: &Client, mut input: Value) -> Result<Value, Failure> {
    let mut found = Vec::new();
    stand_ins(&mut input, &mut found);
    let mut left = BYTES_MAX;
    for (value, hash) in found {
        let bytes = client.payload(&hash, left).await.map_err(|error| failure(&error))?;
        left = left.saturating_sub(bytes.len() as u64);
        *value = serde_json::from_slice(&bytes).map_err(|error| failure(&error.into()))?;
    }
    Ok(input)
}

/// Every object that stands for a value, with the name of its payload.
fn stand_ins<'v>(value: &'v mut Value, found: &mut Vec<(&'v mut Value, String)>) {
    if let Some(hash) = payload(value) {
        found.push((value, hash));
        return;
    }
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| stand_ins(item, found)),
        Value::Object(members) => members.values_mut().for_each(|item| stand_ins(item, found)),
        _ => {}
    }
}

fn payload(value: &Value) -> Option<String> {
    let members = value.as_object()?;
    let hash = members.get("$payload")?.as_str().filter(|hash| hash.starts_with("sha256-"))?;
    let is_it = match members.len() {
        1 => true,
        2 => members.get("bytes").is_some_and(Value::is_u64),
        _ => false,
    };
    is_it.then(|| hash.to_owned())
}

/// What is gone or too large does not come with another attempt.
fn failure(error: &Error) -> Failure {
    let is_final = matches!(error, Error::Request { status: 400..=499, .. } | Error::Unreadable(_));
    let failure =
        Failure::for_good("InputUnavailable", "a large value of the input cannot be read");
    Failure { retryable: !is_final, ..failure.detail(error) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_stands_for_a_value_is_found_wherever_it_is() {
        let large = json!({"$payload": "sha256-1", "bytes": 7});
        let mut input = json!({
            "a": large, "b": [1, {"c": {"$payload": "sha256-2"}}], "d": {"$payload": "x"},
            "e": {"$payload": "sha256-3", "bytes": "7"}, "f": {"$payload": "sha256-4", "size": 1},
        });
        let mut found = Vec::new();
        stand_ins(&mut input, &mut found);
        let names: Vec<_> = found.iter().map(|(_, hash)| hash.as_str()).collect();
        assert_eq!(names, ["sha256-1", "sha256-2"]);
        for (value, _) in found {
            *value = json!(0);
        }
        assert_eq!((&input["a"], &input["b"]), (&json!(0), &json!([1, {"c": 0}])));
    }

    #[test]
    fn only_what_may_be_there_later_is_tried_again() {
        let problem =
            |status| Error::Request { status, title: String::new(), detail: "why".to_owned() };
        for (status, retryable) in [(404, false), (413, false), (500, true), (503, true)] {
            let failure = failure(&problem(status));
            assert_eq!(failure.retryable, retryable, "{status}");
            assert!(failure.detail.is_some_and(|detail| detail.contains("why")));
        }
        assert!(failure(&Error::nats("no responders")).retryable);
    }
}
