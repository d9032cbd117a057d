//! `staunch decode`: shows a message in MessagePack as JSON.

use std::fs::File;
use std::io::{Read, stdin};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use protocol::{ContentType, decode_body};
use serde_json::Value;

use crate::{Failure, output};

/// Bytes of a message: no broker takes larger ones from Staunch.
const BYTES_MAX: u64 = 8 * 1024 * 1024;

#[derive(Args, Debug)]
pub(crate) struct DecodeArgs {
    /// A file with the bytes, such as `nats sub --raw` writes; standard input without it
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The bytes are written in base64
    #[arg(long)]
    base64: bool,
}

/// Prints the message.
///
/// # Errors
/// When it cannot be read, or is not MessagePack.
pub(crate) fn run(args: &DecodeArgs) -> Result<(), Failure> {
    let bytes = match &args.file {
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
    let bytes = match is_base64 {
        true => STANDARD
            .decode(bytes.trim_ascii())
            .map_err(|error| Failure::usage(format!("this is not base64: {error}")))?,
        false => bytes.to_vec(),
    };
    decode_body(ContentType::MessagePack, &bytes)
        .map_err(|error| Failure::usage(format!("this is not a message in MessagePack: {error}")))
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
        for (wrong, is_base64) in [(&b"\xc1"[..], false), (b"", false), (b"?", true)] {
            assert_eq!(decoded(wrong, is_base64).unwrap_err().kind, Kind::Usage);
        }
    }
}
