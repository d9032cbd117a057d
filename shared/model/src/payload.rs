//! Payloads: contents that rest beside the instances that refer to them. A value names one by its
//! content, so that the same bytes rest once, and a reader can check what it reads.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The beginning of every name: the digest that it is made with.
const BEGIN: &str = "sha256-";
/// Bytes of a SHA-256 digest (FIPS 180-4) in hexadecimal digits.
const DIGITS: usize = 64;

/// The name of a payload: `sha256-` and the digest of its bytes, in 64 lowercase hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
pub struct PayloadHash(String);

/// A text is not the name of a payload.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not the name of a payload: it is `sha256-` and 64 hexadecimal digits, in lower case"
)]
pub struct InvalidPayloadHash(String);

/// Makes the name of bytes that come in parts.
#[derive(Clone, Debug, Default)]
pub struct PayloadHasher(Sha256);

impl PayloadHash {
    /// The name of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let mut hasher = PayloadHasher::default();
        hasher.update(bytes);
        hasher.finish()
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Every name in these bytes, whatever they are: JSON, MessagePack, or text. What only looks like a
    /// name is found, too.
    #[must_use]
    pub fn named_in(bytes: &[u8]) -> BTreeSet<Self> {
        let mut found = BTreeSet::new();
        let mut rest = bytes;
        while let Some(at) = memchr::memmem::find(rest, BEGIN.as_bytes()) {
            rest = &rest[at + BEGIN.len()..];
            let digits = rest.get(..DIGITS).and_then(|digits| std::str::from_utf8(digits).ok());
            if let Some(hash) = digits.and_then(|digits| format!("{BEGIN}{digits}").parse().ok()) {
                found.insert(hash);
            }
        }
        found
    }
}

impl PayloadHasher {
    /// Takes the next part.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The name of all parts.
    #[must_use]
    pub fn finish(self) -> PayloadHash {
        let digits: String = self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        PayloadHash(format!("{BEGIN}{digits}"))
    }
}

impl FromStr for PayloadHash {
    type Err = InvalidPayloadHash;

    fn from_str(text: &str) -> Result<Self, InvalidPayloadHash> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let digits = text.strip_prefix(BEGIN);
        match digits.is_some_and(|digits| digits.len() == DIGITS && digits.bytes().all(is_digit)) {
            true => Ok(Self(text.to_owned())),
            false => Err(InvalidPayloadHash(text.chars().take(DIGITS + BEGIN.len() + 1).collect())),
        }
    }
}

impl TryFrom<String> for PayloadHash {
    type Error = InvalidPayloadHash;

    fn try_from(text: String) -> Result<Self, InvalidPayloadHash> {
        text.parse()
    }
}

impl From<PayloadHash> for String {
    fn from(hash: PayloadHash) -> Self {
        hash.0
    }
}

impl fmt::Display for PayloadHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The digest of "abc" in FIPS 180-4.
    const ABC: &str = "sha256-ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn names_are_digests() {
        assert_eq!(PayloadHash::of(b"abc").as_str(), ABC);
        let mut parts = PayloadHasher::default();
        parts.update(b"a");
        parts.update(b"bc");
        assert_eq!(parts.finish().to_string(), ABC);
        assert_eq!(ABC.parse(), Ok(PayloadHash::of(b"abc")));
        for wrong in ["", "sha256-", &ABC[..70], &ABC.to_uppercase(), &format!("{ABC}0"), "sha1-aa"]
        {
            wrong.parse::<PayloadHash>().unwrap_err();
        }
    }

    #[test]
    fn names_are_found_in_any_bytes() {
        let other = PayloadHash::of(b"");
        let text = format!("\u{0}x{ABC}sha256-{ABC},{other}\",sha256-12 {}", &ABC[..70]);
        let found = PayloadHash::named_in(text.as_bytes());
        assert_eq!(found, BTreeSet::from([PayloadHash::of(b"abc"), other]));
        assert!(PayloadHash::named_in(b"sha256-").is_empty());
    }
}
