//! Converts values between JSON and JavaScript. Numbers without a fraction become integers.

use rquickjs::object::Property;
use rquickjs::{Ctx, TypedArray, Value as JsValue};
use serde_json::{Number, Value, json};

use crate::child_result;

/// Whole numbers up to here are exact in JavaScript.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// The JSON number for a JavaScript number; null for NaN and the infinities.
pub(super) fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() <= EXACT_MAX {
        // The cast is exact: the value is whole and within range.
        return Value::Number(Number::from(value as i64));
    }
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

/// The value after a round trip through JavaScript: whole numbers are integers.
pub(super) fn normalised(value: Value) -> Value {
    match value {
        Value::Number(found) if found.is_f64() => {
            found.as_f64().map_or(Value::Number(found), number)
        }
        Value::Array(items) => Value::Array(items.into_iter().map(normalised).collect()),
        Value::Object(map) => {
            Value::Object(map.into_iter().map(|(key, value)| (key, normalised(value))).collect())
        }
        other => other,
    }
}

/// True when both are equal in JavaScript: `1.0` is `1`.
pub(super) fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || one.as_f64() == other.as_f64()
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(a, b)| same(a, b))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, a)| other.get(key).is_some_and(|b| same(a, b)))
        }
        (one, other) => one == other,
    }
}

/// Converts a JSON value to JavaScript.
pub(super) fn to_js<'js>(ctx: &Ctx<'js>, value: &Value) -> rquickjs::Result<JsValue<'js>> {
    let ctx = ctx.clone();
    Ok(match value {
        Value::Null => JsValue::new_null(ctx),
        Value::Bool(value) => JsValue::new_bool(ctx, *value),
        Value::Number(value) => JsValue::new_number(ctx, value.as_f64().unwrap_or(f64::NAN)),
        Value::String(text) => rquickjs::String::from_str(ctx, text)?.into_value(),
        Value::Array(_) => ctx.json_parse(value.to_string())?,
        Value::Object(map) => {
            let parsed: JsValue<'js> = ctx.json_parse(value.to_string())?;
            if let Some(object) = parsed.as_object().filter(|_| child_result::is_one(map)) {
                // Not enumerable: they are not copied, and not a part of the JSON.
                for (name, member) in child_result::NAMES {
                    let value: JsValue<'js> = object.get(member)?;
                    object.prop(name, Property::from(value).writable().configurable())?;
                }
            }
            parsed
        }
    })
}

/// The reason why a JavaScript value has no JSON value.
pub(super) enum Unfit {
    /// The conversion threw; the exception is pending in the context.
    Thrown(rquickjs::Error),
    /// It cannot be stored.
    Odd(String),
}

impl From<rquickjs::Error> for Unfit {
    fn from(error: rquickjs::Error) -> Self {
        Self::Thrown(error)
    }
}

/// Converts a JavaScript value to JSON as `JSON.stringify` does; null if that yields nothing.
pub(super) fn to_json<'js>(ctx: &Ctx<'js>, value: JsValue<'js>) -> Result<Value, Unfit> {
    if let Some(value) = value.as_bool() {
        return Ok(Value::Bool(value));
    }
    if let Some(value) = value.as_number() {
        return Ok(number(value));
    }
    if let Some(text) = value.as_string() {
        return match text.to_string() {
            Ok(text) if text.len() > model::limits::STATE_BYTES_MAX => Err(too_large()),
            Ok(text) => Ok(Value::String(text)),
            Err(rquickjs::Error::Utf8(_)) => {
                Err(Unfit::Odd("the text has half a surrogate pair in it".into()))
            }
            Err(error) => Err(error.into()),
        };
    }
    if value.is_big_int() {
        let text: rquickjs::Coerced<String> = value.get()?;
        let number = text.0.parse::<i64>();
        return Ok(number.map_or_else(|_| Value::String(text.0), Value::from));
    }
    if !value.is_object() {
        return Ok(Value::Null);
    }
    let Some(text) = ctx.json_stringify(value)? else { return Ok(Value::Null) };
    if text.as_value().as_string().is_none() {
        return Ok(Value::Null);
    }
    parse(&text.to_string()?)
}

/// As [`to_json`], but bytes become a file, also those in a list.
pub(super) fn with_files<'js>(ctx: &Ctx<'js>, value: JsValue<'js>) -> Result<Value, Unfit> {
    if let Some(file) = file(ctx, &value)? {
        return Ok(file);
    }
    let items =
        value.as_array().map(|items| items.iter().collect::<rquickjs::Result<Vec<JsValue<'js>>>>());
    let mut whole = to_json(ctx, value)?;
    if let (Some(items), Value::Array(whole)) = (items, &mut whole) {
        for (item, json) in items?.iter().zip(whole) {
            if let Some(file) = file(ctx, item)? {
                *json = file;
            }
        }
    }
    Ok(whole)
}

/// A `Uint8Array` as a file, its content in base64; none of anything else.
fn file<'js>(ctx: &Ctx<'js>, value: &JsValue<'js>) -> Result<Option<Value>, Unfit> {
    let bytes = value.as_object().and_then(|object| object.as_typed_array::<u8>());
    let Some(size) = bytes.map(TypedArray::len) else { return Ok(None) };
    let content = to_json(ctx, value.clone())?;
    Ok(Some(json!({"size": size, "content": content})))
}

/// The JSON value of a JavaScript value, if it differs from the value before.
pub(super) fn changed<'js>(
    ctx: &Ctx<'js>,
    value: JsValue<'js>,
    before: Option<&Value>,
) -> Result<Option<Value>, Unfit> {
    let is_composite = matches!(before, Some(Value::Array(_) | Value::Object(_)));
    let value = if is_composite && value.is_object() {
        let text = ctx.json_stringify(value)?;
        let Some(text) = text.filter(|text| text.as_value().is_string()) else {
            return Ok(Some(Value::Null));
        };
        let text = text.to_string()?;
        // Most are unchanged, and then their text need not be parsed.
        let known = before.map(Value::to_string);
        if known.as_deref() == Some(text.as_str()) {
            return Ok(None);
        }
        parse(&text)?
    } else {
        to_json(ctx, value)?
    };
    let is_same = before.is_some_and(|before| same(before, &value));
    Ok((!is_same).then_some(value))
}

fn parse(text: &str) -> Result<Value, Unfit> {
    if text.len() > model::limits::STATE_BYTES_MAX {
        return Err(too_large());
    }
    if let Err(too_deep) = model::depth::check_json_value(text.as_bytes()) {
        return Err(Unfit::Odd(too_deep.to_string()));
    }
    match serde_json::from_str(text) {
        Ok(value) => Ok(value),
        Err(error) => Err(Unfit::Odd(format!("the value cannot be stored as JSON: {error}"))),
    }
}

fn too_large() -> Unfit {
    Unfit::Odd(format!("the value is larger than {} bytes", model::limits::STATE_BYTES_MAX))
}
