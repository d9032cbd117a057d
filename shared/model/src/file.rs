//! Files in JSON: `{name, fileName, contentType, size, content}`, the content in base64. Endpoints give
//! uploads in this form, and everything that takes a file takes it. A large file has `payload` in the
//! place of `content`: the name of the payload that has its bytes.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{Map, PayloadHash};

/// The member of a large file: the name of the payload with its bytes.
const PAYLOAD: &str = "payload";

/// The members of a file: an object with a text `content`, or the name of a `payload`, at least one
/// other of these members, and none besides. Anything else is no file.
#[must_use]
pub fn members(value: &Value) -> Option<&Map> {
    const MEMBERS: [&str; 6] = ["name", "fileName", "contentType", "size", "content", PAYLOAD];
    let map = value.as_object()?;
    let has_content = map.get("content").is_some_and(Value::is_string);
    let is_file = has_content != payload(map).is_some()
        && !(has_content && map.contains_key(PAYLOAD))
        && map.len() > 1
        && map.keys().all(|name| MEMBERS.contains(&name.as_str()));
    is_file.then_some(map)
}

/// A text member of a file.
#[must_use]
pub fn text<'f>(file: &'f Map, member: &str) -> Option<&'f str> {
    file.get(member).and_then(Value::as_str)
}

/// The payload with the bytes of a large file.
#[must_use]
pub fn payload(file: &Map) -> Option<PayloadHash> {
    text(file, PAYLOAD)?.parse().ok()
}

/// A large file, whose bytes are in a payload.
#[must_use]
pub fn large(file_name: &str, content_type: &str, size: u64, hash: &PayloadHash) -> Value {
    json!({"fileName": file_name, "contentType": content_type, "size": size, PAYLOAD: hash})
}

/// The payloads of all files in a value.
pub fn payloads(value: &Value, found: &mut Vec<PayloadHash>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| payloads(item, found)),
        Value::Object(map) => match members(value) {
            Some(file) => found.extend(payload(file)),
            None => map.values().for_each(|value| payloads(value, found)),
        },
        _ => {}
    }
}

/// The value, in which the files whose payloads are given, in base64, have their content.
#[must_use]
pub fn filled(value: Value, contents: &BTreeMap<PayloadHash, impl AsRef<str>>) -> Value {
    let hash = members(&value).and_then(payload);
    let content = hash.and_then(|hash| contents.get(&hash));
    match (value, content) {
        (Value::Object(mut file), Some(content)) => {
            file.remove(PAYLOAD);
            file.insert("content".to_owned(), content.as_ref().into());
            Value::Object(file)
        }
        (Value::Object(map), None) => {
            let members = map.into_iter().map(|(name, value)| (name, filled(value, contents)));
            Value::Object(members.collect())
        }
        (Value::Array(items), _) => {
            Value::Array(items.into_iter().map(|item| filled(item, contents)).collect())
        }
        (plain, _) => plain,
    }
}

/// The value, in which the files with these contents, in base64, have their payloads again: the
/// reverse of [`filled`].
#[must_use]
pub fn emptied(value: Value, contents: &BTreeMap<PayloadHash, impl AsRef<str>>) -> Value {
    let content = members(&value).and_then(|file| text(file, "content"));
    let mut known = contents.iter();
    let hash = known.find(|(_, known)| Some(known.as_ref()) == content).map(|(hash, _)| hash);
    match (value, hash) {
        (Value::Object(mut file), Some(hash)) => {
            file.remove("content");
            file.insert(PAYLOAD.to_owned(), hash.as_str().into());
            Value::Object(file)
        }
        (Value::Object(map), None) => {
            let members = map.into_iter().map(|(name, value)| (name, emptied(value, contents)));
            Value::Object(members.collect())
        }
        (Value::Array(items), _) => {
            Value::Array(items.into_iter().map(|item| emptied(item, contents)).collect())
        }
        (plain, _) => plain,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn files_are_told_from_other_objects() {
        assert!(members(&json!({"fileName": "a", "content": "aGk="})).is_some());
        for other in [
            json!({"content": "aGk="}),
            json!({"fileName": "a", "content": {"a": 1}}),
            json!({"fileName": "a", "content": "x", "author": "me"}),
            json!("a"),
            json!({"fileName": "a", "payload": "sha256-1"}),
            json!({"payload": PayloadHash::of(b"")}),
            json!({"fileName": "a", "content": "", "payload": PayloadHash::of(b"")}),
        ] {
            assert!(members(&other).is_none(), "{other}");
        }
    }

    #[test]
    fn large_files_are_filled() {
        let hash = PayloadHash::of(b"hi");
        let file = large("a", "text/plain", 2, &hash);
        let value = json!({"list": [file, 1], "file": large("b", "x/y", 0, &PayloadHash::of(b""))});
        let mut found = Vec::new();
        payloads(&value, &mut found);
        found.sort();
        let mut expected = vec![hash.clone(), PayloadHash::of(b"")];
        expected.sort();
        assert_eq!(found, expected);
        let contents = BTreeMap::from([(hash, "aGk=")]);
        let filled = filled(value.clone(), &contents);
        let full =
            json!({"fileName": "a", "contentType": "text/plain", "size": 2, "content": "aGk="});
        assert_eq!(filled["list"][0], full);
        assert_eq!(filled["file"], value["file"]);
        assert_eq!(emptied(filled, &contents), value);
    }
}
