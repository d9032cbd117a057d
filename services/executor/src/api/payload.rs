//! Reads a payload for a client of NATS: one part for each request, because a message holds no more.

use model::PayloadHash;
use payloads::{Error, Part};
use protocol::{Message, decode_body, header};
use serde::Deserialize;

use super::RequestProblem;
use crate::cx::Cx;

/// The media type of the bytes.
const BYTES: &str = "application/octet-stream";

/// The body of a request; an empty one means the first part.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Wanted {
    /// The number of the part: 0, 1, 2 …
    part: u32,
}

/// The answer with one part of the payload of this name.
pub(super) async fn part(
    cx: &Cx,
    name: &str,
    request: &Message,
) -> Result<Message, RequestProblem> {
    let hash = name.parse::<PayloadHash>();
    let hash = hash.map_err(|error| RequestProblem::bad(error.to_string()))?;
    let wanted = decode_body(request.content_type(), &request.payload);
    let Wanted { part: number } =
        wanted.map_err(|garbled| RequestProblem::bad(garbled.to_string()))?;
    let Part { bytes, size, parts } = cx.payloads.part(&hash, number).await.map_err(problem)?;
    let Some(bytes) = bytes else {
        return Err(RequestProblem::bad(format!(
            "the payload {hash} has no part {number}: ask for 0 to {}",
            parts - 1
        )));
    };
    let mut answer = Message { payload: bytes.into(), ..Message::default() };
    let mut set = |name: &str, value: String| answer.headers.insert(name.to_owned(), value);
    set(header::CONTENT_TYPE, BYTES.to_owned());
    set(header::PAYLOAD_BYTES, size.to_string());
    set(header::PAYLOAD_PARTS, parts.to_string());
    Ok(answer)
}

fn problem(error: Error) -> RequestProblem {
    match error {
        Error::Absent(_) => RequestProblem::absent(error.to_string()),
        Error::Damaged(_) | Error::TooLarge(_) | Error::TooLargeToLoad(_) | Error::Source(_) => {
            RequestProblem { status: 500, title: "Unreadable", detail: error.to_string() }
        }
        Error::Unplaced(..) | Error::Place(..) | Error::Store(_) => {
            RequestProblem::unavailable(&error)
        }
    }
}
