//! JetStream's own protocol: publishes that are answered with a sequence in a stream, and requests
//! to the API. Error numbers are preserved.

use std::time::Duration;

use async_nats::client::RequestErrorKind;
use async_nats::{Client, HeaderMap, HeaderName, HeaderValue, Request};
use bus::Error;
use bytes::Bytes;
use protocol::{Headers, Message, header};
use serde_json::Value;

use crate::Options;
use crate::connection::Link;
use crate::options::ANSWER_MAX;
use crate::refusals::Refusals;

/// The key is at another sequence; the text ends with that sequence.
pub(crate) const WRONG_LAST_SEQUENCE: u64 = 10071;
/// Another write to the same subject is in progress.
pub(crate) const WRONG_LAST_SEQUENCE_CONSTANT: u64 = 10164;
/// A message with the same id is being stored.
pub(crate) const DUPLICATE_IN_PROCESS: u64 = 10158;
pub(crate) const STREAM_NOT_FOUND: u64 = 10059;
pub(crate) const CONSUMER_NOT_FOUND: u64 = 10014;
pub(crate) const MESSAGE_NOT_FOUND: u64 = 10037;
const MESSAGE_TOO_LARGE: u64 = 10054;
const HEADERS_TOO_LARGE: u64 = 10097;
/// Limits of the stream, the account, the disk or the memory.
const FULL: [u64; 5] = [10077, 10002, 10023, 10028, 10047];

/// JetStream over one connection.
#[derive(Clone)]
pub(crate) struct Api {
    client: Client,
    refusals: Refusals,
    prefix: String,
}

/// JetStream's answer to a publish.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stored {
    pub(crate) sequence: u64,
    pub(crate) duplicate: bool,
}

/// The reason why a request failed.
#[derive(Clone, Debug)]
pub(crate) enum ApiError {
    /// The subject has no subscriber: no stream has it, or its leader is being elected.
    NoResponders,
    /// No answer: the request may have been carried out.
    Timeout,
    /// The client did not send it.
    TooLarge(String),
    /// The user of this process has no permission for the request.
    Denied(String),
    /// JetStream answered with an error.
    Refused { code: u64, text: String },
    /// Any other failure.
    Other(String),
}

impl ApiError {
    pub(crate) fn code(&self) -> Option<u64> {
        match self {
            Self::Refused { code, .. } => Some(*code),
            _ => None,
        }
    }

    /// The error of the port for this failure.
    pub(crate) fn into_error(self, what: &str) -> Error {
        match self {
            Self::NoResponders => Error::Unavailable(format!("{what}: nobody answers")),
            Self::Timeout => Error::Unknown(what.to_owned()),
            Self::TooLarge(text) => Error::TooLarge(format!("{what}: {text}")),
            Self::Denied(text) => Error::Denied(format!("{what}: NATS says {text}")),
            Self::Refused { code, text } => {
                let text = format!("{what}: {text} ({code})");
                match code {
                    MESSAGE_TOO_LARGE | HEADERS_TOO_LARGE => Error::TooLarge(text),
                    STREAM_NOT_FOUND | CONSUMER_NOT_FOUND => Error::NotProvisioned(text),
                    DUPLICATE_IN_PROCESS => Error::Unknown(text),
                    code if FULL.contains(&code) => Error::Full(text),
                    _ => Error::Unavailable(text),
                }
            }
            Self::Other(text) => Error::Unavailable(format!("{what}: {text}")),
        }
    }
}

impl Api {
    pub(crate) fn new(link: &Link, options: &Options) -> Self {
        let prefix = match &options.domain {
            Some(domain) => format!("$JS.{domain}.API"),
            None => "$JS.API".to_owned(),
        };
        Self { client: link.client.clone(), refusals: link.refusals.clone(), prefix }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Why the server has refused a request on this subject just now.
    pub(crate) fn denied(&self, subject: &str) -> Option<String> {
        self.refusals.about(subject)
    }

    /// What the server refuses to this connection.
    pub(crate) fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    /// The full subject of an API call.
    pub(crate) fn subject(&self, call: &str) -> String {
        format!("{}.{call}", self.prefix)
    }

    /// Calls the API and returns its answer.
    pub(crate) async fn call(&self, call: &str, body: &Value) -> Result<Value, ApiError> {
        let payload = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        self.ask(self.subject(call), HeaderMap::new(), payload.into(), ANSWER_MAX).await
    }

    /// Publishes to a stream and waits until it is stored.
    pub(crate) async fn publish(
        &self,
        subject: String,
        headers: HeaderMap,
        payload: Bytes,
        answer_max: Duration,
    ) -> Result<Stored, ApiError> {
        let answer = self.stored(subject, headers, payload, answer_max).await?;
        let sequence = answer["seq"].as_u64().unwrap_or_default();
        Ok(Stored { sequence, duplicate: answer["duplicate"].as_bool().unwrap_or(false) })
    }

    /// As [`Api::publish`]; returns the whole answer of the stream.
    pub(crate) async fn stored(
        &self,
        subject: String,
        headers: HeaderMap,
        payload: Bytes,
        answer_max: Duration,
    ) -> Result<Value, ApiError> {
        let answer = self.ask(subject, headers, payload, answer_max).await?;
        if answer["seq"].as_u64().is_none() {
            return Err(ApiError::Other("the answer has no sequence: is it from a stream?".into()));
        }
        Ok(answer)
    }

    /// Sends a request and returns the answer as it is.
    pub(crate) async fn answer(
        &self,
        subject: String,
        headers: HeaderMap,
        payload: Bytes,
        answer_max: Duration,
    ) -> Result<async_nats::Message, ApiError> {
        let size = payload.len();
        let mut request = Request::new().payload(payload).timeout(Some(answer_max));
        if !headers.is_empty() {
            request = request.headers(headers);
        }
        let answer = self.client.send_request(subject.clone(), request).await;
        answer.map_err(|error| match error.kind() {
            RequestErrorKind::NoResponders => ApiError::NoResponders,
            RequestErrorKind::TimedOut => {
                self.refusals.about(&subject).map_or(ApiError::Timeout, ApiError::Denied)
            }
            RequestErrorKind::MaxPayloadExceeded => {
                ApiError::TooLarge(too_large(&self.client, size))
            }
            RequestErrorKind::InvalidSubject | RequestErrorKind::Other => {
                ApiError::Other(error.to_string())
            }
        })
    }

    async fn ask(
        &self,
        subject: String,
        headers: HeaderMap,
        payload: Bytes,
        answer_max: Duration,
    ) -> Result<Value, ApiError> {
        let answer = self.answer(subject, headers, payload, answer_max).await?;
        let answer: Value = serde_json::from_slice(&answer.payload)
            .map_err(|error| ApiError::Other(format!("the answer is not JSON: {error}")))?;
        match answer.get("error") {
            None => Ok(answer),
            Some(error) => Err(ApiError::Refused {
                code: error["err_code"].as_u64().unwrap_or_default(),
                text: error["description"].as_str().unwrap_or("unknown error").to_owned(),
            }),
        }
    }
}

/// The reason why the client does not send a message of this size.
pub(crate) fn too_large(client: &Client, size: usize) -> String {
    format!(
        "{size} bytes and the headers are more than the {} bytes that the server takes \
         (max_payload)",
        client.server_info().max_payload
    )
}

/// Headers for the wire. The lines of a value become several headers of its name.
pub(crate) fn headers_out(headers: &Headers) -> Result<HeaderMap, Error> {
    let mut out = HeaderMap::new();
    for (name, value) in headers {
        let invalid = |what: &str| Error::Corrupt(format!("the header {name:?} {what}"));
        let name: HeaderName =
            name.parse().map_err(|error| invalid(&format!("is not a valid name: {error}")))?;
        for value in value.split(header::BETWEEN) {
            let value: HeaderValue = value
                .replace('\r', " ")
                .parse()
                .map_err(|error| invalid(&format!("cannot have this value: {error}")))?;
            out.append(name.clone(), value);
        }
    }
    Ok(out)
}

/// Headers from the wire; several values of one are one text.
pub(crate) fn headers_in(headers: Option<&HeaderMap>) -> Headers {
    let mut out = Headers::new();
    for (name, values) in headers.into_iter().flat_map(HeaderMap::iter) {
        let name = name.to_string();
        let between = match name == header::PAYLOAD {
            true => header::PAYLOAD_BETWEEN.to_owned(),
            false => header::BETWEEN.to_string(),
        };
        let values: Vec<_> = values.iter().map(HeaderValue::as_str).collect();
        if !values.is_empty() {
            out.insert(name, values.join(&between));
        }
    }
    out
}

/// A message from the wire.
pub(crate) fn message_in(message: &async_nats::Message) -> Message {
    Message {
        subject: message.subject.to_string(),
        headers: headers_in(message.headers.as_ref()),
        payload: message.payload.to_vec(),
    }
}

/// Nanoseconds, as the API expects durations.
pub(crate) fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_survive_and_cannot_smuggle_others_in() {
        let mut headers = Headers::new();
        headers.insert("Nats-Msg-Id".to_owned(), "a b".to_owned());
        headers.insert("X".to_owned(), "1\r\nNats-Rollup: all".to_owned());
        let sent = headers_out(&headers).unwrap();
        let read = headers_in(Some(&sent));
        assert_eq!(read["Nats-Msg-Id"], "a b");
        assert_eq!(read["X"], "1 \nNats-Rollup: all");
        assert_eq!(read.len(), 2, "{read:?}");
        let mut several = HeaderMap::new();
        for (name, value) in
            [("X", "1"), ("X", "2"), (header::PAYLOAD, "a=b"), (header::PAYLOAD, "c=d")]
        {
            several.append(name, value);
        }
        let read = headers_in(Some(&several));
        assert_eq!((read["X"].as_str(), read[header::PAYLOAD].as_str()), ("1\n2", "a=b, c=d"));
        assert_eq!(headers_in(Some(&headers_out(&read).unwrap())), read, "both are kept");
        headers.insert("bad name\r\n".to_owned(), String::new());
        assert!(headers_out(&headers).is_err());
    }

    #[test]
    fn error_numbers_become_what_the_caller_can_do() {
        let says = |code| ApiError::Refused { code, text: String::new() }.into_error("x");
        assert!(matches!(says(10077), Error::Full(_)));
        assert!(matches!(says(10054), Error::TooLarge(_)));
        assert!(matches!(says(10059), Error::NotProvisioned(_)));
        assert!(matches!(says(10158), Error::Unknown(_)));
        assert!(matches!(ApiError::NoResponders.into_error("x"), Error::Unavailable(_)));
    }
}
