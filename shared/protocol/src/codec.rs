//! Bodies to bytes and back.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::ContentType;

/// Why a message cannot be read. The text is for its sender.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0}")]
pub struct Garbled(pub String);

/// Reads a body. An empty body is an empty JSON object, so that `nats pub subject ''` works.
///
/// # Errors
/// [`Garbled`] says what is wrong and, for JSON, at which line and column.
pub fn decode_body<T: DeserializeOwned>(kind: ContentType, bytes: &[u8]) -> Result<T, Garbled> {
    match kind {
        ContentType::Json => {
            let bytes = if bytes.trim_ascii().is_empty() { b"{}" } else { bytes };
            serde_json::from_slice(bytes).map_err(|error| {
                Garbled(format!("the body is not the JSON that is expected: {error}"))
            })
        }
        ContentType::MessagePack => rmp_serde::from_slice(bytes).map_err(|error| {
            Garbled(format!("the body is not the MessagePack that is expected: {error}"))
        }),
    }
}

/// Writes a body, with named fields in both encodings.
///
/// # Errors
/// [`Garbled`] when a value has no form in the encoding, such as a map with non-text keys.
pub fn encode_body<T: Serialize>(kind: ContentType, body: &T) -> Result<Vec<u8>, Garbled> {
    match kind {
        ContentType::Json => serde_json::to_vec(body).map_err(|error| Garbled(error.to_string())),
        ContentType::MessagePack => {
            rmp_serde::to_vec_named(body).map_err(|error| Garbled(error.to_string()))
        }
    }
}
