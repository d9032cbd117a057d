//! Whole numbers as JSON Schema has them: `2.0` is 2. Clients whose only numbers have a point write them
//! so.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserializer;
use serde::de::{Error, Unexpected, Visitor};

/// Up to here a number with a point is exact.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// Reads a whole number from 0 on.
///
/// # Errors
/// When it is another value, or does not fit into the type.
pub fn number<'de, D: Deserializer<'de>, T: TryFrom<u64>>(deserializer: D) -> Result<T, D::Error> {
    read(deserializer, Number { least: 0 })
}

/// Reads a number of what is numbered from 1 on. 0 is read as well: it is what there is where the member
/// is left out, and refused where the value is checked.
///
/// # Errors
/// As [`number`].
pub fn ordinal<'de, D: Deserializer<'de>, T: TryFrom<u64>>(deserializer: D) -> Result<T, D::Error> {
    read(deserializer, Number { least: 1 })
}

/// Reads a whole number from 0 on, of a member that may be null.
///
/// # Errors
/// As [`number`].
pub fn optional<'de, D: Deserializer<'de>, T: TryFrom<u64>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    deserializer.deserialize_option(Optional(Number { least: 0 }, PhantomData))
}

/// Reads a number as [`ordinal`], of a member that may be null.
///
/// # Errors
/// As [`number`].
pub fn optional_ordinal<'de, D: Deserializer<'de>, T: TryFrom<u64>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    deserializer.deserialize_option(Optional(Number { least: 1 }, PhantomData))
}

fn read<'de, D: Deserializer<'de>, T: TryFrom<u64>>(
    deserializer: D,
    kind: Number,
) -> Result<T, D::Error> {
    let number = deserializer.deserialize_any(kind)?;
    T::try_from(number).ok().ok_or_else(|| {
        D::Error::invalid_value(Unexpected::Unsigned(number), &"a smaller whole number")
    })
}

/// A whole number from 0 on. What is expected is said to be one from `least` on.
#[derive(Clone, Copy)]
struct Number {
    least: u8,
}

impl Visitor<'_> for Number {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number from {} on", self.least)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<u64, E> {
        Ok(number)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<u64, E> {
        u64::try_from(number)
            .ok()
            .ok_or_else(|| E::invalid_value(Unexpected::Signed(number), &self))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<u64, E> {
        let is_whole = number.fract() == 0.0 && (0.0..=EXACT_MAX).contains(&number);
        let whole = is_whole.then(|| format!("{:.0}", number.abs()).parse().ok()).flatten();
        whole.ok_or_else(|| E::invalid_value(Unexpected::Float(number), &self))
    }
}

struct Optional<T>(Number, PhantomData<T>);

impl<'de, T: TryFrom<u64>> Visitor<'de> for Optional<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    fn visit_none<E: Error>(self) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_unit<E: Error>(self) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<T>, D::Error> {
        read(deserializer, self.0).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct Numbers {
        #[serde(deserialize_with = "super::number")]
        version: u32,
        #[serde(deserialize_with = "super::optional")]
        seconds: Option<u64>,
        #[serde(deserialize_with = "super::ordinal")]
        place: u32,
        #[serde(deserialize_with = "super::optional_ordinal")]
        attempt: Option<u32>,
    }

    #[test]
    fn a_whole_number_may_be_written_with_a_point() {
        let read = |text: &str| serde_json::from_str::<Numbers>(text);
        for (text, version, seconds) in [
            ("{}", 0, None),
            (r#"{"version": 2, "seconds": null}"#, 2, None),
            (r#"{"version": 2.0, "seconds": 1e3}"#, 2, Some(1_000)),
            (r#"{"version": -0.0, "seconds": 18446744073709551615}"#, 0, Some(u64::MAX)),
            (r#"{"version": 4294967295.0}"#, u32::MAX, None),
        ] {
            let expected = Numbers { version, seconds, ..Numbers::default() };
            assert_eq!(read(text).unwrap(), expected, "{text}");
        }
        let zero = read(r#"{"place": 0, "attempt": 0}"#).unwrap();
        assert_eq!((zero.place, zero.attempt), (0, Some(0)), "refused where they are checked");
        for (text, reason) in [
            (r#"{"version": 2.5}"#, "floating point `2.5`, expected a whole number from 0 on"),
            (r#"{"seconds": 0.5}"#, "floating point `0.5`, expected a whole number from 0 on"),
            (r#"{"seconds": -1}"#, "integer `-1`, expected a whole number from 0 on"),
            (r#"{"seconds": "1"}"#, "string \"1\", expected a whole number from 0 on"),
            (r#"{"seconds": 1e300}"#, "expected a whole number from 0 on"),
            (r#"{"version": 4294967296.0}"#, "`4294967296`, expected a smaller whole number"),
            (r#"{"version": null}"#, "null, expected a whole number from 0 on"),
            (r#"{"place": -1}"#, "integer `-1`, expected a whole number from 1 on"),
            (r#"{"place": "1"}"#, "string \"1\", expected a whole number from 1 on"),
            (r#"{"place": 1.5}"#, "floating point `1.5`, expected a whole number from 1 on"),
            (r#"{"place": null}"#, "null, expected a whole number from 1 on"),
            (r#"{"attempt": -1}"#, "integer `-1`, expected a whole number from 1 on"),
            (r#"{"attempt": 0.5}"#, "floating point `0.5`, expected a whole number from 1 on"),
        ] {
            let refused = read(text).unwrap_err().to_string();
            assert!(refused.contains(reason), "{text}: {refused}");
        }
    }
}
