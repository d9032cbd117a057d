//! A message on any bus: subject, headers, bytes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::header;

/// Header names and values.
pub type Headers = BTreeMap<String, String>;

/// The encoding of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentType {
    /// `application/json`: written and read by people.
    Json,
    /// `application/msgpack`: sent between our services.
    MessagePack,
}

impl ContentType {
    /// The value of the header.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::MessagePack => "application/msgpack",
        }
    }
}

/// A message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The subject.
    pub subject: String,
    /// Header names and values.
    pub headers: Headers,
    /// The body.
    #[serde(with = "serde_bytes_compat")]
    pub payload: Vec<u8>,
}

impl Message {
    /// A header's value.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// The deduplication key.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.header(header::MESSAGE_ID)
    }

    /// The encoding of the body; JSON unless the header says otherwise.
    #[must_use]
    pub fn content_type(&self) -> ContentType {
        match self.header(header::CONTENT_TYPE) {
            Some(text) if text.trim().starts_with("application/msgpack") => {
                ContentType::MessagePack
            }
            _ => ContentType::Json,
        }
    }
}

/// Bytes as one MessagePack bin, not as an array of integers.
mod serde_bytes_compat {
    use serde::{Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytes)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<u8>, D::Error> {
        struct Bytes;
        impl<'de> de::Visitor<'de> for Bytes {
            type Value = Vec<u8>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("bytes")
            }
            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
                Ok(bytes.to_vec())
            }
            fn visit_byte_buf<E: de::Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
                Ok(bytes)
            }
            fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<u8>, A::Error> {
                let mut bytes = Vec::new();
                while let Some(byte) = seq.next_element()? {
                    bytes.push(byte);
                }
                Ok(bytes)
            }
        }
        deserializer.deserialize_byte_buf(Bytes)
    }
}
