//! How deep values nest: lists and objects inside each other.
//!
//! Readers, writers and destructors of values call themselves once per level, so an unbounded value
//! overflows the stack. Code that accepts bytes or a value from outside checks it with these
//! functions first. Their own recursion is bounded by the limit.

use serde_json::Value;

use crate::{Map, limits};

/// A value or a text that nests too deep.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{what} has lists and objects nested more than {max} deep: make it flatter, or give the inner \
     part as text"
)]
pub struct TooDeep {
    /// Its name, such as `the value "Order"`.
    pub what: String,
    /// The number of levels that it may have.
    pub max: usize,
}

/// Checks a value. A text or number has no depth, `[]` is 1 deep, `[{}]` is 2 deep.
///
/// # Errors
/// [`TooDeep`] above [`limits::DEPTH_MAX`].
pub fn check(value: &Value) -> Result<(), TooDeep> {
    check_value(value, limits::DEPTH_MAX)
}

/// Checks a value that an instance holds: one that was checked with [`check`], perhaps in an envelope
/// such as an HTTP request with its body.
///
/// # Errors
/// [`TooDeep`] when it is deeper than a value in its envelope.
pub fn check_held(value: &Value) -> Result<(), TooDeep> {
    check_value(value, limits::DEPTH_MAX + ENVELOPE)
}

fn check_value(value: &Value, levels: usize) -> Result<(), TooDeep> {
    if fits(value, levels) { Ok(()) } else { Err(too_deep("the value", levels)) }
}

/// Checks every value of a map. A name that begins with `__` is an envelope of our own, such as an
/// HTTP request with its body: the values in the envelope are checked.
///
/// # Errors
/// [`TooDeep`] when a value is deeper than [`limits::DEPTH_MAX`].
pub fn check_map(map: &Map) -> Result<(), TooDeep> {
    map.iter().try_for_each(|(name, value)| {
        let envelope = if name.starts_with("__") { ENVELOPE } else { 0 };
        let max = limits::DEPTH_MAX + envelope;
        if fits(value, max) { Ok(()) } else { Err(too_deep(&format!("the value {name:?}"), max)) }
    })
}

fn too_deep(what: &str, max: usize) -> TooDeep {
    TooDeep { what: what.to_owned(), max }
}

/// Levels of an envelope around a value: the object of a request or of a child's end, and the
/// object of a child's outputs.
const ENVELOPE: usize = 2;

fn fits(value: &Value, levels: usize) -> bool {
    let Some(below) = levels.checked_sub(1) else {
        return !matches!(value, Value::Array(_) | Value::Object(_));
    };
    match value {
        Value::Array(items) => items.iter().all(|item| fits(item, below)),
        Value::Object(map) => map.values().all(|value| fits(value, below)),
        _ => true,
    }
}

/// Checks the bytes of a JSON text that is one value, such as the body of an HTTP request. Bytes
/// that are not JSON may pass: their reader refuses them.
///
/// # Errors
/// [`TooDeep`] above [`limits::DEPTH_MAX`].
pub fn check_json_value(bytes: &[u8]) -> Result<(), TooDeep> {
    check_json(bytes, limits::DEPTH_MAX)
}

/// Checks the bytes of a JSON text that carries values, such as a command, before it is read. The
/// values in it are then checked with [`check`].
///
/// # Errors
/// [`TooDeep`] above [`limits::CARRIER_DEPTH_MAX`].
pub fn check_json_carrier(bytes: &[u8]) -> Result<(), TooDeep> {
    check_json(bytes, limits::CARRIER_DEPTH_MAX)
}

/// Checks MessagePack bytes that carry values, such as a command or an instance's state, before
/// they are read. Bytes that are not MessagePack may pass: their reader refuses them.
///
/// # Errors
/// [`TooDeep`] above [`limits::CARRIER_DEPTH_MAX`].
pub fn check_messagepack_carrier(bytes: &[u8]) -> Result<(), TooDeep> {
    // Each level takes a byte at least.
    if bytes.len() <= limits::CARRIER_DEPTH_MAX {
        return Ok(());
    }
    MessagePack { bytes, open: Vec::new() }.walk(limits::CARRIER_DEPTH_MAX).map(|_is_whole| ())
}

/// The number of bytes of the first value in MessagePack bytes; `None` if they end before it does.
///
/// # Errors
/// [`TooDeep`] above [`limits::CARRIER_DEPTH_MAX`].
pub fn messagepack_length(bytes: &[u8]) -> Result<Option<usize>, TooDeep> {
    let mut walker = MessagePack { bytes, open: Vec::new() };
    let is_whole = walker.walk(limits::CARRIER_DEPTH_MAX)?;
    Ok(is_whole.then(|| bytes.len() - walker.bytes.len()))
}

fn check_json(bytes: &[u8], levels: usize) -> Result<(), TooDeep> {
    if bytes.len() <= levels {
        return Ok(());
    }
    let (mut depth, mut in_text, mut is_escaped) = (0_usize, false, false);
    for byte in bytes {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            b'[' | b'{' if !in_text => {
                depth += 1;
                if depth > levels {
                    return Err(too_deep("the JSON", levels));
                }
            }
            b']' | b'}' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

/// Walks over the first value in MessagePack bytes.
struct MessagePack<'a> {
    bytes: &'a [u8],
    /// For each open list and map: the number of values that it still has.
    open: Vec<u64>,
}

impl MessagePack<'_> {
    /// Walks to the end of the value; false if the bytes end too early, whose reader will refuse them.
    fn walk(&mut self, levels: usize) -> Result<bool, TooDeep> {
        while let Some(values) = self.head() {
            if values.is_some() && self.open.len() >= levels {
                return Err(too_deep("the MessagePack", levels));
            }
            self.open.extend(values);
            while self.open.last() == Some(&0) {
                self.open.pop();
            }
            match self.open.last_mut() {
                Some(left) => *left -= 1,
                None => return Ok(true),
            }
        }
        Ok(false)
    }

    /// Skips the head of a value. For a list or a map, returns the number of values in it.
    fn head(&mut self) -> Option<Option<u64>> {
        let marker = self.number(1)?;
        let low = |bits: u64| marker & bits;
        let plain = match marker {
            0x80..=0x8f => return Some(Some(low(0x0f) * 2)),
            0x90..=0x9f => return Some(Some(low(0x0f))),
            0xdc => return self.number(2).map(Some),
            0xdd => return self.number(4).map(Some),
            0xde => return self.number(2).map(|entries| Some(entries * 2)),
            0xdf => return self.number(4).map(|entries| Some(entries * 2)),
            0xa0..=0xbf => low(0x1f),
            0xc4 | 0xd9 => self.number(1)?,
            0xc5 | 0xda => self.number(2)?,
            0xc6 | 0xdb => self.number(4)?,
            // Extensions have a byte for their type.
            0xc7 => self.number(1)? + 1,
            0xc8 => self.number(2)? + 1,
            0xc9 => self.number(4)? + 1,
            0xd4..=0xd8 => (1 << (marker - 0xd4)) + 1,
            0xca | 0xce | 0xd2 => 4,
            0xcb | 0xcf | 0xd3 => 8,
            0xcc | 0xd0 => 1,
            0xcd | 0xd1 => 2,
            // Small numbers, nil, booleans, and the one marker without a meaning.
            _ => 0,
        };
        self.bytes = self.bytes.get(usize::try_from(plain).ok()?..)?;
        Some(None)
    }

    fn number(&mut self, bytes: usize) -> Option<u64> {
        let (number, rest) = self.bytes.split_at_checked(bytes)?;
        self.bytes = rest;
        Some(number.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn nested(levels: usize) -> Value {
        let wrap = |value, level: usize| match level % 2 {
            0 => Value::Array(vec![json!(1), json!("]}"), value, json!(2)]),
            _ => Value::Object(Map::from_iter([
                ("a\"[{".to_owned(), json!("\\")),
                ("b".to_owned(), value),
            ])),
        };
        (0..levels).fold(json!("x"), wrap)
    }

    #[test]
    fn the_limit_is_the_same_for_values_and_bytes() {
        for levels in 0..200 {
            let value = nested(levels);
            let is_fit = levels <= limits::DEPTH_MAX;
            assert_eq!(check(&value).is_ok(), is_fit, "{levels}");
            let text = value.to_string();
            assert_eq!(check_json_value(text.as_bytes()).is_ok(), is_fit, "{levels}");
            let is_carried = levels <= limits::CARRIER_DEPTH_MAX;
            assert_eq!(check_json_carrier(text.as_bytes()).is_ok(), is_carried, "{levels}");
        }
    }

    #[test]
    fn the_sentence_has_the_limit_that_was_passed() {
        let deep = nested(97);
        let text = deep.to_string();
        let map = |name: &str| Map::from_iter([(name.to_owned(), deep.clone())]);
        for (checked, expected) in [
            (check(&deep), "the value has lists and objects nested more than 64 deep"),
            (
                check_json_value(text.as_bytes()),
                "the JSON has lists and objects nested more than 64",
            ),
            (
                check_json_carrier(text.as_bytes()),
                "the JSON has lists and objects nested more than 96",
            ),
            (check_messagepack_carrier(&packed(97)), "objects nested more than 96 deep"),
            (check_held(&deep), "nested more than 66 deep"),
            (
                check_map(&map("Order")),
                "the value \"Order\" has lists and objects nested more than 64",
            ),
            (check_map(&map("__HttpRequest")), "nested more than 66 deep"),
        ] {
            let error = checked.unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn envelopes_of_our_own_have_room_around_the_value() {
        let map = |name: &str, value| Map::from_iter([(name.to_owned(), value)]);
        let request = |levels| json!({"method": "POST", "body": nested(levels)});
        assert!(check_map(&map("__HttpRequest", request(64))).is_ok());
        assert!(check_map(&map("a", nested(64))).is_ok());
        assert!(check_map(&map("a", nested(65))).is_err());
        assert!(check_map(&map("__HttpRequest", nested(67))).is_err());
    }

    /// A list inside a list, to this depth, in every form of lists and maps.
    fn packed(levels: usize) -> Vec<u8> {
        const FORMS: [&[u8]; 6] = [
            &[0x91],
            &[0x81, 0xa1, b'a'],
            &[0xdc, 0, 1],
            &[0xdd, 0, 0, 0, 1],
            &[0xde, 0, 1, 0xc4, 1, 0x91],
            &[0xdf, 0, 0, 0, 1, 0xd9, 2, 0x91, 0x91],
        ];
        let mut bytes = vec![0x97];
        // Values of every other form before the deep one.
        bytes.extend([0xcb, 0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0x91]);
        bytes.extend([0xc8, 0, 2, 7, 0x91, 0x91]);
        bytes.extend([0xd6, 7, 0x91, 0x91, 0x91, 0x91]);
        bytes.extend([0xce, 0x91, 0x91, 0x91, 0x91]);
        bytes.extend([0xc3, 0x80]);
        bytes.extend((1..levels).flat_map(|level| FORMS[level % FORMS.len()]));
        bytes.push(0xc0);
        bytes
    }

    #[test]
    fn every_form_of_messagepack_is_counted() {
        for levels in 1..200 {
            let is_fit = levels <= limits::CARRIER_DEPTH_MAX;
            let bytes = packed(levels);
            assert_eq!(check_messagepack_carrier(&bytes).is_ok(), is_fit, "{levels}");
        }
    }

    #[test]
    fn a_value_in_messagepack_has_an_end() {
        for levels in 1..limits::CARRIER_DEPTH_MAX {
            let bytes = packed(levels);
            let more = [&bytes[..], &[0x91, 0xc0]].concat();
            assert_eq!(messagepack_length(&more), Ok(Some(bytes.len())), "{levels}");
            assert_eq!(messagepack_length(&bytes[..bytes.len() - 1]), Ok(None), "{levels}");
        }
        assert_eq!(messagepack_length(&[]), Ok(None));
        assert!(messagepack_length(&packed(200)).is_err());
    }

    #[test]
    fn bytes_that_end_early_and_great_depth_take_no_stack() {
        assert!(check_messagepack_carrier(&[0x91].repeat(1_000_000)).is_err());
        assert!(check_messagepack_carrier(&[0xdf].repeat(1_000_000)).is_err());
        assert!(check_json_carrier(&b"[".repeat(1_000_000)).is_err());
        let bytes = packed(90);
        for end in 0..bytes.len() {
            assert!(check_messagepack_carrier(&bytes[..end]).is_ok(), "{end}");
        }
    }
}
