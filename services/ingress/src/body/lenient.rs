//! Reads JSON as clients of .NET write it: the members of a request in any case, and null for a
//! member that is absent. Values of the caller, such as the input of a workflow, stay as they are.

use std::iter::Enumerate;
use std::vec::IntoIter;

use model::Map;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error as _, IntoDeserializer as _, MapAccess,
    SeqAccess, Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::Value;

use super::mismatch::Mismatch;

/// Reads a value as a request.
///
/// # Errors
/// The member that does not fit.
pub(crate) fn from_value<T: DeserializeOwned>(value: Value) -> Result<T, Mismatch> {
    T::deserialize(Lenient(value))
}

/// The member of this name, in any case.
pub(crate) fn is_member(name: &str, members: &[&str]) -> bool {
    members.iter().any(|member| member.eq_ignore_ascii_case(name))
}

/// Takes a member out of an object, by its name in any case; none if it is absent.
///
/// # Errors
/// When the object has it twice.
pub(crate) fn take(members: &mut Map, name: &str) -> Result<Option<Value>, Mismatch> {
    let is_it = |member: &&String| member.eq_ignore_ascii_case(name);
    let Some(found) = members.keys().find(is_it).cloned() else { return Ok(None) };
    let value = members.shift_remove(&found);
    match members.keys().any(|member| is_it(&member)) {
        true => Err(Mismatch::custom(format!("duplicate field `{name}`"))),
        false => Ok(value),
    }
}

struct Lenient(Value);

/// The name that a type has for this member.
fn known(name: String, members: &'static [&'static str]) -> String {
    if members.contains(&name.as_str()) {
        return name;
    }
    let found = members.iter().find(|member| member.eq_ignore_ascii_case(&name));
    found.map_or(name, |member| (*member).to_owned())
}

/// A whole number that is written with a point, such as `5.0`, without it.
fn whole(value: Value) -> Value {
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    match value.as_f64() {
        Some(number) if value.is_f64() && number.fract() == 0.0 && number.abs() < EXACT_MAX => {
            format!("{number:.0}").parse::<i64>().map_or(value, Value::from)
        }
        _ => value,
    }
}

/// The members of an object; an error names the one that it is in.
struct Members<I> {
    rest: I,
    next: Option<(String, Value)>,
}

impl<'de, I: Iterator<Item = (String, Value)>> MapAccess<'de> for Members<I> {
    type Error = Mismatch;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Mismatch> {
        self.next = self.rest.next();
        let Some((name, _)) = &self.next else { return Ok(None) };
        seed.deserialize(name.as_str().into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Mismatch> {
        let next = self.next.take();
        let (name, value) =
            next.ok_or_else(|| Mismatch::custom("there is a value without a name"))?;
        seed.deserialize(Lenient(value)).map_err(|mismatch| mismatch.within(&name))
    }
}

/// The items of a list; an error names the one that it is in.
struct Items(Enumerate<IntoIter<Value>>);

impl<'de> SeqAccess<'de> for Items {
    type Error = Mismatch;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Mismatch> {
        let Some((at, value)) = self.0.next() else { return Ok(None) };
        let read = seed.deserialize(Lenient(value)).map(Some);
        read.map_err(|mismatch| mismatch.within(&format!("[{at}]")))
    }
}

impl<'de> Deserializer<'de> for Lenient {
    type Error = Mismatch;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        Ok(self.0.deserialize_any(visitor)?)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        let members = match self.0 {
            Value::Object(members) => members,
            // A list is no request, though serde would read its items as members.
            Value::Array(_) => return Err(Mismatch::invalid_type(Unexpected::Seq, &visitor)),
            other => return Ok(other.deserialize_any(visitor)?),
        };
        let members = members.into_iter().map(|(name, value)| (known(name, fields), value));
        let is_absent = |name: &str, value: &Value| value.is_null() && fields.contains(&name);
        let rest = members.filter(|(name, value)| !is_absent(name, value));
        visitor.visit_map(Members { rest, next: None })
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match self.0 {
            Value::Array(items) => visitor.visit_seq(Items(items.into_iter().enumerate())),
            other => Ok(other.deserialize_seq(visitor)?),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        Ok(self.0.deserialize_enum(name, variants, visitor)?)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        Ok(whole(self.0).deserialize_any(visitor)?)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        Ok(whole(self.0).deserialize_any(visitor)?)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct tuple tuple_struct map identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(rename_all = "camelCase", default, deny_unknown_fields)]
    struct Inner {
        some_name: Option<String>,
        names: Vec<String>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Outer {
        page_size: u32,
        #[serde(default)]
        is_system: bool,
        #[serde(default)]
        input: Value,
        #[serde(default)]
        inner: Vec<Inner>,
        one: Option<Inner>,
    }

    #[test]
    fn members_are_found_in_any_case_and_null_is_absent() {
        let read: Outer = from_value(json!({"PageSize": 7.0, "issystem": null, "Other": 1,
            "INPUT": {"Name": null, "some": {"PageSize": 1}},
            "Inner": [{"SomeName": "a", "Names": null}, {"names": ["b"]}],
            "one": {"SOMENAME": null}}))
        .unwrap();
        let inner = |some_name: Option<&str>, names: &[&str]| Inner {
            some_name: some_name.map(str::to_owned),
            names: names.iter().map(|name| (*name).to_owned()).collect(),
        };
        let expected = Outer {
            page_size: 7,
            is_system: false,
            input: json!({"Name": null, "some": {"PageSize": 1}}),
            inner: vec![inner(Some("a"), &[]), inner(None, &["b"])],
            one: Some(Inner::default()),
        };
        assert_eq!(read, expected);
    }

    #[test]
    fn a_member_is_taken_in_any_case() {
        let members = |value: Value| value.as_object().cloned().unwrap();
        let mut some = members(json!({"a": 1, "TYPE": "x", "b": 2}));
        assert_eq!(take(&mut some, "type").unwrap(), Some(json!("x")));
        assert_eq!(some, members(json!({"a": 1, "b": 2})));
        assert_eq!(take(&mut some, "type").unwrap(), None);
        let twice = take(&mut members(json!({"type": "x", "Type": "y"})), "type");
        assert_eq!(twice.unwrap_err().to_string(), "duplicate field `type`");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let refused = |value: Value| from_value::<Outer>(value).unwrap_err().to_string();
        assert!(refused(json!({"PageSize": null})).contains("missing field `pageSize`"));
        assert!(refused(json!({"pageSize": 7.5})).starts_with("pageSize is 7.5, and has to be"));
        assert!(refused(json!({"PageSize": "7"})).starts_with("pageSize is \"7\", and has to be"));
        let names = refused(json!({"pageSize": 7, "inner": [{}, {"names": ["a", 1]}]}));
        assert_eq!(names, "inner[1].names[1] is 1, and has to be a text");
        let input = refused(json!({"pageSize": 7, "inner": {}}));
        assert_eq!(input, "inner is an object, and has to be a list");
        assert!(refused(json!({"pageSize": 7, "PAGESIZE": 8})).contains("duplicate field"));
        assert!(refused(json!({"pageSize": 7, "inner": [{"more": 1}]})).contains("unknown field"));
        assert!(refused(json!({"pageSize": 7, "one": {"more": null}})).contains("unknown field"));
        assert_eq!(refused(json!([7])), "it is a list, and has to be an object");
    }
}
