//! `staunch decode`: shows a message in MessagePack as JSON.

use std::fs::File;
use std::io::{Read, stdin};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use model::depth;
use protocol::{ContentType, decode_body};
use serde_json::Value;

use crate::{Failure, output};

/// Bytes of a message: no broker takes larger ones from Staunch.
const BYTES_MAX: u64 = 8 * 1024 * 1024;

#[derive(Args, Debug)]
pub(crate) struct DecodeArgs {
    /// A file with the bytes, such as `nats sub --raw` writes; standard input without it, and for `-`
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The bytes are written in base64
    #[arg(long)]
    base64: bool,
}

/// Prints the message.
///
/// # Errors
/// When it cannot be read, or is not one message in MessagePack.
pub(crate) fn run(args: &DecodeArgs) -> Result<(), Failure> {
    let bytes = match args.file.as_deref().filter(|path| *path != Path::new("-")) {
        Some(path) => {
            let wrong = |error| Failure::usage(format!("cannot read {}: {error}", path.display()));
            read(File::open(path).map_err(wrong)?, path)?
        }
        None => read(stdin().lock(), Path::new("standard input"))?,
    };
    output::json(&decoded(&bytes, args.base64)?)
}

fn read(from: impl Read, name: &Path) -> Result<Vec<u8>, Failure> {
    let (mut bytes, name) = (Vec::new(), name.display());
    let read = from.take(BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::usage(format!("cannot read {name}: {error}")))?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(Failure::usage(format!("{name} has more than {BYTES_MAX} bytes")));
    }
    Ok(bytes)
}

fn decoded(bytes: &[u8], is_base64: bool) -> Result<Value, Failure> {
    // `nats sub --raw` ends an empty message with a line end, too.
    if matches!(bytes, b"" | b"\n" | b"\r\n") {
        return Err(Failure::usage("the input is empty: give the bytes of a message"));
    }
    let bytes = match is_base64 {
        true => {
            // `base64 FILE` breaks its lines.
            let mut text = bytes.to_vec();
            text.retain(|byte| !byte.is_ascii_whitespace());
            let wrong = |error| Failure::usage(format!("this is not base64: {error}"));
            STANDARD.decode(text).map_err(wrong)?
        }
        false => bytes.to_vec(),
    };
    let value = decode_body(ContentType::MessagePack, &bytes)
        .map_err(|error| garbled(&bytes, &error.to_string()))?;
    let end = depth::messagepack_length(&bytes).ok().flatten().unwrap_or(bytes.len());
    match bytes.get(end..).unwrap_or_default() {
        // `nats sub --raw` ends a message with a line end.
        b"" | b"\n" | b"\r\n" => Ok(value),
        rest => Err(garbled(
            &bytes,
            &format!(
                "it ends with byte {end} of {}, and more follows from byte {} on",
                end + rest.len(),
                end + 1
            ),
        )),
    }
}

/// The failure for bytes that are no message. A letter of JSON is a number in MessagePack.
fn garbled(bytes: &[u8], why: &str) -> Failure {
    let hint = match bytes.trim_ascii_start() {
        [b'{' | b'[', ..] => ". It looks like JSON, which needs no decoding",
        _ => "",
    };
    Failure::usage(format!("this is not a message in MessagePack: {why}{hint}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::failure::Kind;

    #[test]
    fn a_message_is_shown_as_json() {
        let value =
            json!({"definitionId": "order", "input": {"Amount": 12.5, "Tags": ["a", null]}});
        let bytes = protocol::encode_body(ContentType::MessagePack, &value).unwrap();
        assert_eq!(decoded(&bytes, false).unwrap(), value);
        assert_eq!(
            decoded(format!("{}\n", STANDARD.encode(&bytes)).as_bytes(), true).unwrap(),
            value
        );
        for end in ["\n", "\r\n"] {
            let text = STANDARD.encode(&bytes);
            let (first, second) = text.split_at(20);
            let lines = format!("{first}{end}{second}{end}");
            assert_eq!(decoded(lines.as_bytes(), true).unwrap(), value);
            let printed = [&bytes[..], end.as_bytes()].concat();
            assert_eq!(decoded(&printed, false).unwrap(), value);
        }
        for (wrong, is_base64) in [(&b"\xc1"[..], false), (b"?", true)] {
            assert_eq!(decoded(wrong, is_base64).unwrap_err().kind, Kind::Usage);
        }
        for (empty, is_base64) in [(&b""[..], false), (b"\n", false), (b"", true), (b"\r\n", true)]
        {
            let failure = decoded(empty, is_base64).unwrap_err();
            assert_eq!(failure.kind, Kind::Usage);
            assert!(failure.message.starts_with("the input is empty"), "{failure}");
        }
    }

    #[test]
    fn bytes_after_the_message_are_refused() {
        let check = |bytes: &[u8], parts: [&str; 2]| {
            let failure = decoded(bytes, false).unwrap_err();
            assert_eq!(failure.kind, Kind::Usage);
            for part in parts {
                assert!(failure.message.contains(part), "{}", failure.message);
            }
        };
        check(
            b"{\"a\":1}",
            ["ends with byte 1 of 7, and more follows from byte 2 on", "looks like JSON"],
        );
        check(b" [1]\n", ["ends with byte 1 of 5", "looks like JSON"]);
        check(b"\x92\x01\x02\x03", ["ends with byte 3 of 4", "from byte 4 on"]);
    }
}
