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
    let number = deserializer.deserialize_any(Number)?;
    T::try_from(number).ok().ok_or_else(|| {
        D::Error::invalid_value(Unexpected::Unsigned(number), &"a smaller whole number")
    })
}

/// Reads a whole number from 0 on, of a member that may be null.
///
/// # Errors
/// As [`number`].
pub fn optional<'de, D: Deserializer<'de>, T: TryFrom<u64>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    deserializer.deserialize_option(Optional(PhantomData))
}

struct Number;

impl Visitor<'_> for Number {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number from 0 on")
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

struct Optional<T>(PhantomData<T>);

impl<'de, T: TryFrom<u64>> Visitor<'de> for Optional<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Number.expecting(f)
    }

    fn visit_none<E: Error>(self) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_unit<E: Error>(self) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<T>, D::Error> {
        number(deserializer).map(Some)
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
            assert_eq!(read(text).unwrap(), Numbers { version, seconds }, "{text}");
        }
        for (text, reason) in [
            (r#"{"version": 2.5}"#, "floating point `2.5`, expected a whole number from 0 on"),
            (r#"{"seconds": 0.5}"#, "floating point `0.5`, expected a whole number from 0 on"),
            (r#"{"seconds": -1}"#, "integer `-1`, expected a whole number from 0 on"),
            (r#"{"seconds": "1"}"#, "string \"1\", expected a whole number from 0 on"),
            (r#"{"seconds": 1e300}"#, "expected a whole number from 0 on"),
            (r#"{"version": 4294967296.0}"#, "`4294967296`, expected a smaller whole number"),
            (r#"{"version": null}"#, "null, expected a whole number from 0 on"),
        ] {
            let refused = read(text).unwrap_err().to_string();
            assert!(refused.contains(reason), "{text}: {refused}");
        }
    }
}
