//! The members that a struct may have in JSON.

use std::collections::BTreeMap;

use serde::de::value::Error;
use serde::de::{DeserializeOwned, Deserializer, Error as _, IgnoredAny, Visitor};
use serde::forward_to_deserialize_any;

use crate::Garbled;

/// Members of commands that have another name, too.
const OTHER_NAMES: [(&str, &str); 2] = [("result", "output"), ("payload", "input")];

/// The error; where a JSON object has a member under both of its names, it says so.
pub(super) fn explained(error: Garbled, bytes: &[u8]) -> Garbled {
    let is_twice = |name: &str| error.0.contains(&format!("duplicate field `{name}`"));
    let Some((name, other)) = OTHER_NAMES.into_iter().find(|(name, _)| is_twice(name)) else {
        return error;
    };
    match serde_json::from_slice::<BTreeMap<String, IgnoredAny>>(bytes) {
        Ok(given) if given.contains_key(name) && given.contains_key(other) => Garbled(format!(
            "in the body, `{other}` and `{name}` are two names of one member: write one of them"
        )),
        _ => error,
    }
}

/// Refuses a JSON object that has a member which the struct does not have.
pub(super) fn check<T: DeserializeOwned>(bytes: &[u8]) -> Result<(), Garbled> {
    let given: BTreeMap<String, IgnoredAny> = serde_json::from_slice(bytes)
        .map_err(|error| Garbled(format!("the body is not a JSON object: {error}")))?;
    let known = of::<T>();
    let Some(unknown) = given.keys().find(|name| !known.contains(&name.as_str())) else {
        return Ok(());
    };
    let known: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
    let expected = match known.as_slice() {
        [] => "no members at all".to_owned(),
        [one] => one.clone(),
        several => format!("one of {}", several.join(", ")),
    };
    Err(Garbled(format!(
        "the body is not the JSON that is expected: unknown field `{unknown}`, expected {expected}"
    )))
}

/// The names of the members, as the struct's `Deserialize` asks for them.
fn of<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut names: &[&str] = &[];
    drop(T::deserialize(Probe(&mut names)));
    names
}

/// Records the members that a struct asks for, and reads no value.
struct Probe<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        names: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Error> {
        *self.0 = names;
        Err(Error::custom("only the names were wanted"))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Error> {
        Err(Error::custom("not a struct"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
