//! Encodes and decodes bodies.

mod members;

use model::depth;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::ContentType;

/// A message cannot be read; the text gives the reason to its sender.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0}")]
pub struct Garbled(pub String);

impl From<depth::TooDeep> for Garbled {
    fn from(error: depth::TooDeep) -> Self {
        Self(error.to_string())
    }
}

/// Reads a body. An empty JSON body is an empty object, so that `nats pub subject ''` works.
/// Members that the type does not have are ignored.
///
/// # Errors
/// [`Garbled`] says what is wrong and, for JSON, at which line and column. A body that nests deeper
/// than [`limits::CARRIER_DEPTH_MAX`](model::limits::CARRIER_DEPTH_MAX) is refused unread.
pub fn decode_body<T: DeserializeOwned>(kind: ContentType, bytes: &[u8]) -> Result<T, Garbled> {
    match kind {
        ContentType::Json => {
            depth::check_json_carrier(bytes)?;
            let bytes = or_empty_object(bytes);
            model::json::check_integers(bytes)
                .map_err(|flaw| Garbled(format!("in the body, {flaw}")))?;
            serde_json::from_slice(bytes).map_err(|error| {
                Garbled(format!("the body is not the JSON that is expected: {error}"))
            })
        }
        ContentType::MessagePack => {
            depth::check_messagepack_carrier(bytes)?;
            rmp_serde::from_slice(bytes).map_err(|error| {
                Garbled(format!("the body is not the MessagePack that is expected: {error}"))
            })
        }
    }
}

/// Reads the body of a command, as [`decode_body`] does. In JSON, which people write, a member that
/// the type does not have is refused. In MessagePack, which nodes send, it is ignored: a node of a
/// later version may send it.
///
/// # Errors
/// As [`decode_body`], and [`Garbled`] for an unknown member in JSON.
pub(crate) fn decode_exact<T: DeserializeOwned>(
    kind: ContentType,
    bytes: &[u8],
) -> Result<T, Garbled> {
    let body = decode_body(kind, bytes).map_err(|error| members::explained(error, bytes))?;
    if kind == ContentType::Json {
        members::check::<T>(or_empty_object(bytes))?;
    }
    Ok(body)
}

fn or_empty_object(bytes: &[u8]) -> &[u8] {
    if bytes.trim_ascii().is_empty() { b"{}" } else { bytes }
}

/// Writes a body, with named members in both encodings.
///
/// # Errors
/// [`Garbled`] when a value has no form in the encoding, such as a map with keys that are not text.
pub fn encode_body<T: Serialize>(kind: ContentType, body: &T) -> Result<Vec<u8>, Garbled> {
    match kind {
        ContentType::Json => serde_json::to_vec(body).map_err(|error| Garbled(error.to_string())),
        ContentType::MessagePack => {
            rmp_serde::to_vec_named(body).map_err(|error| Garbled(error.to_string()))
        }
    }
}
