//! Reads many messages of a stream with one request. Any server that has the stream answers; it
//! keeps nothing for the reader afterwards.

use std::time::Duration;

use async_nats::{HeaderMap, StatusCode};
use bus::{Error, SELECT_BYTES_MAX};
use futures::StreamExt as _;
use model::Timestamp;
use protocol::{Headers, Message};
use serde_json::json;

use crate::api::{Api, headers_in};
use crate::options::ANSWER_MAX;

const SUBJECT: &str = "Nats-Subject";
const SEQUENCE: &str = "Nats-Sequence";
const STORED_AT: &str = "Nats-Time-Stamp";
/// The headers that the server adds to a stored message.
const ADDED: [&str; 7] = [
    "Nats-Stream",
    SUBJECT,
    SEQUENCE,
    STORED_AT,
    "Nats-Num-Pending",
    "Nats-Last-Sequence",
    "Nats-UpTo-Sequence",
];
/// Messages of one request.
const MESSAGES_MAX: usize = 1_024;
/// The wait for the next message of an answer that has begun.
const NEXT_MAX: Duration = Duration::from_secs(1);
/// There is no such message.
const NONE_FOUND: u16 = 404;
/// The answer is complete.
const COMPLETE: u16 = 204;

/// The messages of a stream that match, from a sequence on.
pub(crate) async fn select(
    api: &Api,
    stream: &str,
    filter: &str,
    from: u64,
    max: usize,
) -> Result<Vec<(u64, Timestamp, Message)>, Error> {
    let client = api.client();
    let failed = |error: &dyn std::fmt::Display| {
        Error::Unavailable(format!("the read of {stream}: {error}"))
    };
    let inbox = client.new_inbox();
    let mut answers = client.subscribe(inbox.clone()).await.map_err(|error| failed(&error))?;
    let body = json!({
        "seq": from.max(1),
        "next_by_subj": filter,
        "batch": max.clamp(1, MESSAGES_MAX),
        "max_bytes": SELECT_BYTES_MAX,
    });
    let subject = api.subject(&format!("DIRECT.GET.{stream}"));
    let sent = client.publish_with_reply(subject, inbox, body.to_string().into()).await;
    sent.map_err(|error| failed(&error))?;
    let mut read = Vec::new();
    loop {
        let patience = if read.is_empty() { ANSWER_MAX } else { NEXT_MAX };
        let answer = match tokio::time::timeout(patience, answers.next()).await {
            Ok(Some(answer)) => answer,
            Ok(None) => return Err(Error::Closed),
            // The messages that came are in order and without gaps.
            Err(_) if !read.is_empty() => return Ok(read),
            Err(_) => return Err(Error::Unknown(format!("the read of {stream}"))),
        };
        match answer.status.map(|status| status.as_u16()) {
            None => {}
            Some(COMPLETE | NONE_FOUND) => return Ok(read),
            Some(_) if answer.status == Some(StatusCode::NO_RESPONDERS) => {
                return Err(failed(&"nobody answers"));
            }
            Some(status) => {
                let text = answer.description.as_deref().unwrap_or("refused");
                return Err(failed(&format!("{text} ({status})")));
            }
        }
        let Some(message) = stored(&answer) else {
            return Err(Error::Corrupt(format!("an answer of {stream} has no sequence")));
        };
        read.push(message);
        // Only the end of the answer is missing.
        if read.len() >= max {
            return Ok(read);
        }
    }
}

/// The message as it was stored.
fn stored(answer: &async_nats::Message) -> Option<(u64, Timestamp, Message)> {
    let headers = answer.headers.as_ref()?;
    let text = |name: &str| HeaderMap::get(headers, name).map(|value| value.as_str());
    let sequence = text(SEQUENCE)?.parse().ok()?;
    let stored_at = Timestamp::parse(text(STORED_AT)?).ok()?;
    let subject = text(SUBJECT)?.to_owned();
    let mut kept: Headers = headers_in(Some(headers));
    kept.retain(|name, _| !ADDED.iter().any(|added| added.eq_ignore_ascii_case(name)));
    Some((
        sequence,
        stored_at,
        Message { subject, headers: kept, payload: answer.payload.to_vec() },
    ))
}
