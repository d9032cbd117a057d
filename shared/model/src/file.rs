//! Files in JSON: `{name, fileName, contentType, size, content}`, the content in base64. Endpoints give
//! uploads in this form, and everything that takes a file takes it.

use serde_json::Value;

use crate::Map;

/// The members of a file: an object with a text `content`, at least one other of these members, and
/// none besides. Anything else is no file.
#[must_use]
pub fn members(value: &Value) -> Option<&Map> {
    const MEMBERS: [&str; 5] = ["name", "fileName", "contentType", "size", "content"];
    let map = value.as_object()?;
    let is_file = map.get("content").is_some_and(Value::is_string)
        && map.len() > 1
        && map.keys().all(|name| MEMBERS.contains(&name.as_str()));
    is_file.then_some(map)
}

/// A text member of a file.
#[must_use]
pub fn text<'f>(file: &'f Map, member: &str) -> Option<&'f str> {
    file.get(member).and_then(Value::as_str)
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
        ] {
            assert!(members(&other).is_none(), "{other}");
        }
    }
}
