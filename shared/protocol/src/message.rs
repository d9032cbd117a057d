//! A message on any bus: subject, headers, bytes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::header;

/// Header names and values. The values of a header that is there several times are one text, each on a line
/// of its own: no value has a line break.
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
    /// A header's value; of several, the first.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.split(header::BETWEEN).next()
    }

    /// The headers as workflows get them: a text for a header that is there once, and a list of texts for
    /// one that is there several times.
    #[must_use]
    pub fn header_values(&self) -> Map<String, Value> {
        let values = self.headers.iter().map(|(name, value)| {
            let values: Vec<_> = value.split(header::BETWEEN).collect();
            let value = if values.len() == 1 { json!(values[0]) } else { json!(values) };
            (name.clone(), value)
        });
        values.collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_that_is_there_several_times_is_a_list() {
        let headers = [("Once", "a, b"), ("Twice", "a\nb"), ("Empty", "")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let message = Message { headers: headers.into(), ..Message::default() };
        assert_eq!((message.header("Once"), message.header("Twice")), (Some("a, b"), Some("a")));
        let expected = json!({"Once": "a, b", "Twice": ["a", "b"], "Empty": ""});
        assert_eq!(Value::Object(message.header_values()), expected);
    }
}
