//! Searchable values: what a variable is compared as, and the form in which its values sort.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};
use sha2::{Digest as _, Sha256};

use crate::Timestamp;
use crate::limits::SEARCHABLE_TEXT_BYTES_MAX;

/// What the values of a searchable variable are compared as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Searchable {
    /// Texts, by their bytes.
    Text,
    /// Numbers, exactly.
    Number,
    /// Instants, to the millisecond.
    Time,
    /// True and false.
    Boolean,
}

impl Searchable {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Text, Self::Number, Self::Time, Self::Boolean];

    /// The word for it in a definition.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Number => "number",
            Self::Time => "time",
            Self::Boolean => "boolean",
        }
    }

    /// The first character of its keys.
    const fn mark(self) -> char {
        match self {
            Self::Boolean => 'b',
            Self::Number => 'n',
            Self::Text => 't',
            Self::Time => 'w',
        }
    }

    /// The key of a value; none for a value of another type, and for a text with a NUL character.
    #[must_use]
    pub fn key(self, value: &Value) -> Option<SearchKey> {
        let form = match (self, value) {
            (Self::Text, Value::String(text)) if !text.contains('\0') => text_form(text),
            (Self::Number, Value::Number(number)) => number_form(number)?,
            (Self::Time, Value::String(text)) => time_form(Timestamp::parse(text).ok()?),
            (Self::Boolean, Value::Bool(flag)) => u8::from(*flag).to_string(),
            _ => return None,
        };
        Some(SearchKey(format!("{}{form}", self.mark())))
    }

    /// The key of a value that is written as text, as in a filter. A time may be a date: it begins
    /// at midnight in UTC.
    #[must_use]
    pub fn read(self, text: &str) -> Option<SearchKey> {
        let trimmed = text.trim();
        let value = match self {
            Self::Text => Value::from(text),
            Self::Number => Value::Number(trimmed.parse().ok()?),
            Self::Time => {
                let is_date = trimmed.len() == "2026-01-31".len();
                let midnight = if is_date { "T00:00:00Z" } else { "" };
                Value::String(format!("{trimmed}{midnight}"))
            }
            // Clients of .NET write `True`.
            Self::Boolean => Value::Bool(trimmed.to_ascii_lowercase().parse().ok()?),
        };
        self.key(&value)
    }
}

impl fmt::Display for Searchable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Searchable {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|kind| kind.as_str().eq_ignore_ascii_case(text));
        found.ok_or_else(|| format!("{text:?} is not one of text, number, time and boolean"))
    }
}

/// A value in the form in which it is compared: keys of the same kind have the order of their values
/// when they are sorted by bytes. The first character is the kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SearchKey(String);

impl SearchKey {
    /// A key that was stored.
    #[must_use]
    pub const fn new(key: String) -> Self {
        Self(key)
    }

    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The texts between which all keys of the same kind are: the first one included, the second one
    /// not.
    #[must_use]
    pub fn bounds(&self) -> (String, String) {
        let mark: String = self.0.chars().take(1).collect();
        let end = next(&mark);
        (mark, end)
    }

    /// The smallest text that is greater than every key that begins with this one.
    #[must_use]
    pub fn end_of_prefix(&self) -> String {
        next(&self.0)
    }
}

/// The smallest text that is greater than all texts with this beginning.
fn next(text: &str) -> String {
    let mut rest = text.to_owned();
    while let Some(last) = rest.pop() {
        let greater = (u32::from(last) + 1..).take(0x801).find_map(char::from_u32);
        if let Some(greater) = greater {
            rest.push(greater);
            break;
        }
    }
    rest
}

/// The text; of a long one the beginning, and a hash of the whole that keeps it apart from others
/// with the same beginning.
fn text_form(text: &str) -> String {
    if text.len() <= SEARCHABLE_TEXT_BYTES_MAX {
        return text.to_owned();
    }
    let begin = &text[..text.floor_char_boundary(SEARCHABLE_TEXT_BYTES_MAX)];
    let digest = Sha256::digest(text);
    let hash: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("{begin}…{hash}")
}

/// The nearest float in a form that sorts, and what is left of a whole number that no float is.
fn number_form(number: &Number) -> Option<String> {
    const SIGN: u64 = 1 << 63;
    // Zero has one form, whatever its sign.
    let float = number.as_f64()? + 0.0;
    let bits = float.to_bits();
    let sorted = if bits & SIGN == 0 { bits | SIGN } else { !bits };
    let whole = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
    #[expect(clippy::cast_possible_truncation, reason = "the float nearest to a whole number")]
    let left = whole.map_or(0, |whole| whole - float as i128);
    Some(format!("{sorted:016x}{:04x}", left + 0x8000))
}

fn time_form(time: Timestamp) -> String {
    const SIGN: u64 = 1 << 63;
    format!("{:016x}", time.as_millis().cast_unsigned() ^ SIGN)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Values of one kind, the smallest first.
    fn ascend(kind: Searchable, values: &[Value]) {
        let keys: Vec<_> = values.iter().map(|value| kind.key(value).unwrap()).collect();
        for (pair, values) in keys.windows(2).zip(values.windows(2)) {
            assert!(pair[0] < pair[1], "{values:?}: {pair:?}");
        }
        for key in &keys {
            let (from, to) = key.bounds();
            assert!(from.as_str() <= key.as_str() && key.as_str() < to.as_str(), "{key:?}");
        }
    }

    #[test]
    fn keys_have_the_order_of_their_values() {
        let numbers = json!([
            -1e300,
            i64::MIN,
            i64::MIN + 1,
            -9_007_199_254_740_993_i64,
            -9_007_199_254_740_992_i64,
            -1.5,
            -1,
            -1e-300,
            0,
            1e-300,
            0.5,
            1,
            100,
            9_007_199_254_740_992_i64,
            9_007_199_254_740_993_i64,
            9_007_199_254_740_994_i64,
            i64::MAX - 1,
            i64::MAX,
            u64::MAX - 1,
            u64::MAX,
            1e300
        ]);
        ascend(Searchable::Number, numbers.as_array().unwrap());
        let long = |end: &str| json!(format!("{}{end}", "z".repeat(400)));
        let texts = [json!(""), json!("10"), json!("9"), json!("A"), json!("a"), json!("ä")];
        ascend(Searchable::Text, &[&texts[..], &[json!("…")]].concat());
        assert_ne!(Searchable::Text.key(&long("a")), Searchable::Text.key(&long("b")));
        let times = ["0001-01-01T00:00:00Z", "1969-12-31T23:59:59.999Z", "1970-01-01T00:00:00Z"];
        let times: Vec<_> = times.into_iter().chain(["2026-01-31T08:00:00.001Z"]).collect();
        ascend(Searchable::Time, &times.into_iter().map(Value::from).collect::<Vec<_>>());
        ascend(Searchable::Boolean, &[json!(false), json!(true)]);
    }

    #[test]
    fn equal_values_have_one_key() {
        let same = |kind: Searchable, a: Value, b: Value| assert_eq!(kind.key(&a), kind.key(&b));
        same(Searchable::Number, json!(1), json!(1.0));
        same(Searchable::Number, json!(0), json!(-0.0));
        same(Searchable::Time, json!("2026-01-31T08:00:00Z"), json!("2026-01-31T09:00:00+01:00"));
    }

    #[test]
    fn values_of_another_type_have_no_key() {
        for (kind, value) in [
            (Searchable::Number, json!("100")),
            (Searchable::Number, json!(null)),
            (Searchable::Text, json!(100)),
            (Searchable::Text, json!("a\0")),
            (Searchable::Time, json!("soon")),
            (Searchable::Time, json!(1_700_000_000)),
            (Searchable::Boolean, json!("true")),
            (Searchable::Text, json!(["a"])),
        ] {
            assert_eq!(kind.key(&value), None, "{kind} {value}");
        }
    }

    #[test]
    fn a_written_value_has_the_key_of_the_value() {
        for (kind, text, value) in [
            (Searchable::Number, " 2.50 ", json!(2.5)),
            (Searchable::Number, "-1e3", json!(-1000)),
            (Searchable::Time, "2026-01-31", json!("2026-01-31T00:00:00Z")),
            (Searchable::Boolean, "true", json!(true)),
            (Searchable::Boolean, "False", json!(false)),
            (Searchable::Text, " a b ", json!(" a b ")),
        ] {
            assert_eq!(kind.read(text), kind.key(&value), "{kind} {text}");
        }
        for (kind, text) in [
            (Searchable::Number, "many"),
            (Searchable::Number, "1e999"),
            (Searchable::Number, ""),
            (Searchable::Time, "31.1.2026"),
            (Searchable::Boolean, "yes"),
        ] {
            assert_eq!(kind.read(text), None, "{kind} {text}");
        }
    }

    #[test]
    fn a_key_is_short_and_a_prefix_has_an_end() {
        let key = Searchable::Text.key(&json!("é".repeat(10_000))).unwrap();
        assert!(key.as_str().len() <= SEARCHABLE_TEXT_BYTES_MAX + 20, "{}", key.as_str().len());
        let end = |text: &str| Searchable::Text.read(text).unwrap().end_of_prefix();
        assert_eq!(end("ab"), "tac");
        assert_eq!(end(""), "u");
        assert_eq!(end("a\u{d7ff}"), "ta\u{e000}");
        assert_eq!(end("a\u{10ffff}"), "tb");
    }
}
