//! Subjects, buckets and object stores of workflows.

mod stores;

use std::sync::Arc;
use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::datetime::DateTime;
use async_nats::jetstream::AckKind;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use async_nats::jetstream::object_store::{InfoErrorKind, ObjectMetadata};
use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE;
use bus::{
    Content, Error, From, KeyValue, Object, Outside, OutsideError, Place, PlaceFigures, Put,
    Revision, Stored, Taken, Wire as _,
};
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{FutureExt as _, StreamExt as _};
use model::Timestamp;
use protocol::{Headers, Message, header};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::NatsBus;
use crate::api::{
    ApiError, CONSUMER_NOT_FOUND, STREAM_NOT_FOUND, WRONG_LAST_SEQUENCE,
    WRONG_LAST_SEQUENCE_CONSTANT, headers_out, message_in,
};
use crate::bucket::{OPERATION, is_tombstone};
use crate::election;
use crate::incarnation::{self, Incarnation, SURE_FOR};
use crate::object::{Cut, Reading};
use stores::{content_type, missing};

/// A message that is not settled after this time comes again.
const SETTLE_MAX: Duration = Duration::from_secs(30);
/// Messages of one place that are not settled, over all executors.
const UNSETTLED_MAX: i64 = 1_000;
/// Messages of one pull.
const BATCH: usize = 100;
const EXPECTED: &str = "Nats-Expected-Last-Subject-Sequence";
const MESSAGE_ID: &str = "Nats-Msg-Id";

#[async_trait]
impl Outside for NatsBus {
    async fn tell(&self, message: Message) -> Result<(), OutsideError> {
        self.send(message).await.map_err(refused)?;
        let inner = self.open().map_err(refused)?;
        let flushed = inner.data_api.client().flush().await;
        flushed.map_err(|error| OutsideError::Unavailable(format!("the message: {error}")))
    }

    async fn ask(&self, message: Message, timeout: Duration) -> Result<Message, OutsideError> {
        let inner = self.open().map_err(refused)?;
        let subject = message.subject.clone();
        let headers = headers_out(&message.headers).map_err(refused)?;
        let payload = Bytes::from(message.payload);
        let answer = inner.data_api.answer(subject.clone(), headers, payload, timeout).await;
        let answer =
            answer.map_err(|failure| of_api(failure, &format!("the request to {subject}")))?;
        Ok(message_in(&answer))
    }

    async fn store(&self, message: Message, timeout: Duration) -> Result<Stored, OutsideError> {
        let inner = self.open().map_err(refused)?;
        let subject = &message.subject;
        let headers = headers_out(&message.headers).map_err(refused)?;
        let (payload, is_same) = (Bytes::from(message.payload), headers.get(MESSAGE_ID).is_some());
        let stored =
            election::stored(&inner.data_api, subject, &headers, &payload, is_same, timeout).await;
        let what = format!("the message to {subject}");
        let answer = stored.map_err(|failure| match failure {
            ApiError::NoResponders => {
                OutsideError::NoResponders(format!("{what}: no stream has this subject"))
            }
            other => of_api(other, &what),
        })?;
        let text = |name: &str| answer[name].as_str().unwrap_or_default().to_owned();
        Ok(Stored { stream: text("stream"), sequence: answer["seq"].as_u64().unwrap_or_default() })
    }

    async fn key(&self, bucket: &str, key: &str) -> Result<Option<KeyValue>, OutsideError> {
        let entry = self.outlasted(|| self.entry(bucket, key).boxed()).await?;
        let entry = entry.filter(|entry| !is_tombstone(Some(&entry.headers)));
        Ok(entry.map(|entry| KeyValue { value: entry.payload, revision: entry.sequence }))
    }

    async fn set_key(
        &self,
        bucket: &str,
        key: &str,
        value: Option<Bytes>,
        expected: Option<Revision>,
        nonce: &str,
    ) -> Result<Put, OutsideError> {
        let inner = self.open().map_err(refused)?;
        let mut headers = HeaderMap::new();
        headers.insert(MESSAGE_ID, nonce);
        if let Some(expected) = expected {
            headers.insert(EXPECTED, expected.to_string());
        }
        if value.is_none() {
            headers.insert(OPERATION, "DEL");
        }
        let subject = format!("$KV.{bucket}.{key}");
        let payload = value.unwrap_or_default();
        let (api, within) = (&inner.data_api, election::ELECTION_MAX);
        match election::stored(api, &subject, &headers, &payload, true, within).await {
            Ok(stored) => Ok(Put::Won(stored["seq"].as_u64().unwrap_or_default())),
            Err(ApiError::Refused { code: WRONG_LAST_SEQUENCE, text }) => {
                let at = text.rsplit_once(' ').and_then(|(_, number)| number.parse().ok());
                match at {
                    // An earlier try whose answer was lost: a single server compares revisions
                    // before ids.
                    Some(at) if at > 0 && self.wrote(bucket, at, nonce).await => Ok(Put::Won(at)),
                    at => Ok(Put::Lost(at)),
                }
            }
            Err(ApiError::Refused { code: WRONG_LAST_SEQUENCE_CONSTANT, .. }) => {
                Ok(Put::Lost(None))
            }
            Err(ApiError::NoResponders) => {
                Err(OutsideError::Absent(format!("there is no bucket {bucket}")))
            }
            Err(failure) => Err(of_api(failure, &format!("the key {key} of the bucket {bucket}"))),
        }
    }

    async fn object(
        &self,
        store: &str,
        name: &str,
        bytes_max: usize,
    ) -> Result<Option<Content>, OutsideError> {
        self.outlasted(|| self.read_object(store, name, bytes_max).boxed()).await
    }

    async fn open_object(&self, store: &str, name: &str) -> Result<Option<Object>, OutsideError> {
        // A link may lead to another one, and so on without end. What else is wrong is found below.
        let about = self.object_store(store).await?.info(name).await.ok();
        let about = about.filter(|about| !about.deleted);
        if about.and_then(|about| about.options?.link).is_some() {
            return Err(OutsideError::Refused(format!("{} is a link", object_of(store, name))));
        }
        let found = self.outlasted(|| self.found_object(store, name).boxed()).await?;
        let Some((object, opened)) = found else { return Ok(None) };
        let (size, content_type) = (object.info().size as u64, content_type(object.info()));
        let what = object_of(store, name);
        let gone = format!("{what} was removed or written anew while it was read");
        let reading = (Reading::new(object, opened, what), gone);
        let parts = futures::stream::try_unfold(reading, |(mut reading, gone)| async move {
            match reading.part().await {
                Ok(part) => Ok(part.map(|part| (part, (reading, gone)))),
                Err(Cut::Gone) => Err(OutsideError::Unavailable(gone)),
                Err(Cut::Failed(error)) => Err(error),
            }
        });
        Ok(Some(Object { size, content_type, parts: parts.boxed() }))
    }

    async fn set_object(
        &self,
        store: &str,
        name: &str,
        content: Content,
    ) -> Result<(), OutsideError> {
        let kind = content.content_type.map(|kind| (header::CONTENT_TYPE.to_owned(), kind));
        let headers = kind.map(|kind| headers_out(&Headers::from([kind])));
        let headers = headers.transpose().map_err(refused)?;
        let about = ObjectMetadata { name: name.to_owned(), headers, ..ObjectMetadata::default() };
        let put = || self.put_object(store, &about, &content.bytes).boxed();
        self.outlasted(put).await
    }

    async fn remove_object(&self, store: &str, name: &str) -> Result<(), OutsideError> {
        let what = object_of(store, name);
        // Also what was deleted has an entry, which says so.
        let about = match self.object_store(store).await?.info(name).await {
            Ok(about) => about,
            Err(error) if error.kind() == InfoErrorKind::NotFound => return Ok(()),
            Err(error) if error.kind() == InfoErrorKind::InvalidName => {
                return Err(OutsideError::Refused(format!("{what}: {error}")));
            }
            Err(error) => return Err(OutsideError::Unavailable(format!("{what}: {error}"))),
        };
        let inner = self.open().map_err(refused)?;
        let chunks = Some(about.nuid).filter(|nuid| !nuid.is_empty());
        let chunks = chunks.map(|nuid| format!("$O.{store}.C.{nuid}"));
        let entry = format!("$O.{store}.M.{}", URL_SAFE.encode(name));
        // The entry goes last: what is left after a crash is found by it.
        for subject in chunks.into_iter().chain([entry]) {
            let call = format!("STREAM.PURGE.OBJ_{store}");
            let purged = inner.data_api.call(&call, &json!({ "filter": subject })).await;
            purged.map_err(|failure| of_api(failure, &what))?;
        }
        Ok(())
    }

    async fn listen(
        &self,
        subject: &str,
        group: &str,
    ) -> Result<BoxStream<'static, Message>, OutsideError> {
        let inner = self.open().map_err(refused)?;
        let client = inner.data_api.client();
        let messages = client.queue_subscribe(subject.to_owned(), group.to_owned()).await;
        let messages = messages.map_err(|error| {
            OutsideError::Unavailable(format!("the subject {subject}: {error}"))
        })?;
        let closed = inner.closed.clone();
        let messages = messages.take_until(async move { closed.cancelled().await });
        Ok(messages.map(|message| message_in(&message)).boxed())
    }

    async fn follow(
        &self,
        place: &Place,
    ) -> Result<BoxStream<'static, Result<Taken, OutsideError>>, OutsideError> {
        let inner = self.open().map_err(refused)?;
        let Place { name, stream, subject, from, one_by_one } = place;
        let what = format!("the stream {stream}");
        // Counted before anything is read: see `Incarnation`.
        let mut incarnation = Incarnation::of(inner.data_api.client());
        let found = inner.data_context.get_stream(stream).await;
        let found = found.map_err(|error| missing(&error, what.clone()))?;
        let created = found.cached_info().created.unix_timestamp_nanos();
        let deliver_policy = from.map(|from| match from {
            From::New => DeliverPolicy::New,
            From::All => DeliverPolicy::All,
            From::Time(time) => DeliverPolicy::ByStartTime { start_time: date(time) },
        });
        let consumer = if let Some(deliver_policy) = deliver_policy {
            let config = pull::Config {
                durable_name: Some(name.clone()),
                description: Some(format!("workflows that listen on {subject}")),
                filter_subject: subject.clone(),
                deliver_policy,
                ack_policy: AckPolicy::Explicit,
                ack_wait: SETTLE_MAX,
                max_ack_pending: if *one_by_one { 1 } else { UNSETTLED_MAX },
                ..pull::Config::default()
            };
            let consumer = found.get_or_create_consumer(name, config).await;
            consumer.map_err(|error| {
                OutsideError::Refused(format!("the consumer {name} of {what}: {error}"))
            })?
        } else {
            let consumer = found.get_consumer::<pull::Config>(name).await;
            consumer.map_err(|error| {
                OutsideError::Unavailable(format!("the consumer {name} of {what}: {error}"))
            })?
        };
        let messages = consumer.stream().max_messages_per_batch(BATCH).messages().await;
        let messages =
            messages.map_err(|error| OutsideError::Unavailable(format!("{what}: {error}")))?;
        let closed = inner.closed.clone();
        let messages = messages.take_until(async move { closed.cancelled().await });
        let (context, stream) = (inner.data_context.clone(), stream.clone());
        let creations = Arc::clone(&inner.creations);
        let taken = messages.then(move |message| {
            let info = message.as_ref().ok().and_then(|message| message.info().ok());
            let is_surely = info.is_some_and(|info| incarnation.has(info.consumer_sequence));
            let connection = incarnation.connection();
            let (context, creations) = (context.clone(), Arc::clone(&creations));
            let (stream, what) = (stream.clone(), what.clone());
            async move {
                let message = message
                    .map_err(|error| OutsideError::Unavailable(format!("{what}: {error}")))?;
                let info = message.info().map_err(|error| {
                    OutsideError::Unavailable(format!("{what}: a message is not of it: {error}"))
                })?;
                let sequence = info.stream_sequence;
                let stored_nanos = info.published.unix_timestamp_nanos();
                if !is_surely {
                    let now = incarnation::created(&context, &stream).await;
                    if now.as_ref().ok() != Some(&created) {
                        // Whoever looks at the stream again takes it at once.
                        if let Err(error) = message.ack_with(AckKind::Nak(None)).await {
                            tracing::debug!(%error, "a message was not given back");
                        }
                        return Err(OutsideError::Unavailable(match now {
                            Ok(_) => format!("{what} was made anew"),
                            Err(error) => format!("{what}: {error}"),
                        }));
                    }
                }
                let (message, acker) = message.split();
                let taken_at = Instant::now();
                let settle = async move {
                    // By now another stream may have another message of this number, which this
                    // acknowledgement would settle. One that was restored has the same messages, and
                    // another time of creation.
                    let is_of = |now: i128| now == created || now <= stored_nanos;
                    let is_settled = if !connection.lasts() {
                        incarnation::created(&context, &stream).await.is_ok_and(is_of)
                    } else if taken_at.elapsed() >= SURE_FOR {
                        // A broker that is too busy to say it has lost nothing.
                        creations.lately(&context, &stream).await.map_or(true, is_of)
                    } else {
                        true
                    };
                    if !is_settled {
                        tracing::debug!(sequence, "a message is not settled any more");
                        return;
                    }
                    // A message whose acknowledgement is lost comes again, and is recognised.
                    if let Err(error) = acker.ack().await {
                        tracing::debug!(%error, "a message was not settled");
                    }
                };
                Ok(Taken {
                    message: message_in(&message),
                    sequence,
                    stored_nanos,
                    settle: settle.boxed(),
                })
            }
        });
        Ok(taken.boxed())
    }

    async fn place_figures(
        &self,
        stream: &str,
        name: &str,
    ) -> Result<Option<PlaceFigures>, OutsideError> {
        let api = &self.open().map_err(refused)?.data_api;
        match api.call(&format!("CONSUMER.INFO.{stream}.{name}"), &Value::Null).await {
            Ok(info) => Ok(Some(place_of(&info))),
            Err(failure) => match failure.code() {
                Some(CONSUMER_NOT_FOUND) => Ok(None),
                Some(STREAM_NOT_FOUND) => {
                    Err(OutsideError::Absent(format!("the stream {stream} does not exist")))
                }
                _ => Err(of_api(failure, &format!("the consumer {name} of the stream {stream}"))),
            },
        }
    }
}

/// A consumer as JetStream describes it.
fn place_of(info: &Value) -> PlaceFigures {
    let number = |name: &str| info[name].as_u64().unwrap_or_default();
    let time = |value: &Value| value.as_str().and_then(|text| Timestamp::parse(text).ok());
    PlaceFigures {
        subject: info["config"]["filter_subject"].as_str().unwrap_or_default().to_owned(),
        pending: number("num_pending"),
        in_hand: number("num_ack_pending"),
        redelivered: number("num_redelivered"),
        delivered: info["delivered"]["stream_seq"].as_u64().unwrap_or_default(),
        delivered_at: time(&info["delivered"]["last_active"]),
        created_at: time(&info["created"]),
    }
}

fn object_of(store: &str, name: &str) -> String {
    format!("the object {name} of the store {store}")
}

/// A time as the client has it.
fn date(time: Timestamp) -> DateTime {
    let nanos = i128::from(time.as_millis()) * 1_000_000;
    DateTime::from_unix_timestamp_nanos(nanos).unwrap_or(DateTime::UNIX_EPOCH)
}

fn of_api(failure: ApiError, what: &str) -> OutsideError {
    match failure {
        ApiError::NoResponders => OutsideError::NoResponders(format!("{what}: nobody listens")),
        ApiError::Timeout => OutsideError::Late(format!("{what}: there was no answer in time")),
        ApiError::TooLarge(text) | ApiError::Denied(text) => {
            OutsideError::Refused(format!("{what}: {text}"))
        }
        other => refused(other.into_error(what)),
    }
}

fn refused(error: Error) -> OutsideError {
    let text = error.to_string();
    match error {
        Error::Unavailable(_) | Error::Full(_) | Error::Closed => OutsideError::Unavailable(text),
        Error::Unknown(_) => OutsideError::Late(text),
        Error::TooLarge(_) | Error::NotProvisioned(_) | Error::Denied(_) | Error::Corrupt(_) => {
            OutsideError::Refused(text)
        }
    }
}
