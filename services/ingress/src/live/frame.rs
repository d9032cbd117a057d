//! The hub protocol of SignalR in JSON: records that end with the character 0x1e, one message each.
//!
//! Everything here comes from outside. A record that is too long, is no JSON, or is no message of
//! the protocol is an error with a reason for the client.

use model::{depth, limits};
use serde::Deserialize;
use serde_json::{Value, json};

/// The end of a record.
pub(crate) const END: u8 = 0x1e;

/// The message of a client.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Message {
    /// A call; without an id, its sender wants no answer.
    Invocation { id: Option<String>, target: String, arguments: Vec<Value> },
    /// A call that expects a stream of items, of which this hub has none.
    Stream { id: String, target: String },
    /// A sign of life.
    Ping,
    /// The client leaves.
    Close,
    /// A message that needs no answer.
    Other,
}

/// Splits what arrives into records.
#[derive(Debug, Default)]
pub(crate) struct Records(Vec<u8>);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Raw {
    r#type: u64,
    #[serde(default)]
    invocation_id: Option<String>,
    #[serde(default)]
    target: Option<String>,
    #[serde(default)]
    arguments: Option<Vec<Value>>,
}

#[derive(Deserialize)]
struct Handshake {
    protocol: String,
    version: u64,
}

impl Records {
    /// Adds bytes, and returns the records that are complete, without their ends.
    ///
    /// # Errors
    /// When a record is longer than [`limits::HUB_MESSAGE_BYTES_MAX`].
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, String> {
        let mut records = Vec::new();
        for byte in bytes {
            if *byte == END {
                records.push(std::mem::take(&mut self.0));
            } else if self.0.len() < limits::HUB_MESSAGE_BYTES_MAX {
                self.0.push(*byte);
            } else {
                return Err(format!(
                    "a message has more than {} bytes",
                    limits::HUB_MESSAGE_BYTES_MAX
                ));
            }
        }
        Ok(records)
    }
}

/// Reads the handshake, the first record of a connection.
///
/// # Errors
/// The reason for the client.
pub(crate) fn handshake(record: &[u8]) -> Result<(), String> {
    let Handshake { protocol, version } = parse(record)?;
    match (protocol.as_str(), version) {
        ("json", 1) => Ok(()),
        ("json", version) => Err(format!("version {version} of the protocol is not known: use 1")),
        (protocol, _) => {
            let shown: String = protocol.chars().take(100).collect();
            Err(format!("the protocol {shown:?} is not known: use json"))
        }
    }
}

/// Reads a record after the handshake.
///
/// # Errors
/// The reason for the client.
pub(crate) fn read(record: &[u8]) -> Result<Message, String> {
    let Raw { r#type, invocation_id, target, arguments } = parse(record)?;
    let target = || target.clone().ok_or_else(|| "an invocation has no target".to_owned());
    Ok(match r#type {
        1 => Message::Invocation {
            target: target()?,
            id: invocation_id,
            arguments: arguments.unwrap_or_default(),
        },
        4 => Message::Stream {
            target: target()?,
            id: invocation_id.ok_or("a stream invocation has no invocationId")?,
        },
        6 => Message::Ping,
        7 => Message::Close,
        2 | 3 | 5 | 8 | 9 => Message::Other,
        other => return Err(format!("there is no message of type {other}")),
    })
}

fn parse<T: for<'de> Deserialize<'de>>(record: &[u8]) -> Result<T, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("a message cannot be read: {error}");
    depth::check_json_carrier(record).map_err(|flaw| wrong(&flaw))?;
    serde_json::from_slice(record).map_err(|error| wrong(&error))
}

/// A record with this message.
pub(crate) fn record(message: &Value) -> String {
    format!("{message}{}", char::from(END))
}

/// The answer to a handshake.
pub(crate) fn welcome() -> String {
    record(&json!({}))
}

/// The refusal of a handshake.
pub(crate) fn refusal(reason: &str) -> String {
    record(&json!({ "error": reason }))
}

/// A call of a method of the client.
pub(crate) fn invocation(target: &str, argument: &Value) -> String {
    record(&json!({"type": 1, "target": target, "arguments": [argument]}))
}

/// The end of a call of the client.
pub(crate) fn completion(id: &str, error: Option<&str>) -> String {
    match error {
        // As a method without a result ends.
        None => record(&json!({"type": 3, "invocationId": id, "result": null})),
        Some(error) => record(&json!({"type": 3, "invocationId": id, "error": error})),
    }
}

/// A sign of life.
pub(crate) fn ping() -> String {
    record(&json!({"type": 6}))
}

/// The end of a connection; with `again`, the client may connect again.
pub(crate) fn close(error: Option<&str>, again: bool) -> String {
    let mut message = json!({"type": 7, "allowReconnect": again});
    if let Some(error) = error {
        message["error"] = json!(error);
    }
    record(&message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_found_in_any_pieces() {
        let text = b"{\"a\":1}\x1e{}\x1e\x1e{\"b\"";
        for size in 1..=text.len() {
            let mut records = Records::default();
            let mut found = Vec::new();
            for piece in text.chunks(size) {
                found.extend(records.push(piece).unwrap());
            }
            assert_eq!(found, [b"{\"a\":1}".to_vec(), b"{}".to_vec(), Vec::new()], "{size}");
        }
    }

    #[test]
    fn a_record_without_an_end_is_refused() {
        let mut records = Records::default();
        let piece = [b' '; 1024];
        let ends = (0..100).find_map(|_| records.push(&piece).err());
        assert!(ends.unwrap().contains(&limits::HUB_MESSAGE_BYTES_MAX.to_string()));
        let longest = vec![b' '; limits::HUB_MESSAGE_BYTES_MAX];
        let mut records = Records::default();
        assert_eq!(records.push(&longest), Ok(Vec::new()));
        assert_eq!(records.push(&[END]).unwrap().len(), 1);
    }

    #[test]
    fn only_the_protocol_json_of_version_1_is_spoken() {
        let check = |record: &str, expected: Result<(), &str>| {
            let got = handshake(record.as_bytes());
            match expected {
                Ok(()) => assert_eq!(got, Ok(()), "{record}"),
                Err(part) => assert!(got.unwrap_err().contains(part), "{record}"),
            }
        };
        check(r#"{"protocol":"json","version":1}"#, Ok(()));
        check(r#"{"protocol":"json","version":2}"#, Err("use 1"));
        check(r#"{"protocol":"messagepack","version":1}"#, Err("use json"));
        check("{}", Err("cannot be read"));
        check("", Err("cannot be read"));
        check("\u{0}", Err("cannot be read"));
    }

    #[test]
    fn messages_are_read_and_what_is_none_is_refused() {
        let read = |text: &str| read(text.as_bytes());
        let call = r#"{"type":1,"invocationId":"0","target":"X","arguments":["a"],"headers":{}}"#;
        let invocation = Message::Invocation {
            id: Some("0".to_owned()),
            target: "X".to_owned(),
            arguments: vec![json!("a")],
        };
        assert_eq!(read(call), Ok(invocation));
        assert_eq!(read(r#"{"type":6}"#), Ok(Message::Ping));
        assert_eq!(read(r#"{"type":7,"error":"x"}"#), Ok(Message::Close));
        assert_eq!(read(r#"{"type":9,"sequenceId":1}"#), Ok(Message::Other));
        let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
        for wrong in [
            "",
            "[]",
            "{}",
            "null",
            r#"{"type":1}"#,
            r#"{"type":4,"target":"X"}"#,
            r#"{"type":99}"#,
            r#"{"type":-1}"#,
            r#"{"type":"1"}"#,
            &deep,
            r#"{"type":1,"target":7}"#,
            r#"{"type":1,"target":"X","arguments":{}}"#,
        ] {
            assert!(read(wrong).is_err(), "{wrong:.40}");
        }
    }
}
