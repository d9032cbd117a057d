//! Durable messages.

use std::time::Duration;

use async_nats::jetstream::stream::{DeleteMessageErrorKind, RawMessageErrorKind};
use async_nats::jetstream::{self, ErrorCode};
use async_trait::async_trait;
use bus::{Delivery, Error, Figures, Fill, Pool, Queue, Receipt, Settle, Span, Stream};
use bytes::Bytes;
use model::{Backoff, Timestamp};
use protocol::{Message, subject};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::api::{
    ApiError, DUPLICATE_IN_PROCESS, STREAM_NOT_FOUND, headers_in, headers_out, message_in,
};
use crate::hub::AckAddress;
use crate::incarnation::{Connection, SURE_FOR, has};
use crate::nats::Inner;
use crate::options::ANSWER_MAX;
use crate::{NatsBus, select};

/// Longer than the election of a leader (4 to 9 s).
const PUBLISH_BUDGET: Duration = Duration::from_secs(12);
/// A ping without an answer says after this time why there is no connection: before a health check ends.
const REASON_AFTER: Duration = Duration::from_secs(1);
const FIRST_PAUSE: Duration = Duration::from_millis(25);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);
/// "no message found" and "sequence not found", of a message that was removed before.
const GONE: [ErrorCode; 2] = [ErrorCode::NO_MESSAGE_FOUND, ErrorCode::SEQUENCE_NOT_FOUND];

pub(crate) fn name(stream: Stream) -> &'static str {
    match stream {
        Stream::Commands => subject::COMMANDS_STREAM,
        Stream::Events => subject::EVENTS_STREAM,
        Stream::Tasks => subject::TASKS_STREAM,
        Stream::Dead => subject::DEAD_STREAM,
    }
}

fn prefix(stream: Stream) -> &'static str {
    match stream {
        Stream::Commands => subject::COMMANDS,
        Stream::Events => subject::EVENTS,
        Stream::Tasks => subject::TASKS,
        Stream::Dead => subject::DEAD,
    }
}

#[async_trait]
impl Queue for NatsBus {
    /// Repeats with the same message id for about 12 s if the answer is lost or a leader is being
    /// elected. A message without an id is repeated only if it was certainly not stored.
    async fn publish(&self, message: Message) -> Result<Receipt, Error> {
        let headers = headers_out(&message.headers)?;
        let has_id = message.id().is_some();
        let Message { subject, payload, .. } = message;
        let payload = Bytes::from(payload);
        let give_up = Instant::now() + PUBLISH_BUDGET;
        let mut backoff = Backoff::new(FIRST_PAUSE, LONGEST_PAUSE);
        let (mut has_asked, mut may_be_stored) = (false, false);
        loop {
            let inner = self.open()?;
            let attempt = inner.publishes.attempt();
            let (headers, content) = (headers.clone(), payload.clone());
            let sent = inner.data_api.publish(subject.clone(), headers, content, ANSWER_MAX).await;
            attempt.end(&sent);
            let failure = match sent {
                Ok(stored) => {
                    let duplicate = stored.duplicate && !may_be_stored;
                    return Ok(Receipt { sequence: stored.sequence, duplicate });
                }
                Err(failure) => failure,
            };
            let may_repeat = match &failure {
                ApiError::NoResponders => true,
                ApiError::Timeout => has_id,
                failure => failure.code() == Some(DUPLICATE_IN_PROCESS),
            };
            if matches!(failure, ApiError::NoResponders) && !std::mem::replace(&mut has_asked, true)
            {
                self.check_stream(&subject).await?;
            }
            may_be_stored |= matches!(failure, ApiError::Timeout);
            let pause = backoff.next();
            if !may_repeat || Instant::now() + pause >= give_up {
                let size = payload.len();
                return Err(
                    failure.into_error(&format!("the publish of {size} bytes to {subject}"))
                );
            }
            tokio::time::sleep(pause).await;
        }
    }

    async fn pull(&self, max: usize, wait: Duration) -> Result<Vec<Delivery>, Error> {
        let inner = self.open()?;
        // Counted before anything is taken: see `NatsSettle`.
        let connection = Connection::of(inner.data_api.client());
        let pulled = inner.pull.pull(max, wait).await?;
        Ok(pulled.iter().filter_map(|message| self.delivery(message, &connection)).collect())
    }

    async fn read(
        &self,
        stream: Stream,
        from: u64,
        max: usize,
    ) -> Result<Vec<(u64, Timestamp, Message)>, Error> {
        let name = name(stream);
        let stream = self.stream(name).await?;
        let mut read = Vec::new();
        let mut next = from.max(1);
        while read.len() < max {
            let found = stream.raw_message_builder().sequence(next).next_by_subject(">").send();
            match found.await {
                Ok(found) => {
                    let stored_at = timestamp(found.time.unix_timestamp_nanos());
                    let message = Message {
                        subject: found.subject.to_string(),
                        headers: headers_in(Some(&found.headers)),
                        payload: found.payload.to_vec(),
                    };
                    read.push((found.sequence, stored_at, message));
                    next = found.sequence + 1;
                }
                Err(error) => match error.kind() {
                    RawMessageErrorKind::NoMessageFound => break,
                    RawMessageErrorKind::JetStream(cause) => {
                        return Err(api_error(name, &cause));
                    }
                    _ => return Err(Error::Unavailable(format!("the read of {name}: {error}"))),
                },
            }
        }
        Ok(read)
    }

    async fn select(
        &self,
        stream: Stream,
        filter: &str,
        from: u64,
        max: usize,
    ) -> Result<Vec<(u64, Timestamp, Message)>, Error> {
        select::select(&self.open()?.data_api, name(stream), filter, from, max).await
    }

    async fn span(&self, stream: Stream) -> Result<Span, Error> {
        let name = name(stream);
        let info = self.open()?.data_api.call(&format!("STREAM.INFO.{name}"), &Value::Null).await;
        let info = info.map_err(|failure| failure.into_error(&format!("the stream {name}")))?;
        let number = |member: &str| info["state"][member].as_u64().unwrap_or_default();
        let (last, messages) = (number("last_seq"), number("messages"));
        let first = if messages == 0 { last + 1 } else { number("first_seq") };
        let time =
            |member: &str| info[member].as_str().and_then(|text| Timestamp::parse(text).ok());
        let age = time("ts").zip(time("created")).map(|(now, created)| now.since(created));
        Ok(Span { first, last, messages, age })
    }

    async fn fill(&self, stream: Stream, subject: &str) -> Result<Fill, Error> {
        let name = name(stream);
        let filter = json!({ "subjects_filter": subject });
        let info = self.open()?.data_api.call(&format!("STREAM.INFO.{name}"), &filter).await;
        let info = info.map_err(|failure| failure.into_error(&format!("the stream {name}")))?;
        Ok(Fill {
            bytes: info["state"]["bytes"].as_u64().unwrap_or_default(),
            bytes_max: info["config"]["max_bytes"].as_u64().filter(|max| *max > 0),
            own: info["state"]["subjects"][subject].as_u64().unwrap_or_default(),
        })
    }

    async fn provide(&self, task_type: &str, version: u32) -> Result<(), Error> {
        self.provide_pool(task_type, version).await
    }

    async fn task_pools(&self) -> Result<Vec<Pool>, Error> {
        self.pools_of_tasks().await
    }

    async fn remove(&self, stream: Stream, sequence: u64) -> Result<bool, Error> {
        let name = name(stream);
        match self.stream(name).await?.delete_message(sequence).await {
            Ok(removed) => Ok(removed),
            Err(error) => match error.kind() {
                DeleteMessageErrorKind::JetStream(cause) if GONE.contains(&cause.error_code()) => {
                    Ok(false)
                }
                DeleteMessageErrorKind::JetStream(cause) => Err(api_error(name, &cause)),
                _ => Err(Error::Unavailable(format!("the removal from {name}: {error}"))),
            },
        }
    }

    async fn backlog(&self) -> Result<u64, Error> {
        let name = subject::COMMANDS_STREAM;
        let info = self.open()?.data_api.call(&format!("STREAM.INFO.{name}"), &Value::Null).await;
        let info = info.map_err(|failure| failure.into_error(&format!("the stream {name}")))?;
        Ok(info["state"]["messages"].as_u64().unwrap_or_default())
    }

    async fn figures(&self) -> Result<Figures, Error> {
        self.all_figures().await
    }

    async fn ping(&self) -> Result<(), Error> {
        let inner = self.open()?;
        let mut asked = self.backlog();
        let answer = match tokio::time::timeout(REASON_AFTER, &mut asked).await {
            Ok(answer) => answer,
            // Without a connection there is no answer. A short loss of it is waited for.
            Err(_) => {
                inner.data.check()?;
                asked.await
            }
        };
        answer?;
        inner.publishes.check()?;
        inner.pull.check()
    }
}

impl NatsBus {
    /// No stream took a publish: either a leader is being elected, or no stream has the subject.
    async fn check_stream(&self, subject: &str) -> Result<(), Error> {
        let api = &self.open()?.data_api;
        // If this request has no answer either, nothing is known; the publish goes on trying.
        let Ok(names) = api.call("STREAM.NAMES", &json!({ "subject": subject })).await else {
            return Ok(());
        };
        let is_known = names["streams"].as_array().is_some_and(|streams| !streams.is_empty());
        if is_known || self.heal(subject).await {
            return Ok(());
        }
        let says =
            ApiError::Refused { code: STREAM_NOT_FOUND, text: "stream not found".to_owned() };
        Err(says.into_error(&format!("the stream for {subject}")))
    }

    async fn heal(&self, subject: &str) -> bool {
        let streams = [Stream::Commands, Stream::Events, Stream::Tasks, Stream::Dead];
        let has = |stream: &&Stream| subject.starts_with(&format!("{}.", prefix(**stream)));
        match (self.open(), streams.iter().find(has)) {
            (Ok(inner), Some(stream)) => inner.healer.heal(name(*stream)).await,
            _ => false,
        }
    }

    async fn stream(&self, name: &str) -> Result<jetstream::stream::Stream<()>, Error> {
        let stream = self.open()?.data_context.get_stream_no_info(name).await;
        stream.map_err(|error| Error::Unavailable(format!("the stream {name}: {error}")))
    }

    fn delivery(&self, message: &async_nats::Message, connection: &Connection) -> Option<Delivery> {
        let (Some(place), Some(reply)) = (AckAddress::of(message), message.reply.clone()) else {
            tracing::warn!(subject = %message.subject, "a pulled message has no sequence in a stream");
            return None;
        };
        let stored_at = timestamp(place.stored_nanos);
        let (bus, connection) = (self.clone(), connection.clone());
        let taken_at = Instant::now();
        let settle = NatsSettle { bus, address: reply, connection, taken_at, stored_at };
        Some(Delivery {
            message: message_in(message),
            sequence: place.sequence,
            attempt: place.attempt,
            stored_at,
            settle: Box::new(settle),
        })
    }
}

fn api_error(stream: &str, cause: &jetstream::Error) -> Error {
    let says = ApiError::Refused { code: cause.error_code().0, text: cause.to_string() };
    says.into_error(&format!("the stream {stream}"))
}

pub(crate) fn timestamp(nanos: i128) -> Timestamp {
    Timestamp::from_millis(i64::try_from(nanos / 1_000_000).unwrap_or(i64::MAX))
}

/// Settles one delivery with a plain message to its address, which the server does not confirm.
struct NatsSettle {
    bus: NatsBus,
    address: async_nats::Subject,
    /// The connection over which the message came.
    connection: Connection,
    taken_at: Instant,
    stored_at: Timestamp,
}

impl NatsSettle {
    /// Whether the stream is still the one that the message came from, as far as this can be told.
    async fn is_of_the_stream(&self, inner: &Inner) -> Result<bool, Error> {
        let stream = subject::COMMANDS_STREAM;
        if !self.connection.lasts() {
            return has(&inner.data_api, stream, self.stored_at).await;
        }
        if self.taken_at.elapsed() < SURE_FOR {
            return Ok(true);
        }
        // A broker that is too busy to say it has lost nothing: the connection lasts.
        let created = inner.creations.lately(&inner.data_context, stream).await;
        Ok(created.map_or(true, |created| timestamp(created) <= self.stored_at))
    }

    /// Sends nothing where the broker has lost its store since, or somebody has made the stream anew: the
    /// address is that of another message then, which this would settle.
    async fn send(&self, text: Bytes) -> Result<(), Error> {
        let inner = self.bus.open()?;
        if !self.is_of_the_stream(inner).await? {
            tracing::debug!(address = %self.address, "a message is not settled any more");
            return Ok(());
        }
        let client = inner.data_api.client();
        let sent = client.publish(self.address.clone(), text).await;
        sent.map_err(|error| Error::Unavailable(format!("an acknowledgement: {error}")))
    }
}

#[async_trait]
impl Settle for NatsSettle {
    async fn ack(&self) -> Result<(), Error> {
        self.send(Bytes::from_static(b"+ACK")).await
    }

    async fn retry(&self, delay: Duration) -> Result<(), Error> {
        let delay = json!({ "delay": crate::api::nanos(delay) });
        self.send(Bytes::from(format!("-NAK {delay}"))).await
    }

    async fn progress(&self) -> Result<(), Error> {
        self.send(Bytes::from_static(b"+WPI")).await
    }
}
