//! JSON objects, and what a parser does not do with JSON texts: checks, and leaving out a byte order mark.
//!
//! Parsers read an integer that does not fit into 64 bits as a floating-point number, which has
//! fewer digits. An order number would change without a message, so such a text is refused.

use std::fmt;

/// A JSON object: inputs, outputs, payloads.
pub type Map = serde_json::Map<String, serde_json::Value>;

/// The smallest number of digits of an integer that does not fit into 64 bits.
const DIGITS_MIN: usize = 19;
/// Levels of a text whose members are named in the path; deeper ones are not named.
const LEVELS_MAX: usize = 64;
/// Characters of a path that are kept.
const PATH_CHARS_MAX: usize = 256;

/// An integer that does not fit into 64 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LargeInteger {
    /// Its place, such as `input.orders[2].number`; empty for the text as a whole.
    pub path: String,
}

impl fmt::Display for LargeInteger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.path.is_empty() { "the value" } else { &self.path };
        write!(
            f,
            "{place} is an integer of more than 64 bits, which would be rounded: send an \
             integer from {} to {}, or a string where the member takes one",
            i64::MIN,
            u64::MAX
        )
    }
}

impl std::error::Error for LargeInteger {}

/// A JSON text without the byte order mark that some tools write before it: a parser may ignore one
/// (RFC 8259, section 8.1).
#[must_use]
pub fn without_byte_order_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// Refuses a JSON text with an integer that does not fit into 64 bits. A text that is not JSON
/// passes: the parser refuses it.
///
/// # Errors
/// [`LargeInteger`] names the first one.
pub fn check_integers(text: &[u8]) -> Result<(), LargeInteger> {
    if has_long_number(text) { Scan::of(text).run() } else { Ok(()) }
}

/// Whether any run of digits is long enough; most texts have none.
fn has_long_number(text: &[u8]) -> bool {
    let mut run = 0;
    text.iter().any(|byte| {
        run = if byte.is_ascii_digit() { run + 1 } else { 0 };
        run >= DIGITS_MIN
    })
}

/// A level of the text around the current value.
enum Level {
    Array(usize),
    Object(String),
}

struct Scan<'a> {
    text: &'a [u8],
    at: usize,
    levels: Vec<Level>,
    /// The number of open levels that are not in `levels`.
    deeper: usize,
    /// The last string that was read: the name of a member, if a colon follows.
    string: (usize, usize),
}

impl<'a> Scan<'a> {
    fn of(text: &'a [u8]) -> Self {
        Self { text, at: 0, levels: Vec::new(), deeper: 0, string: (0, 0) }
    }

    fn run(mut self) -> Result<(), LargeInteger> {
        while let Some(byte) = self.text.get(self.at) {
            match byte {
                b'"' => self.skip_string(),
                b'-' | b'0'..=b'9' => self.number()?,
                _ => {
                    self.structure(*byte);
                    self.at += 1;
                }
            }
        }
        Ok(())
    }

    fn skip_string(&mut self) {
        let begin = self.at + 1;
        self.at = begin;
        while let Some(byte) = self.text.get(self.at) {
            match byte {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.string = (begin, self.at.min(self.text.len()));
        self.at += 1;
    }

    fn number(&mut self) -> Result<(), LargeInteger> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let is_part = |byte: &u8| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9');
        let length = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        let token = std::str::from_utf8(&rest[..length]).unwrap_or_default();
        self.at += length;
        let is_integer = !token.contains(['.', 'e', 'E', '+']);
        let fits = token.parse::<i64>().is_ok() || token.parse::<u64>().is_ok();
        let is_number = token.bytes().any(|byte| byte.is_ascii_digit());
        if is_integer && is_number && !fits {
            return Err(LargeInteger { path: self.path() });
        }
        Ok(())
    }

    fn structure(&mut self, byte: u8) {
        match byte {
            b'{' | b'[' if self.levels.len() >= LEVELS_MAX => self.deeper += 1,
            b'{' => self.levels.push(Level::Object(String::new())),
            b'[' => self.levels.push(Level::Array(0)),
            b'}' | b']' if self.deeper > 0 => self.deeper -= 1,
            b'}' | b']' => drop(self.levels.pop()),
            b':' if self.deeper == 0 => {
                let (begin, end) = self.string;
                let name = self.text.get(begin..end).unwrap_or_default();
                if let Some(Level::Object(member)) = self.levels.last_mut() {
                    *member = String::from_utf8_lossy(name).into_owned();
                }
            }
            b',' if self.deeper == 0 => {
                if let Some(Level::Array(index)) = self.levels.last_mut() {
                    *index += 1;
                }
            }
            _ => {}
        }
    }

    fn path(&self) -> String {
        let mut path = String::new();
        for level in &self.levels {
            match level {
                Level::Array(index) => path.push_str(&format!("[{index}]")),
                Level::Object(name) => {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(name);
                }
            }
        }
        path.chars().take(PATH_CHARS_MAX).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_with_a_fraction_is_read_to_the_last_digit() {
        for text in ["31.245270191439438", "1.7976931348623157e308", "0.1", "5e-324"] {
            let value: serde_json::Value = serde_json::from_str(text).unwrap();
            assert_eq!(value.as_f64(), text.parse().ok(), "{text}");
        }
    }

    #[test]
    fn one_byte_order_mark_at_the_start_is_left_out() {
        for (text, expected) in [
            ("\u{feff}{}", "{}"),
            ("{}", "{}"),
            ("\u{feff}", ""),
            ("", ""),
            ("\u{feff}\u{feff}1", "\u{feff}1"),
            ("\"\u{feff}\"", "\"\u{feff}\""),
        ] {
            assert_eq!(without_byte_order_mark(text.as_bytes()), expected.as_bytes(), "{text:?}");
        }
    }

    #[test]
    fn integers_that_would_be_rounded_are_found_with_their_place() {
        let found = |text: &str| check_integers(text.as_bytes()).err().map(|found| found.path);
        for text in [
            "18446744073709551615",
            "-9223372036854775808",
            r#"{"a": [1, 9223372036854775808]}"#,
            r#""18446744073709551616""#,
            r#"{"18446744073709551616": "x\"99999999999999999999\""}"#,
            "1844674407370955161.5",
            "1e30",
            "0.1234567890123456789012",
            "no JSON at all",
            "",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
        for (text, path) in [
            ("18446744073709551616", ""),
            ("-9223372036854775809", ""),
            (r#"{"a": 1, "b": {"c": [0, {"d": 18446744073709551616}]}}"#, "b.c[1].d"),
            (r#"[[1],[2,99999999999999999999999]]"#, "[1][1]"),
            (r#"{"x": "}", "y": 18446744073709551616}"#, "y"),
        ] {
            assert_eq!(found(text).as_deref(), Some(path), "{text}");
        }
        let deep = format!("{}18446744073709551616{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(found(&deep).is_some());
        let error = check_integers(b"{\"n\": 18446744073709551616}").unwrap_err();
        assert!(error.to_string().starts_with("n is an integer of more than 64 bits"), "{error}");
    }
}
