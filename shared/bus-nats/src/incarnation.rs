//! Whether a stream is still the one that was looked at. A broker that has lost its store comes back with
//! others of the same names, whose messages have the same numbers; and anybody may delete a stream and make
//! it anew.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_nats::connection::State;
use async_nats::jetstream::Context;
use async_nats::{Client, Statistics};
use bus::Error;
use model::Timestamp;
use serde_json::Value;
use tokio::time::Instant;

use crate::api::Api;

/// A message that is settled within this time after it was taken is still of the same stream, where the
/// connection lasts: for another message to have its number, somebody would have to delete the stream,
/// make it anew and fill it up to that number meanwhile.
pub(crate) const SURE_FOR: Duration = Duration::from_millis(500);
/// The creation of a stream is asked for once in this time, however many messages are settled late.
const ASKED_EVERY: Duration = Duration::from_millis(500);

/// Tells whether a message is still of the stream and of the consumer that were looked at. A pull
/// outlives a broker that has lost its store: it would take the messages of the new stream for those of
/// the earlier one. Such a broker was restarted, so there is another connection; and where the
/// connection was to another broker, the numbers of the consumer begin again.
pub(crate) struct Incarnation {
    connection: Connection,
    last: u64,
}

/// The connection over which a message came.
#[derive(Clone)]
pub(crate) struct Connection {
    client: Client,
    statistics: Arc<Statistics>,
    connects: u64,
}

impl Incarnation {
    pub(crate) fn of(client: &Client) -> Self {
        Self { connection: Connection::of(client), last: 0 }
    }

    /// Whether the message with this number of the consumer is surely of it. Once it may not be, the
    /// stream is to be looked at.
    pub(crate) fn has(&mut self, number: u64) -> bool {
        let connects = self.connection.statistics.connects.load(Ordering::Acquire);
        let is_surely = connects == self.connection.connects && number > self.last;
        (self.connection.connects, self.last) = (connects, number);
        is_surely
    }

    /// The connection over which the last message came.
    pub(crate) fn connection(&self) -> Connection {
        self.connection.clone()
    }
}

impl Connection {
    pub(crate) fn of(client: &Client) -> Self {
        let (client, statistics) = (client.clone(), client.statistics());
        let connects = statistics.connects.load(Ordering::Acquire);
        Self { client, statistics, connects }
    }

    /// Whether there was no other one since. While there is none at all, what is sent waits for the
    /// next.
    pub(crate) fn lasts(&self) -> bool {
        let connects = self.statistics.connects.load(Ordering::Acquire);
        connects == self.connects && self.client.connection_state() == State::Connected
    }
}

/// When the stream was created, in nanoseconds since 1970, as the broker says now; or why it does not say.
pub(crate) async fn created(context: &Context, stream: &str) -> Result<i128, String> {
    let found = context.get_stream(stream).await.map_err(|error| error.to_string())?;
    Ok(found.cached_info().created.unix_timestamp_nanos())
}

/// When streams were created, as the broker has said a moment ago.
#[derive(Default)]
pub(crate) struct Creations(Mutex<BTreeMap<String, Arc<Creation>>>);

type Creation = tokio::sync::Mutex<Option<(Result<i128, String>, Instant)>>;

impl Creations {
    /// As [`created`] says, or has said half a second ago at most. It is for a connection that lasts: the
    /// answer may be from before another one.
    pub(crate) async fn lately(&self, context: &Context, stream: &str) -> Result<i128, String> {
        let creation = {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(known.entry(stream.to_owned()).or_default())
        };
        let mut said = creation.lock().await;
        if let Some((answer, at)) = &*said
            && at.elapsed() < ASKED_EVERY
        {
            return answer.clone();
        }
        let answer = created(context, stream).await;
        *said = Some((answer.clone(), Instant::now()));
        answer
    }
}

/// Whether a stream can have a message that was stored at this time: one that was created later is
/// another stream of the same name.
pub(crate) async fn has(api: &Api, stream: &str, stored_at: Timestamp) -> Result<bool, Error> {
    let info = api.call(&format!("STREAM.INFO.{stream}"), &Value::Null).await;
    let info = info.map_err(|failure| failure.into_error(&format!("the stream {stream}")))?;
    let created = info["created"].as_str().and_then(|text| Timestamp::parse(text).ok());
    Ok(created.is_none_or(|created| created <= stored_at))
}
