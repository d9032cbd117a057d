//! Converts a JSON value to the form of a type, as leniently as Elsa does. It never guesses: a value
//! that cannot be converted is an error that says which values can.

mod status;
mod text;

use jiff::civil;
use model::activity_type::VERSION_MAX;
use model::{Timestamp, depth, large};
use serde::de::DeserializeOwned;
use serde_json::{Number, Value};

use crate::Type;

pub(crate) use model::span::{parse as parse_span, text as span_text};

/// Converts a value. Null stays null, and so does an object that stands for a large value: that is
/// converted where it is read.
pub(crate) fn convert(value: Value, ty: &Type) -> Result<Value, String> {
    if value.is_null() || large::payload(&value).is_some() {
        return Ok(value);
    }
    match ty {
        Type::Object => Ok(value),
        Type::Json => Ok(json(value)),
        Type::String | Type::Script(_) => Ok(Value::String(text_of(value))),
        Type::Boolean => boolean(&value),
        Type::Integer(bits) => integer(&value, *bits),
        Type::Unsigned(bits) => unsigned(&value, *bits),
        Type::Double => double(value),
        Type::TimeSpan => span_value(&value),
        Type::DateTime => date_time(&value),
        Type::Text(form) => text::formed(value, *form),
        Type::List(element) => list(value, element),
        Type::Dictionary => dictionary(value),
        Type::TextDictionary => dictionary(value).and_then(text::of_texts),
        Type::Enum(words) => word(&value, words),
        Type::StatusCode => status_code(&value),
    }
}

/// Reads a value that [`convert`] made of `Type::TimeSpan`.
pub(crate) fn to_span(value: &Value) -> Option<std::time::Duration> {
    parse_span(value.as_str()?).ok()
}

/// Reads a value that [`convert`] made of `Type::DateTime`.
pub(crate) fn to_time(value: &Value) -> Option<Timestamp> {
    Timestamp::parse(value.as_str()?).ok()
}

/// Text as it is; numbers and true and false as they are written; anything else as JSON.
pub(crate) fn text_of(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Null => String::new(),
        Value::Number(number) => match whole(&number) {
            Some(whole) => whole.to_string(),
            None => number.to_string(),
        },
        other => other.to_string(),
    }
}

/// The number as an integer if it is whole, as `3.0` is.
fn whole(number: &Number) -> Option<i64> {
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    if let Some(whole) = number.as_i64() {
        return Some(whole);
    }
    let float = number.as_f64()?;
    let exact = float.fract() == 0.0 && float.abs() <= EXACT_MAX;
    #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and in range")]
    exact.then_some(float as i64)
}

fn boolean(value: &Value) -> Result<Value, String> {
    let found = match value {
        Value::Bool(flag) => Some(*flag),
        Value::Number(number) => number.as_f64().map(|number| number != 0.0),
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            "" => return Ok(Value::Null),
            _ => None,
        },
        _ => None,
    };
    found.map(Value::Bool).ok_or_else(|| format!("{} is neither true nor false", shown(value)))
}

fn integer(value: &Value, bits: u8) -> Result<Value, String> {
    let number = match value {
        Value::Number(number) => number.clone(),
        Value::Bool(flag) => Number::from(u8::from(*flag)),
        Value::String(text) if text.trim().is_empty() => return Ok(Value::Null),
        Value::String(text) => match text.trim().parse::<i64>() {
            Ok(whole) => Number::from(whole),
            Err(_) => float_number(text.trim()).ok_or_else(|| not_whole(value))?,
        },
        _ => return Err(not_whole(value)),
    };
    let rounded = number.as_f64().map(f64::round_ties_even).and_then(Number::from_f64);
    let found = whole(&number).or_else(|| rounded.as_ref().and_then(whole));
    let limit = if bits >= 64 { i64::MAX } else { (1 << (bits - 1)) - 1 };
    match found {
        Some(found) if found <= limit && found >= -limit - 1 => Ok(found.into()),
        Some(found) => Err(format!("{found} does not fit into {bits} bits")),
        None => Err(not_whole(value)),
    }
}

/// Why a value is no whole number from 1 on; none if it is one. Neither a text nor a number that would be
/// rounded is one.
pub(crate) fn ordinal_fault(value: &Value) -> Option<String> {
    let found = value.as_number().and_then(whole);
    let is_one = found.is_some_and(|number| (1..=i64::from(VERSION_MAX)).contains(&number));
    let says = || format!("{} is not a whole number from 1 to {VERSION_MAX}", shown(value));
    (!is_one).then(says)
}

fn unsigned(value: &Value, bits: u8) -> Result<Value, String> {
    let given = match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    let found = match given {
        Some(found) => Some(found),
        None => match integer(value, 64)? {
            Value::Null => return Ok(Value::Null),
            whole => whole.as_u64(),
        },
    };
    match found {
        Some(found) if bits >= 64 || found < 1 << bits => Ok(found.into()),
        Some(found) => Err(format!("{found} does not fit into {bits} bits")),
        None => Err(format!("{} is negative", shown(value))),
    }
}

fn not_whole(value: &Value) -> String {
    format!("{} is not a whole number", shown(value))
}

fn double(value: Value) -> Result<Value, String> {
    match value {
        Value::Number(_) => Ok(value),
        Value::Bool(flag) => Ok(u8::from(flag).into()),
        Value::String(text) if text.trim().is_empty() => Ok(Value::Null),
        Value::String(text) => match text.trim().parse::<i64>() {
            Ok(whole) => Ok(whole.into()),
            Err(_) => float_number(text.trim())
                .map(Value::Number)
                .ok_or_else(|| format!("{text:?} is not a number")),
        },
        other => Err(format!("{} is not a number", shown(&other))),
    }
}

fn float_number(text: &str) -> Option<Number> {
    text.parse::<f64>().ok().and_then(Number::from_f64)
}

fn span_value(value: &Value) -> Result<Value, String> {
    match value {
        Value::String(text) if text.trim().is_empty() => Ok(Value::Null),
        Value::String(text) => Ok(span_text(parse_span(text)?).into()),
        other => Err(format!("{} is not a duration: write 00:00:05, PT5S or 5s", shown(other))),
    }
}

fn date_time(value: &Value) -> Result<Value, String> {
    let text = match value {
        Value::String(text) if text.trim().is_empty() => return Ok(Value::Null),
        Value::String(text) => text.trim(),
        Value::Number(number) => {
            let millis = whole(number).ok_or_else(|| format!("{number} is not an instant"))?;
            let time = Timestamp::from_millis(millis);
            return match (Timestamp::EARLIEST..=Timestamp::LATEST).contains(&time) {
                true => Ok(time.to_string().into()),
                false => Err(out_of_range(&number)),
            };
        }
        other => return Err(format!("{} is not an instant", shown(other))),
    };
    match Timestamp::parse(text) {
        Ok(time) => return Ok(time.to_string().into()),
        Err(error) if error.is_out_of_range() => return Err(error.to_string()),
        Err(_) => {}
    }
    let Ok(civil) = text.parse::<civil::DateTime>() else {
        return Err(format!("{text:?} is not an instant: write 2026-01-31T08:00:00Z"));
    };
    let utc = civil.to_zoned(jiff::tz::TimeZone::UTC).ok();
    let utc = utc.ok_or_else(|| out_of_range(&text))?;
    Ok(Timestamp::from_millis(utc.timestamp().as_millisecond()).to_string().into())
}

fn out_of_range(given: &dyn std::fmt::Display) -> String {
    let (earliest, latest) = (Timestamp::EARLIEST, Timestamp::LATEST);
    format!("{given} is out of range: the earliest instant is {earliest}, the latest {latest}")
}

fn list(value: Value, element: &Type) -> Result<Value, String> {
    let items = match value {
        Value::Array(items) => items,
        Value::String(text) if text.trim().is_empty() => Vec::new(),
        Value::String(text) if text.trim_start().starts_with('[') => parse(&text)?,
        single => vec![single],
    };
    let items: Result<Vec<Value>, String> =
        items.into_iter().map(|item| convert(item, element)).collect();
    Ok(Value::Array(items?))
}

/// A text with a JSON object or list as the value that it is; a text that is none stays one.
fn json(value: Value) -> Value {
    match &value {
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
            parse(text).unwrap_or(value)
        }
        _ => value,
    }
}

fn dictionary(value: Value) -> Result<Value, String> {
    match value {
        Value::Object(_) => Ok(value),
        Value::String(text) if text.trim().is_empty() => Ok(Value::Null),
        Value::String(text) => match parse(&text) {
            Ok(Value::Object(map)) => Ok(Value::Object(map)),
            Ok(Value::Null) => Ok(Value::Null),
            Ok(other) => Err(format!("{} is not a JSON object", shown(&other))),
            Err(error) => Err(error),
        },
        other => Err(format!("{} is not a JSON object", shown(&other))),
    }
}

/// Reads JSON from a text.
fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    depth::check_json_value(text.as_bytes()).map_err(|error| error.to_string())?;
    serde_json::from_str(text)
        .map_err(|error| format!("{} is not JSON: {error}", shown(&Value::String(text.to_owned()))))
}

fn word(value: &Value, words: &[&str]) -> Result<Value, String> {
    let found = match value {
        Value::String(text) if text.trim().is_empty() => return Ok(Value::Null),
        Value::String(text) => words.iter().find(|word| word.eq_ignore_ascii_case(text.trim())),
        Value::Number(number) => {
            number.as_u64().and_then(|at| usize::try_from(at).ok()).and_then(|at| words.get(at))
        }
        _ => None,
    };
    match found {
        Some(found) => Ok(Value::from(*found)),
        None => Err(format!("{} is not one of {}", shown(value), words.join(", "))),
    }
}

fn status_code(value: &Value) -> Result<Value, String> {
    let named = value.as_str().and_then(|text| status::code(text.trim()));
    let code = match named {
        Some(code) => Value::from(code),
        None => integer(value, 32)?,
    };
    match code.as_i64() {
        None => Ok(Value::Null),
        Some(100..=599) => Ok(code),
        Some(other) => Err(format!("{other} is not an HTTP status code: use 100 to 599")),
    }
}

/// The value, cut short, for an error message.
pub(crate) fn shown(value: &Value) -> String {
    const CHARS_MAX: usize = 80;
    let text = value.to_string();
    if text.chars().count() <= CHARS_MAX {
        return text;
    }
    text.chars().take(CHARS_MAX).chain("…".chars()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_take_the_form_their_type_asks_for() {
        let check = |value: Value, ty: Type, expected: Value| {
            assert_eq!(convert(value.clone(), &ty), Ok(expected), "{value} to {ty:?}");
        };
        check(json!("42"), Type::Integer(32), json!(42));
        check(json!(3.0), Type::Integer(32), json!(3));
        check(json!("2.5"), Type::Integer(32), json!(2));
        check(json!(""), Type::Integer(32), json!(null));
        check(json!("1.5"), Type::Double, json!(1.5));
        check(json!("True"), Type::Boolean, json!(true));
        check(json!(0), Type::Boolean, json!(false));
        check(json!(3.0), Type::String, json!("3"));
        check(json!({"a": 1}), Type::String, json!(r#"{"a":1}"#));
        check(json!("00:00:05"), Type::TimeSpan, json!("00:00:05"));
        check(json!("PT1H30M"), Type::TimeSpan, json!("01:30:00"));
        check(
            json!("2026-01-31T08:00:00+01:00"),
            Type::DateTime,
            json!("2026-01-31T07:00:00.000Z"),
        );
        check(json!("2026-01-31 08:00:00"), Type::DateTime, json!("2026-01-31T08:00:00.000Z"));
        check(json!("[\"a\",1]"), Type::texts(), json!(["a", "1"]));
        check(json!("GET"), Type::texts(), json!(["GET"]));
        check(json!("{}"), Type::Dictionary, json!({}));
        check(json!("waitall"), Type::Enum(&["WaitAny", "WaitAll"]), json!("WaitAll"));
        check(json!("OK"), Type::StatusCode, json!(200));
        check(json!("404"), Type::StatusCode, json!(404));
        check(json!("x"), Type::Object, json!("x"));
        check(json!("{}"), Type::Object, json!("{}"));
        check(json!(" {\"a\": [1]}"), Type::Json, json!({"a": [1]}));
        check(json!("[1]"), Type::Json, json!([1]));
        for text in ["x", "7", "", "[note] x"] {
            check(json!(text), Type::Json, json!(text));
        }
        check(json!("255"), Type::Unsigned(8), json!(255));
        check(json!(2.0), Type::Unsigned(16), json!(2));
        check(json!(u64::MAX), Type::Unsigned(64), json!(u64::MAX));
        check(json!(-128), Type::Integer(8), json!(-128));
        check(json!({"a": "b"}), Type::TextDictionary, json!({"a": "b"}));
    }

    #[test]
    fn what_cannot_be_converted_says_why() {
        let check = |value: Value, ty: Type, part: &str| {
            let error = convert(value, &ty).unwrap_err();
            assert!(error.contains(part), "{error}");
        };
        check(json!("many"), Type::Integer(32), "whole number");
        check(json!(3_000_000_000_i64), Type::Integer(32), "32 bits");
        check(json!("maybe"), Type::Boolean, "neither");
        check(json!("soon"), Type::TimeSpan, "PT5S");
        check(json!("soon"), Type::DateTime, "2026-01-31T08:00:00Z");
        for beyond in ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59"] {
            check(json!(beyond), Type::DateTime, "9999-12-30T22:00:00.999Z");
        }
        check(json!(253_402_300_799_000_i64), Type::DateTime, "9999-12-30T22:00:00.999Z");
        check(json!("[1"), Type::texts(), "not JSON");
        check(json!("Some"), Type::Enum(&["WaitAny", "WaitAll"]), "WaitAny, WaitAll");
        check(json!(99), Type::StatusCode, "100 to 599");
        check(json!(300), Type::Unsigned(8), "300 does not fit into 8 bits");
        check(json!("-1"), Type::Unsigned(32), "\"-1\" is negative");
        check(json!(128), Type::Integer(8), "8 bits");
        check(json!({"a": 1}), Type::TextDictionary, "its member a is 1, which is no text");
    }

    #[test]
    fn an_ordinal_is_neither_rounded_nor_a_text() {
        for one in [json!(1), json!(2.0), json!(2_147_483_647)] {
            assert_eq!(ordinal_fault(&one), None, "{one}");
        }
        for other in
            [json!("1"), json!(""), json!(1.5), json!(0), json!(true), json!(2_147_483_648_i64)]
        {
            let fault = ordinal_fault(&other).unwrap_or_default();
            let says = format!("{other} is not a whole number from 1 to 2147483647");
            assert_eq!(fault, says);
        }
    }
}
