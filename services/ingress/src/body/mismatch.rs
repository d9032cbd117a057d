//! What is wrong with a request that cannot be read: which member, what was sent, and what it has to
//! be.

use std::error::Error;
use std::fmt;

/// The longest value that is shown, in characters.
const SHOWN_CHARS_MAX: usize = 100;

/// A part of a request that does not fit.
#[derive(Debug)]
pub(crate) struct Mismatch {
    /// The part, such as `filter.ids[0]`; empty for the whole.
    place: String,
    /// In the words of serde.
    message: String,
    /// The values of the request are secrets.
    is_secret: bool,
}

impl Mismatch {
    /// The same in a member of this name, or at this position: `[0]`.
    pub(crate) fn within(self, outer: &str) -> Self {
        let joint = if self.place.is_empty() || self.place.starts_with('[') { "" } else { "." };
        Self { place: format!("{outer}{joint}{}", self.place), ..self }
    }

    /// The same without the value that was sent.
    pub(super) fn without_value(self) -> Self {
        Self { is_secret: true, ..self }
    }
}

impl serde::de::Error for Mismatch {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { place: String::new(), message: message.to_string(), is_secret: false }
    }
}

impl From<serde_json::Error> for Mismatch {
    fn from(error: serde_json::Error) -> Self {
        Self { place: String::new(), message: error.to_string(), is_secret: false }
    }
}

impl Error for Mismatch {}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, message, is_secret } = self;
        let message = match message.split_once("unknown variant `") {
            Some(("", _)) if *is_secret => "this is none of the values that it may have",
            _ => message.as_str(),
        };
        match kinds(message, !is_secret) {
            Some((found, expected)) => {
                let part = if place.is_empty() { "it" } else { place.as_str() };
                let found: String = found.chars().take(SHOWN_CHARS_MAX).collect();
                write!(f, "{part} is {found}, and has to be {expected}")
            }
            None if place.is_empty() => f.write_str(message),
            None => write!(f, "{place}: {message}"),
        }
    }
}

/// What was sent and what it has to be, if it is of another kind.
fn kinds(message: &str, shows_values: bool) -> Option<(&str, &str)> {
    let starts = ["invalid type: ", "invalid value: "];
    let rest = starts.iter().find_map(|start| message.strip_prefix(start))?;
    let (found, expected) = rest.rsplit_once(", expected ")?;
    let found = match found.split_once(' ') {
        Some(("string" | "character", _)) if !shows_values => "a text",
        Some(("integer" | "floating", _)) if !shows_values => "a number",
        Some(("boolean", _)) if !shows_values => "true or false",
        Some(("string", value)) => value,
        Some(("integer" | "boolean" | "character", value)) => value.trim_matches('`'),
        Some(("floating", value)) => value.trim_start_matches("point ").trim_matches('`'),
        _ if found == "sequence" => "a list",
        _ if found == "map" => "an object",
        _ if found == "unit value" => "null",
        _ => found,
    };
    let expected = match expected {
        "u32" => "a whole number from 0 to 4294967295",
        "u8" | "u16" | "u64" | "usize" => "a whole number from 0 on",
        "i8" | "i16" | "i32" | "i64" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a string" => "a text",
        "a sequence" => "a list",
        "a map" => "an object",
        other if other.starts_with("struct ") || other.contains("tagged enum ") => "an object",
        other => other,
    };
    Some((found, expected))
}

#[cfg(test)]
mod tests {
    use serde::de::Error as _;

    use super::*;

    #[test]
    fn the_words_are_those_of_json() {
        for (message, expected) in [
            (
                "invalid type: string \"x, expected y\", expected u64",
                "a.b[2] is \"x, expected y\", and has to be a whole number from 0 on",
            ),
            ("invalid type: map, expected a string", "a.b[2] is an object, and has to be a text"),
            ("invalid type: null, expected a sequence", "a.b[2] is null, and has to be a list"),
            (
                "invalid value: integer `-1`, expected u32",
                "a.b[2] is -1, and has to be a whole number from 0 to 4294967295",
            ),
            (
                "invalid type: floating point `7.5`, expected i64",
                "a.b[2] is 7.5, and has to be a whole number",
            ),
            (
                "invalid type: sequence, expected struct LoginRequest",
                "a.b[2] is a list, and has to be an object",
            ),
            ("missing field `x`", "a.b[2]: missing field `x`"),
        ] {
            let mismatch = Mismatch::custom(message).within("[2]").within("b").within("a");
            assert_eq!(mismatch.to_string(), expected);
        }
        let whole = Mismatch::custom("invalid type: boolean `true`, expected struct X");
        assert_eq!(whole.to_string(), "it is true, and has to be an object");
        let long = format!("invalid type: string {:?}, expected a map", "x".repeat(10_000));
        assert!(Mismatch::custom(long).to_string().len() < 200);
    }

    #[test]
    fn a_secret_is_not_shown() {
        for (message, expected) in [
            (
                "invalid type: integer `123`, expected a string",
                "a is a number, and has to be a text",
            ),
            (
                "invalid type: floating point `1.5`, expected a string",
                "a is a number, and has to be a text",
            ),
            (
                "invalid type: boolean `true`, expected a string",
                "a is true or false, and has to be a text",
            ),
            (
                "invalid value: string \"x, expected y\", expected u64",
                "a is a text, and has to be a whole number from 0 on",
            ),
            ("invalid type: map, expected a string", "a is an object, and has to be a text"),
            ("unknown variant `x`, expected `y`", "a: this is none of the values that it may have"),
            ("missing field `x`", "a: missing field `x`"),
        ] {
            let mismatch = Mismatch::custom(message).within("a").without_value();
            assert_eq!(mismatch.to_string(), expected);
        }
    }
}
