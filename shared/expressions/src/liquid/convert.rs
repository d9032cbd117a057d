//! Converts values between JSON and Liquid.

use liquid_core::model::KString;
use liquid_core::{Object, ObjectView, Value, ValueView};
use serde_json::Value as Json;

/// The member of an object that holds the order of its other members.
const ORDER: &str = "\u{1}order";

/// Converts a JSON value to Liquid; numbers without a fraction become integers.
pub(super) fn to_liquid(value: Json) -> Value {
    match value {
        Json::Null => Value::Nil,
        Json::Bool(value) => Value::scalar(value),
        Json::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Value::scalar(whole),
            // The cast is exact: the value is whole and within range.
            (None, Some(float)) if float.fract() == 0.0 && float.abs() < 9.0e15 => {
                Value::scalar(float as i64)
            }
            (None, Some(float)) => Value::scalar(float),
            (None, None) => Value::scalar(number.to_string()),
        },
        Json::String(text) => Value::scalar(text),
        Json::Array(items) => Value::Array(items.into_iter().map(to_liquid).collect()),
        Json::Object(map) => Value::Object(object(map)),
    }
}

fn object(map: serde_json::Map<String, Json>) -> Object {
    let mut object = Object::new();
    if map.len() > 1 {
        let names = map.keys().map(|name| Value::scalar(name.clone())).collect();
        object.insert(KString::from_static(ORDER), Value::Array(names));
    }
    for (name, value) in map {
        object.insert(KString::from(name), to_liquid(value));
    }
    object
}

/// The members of an object in their order in the JSON; in alphabetical order if the object does
/// not hold it. The library's own order differs from run to run.
pub(super) fn members(object: &dyn ObjectView) -> Vec<(String, &dyn ValueView)> {
    let mut names: Vec<String> = match object.get(ORDER).and_then(ValueView::as_array) {
        Some(order) => order.values().map(|name| name.to_kstr().into_string()).collect(),
        None => object.keys().map(|name| name.into_string()).collect(),
    };
    if !object.contains_key(ORDER) {
        names.sort();
    }
    let members = names.into_iter().filter(|name| name != ORDER);
    members.filter_map(|name| object.get(&name).map(|value| (name, value))).collect()
}

/// The text of a value in `{{ … }}`: the elements of a list one after the other, an object as JSON.
pub(super) fn show(value: &dyn ValueView) -> String {
    if let Some(array) = value.as_array() {
        array.values().map(show).collect()
    } else if value.is_object() {
        to_json(value).to_string()
    } else {
        value.to_kstr().into_string()
    }
}

/// Converts a Liquid value to JSON.
pub(super) fn to_json(value: &dyn ValueView) -> Json {
    if let Some(array) = value.as_array() {
        Json::Array(array.values().map(to_json).collect())
    } else if let Some(object) = value.as_object() {
        let members = members(object).into_iter();
        Json::Object(members.map(|(name, value)| (name, to_json(value))).collect())
    } else if let Some(scalar) = value.as_scalar() {
        match scalar.type_name() {
            "boolean" => scalar.to_bool().map_or(Json::Null, Json::Bool),
            "whole number" => scalar.to_integer().map_or(Json::Null, Json::from),
            "fractional number" => scalar.to_float().map_or(Json::Null, Json::from),
            _ => Json::String(scalar.to_kstr().into_string()),
        }
    } else {
        Json::Null
    }
}
