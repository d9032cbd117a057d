//! Sealed texts: `{sealed:…}` stands for a text that is encrypted for one instance. Here is their form; what
//! seals and opens them is elsewhere.

use serde_json::Value;

/// The beginning of a sealed text.
pub const BEGIN: &str = "{sealed:";
/// The end of a sealed text.
pub const END: char = '}';
/// The beginning of a text that was sealed, and is none that is opened.
const ELSEWHERE: &str = "{sealed elsewhere:";
/// The shortest sealed text: a nonce of 12 bytes and a tag of 16, in base64.
const CHARS_MIN: usize = 38;

/// The text contains a sealed one, or one that looks like it.
#[must_use]
pub fn looks_sealed(text: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    text.split(BEGIN).skip(1).any(|rest| {
        let after = rest.trim_start_matches(is_digit);
        after.starts_with(END) && rest.len() - after.len() >= CHARS_MIN
    })
}

/// The value contains a sealed text, or one that looks like it.
#[must_use]
pub fn is_sealed(value: &Value) -> bool {
    match value {
        Value::String(text) => looks_sealed(text),
        Value::Array(items) => items.iter().any(is_sealed),
        Value::Object(map) => map.values().any(is_sealed),
        _ => false,
    }
}

/// The JSON may contain a sealed text: a quick look for [`is_sealed`].
#[must_use]
pub fn may_be_sealed(json: &str) -> bool {
    json.contains(BEGIN)
}

/// The value without sealed texts: what comes from outside is never opened, even if it was copied from the
/// instance that gets it. Such a text stays, and is no sealed one any more.
#[must_use]
pub fn foreign(value: Value) -> Value {
    if is_sealed(&value) { unmarked(value) } else { value }
}

/// The value in which no text begins as a sealed one does.
#[must_use]
pub fn unmarked(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace(BEGIN, ELSEWHERE)),
        Value::Array(items) => Value::Array(items.into_iter().map(unmarked).collect()),
        Value::Object(map) => {
            let members = map.into_iter().map(|(name, value)| (name, unmarked(value)));
            Value::Object(members.collect())
        }
        plain => plain,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_looks_sealed_is_found_and_never_opened_from_outside() {
        let sealed = format!("{BEGIN}{}{END}", "Ab-_".repeat(10));
        for (text, expected) in [
            (sealed.clone(), true),
            (format!("Bearer {sealed} and more"), true),
            (format!("{BEGIN}short{END} {sealed}"), true),
            ("{sealed:}".to_owned(), false),
            ("{sealed:short}".to_owned(), false),
            (sealed.replace('b', " "), false),
            (sealed.replace(END, ""), false),
        ] {
            assert_eq!(is_sealed(&json!({"a": [1, text]})), expected, "{text}");
        }
        let input = json!({"a": {"b": [format!("x{sealed}"), 1]}, "c": "{sealed:short}"});
        let taken = foreign(input);
        assert!(!is_sealed(&taken), "{taken}");
        assert_eq!(taken["a"]["b"][1], 1);
        let plain = json!({"a": "{sealed:short}"});
        assert_eq!(foreign(plain.clone()), plain);
    }
}
