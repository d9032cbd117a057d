//! Large values. A JSON value that is too large for the state of an instance rests in a payload, and an
//! object that names it stands in its place: `{"$payload": "sha256-…", "bytes": 300000}`. This is the
//! claim check of *Enterprise Integration Patterns* (Hohpe, Woolf, 2003).

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Value, json};

use crate::{Map, PayloadHash, depth, json};

/// The member that names the payload with the value's JSON.
const PAYLOAD: &str = "$payload";
/// The member with the payload's size.
const BYTES: &str = "bytes";

/// A value that rests in a payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Large {
    /// The name of the payload.
    pub hash: PayloadHash,
    /// The bytes of the payload: the value as JSON.
    pub json: Vec<u8>,
}

/// The payload that has the value for which this one stands; none if it stands for none. A person may
/// leave the size out.
#[must_use]
pub fn payload(value: &Value) -> Option<PayloadHash> {
    let members = value.as_object().filter(|members| members.len() <= 2)?;
    let hash = members.get(PAYLOAD)?.as_str()?.parse().ok()?;
    let is_it = members.len() == 1 || members.get(BYTES).is_some_and(Value::is_u64);
    is_it.then_some(hash)
}

/// The object that stands for a value.
#[must_use]
pub fn stand_in(hash: &PayloadHash, bytes: u64) -> Value {
    json!({PAYLOAD: hash, BYTES: bytes})
}

/// The value in the bytes of a payload.
///
/// # Errors
/// They are no JSON, or a value that no command may carry either.
pub fn read(bytes: &[u8]) -> Result<Value, String> {
    json::check_integers(bytes).map_err(|error| error.to_string())?;
    let value = serde_json::from_slice(bytes).map_err(|error| format!("it is no JSON: {error}"))?;
    depth::check_held(&value).map_err(|error| error.to_string())?;
    Ok(value)
}

/// Refuses bytes that are no JSON of a value which a command may carry, and returns whether `finds` is true
/// of a text in it. The value itself, which may take many times the memory of its bytes, is not made.
///
/// # Errors
/// The reason.
pub fn check(bytes: &[u8], finds: fn(&str) -> bool) -> Result<bool, String> {
    json::check_integers(bytes).map_err(|error| error.to_string())?;
    depth::check_json_value(bytes).map_err(|error| error.to_string())?;
    let is_found = Cell::new(false);
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let read = Checking { finds, is_found: &is_found }.deserialize(&mut reader);
    let read = read.and_then(|()| reader.end());
    read.map_err(|error| format!("it is no JSON: {error}"))?;
    Ok(is_found.get())
}

/// Reads a value to its end, and does not make it.
#[derive(Clone, Copy)]
struct Checking<'f> {
    finds: fn(&str) -> bool,
    is_found: &'f Cell<bool>,
}

impl<'de> DeserializeSeed<'de> for Checking<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Checking<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        if (self.finds)(text) {
            self.is_found.set(true);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while members.next_entry_seed(self, self)?.is_some() {}
        Ok(())
    }
}

/// The names of all payloads for which this value, or a part of it, stands.
pub fn payloads(value: &Value, found: &mut Vec<PayloadHash>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| payloads(item, found)),
        Value::Object(members) => match payload(value) {
            Some(hash) => found.push(hash),
            None => members.values().for_each(|value| payloads(value, found)),
        },
        _ => {}
    }
}

/// The value with what `whole` has in the place of every object that stands for something. Where it has
/// nothing, the object stays.
#[must_use]
pub fn filled(value: Value, whole: &impl Fn(&PayloadHash) -> Option<Value>) -> Value {
    match value {
        Value::Array(items) => {
            Value::Array(items.into_iter().map(|item| filled(item, whole)).collect())
        }
        Value::Object(_) if payload(&value).is_some() => {
            let found = payload(&value).and_then(|hash| whole(&hash));
            found.unwrap_or(value)
        }
        Value::Object(members) => {
            let members = members.into_iter().map(|(name, value)| (name, filled(value, whole)));
            Value::Object(members.collect())
        }
        plain => plain,
    }
}

/// Takes a value away that has more than about `above` bytes and, as JSON, at most `bytes_max`, and
/// leaves the object that stands for it.
pub fn take(value: &mut Value, above: usize, bytes_max: u64, into: &mut Vec<Large>) {
    if weight(value) <= above {
        return;
    }
    let Ok(json) = serde_json::to_vec(value) else { return };
    let bytes = json.len() as u64;
    if bytes > bytes_max {
        return;
    }
    let hash = PayloadHash::of(&json);
    *value = stand_in(&hash, bytes);
    into.push(Large { hash, json });
}

/// [`take`] for each value of a map, without those of envelopes, whose names begin with `__`.
pub fn take_each(map: &mut Map, above: usize, bytes_max: u64, into: &mut Vec<Large>) {
    let values = map.iter_mut().filter(|(name, _)| !name.starts_with("__"));
    values.for_each(|(_, value)| take(value, above, bytes_max, into));
}

/// The approximate size of a value in bytes, counted without recursion.
#[must_use]
pub fn weight(value: &Value) -> usize {
    const EACH: usize = 8;
    let mut bytes = 0;
    let mut rest = vec![value];
    while let Some(value) = rest.pop() {
        bytes += EACH;
        match value {
            Value::String(text) => bytes += text.len(),
            Value::Array(items) => rest.extend(items),
            Value::Object(map) => {
                bytes += map.keys().map(String::len).sum::<usize>();
                rest.extend(map.values());
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_value_is_taken_and_comes_back() {
        let long = "x".repeat(1_000);
        let whole = json!({"lines": [long, 1.5, null]});
        let mut map = Map::from_iter([
            ("large".to_owned(), whole.clone()),
            ("small".to_owned(), json!(1)),
            ("__request".to_owned(), whole.clone()),
        ]);
        let mut taken = Vec::new();
        take_each(&mut map, 500, 100_000, &mut taken);
        let [large] = taken.as_slice() else { panic!("{taken:?}") };
        assert_eq!(PayloadHash::of(&large.json), large.hash);
        assert_eq!(payload(&map["large"]).as_ref(), Some(&large.hash));
        assert_eq!(map["large"]["bytes"], large.json.len());
        assert_eq!((&map["small"], &map["__request"]), (&json!(1), &whole));

        let around = json!({"of": ["a child", map["large"]]});
        let mut found = Vec::new();
        payloads(&around, &mut found);
        assert_eq!(found.first(), Some(&large.hash));
        assert_eq!(found.len(), 1);
        let read = read(&large.json).unwrap();
        assert_eq!(read, whole);
        assert_eq!(filled(around.clone(), &|_| Some(read.clone()))["of"][1], whole);
        assert_eq!(filled(around.clone(), &|_| None), around);
    }

    #[test]
    fn a_value_that_no_payload_may_hold_stays() {
        let mut value = json!("x".repeat(1_000));
        let mut taken = Vec::new();
        take(&mut value, 500, 1_001, &mut taken);
        assert!(value.is_string() && taken.is_empty());
        take(&mut value, 500, 1_002, &mut taken);
        assert!(value.is_object() && taken.len() == 1);
    }

    #[test]
    fn other_objects_stand_for_nothing() {
        let hash = PayloadHash::of(b"1");
        assert!(payload(&json!({PAYLOAD: hash})).is_some());
        for other in [
            json!(hash),
            json!({PAYLOAD: "sha256-1"}),
            json!({PAYLOAD: hash, "bytes": "1"}),
            json!({PAYLOAD: hash, "size": 1}),
            json!({PAYLOAD: hash, "bytes": 1, "name": "a"}),
        ] {
            assert!(payload(&other).is_none(), "{other}");
        }
    }

    #[test]
    fn what_is_no_value_is_refused() {
        assert!(read(b"{").unwrap_err().contains("no JSON"));
        assert!(read(b"123456789012345678901234567890").unwrap_err().contains("64 bits"));
        let deep = "[".repeat(100) + &"]".repeat(100);
        assert!(read(deep.as_bytes()).unwrap_err().contains("nested"));
    }

    #[test]
    fn a_check_says_what_a_reader_says() {
        let good = ["1", "null", r#"{"a": [1.5, -2, "\u00e4", true], "b": {"": {}}}"#];
        for json in good.map(str::as_bytes) {
            assert_eq!((check(json, |_| false), read(json).is_ok()), (Ok(false), true));
        }
        let found = |json: &str| check(json.as_bytes(), |text| text.starts_with("{a"));
        assert_eq!(found(r#"[1, {"b": ["\u007ba"]}]"#), Ok(true));
        assert_eq!(found(r#"[1, {"b": ["a"]}]"#), Ok(false));
        let check = |json: &[u8]| check(json, |_| false);
        let lone = r#""\ud800""#.as_bytes();
        for json in [&b""[..], b"{", b"[1,]", b"1 2", b"1e999", b"\"\xff\"", lone, b"nul"] {
            assert!(check(json).unwrap_err().contains("no JSON"), "{json:?}");
            assert!(read(json).is_err(), "{json:?}");
        }
        assert!(check(b"123456789012345678901234567890").unwrap_err().contains("64 bits"));
        let nested = |levels| "[".repeat(levels) + &"]".repeat(levels);
        assert_eq!(check(nested(64).as_bytes()), Ok(false));
        assert!(check(nested(65).as_bytes()).unwrap_err().contains("nested"));
    }
}
