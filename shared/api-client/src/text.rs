//! Texts of servers, brokers and workflows. They may contain control characters, which can move a
//! terminal's cursor, change its title or hide text.

use std::borrow::Cow;

use serde_json::Value;

/// A member of a JSON object as text: text as it is, null and absence as nothing.
#[must_use]
pub fn text(value: &Value, name: &str) -> String {
    match value.get(name) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// The text on one line: every control character is escaped, line ends and tabs too. For foreign texts
/// inside a line of ours.
#[must_use]
pub fn one_line(text: &str) -> Cow<'_, str> {
    if !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    let each = |c: char| match is_control(c) {
        true => c.escape_default().to_string(),
        false => String::from(c),
    };
    Cow::Owned(text.chars().map(each).collect())
}

/// A terminal acts on it, or shows the text around it in another order.
#[must_use]
pub fn is_control(c: char) -> bool {
    let reorders = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || reorders || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_that_is_not_there_is_empty() {
        let value = serde_json::json!({"a": null, "b": "x", "c": 3});
        let all = ["a", "b", "c", "d"].map(|name| text(&value, name));
        assert_eq!(all, ["", "x", "3", ""]);
    }

    #[test]
    fn no_control_character_is_left_in_a_line() {
        let shown = one_line("\u{1b}]0;title\u{7}\u{9b}31m\u{202e}\r\u{7f}");
        assert!(!shown.contains(is_control), "{shown:?}");
        assert_eq!(one_line("a\nb\tc"), "a\\nb\\tc");
        assert_eq!(one_line("Grüße, 世界 👋"), "Grüße, 世界 👋");
    }
}
