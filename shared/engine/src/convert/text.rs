//! Texts of a form, such as a Guid or a day.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::civil;
use model::Timestamp;
use serde_json::Value;

use super::shown;
use crate::types::Form;
use crate::{Type, is_sealed};

/// The text in this form. A sealed text has the form of what it hides; an empty one is null.
pub(super) fn formed(value: Value, form: Form) -> Result<Value, String> {
    if is_sealed(&value) {
        return Ok(value);
    }
    let text = match &value {
        Value::String(text) if form == Form::Char => text.as_str(),
        Value::String(text) => text.trim(),
        Value::Array(bytes) if form == Form::ByteArray => return encoded(bytes),
        other => return Err(no(other, form)),
    };
    if text.is_empty() {
        return Ok(Value::Null);
    }
    let found = match form {
        Form::Guid => guid(text),
        Form::Uri => uri(text),
        Form::DateOnly => day(text),
        Form::TimeOnly => text.parse::<civil::Time>().ok().map(|time| time.to_string()),
        Form::ByteArray => STANDARD.decode(text).ok().map(|_| text.to_owned()),
        Form::Char => (text.chars().count() == 1).then(|| text.to_owned()),
    };
    found.map(Value::String).ok_or_else(|| no(&value, form))
}

/// The members of an object, which are texts.
pub(super) fn of_texts(value: Value) -> Result<Value, String> {
    let no_text = |value: &&Value| !value.is_string() && !value.is_null();
    let members = value.as_object().into_iter().flatten();
    match members.into_iter().find(|(_, value)| no_text(value)) {
        Some((name, value)) => {
            Err(format!("its member {name} is {}, which is no text", shown(value)))
        }
        None => Ok(value),
    }
}

fn no(value: &Value, form: Form) -> String {
    let (name, example) = match form {
        Form::Guid => ("Guid", "write 123e4567-e89b-12d3-a456-426614174000"),
        Form::Uri => ("address", "write https://example.com/path"),
        Form::DateOnly => ("day", "write 2026-01-31"),
        Form::TimeOnly => ("time of the day", "write 08:30:00"),
        Form::ByteArray => ("text in base64", "write SGVsbG8="),
        Form::Char => ("character", "write one"),
    };
    format!("{} is no {name}: {example}", shown(value))
}

/// The forms that .NET reads: with or without hyphens, in braces or parentheses.
fn guid(text: &str) -> Option<String> {
    const PARTS: [usize; 5] = [8, 4, 4, 4, 12];
    let bare = |open, close| text.strip_prefix(open)?.strip_suffix(close);
    let text = bare('{', '}').or_else(|| bare('(', ')')).unwrap_or(text);
    let digits: String = text.chars().filter(|char| *char != '-').collect();
    if digits.len() != 32 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut rest = digits.to_ascii_lowercase();
    let parts = PARTS.map(|length| rest.drain(..length).collect::<String>());
    let whole = parts.join("-");
    (text.len() == 32 || text.eq_ignore_ascii_case(&whole)).then_some(whole)
}

/// An address may be relative; one of the web has a host.
fn uri(text: &str) -> Option<String> {
    let rest = text.split_once("://").map(|(_, rest)| rest);
    let has_host = rest.is_none_or(|rest| !rest.is_empty() && !rest.starts_with(['?', '#']));
    (has_host && !text.contains(char::is_control)).then(|| text.to_owned())
}

/// A day; of an instant, its day in UTC.
fn day(text: &str) -> Option<String> {
    let civil = || text.parse::<civil::Date>().ok().map(|day| day.to_string());
    let instant = Timestamp::parse(text).ok();
    instant.and_then(|at| at.to_string().get(..10).map(str::to_owned)).or_else(civil)
}

/// Bytes that are given as numbers.
fn encoded(bytes: &[Value]) -> Result<Value, String> {
    let byte = |value: &Value| {
        let byte = super::convert(value.clone(), &Type::Unsigned(8))?;
        let byte = byte.as_u64().and_then(|byte| u8::try_from(byte).ok());
        byte.ok_or_else(|| no(value, Form::ByteArray))
    };
    let bytes: Vec<u8> = bytes.iter().map(byte).collect::<Result<_, _>>()?;
    Ok(STANDARD.encode(bytes).into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_takes_its_form() {
        let check = |value: Value, form: Form, expected: Value| {
            assert_eq!(formed(value.clone(), form), Ok(expected), "{value} as {form:?}");
        };
        let guid = json!("123e4567-e89b-12d3-a456-426614174000");
        for text in [
            "123E4567-E89B-12D3-A456-426614174000",
            "123e4567e89b12d3a456426614174000",
            "{123e4567-e89b-12d3-a456-426614174000}",
            "(123e4567-e89b-12d3-a456-426614174000)",
        ] {
            check(json!(text), Form::Guid, guid.clone());
        }
        check(json!(""), Form::Guid, json!(null));
        check(json!("https://example.com/a?b"), Form::Uri, json!("https://example.com/a?b"));
        check(json!("/a/b c"), Form::Uri, json!("/a/b c"));
        check(json!("2026-01-31"), Form::DateOnly, json!("2026-01-31"));
        check(json!("2026-01-31T23:00:00-05:00"), Form::DateOnly, json!("2026-02-01"));
        check(json!("08:30"), Form::TimeOnly, json!("08:30:00"));
        check(json!("AP8="), Form::ByteArray, json!("AP8="));
        check(json!([0, 255]), Form::ByteArray, json!("AP8="));
        check(json!(" "), Form::Char, json!(" "));
    }

    #[test]
    fn what_has_not_the_form_says_so() {
        let check = |value: Value, form: Form, part: &str| {
            let error = formed(value.clone(), form).unwrap_err();
            assert!(error.contains(part), "{value} as {form:?}: {error}");
        };
        check(json!("zz"), Form::Guid, "\"zz\" is no Guid: write 123e4567-");
        check(json!("1-23e4567e89b12d3a456426614174000"), Form::Guid, "no Guid");
        check(json!(7), Form::Uri, "7 is no address");
        check(json!("https://"), Form::Uri, "no address");
        check(json!("2026-13-01"), Form::DateOnly, "no day: write 2026-01-31");
        check(json!("25:00"), Form::TimeOnly, "no time of the day");
        check(json!("***"), Form::ByteArray, "base64");
        check(json!([256]), Form::ByteArray, "8 bits");
        check(json!("ab"), Form::Char, "no character");
        check(json!({}), Form::Guid, "no Guid");
    }
}
