//! What becomes of one message: the command that hands it to the workflows that listen, nothing, or a
//! dead letter.

use std::sync::Arc;

use bus::{Error, Taken};
use engine::outside::wildcards;
use model::{CommandId, Content, Map, MessageSource, Script};
use protocol::{Body, Command, EventRaised, Message, Refusal, header, subject};
use serde_json::{Value, json};
use store::BookmarkFilter;
use tokio_util::sync::CancellationToken;

use super::in_order;
use crate::cx::Cx;
use crate::metrics::METRICS;
use crate::stop::Stop;

/// The name of the task in which expressions run.
const TASK: &str = "executor: turn";
/// The header of a bucket that says what happened to a key.
const OPERATION: &str = "KV-Operation";
/// The header with which a server marks the end of a key, such as the end of its time.
const MARKER: &str = "Nats-Marker-Reason";
/// Listeners that a dead letter names.
const LISTENERS_MAX: usize = 10;
/// Bytes of a correlation id, and of a key.
const TEXT_BYTES_MAX: usize = 1_024;

/// The end of a message that no command can be made of.
pub(super) enum Unsent {
    /// Its content or its size: another try ends the same.
    Unfit(String),
    /// The queue does not take it now.
    Later(String),
}

/// Takes a message that nobody keeps.
pub(super) async fn hear(
    cx: &Cx,
    hash: &str,
    source: &MessageSource,
    message: &Message,
    id: CommandId,
) -> Result<(), Unsent> {
    match command(cx, hash, source, message, None, id).await? {
        Some(command) => publish(cx, &command).await,
        None => Ok(()),
    }
}

/// Takes one message of a stream. One that cannot be handed over now is not settled: it comes again.
pub(super) async fn take(
    cx: &Cx,
    hash: &str,
    source: &MessageSource,
    taken: Taken,
    stop: &CancellationToken,
) {
    let Taken { message, sequence, stored_nanos, settle } = taken;
    let stream = source.stream.as_deref().unwrap_or_default();
    if source.is_too_early(stored_nanos) {
        tracing::debug!(stream, sequence, "a message is from before the beginning of its source");
        return settle.await;
    }
    let id = id_of(hash, stream, sequence, stored_nanos);
    let handed_over = async {
        match command(cx, hash, source, &message, Some(sequence), id).await? {
            Some(command) if source.in_order => {
                if source.reads_the_past() {
                    in_order::until_wanted(cx, hash, &command.id, stop).await?;
                }
                in_order::hand_over(cx, &command, stop).await
            }
            Some(command) => publish(cx, &command).await,
            None => Ok(()),
        }
    };
    match handed_over.await {
        Ok(()) => settle.await,
        Err(Unsent::Unfit(reason)) => {
            let sequence = sequence.to_string();
            let found_at = [
                (header::ORIGIN_STREAM, stream.to_owned()),
                (header::ORIGIN_SEQUENCE, sequence),
                (header::LISTENERS, listeners(cx, hash).await),
            ];
            if bury(cx, &message, &reason, found_at).await {
                settle.await;
            }
        }
        Err(Unsent::Later(reason)) => {
            tracing::debug!(reason, stream, sequence, "a message waits in its stream");
        }
    }
}

/// The id of the command for a message of a stream. The time of the message tells it from the one of the
/// same number in a stream that was made anew. A backup that is restored has the same messages: the time
/// when a stream was created would be another then.
fn id_of(hash: &str, stream: &str, sequence: u64, stored_nanos: i128) -> CommandId {
    let (sequence, stored) = (sequence.to_string(), stored_nanos.to_string());
    CommandId::new(model::derived(&["message", hash, stream, &sequence, &stored]))
}

/// The command that hands a message to the workflows which listen; none if they do not take it.
async fn command(
    cx: &Cx,
    hash: &str,
    source: &MessageSource,
    message: &Message,
    sequence: Option<u64>,
    id: CommandId,
) -> Result<Option<Command>, Unsent> {
    let Some(payload) = payload(source, message, sequence).map_err(Unsent::Unfit)? else {
        return Ok(None);
    };
    let judged = judged(cx, source, &payload).await;
    let judged = judged.map_err(|unsent| unsent.explained(source, message))?;
    let Some(Judged { correlation_id, key }) = judged else {
        return Ok(None);
    };
    let id = key.map_or(id, |key| CommandId::new(model::derived(&["message-key", hash, &key])));
    let raised = EventRaised {
        event_name: message.subject.clone(),
        correlation_id,
        payload,
        listened: Some(source.clone()),
        ..EventRaised::default()
    };
    let mut command = Command::new(id, Body::Event(raised));
    command.traceparent = message.header(header::TRACEPARENT).map(str::to_owned);
    Ok(Some(command))
}

/// What workflows get; none of a message that is not of the kind for which they listen.
fn payload(
    source: &MessageSource,
    message: &Message,
    sequence: Option<u64>,
) -> Result<Option<Value>, String> {
    let mut payload = json!({
        "subject": message.subject,
        "tokens": wildcards(&source.subject, &message.subject),
        "headers": message.header_values(),
        "sequence": sequence,
    });
    match &source.content {
        Content::Message => payload["content"] = connectors::message_value(message)?,
        Content::Key(operations) => {
            let operation = match (message.header(OPERATION), message.header(MARKER)) {
                (None, None) => "put",
                (Some("PURGE"), _) | (None, Some("MaxAge" | "Purge")) => "purge",
                (Some(_), _) | (None, Some(_)) => "delete",
            };
            if !operations.is_empty() && !operations.iter().any(|one| one == operation) {
                return Ok(None);
            }
            payload["operation"] = operation.into();
            payload["key"] = message.subject.splitn(3, '.').nth(2).into();
            payload["content"] = connectors::message_value(message)?;
        }
        Content::Object => {
            let stored: Value = serde_json::from_slice(&message.payload)
                .map_err(|error| format!("it does not describe an object: {error}"))?;
            if stored["deleted"] == true {
                return Ok(None);
            }
            for member in ["name", "size", "digest", "metadata", "headers"] {
                payload[member] = stored.get(member).cloned().unwrap_or_default();
            }
            // An object has its headers as lists: they are given as those of a message are.
            for value in payload["headers"].as_object_mut().into_iter().flat_map(Map::values_mut) {
                if let Some([only]) = value.as_array().map(Vec::as_slice) {
                    *value = only.clone();
                }
            }
            payload["content"] = stored;
        }
    }
    Ok(Some(payload))
}

/// What the expressions of a source say about a message that is taken.
#[derive(Default)]
struct Judged {
    correlation_id: Option<String>,
    key: Option<String>,
}

async fn judged(
    cx: &Cx,
    source: &MessageSource,
    payload: &Value,
) -> Result<Option<Judged>, Unsent> {
    let MessageSource { predicate, correlation, key, .. } = source;
    if predicate.is_none() && correlation.is_none() && key.is_none() {
        return Ok(Some(Judged::default()));
    }
    let later = |error: String| Unsent::Later(error);
    let permit = cx.script_permit().await.map_err(|stop| later(format!("{stop:?}")))?;
    let message = payload.as_object().cloned().unwrap_or_default();
    if !cx.config.offload_turns {
        return judge(cx, source, &message).map_err(Unsent::Unfit);
    }
    let (cx, source) = (Arc::clone(cx), source.clone());
    let judging = tasks::blocking(TASK, move || {
        let judged = judge(&cx, &source, &message);
        drop(permit);
        judged
    });
    judging.await.map_err(|panicked| later(panicked.to_string()))?.map_err(Unsent::Unfit)
}

fn judge(cx: &Cx, source: &MessageSource, message: &Map) -> Result<Option<Judged>, String> {
    let value = |script: &Script, what: &str| {
        let value = cx.engine.judge(script, message.clone(), cx.now());
        value.map_err(|reason| format!("{what}: {reason}"))
    };
    if let Some(predicate) = &source.predicate {
        match value(predicate, "predicate")? {
            Value::Bool(true) => {}
            Value::Bool(false) => return Ok(None),
            Value::String(text) if text.trim().eq_ignore_ascii_case("true") => {}
            Value::String(text) if text.trim().eq_ignore_ascii_case("false") => return Ok(None),
            other => {
                let shown: String = other.to_string().chars().take(100).collect();
                return Err(format!("predicate: {shown} is neither true nor false"));
            }
        }
    }
    let text = |script: &Option<Script>, what: &str| {
        let Some(script) = script else { return Ok(None) };
        let text = text_of(value(script, what)?);
        text.map(Some).map_err(|reason| format!("{what}: {reason}"))
    };
    let correlation_id = text(&source.correlation, "correlationId")?;
    Ok(Some(Judged { correlation_id, key: text(&source.key, "deduplicationKey")? }))
}

/// A correlation id, or a key: the value of its expression as text.
fn text_of(value: Value) -> Result<String, String> {
    let unfit = |kind: &str| Err(format!("it is {kind}: give a text, a number, true or false"));
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        value @ (Value::Number(_) | Value::Bool(_)) => value.to_string(),
        Value::Null => String::new(),
        Value::Object(_) => return unfit("an object"),
        Value::Array(_) => return unfit("a list"),
    };
    match text.len() {
        0 => Err("the message has none".to_owned()),
        1..=TEXT_BYTES_MAX => Ok(text),
        _ => Err(format!("it has more than {TEXT_BYTES_MAX} bytes")),
    }
}

async fn publish(cx: &Cx, command: &Command) -> Result<(), Unsent> {
    let encoded = command.encode().map_err(|garbled| Unsent::Unfit(garbled.to_string()))?;
    match cx.bus.publish(encoded).await {
        Ok(_) => Ok(()),
        Err(Error::TooLarge(reason)) => Err(Unsent::Unfit(reason)),
        Err(error) => Err(Unsent::Later(error.to_string())),
    }
}

/// The activities that listen to a source, as far as the database says so now.
async fn listeners(cx: &Cx, hash: &str) -> String {
    let triggers = cx.store.triggers(hash).await.unwrap_or_default().into_iter();
    let filter = BookmarkFilter { hash: Some(hash.to_owned()), ..BookmarkFilter::default() };
    let waiting = cx.store.find(&filter, LISTENERS_MAX as u64).await.unwrap_or_default();
    let triggers = triggers.map(|one| (one.definition_id, one.activity_id));
    let waiting = waiting.into_iter().map(|one| (one.definition_id, one.bookmark.activity_id));
    let mut named: Vec<_> = triggers.chain(waiting).map(|(of, id)| format!("{of}/{id}")).collect();
    named.sort();
    named.dedup();
    named.truncate(LISTENERS_MAX);
    named.join(", ").replace(['\r', '\n'], " ")
}

/// Puts a message that no command can be made of among the dead letters; true if it is there.
async fn bury(cx: &Cx, message: &Message, reason: &str, found_at: [(&str, String); 3]) -> bool {
    let mut dead = message.clone();
    dead.subject = subject::dead(&format!("staunch.message.{}", subject::dotted(&message.subject)));
    dead.headers.insert(header::REASON.to_owned(), reason.replace(['\r', '\n'], " "));
    dead.headers.insert(header::ORIGIN.to_owned(), message.subject.clone());
    let found_at = found_at.into_iter().filter(|(_, value)| !value.is_empty());
    dead.headers.extend(found_at.map(|(name, value)| (name.to_owned(), value)));
    tracing::warn!(subject = message.subject, reason, "a message cannot be taken");
    let cut = Message { payload: Vec::new(), ..dead.clone() };
    let mut kept = cx.bus.publish(dead).await;
    if let Err(Error::TooLarge(_)) = kept {
        kept = cx.bus.publish(cut).await;
    }
    match kept {
        Ok(_) => {
            METRICS.parked(Refusal::Unfit);
            true
        }
        Err(error) => {
            tracing::warn!(%error, "a dead letter cannot be stored now");
            false
        }
    }
}

impl Unsent {
    /// The same, with the reason why expressions have seen no JSON, where they have not.
    fn explained(self, source: &MessageSource, message: &Message) -> Self {
        let why = match source.content {
            Content::Object => None,
            Content::Message | Content::Key(_) => connectors::why_no_json(message),
        };
        match (self, why) {
            (Self::Unfit(reason), Some(why)) => {
                Self::Unfit(format!("{reason}; the body cannot be read as JSON: {why}"))
            }
            (unsent, _) => unsent,
        }
    }

    pub(super) fn reason(&self) -> &str {
        match self {
            Self::Unfit(reason) | Self::Later(reason) => reason,
        }
    }

    /// The end of a message that the workflows which listen could not be given.
    pub(super) fn of(stop: Stop) -> Self {
        match stop {
            Stop::Dead(_, reason) | Stop::Refused(_, reason) => Self::Unfit(reason),
            passing => Self::Later(format!("{passing:?}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{TEXT_BYTES_MAX, id_of, text_of};

    #[test]
    fn a_key_is_a_text_and_the_reason_says_what_it_is_instead() {
        for (value, text) in [(json!(" a "), "a"), (json!(7), "7"), (json!(false), "false")] {
            assert_eq!(text_of(value).as_deref(), Ok(text));
        }
        for (value, reason) in [
            (Value::Null, "the message has none"),
            (json!(" "), "the message has none"),
            (json!({"id": 7}), "it is an object: give a text"),
            (json!([7]), "it is a list: give a text"),
            (json!("a".repeat(TEXT_BYTES_MAX + 1)), "it has more than"),
        ] {
            let found = text_of(value).unwrap_err();
            assert!(found.starts_with(reason), "{found}");
        }
    }

    #[test]
    fn an_id_is_of_the_source_the_stream_the_number_and_the_time_of_the_message() {
        const NANOS: i128 = 1_767_225_600_000_000_001;
        let id = id_of("source", "ORDERS", 7, NANOS);
        // Two versions side by side take the same message.
        assert_eq!(id.as_str(), "c44d740d0a1a5c208b2cf58d4f59007d");
        for other in [
            id_of("other", "ORDERS", 7, NANOS),
            id_of("source", "OTHER", 7, NANOS),
            id_of("source", "ORDERS", 8, NANOS),
            id_of("source", "ORDERS", 7, NANOS + 1),
        ] {
            assert_ne!(other, id);
        }
    }
}
