//! Messages, requests, keys and objects: NATS as workflows use it.
//!
//! A repeated call has the same key: it is the id of a message, so that a stream stores it once within
//! its duplicate window, and that of a write to a bucket. A plain message may come twice after a crash.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bus::{Content, KeyValue, Outside, OutsideError, Put};
use engine::outside::{NatsConfig, check_bucket, check_key, check_subject};
use engine::{NatsCall, Outgoing};
use model::{DefinitionId, Map, depth, file, limits, media};
use protocol::{Headers, Message, header, subject};
use serde_json::{Value, json};

use crate::calls::{CallEnd, ErrorKind};
use crate::depot::Depot;

/// The wait for an answer, where the call does not say one.
const ANSWER_TIME: Duration = Duration::from_secs(5);
/// The usual wait until a stream has a message: longer than its servers need to choose a new leader.
const STORED_TIME: Duration = Duration::from_secs(20);
/// The headers of the Services API that mark an error.
const ERROR: &str = "Nats-Service-Error";
const ERROR_CODE: &str = "Nats-Service-Error-Code";
/// Characters of a code that is no number, in the message about it.
const CODE_CHARS_MAX: usize = 50;
/// The media type of a content that has none.
const UNKNOWN_TYPE: &str = "application/octet-stream";
/// The prefix of headers that say to a stream what to do.
const RESERVED: &str = "nats-";

/// Makes calls to NATS.
pub(crate) struct Nats {
    outside: Option<Arc<dyn Outside>>,
    config: NatsConfig,
    depot: Depot,
}

/// The content of a message, as workflows get it: JSON as a value, text, or a file.
///
/// # Errors
/// It is too large.
pub fn message_value(message: &Message) -> Result<Value, String> {
    received(&message.payload, of_header(message, header::CONTENT_TYPE))
}

/// Why [`message_value`] gives the body of a message as no JSON value; nothing where it does.
#[must_use]
pub fn why_no_json(message: &Message) -> Option<String> {
    let (bytes, kind) = (&message.payload, of_header(message, header::CONTENT_TYPE));
    if bytes.is_empty() {
        return Some("it is empty".to_owned());
    }
    let text = match media::text(kind, bytes) {
        Ok(Some(text)) => text,
        Ok(None) => return Some("it is no text in UTF-8".to_owned()),
        Err(flaw) => return Some(flaw.to_string()),
    };
    if let Some(kind) = kind
        && media::essence(kind).is_some_and(|essence| !media::is_json(&essence))
    {
        return Some(format!("its Content-Type is {kind}"));
    }
    if let Err(flaw) = model::json::check_integers(text.as_bytes()) {
        return Some(flaw.to_string());
    }
    if let Err(flaw) = depth::check_json_value(text.as_bytes()) {
        return Some(flaw.to_string());
    }
    serde_json::from_str::<Value>(&text).err().map(|error| error.to_string())
}

impl Nats {
    pub(crate) fn new(outside: Option<Arc<dyn Outside>>, config: NatsConfig, depot: Depot) -> Self {
        Self { outside, config, depot }
    }

    /// Makes a call of a workflow of this definition.
    pub(crate) async fn call(
        &self,
        call: &NatsCall,
        key: &str,
        of: &DefinitionId,
        timeout: Option<Duration>,
        traceparent: Option<&str>,
    ) -> CallEnd {
        let usual = match call {
            NatsCall::Publish { .. } => STORED_TIME,
            _ => ANSWER_TIME,
        };
        let done = self.done(call, key, of, timeout.unwrap_or(usual), traceparent).await;
        done.map_or_else(|end| end, CallEnd::Done)
    }

    async fn done(
        &self,
        call: &NatsCall,
        nonce: &str,
        of: &DefinitionId,
        timeout: Duration,
        traceparent: Option<&str>,
    ) -> Result<Map, CallEnd> {
        self.allowed(call, of).map_err(CallEnd::refused)?;
        let filled = self.filled(call).await;
        let filled = filled.map_err(|error| CallEnd::refused(error.to_string()))?;
        let call = filled.as_ref().unwrap_or(call);
        let Some(outside) = &self.outside else {
            return Err(CallEnd::refused("there is no connection to NATS here"));
        };
        let result = match call {
            NatsCall::Publish { message, stored: false } => {
                outside
                    .tell(sent(message, nonce, traceparent).map_err(CallEnd::refused)?)
                    .await
                    .map_err(failed)?;
                json!({})
            }
            NatsCall::Publish { message, stored: true } => {
                let message = sent(message, nonce, traceparent).map_err(CallEnd::refused)?;
                let stored = outside.store(message, timeout).await.map_err(failed)?;
                json!({"stream": stored.stream, "sequence": stored.sequence})
            }
            NatsCall::Request { message } => {
                let message = sent(message, nonce, traceparent).map_err(CallEnd::refused)?;
                answered(&outside.ask(message, timeout).await.map_err(failed)?)
                    .map_err(CallEnd::refused)?
            }
            NatsCall::Act { task_type, version, input } => {
                let message = Outgoing {
                    subject: subject::act(task_type, *version),
                    content: input.clone(),
                    ..Outgoing::default()
                };
                let message = sent(&message, nonce, traceparent).map_err(CallEnd::refused)?;
                let answer = outside.ask(message, timeout).await.map_err(failed)?;
                let mut result = answered(&answer).map_err(CallEnd::refused)?;
                if let Some(outcome) = of_header(&answer, header::OUTCOME) {
                    result["outcome"] = json!(outcome);
                }
                result
            }
            NatsCall::Get { bucket, key } => {
                match outside.key(bucket, key).await.map_err(failed)? {
                    Some(KeyValue { value, revision }) => {
                        let value = received(&value, None).map_err(CallEnd::refused)?;
                        json!({"value": value, "revision": revision})
                    }
                    None => json!({}),
                }
            }
            NatsCall::Set { bucket, key, value, expected } => {
                let value = value.as_ref().map(bytes).transpose().map_err(CallEnd::refused)?;
                let value = value.map(|(bytes, _)| bytes.into());
                match outside.set_key(bucket, key, value, *expected, nonce).await.map_err(failed)? {
                    Put::Won(revision) => json!({"revision": revision}),
                    Put::Lost(_) => json!({"conflict": true}),
                }
            }
            NatsCall::GetObject { bucket, name } => {
                let max = match self.depot.keeps() {
                    true => usize::try_from(limits::PAYLOADS_LOADED_BYTES_MAX).unwrap_or_default(),
                    false => limits::CALL_RESPONSE_BYTES_MAX,
                };
                match outside.object(bucket, name, max).await.map_err(failed)? {
                    Some(Content { bytes, content_type }) => {
                        let content_type = content_type.as_deref().unwrap_or(UNKNOWN_TYPE);
                        let file = self.depot.file(last_part(name), content_type, bytes.into());
                        let file = file.await;
                        json!({"object": file.map_err(|error| CallEnd::refused(error.to_string()))?})
                    }
                    None => json!({}),
                }
            }
            NatsCall::SetObject { bucket, name, content } => {
                let (bytes, content_type) = bytes(content).map_err(CallEnd::refused)?;
                let size = bytes.len();
                let content = Content { bytes: bytes.into(), content_type };
                outside.set_object(bucket, name, content).await.map_err(failed)?;
                json!({"size": size})
            }
        };
        match result {
            Value::Object(members) => Ok(members),
            _ => Ok(Map::new()),
        }
    }

    /// The call, in which large files have their content; nothing if there are none in it.
    async fn filled(&self, call: &NatsCall) -> Result<Option<NatsCall>, payloads::Error> {
        let content = match call {
            NatsCall::Publish { message, .. } | NatsCall::Request { message } => &message.content,
            NatsCall::Act { input, .. } => input,
            NatsCall::Set { value: Some(value), .. } => value,
            NatsCall::SetObject { content, .. } => content,
            _ => return Ok(None),
        };
        let Some(filled) = self.depot.filled(content).await? else { return Ok(None) };
        let mut call = call.clone();
        match &mut call {
            NatsCall::Publish { message, .. } | NatsCall::Request { message } => {
                message.content = filled;
            }
            NatsCall::Act { input, .. } => *input = filled,
            NatsCall::Set { value, .. } => *value = Some(filled),
            NatsCall::SetObject { content, .. } => *content = filled,
            _ => {}
        }
        Ok(Some(call))
    }

    /// Refuses what is Staunch's own, and what the configuration does not allow.
    fn allowed(&self, call: &NatsCall, of: &DefinitionId) -> Result<(), String> {
        match call {
            NatsCall::Publish { message, .. } | NatsCall::Request { message } => {
                check_subject(&message.subject)?;
                self.config.allow_subject(of, &message.subject)
            }
            // Its subject is Staunch's own, and follows from the type that a worker has registered.
            NatsCall::Act { .. } => Ok(()),
            NatsCall::Get { bucket, key } | NatsCall::Set { bucket, key, .. } => {
                check_bucket(bucket)?;
                check_key(key)?;
                self.config.allow_bucket(of, bucket, "the bucket")
            }
            NatsCall::GetObject { bucket, .. } | NatsCall::SetObject { bucket, .. } => {
                check_bucket(bucket)?;
                self.config.allow_bucket(of, bucket, "the object store")
            }
        }
    }
}

/// The message as it goes out.
fn sent(outgoing: &Outgoing, key: &str, traceparent: Option<&str>) -> Result<Message, String> {
    let (payload, usual) = bytes(&outgoing.content)?;
    let mut headers = Headers::new();
    for (name, value) in &outgoing.headers {
        if name.to_ascii_lowercase().starts_with(RESERVED) {
            return Err(format!("the header {name} is for NATS itself: use another name"));
        }
        headers.insert(name.clone(), value.clone());
    }
    let has_type = headers.keys().any(|name| name.eq_ignore_ascii_case(header::CONTENT_TYPE));
    if let Some(usual) = usual.filter(|_| !has_type) {
        headers.insert(header::CONTENT_TYPE.to_owned(), usual);
    }
    headers.insert(header::MESSAGE_ID.to_owned(), key.to_owned());
    if let Some(traceparent) = traceparent {
        headers.insert(header::TRACEPARENT.to_owned(), traceparent.to_owned());
    }
    Ok(Message { subject: outgoing.subject.clone(), headers, payload })
}

/// The bytes of a content, and their media type.
fn bytes(content: &Value) -> Result<(Vec<u8>, Option<String>), String> {
    if let Some(members) = file::members(content) {
        let encoded = file::text(members, "content").unwrap_or_default();
        let bytes = STANDARD
            .decode(encoded.trim())
            .map_err(|error| format!("the content of a file is not base64: {error}"))?;
        return Ok((bytes, file::text(members, "contentType").map(str::to_owned)));
    }
    Ok(match content {
        Value::Null => (Vec::new(), None),
        Value::String(text) => (text.clone().into_bytes(), None),
        other => (other.to_string().into_bytes(), Some("application/json".to_owned())),
    })
}

/// The result of a request.
fn answered(answer: &Message) -> Result<Value, String> {
    let find = |wanted: &str| of_header(answer, wanted);
    let content = received(&answer.payload, find(header::CONTENT_TYPE))?;
    let mut result = json!({"content": content, "headers": answer.header_values()});
    let (error, code) = (find(ERROR), find(ERROR_CODE));
    if error.is_some() || code.is_some() {
        let number = code.map(|code| code.trim().parse::<u16>());
        let mut message = error.unwrap_or("the service answered with an error").to_owned();
        if let (Some(code), Some(Err(_))) = (code, &number) {
            let shown: String = code.chars().take(CODE_CHARS_MAX).collect();
            message =
                format!("{message} ({ERROR_CODE} is {shown:?}, which is no number: taken for 500)");
        }
        result["statusCode"] = json!(number.and_then(Result::ok).unwrap_or(500));
        result["message"] = json!(message);
    }
    Ok(result)
}

/// A header's value, whatever the case of its name; of several, the first.
fn of_header<'m>(message: &'m Message, wanted: &str) -> Option<&'m str> {
    let name = message.headers.keys().find(|name| name.eq_ignore_ascii_case(wanted))?;
    message.header(name)
}

/// What came, as a value: JSON, text, or a file.
fn received(bytes: &[u8], content_type: Option<&str>) -> Result<Value, String> {
    if bytes.len() > limits::CALL_RESPONSE_BYTES_MAX {
        let max = limits::CALL_RESPONSE_BYTES_MAX;
        return Err(format!(
            "the answer has {} bytes, more than the {max} that are read",
            bytes.len()
        ));
    }
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    let Ok(Some(text)) = media::text(content_type, bytes) else {
        return Ok(as_file("message", content_type, bytes));
    };
    let media_type = content_type.and_then(media::essence);
    let is_json = media_type.is_none_or(|media_type| media::is_json(&media_type));
    if !is_json
        || model::json::check_integers(text.as_bytes()).is_err()
        || depth::check_json_value(text.as_bytes()).is_err()
    {
        return Ok(text.into());
    }
    Ok(serde_json::from_str(&text).unwrap_or_else(|_| text.into()))
}

/// The name of the file that an object is: the part behind the last `/`, if there is one.
fn last_part(name: &str) -> &str {
    name.rsplit('/').find(|part| !part.is_empty()).unwrap_or(name)
}

fn as_file(name: &str, content_type: Option<&str>, bytes: &[u8]) -> Value {
    json!({
        "fileName": name, "contentType": content_type.unwrap_or(UNKNOWN_TYPE),
        "size": bytes.len(), "content": STANDARD.encode(bytes),
    })
}

fn failed(error: OutsideError) -> CallEnd {
    let message = error.to_string();
    let (kind, code) = match error {
        OutsideError::NoResponders(_) => (ErrorKind::Connect, Some("no-responders".to_owned())),
        OutsideError::Unavailable(_) => (ErrorKind::Connect, None),
        OutsideError::Late(_) => (ErrorKind::Timeout, None),
        OutsideError::Absent(_) => (ErrorKind::Failed, Some("absent".to_owned())),
        OutsideError::Refused(_) => (ErrorKind::Refused, None),
    };
    CallEnd::Error { kind, code, message }
}

#[cfg(test)]
mod tests;
