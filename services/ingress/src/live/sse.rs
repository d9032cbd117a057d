//! Server-sent events: a response that goes on until its client leaves, reads too slowly, or the
//! server stops. A stream that the server ends says why in its last event; the ids of the events
//! before it tell where to go on.

use std::sync::{Arc, OnceLock};

use axum::body::{Body, Bytes};
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::Response;
use futures::stream::BoxStream;
use futures::{StreamExt as _, stream};
use model::limits;
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::{MissedTickBehavior, interval};

use super::Place;
use crate::App;
use crate::auth::recheck::Recheck;

/// Milliseconds after which a client connects again.
const RETRY_MS: u64 = 1_000;

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    /// The place to go on from; events about the stream itself have none.
    pub(crate) id: Option<u64>,
    pub(crate) name: String,
    pub(crate) data: Value,
}

/// The events of a stream; an error is the last one.
pub(crate) type Events = BoxStream<'static, Result<Event, Event>>;

impl Event {
    /// The events after this one may lack some: they are not kept any more.
    pub(crate) fn gap(reason: &str, from: u64, to: Option<u64>) -> Self {
        let data = json!({ "reason": reason, "from": from, "to": to });
        Self { id: None, name: "gap".to_owned(), data }
    }

    /// The reader asked for what comes after an event that there is not.
    pub(crate) fn beyond(number: u64, last: u64) -> Self {
        let reason = format!(
            "there is no event {number} yet, the last is {last}: these are all that the stream has, \
             which may have been created anew"
        );
        Self::after_last(&reason, number, last)
    }

    /// The reader asked for what comes after a line that the journal does not have.
    pub(crate) fn no_line(number: u64, last: u64) -> Self {
        let reason = format!(
            "there is no line {number} yet, the last is {last}: these are all that the journal has, \
             which may be that of a later instance of this id"
        );
        Self::after_last(&reason, number, last)
    }

    fn after_last(reason: &str, number: u64, last: u64) -> Self {
        let mut gap = Self::gap(reason, number.saturating_add(1), None);
        gap.data["last"] = json!(last);
        gap
    }

    /// The last event of a stream that the server ends.
    pub(crate) fn end(reason: &str) -> Self {
        Self { id: None, name: "end".to_owned(), data: json!({ "reason": reason }) }
    }

    /// The last event of a stream of which only the past was asked for.
    pub(crate) fn complete() -> Self {
        let mut end = Self::end("these are the events up to now");
        end.data["isComplete"] = json!(true);
        end
    }

    fn text(&self) -> String {
        let id = self.id.map(|id| format!("id: {id}\n")).unwrap_or_default();
        // JSON on one line has no line breaks, and a name must have none.
        let name = self.name.replace(['\r', '\n'], " ");
        format!("{id}event: {name}\ndata: {}\n\n", self.data)
    }
}

/// The part of a stream that has been made and not sent yet.
type Chunk = (Bytes, Option<OwnedSemaphorePermit>);

/// The way to one reader.
struct Sink {
    sender: mpsc::Sender<Chunk>,
    /// Permits for the bytes that wait.
    room: Arc<Semaphore>,
    /// The last event.
    last: Arc<OnceLock<Event>>,
}

/// The reader has left, or reads too slowly.
struct Cut;

/// The response with these events. It has its own place until it ends, and ends when the credentials
/// of its reader do not count any more.
pub(crate) fn response(app: &Arc<App>, place: Place, recheck: Recheck, events: Events) -> Response {
    let (sender, receiver) = mpsc::channel(limits::LIVE_EVENTS_BUFFERED_MAX);
    let last = Arc::new(OnceLock::new());
    let room = Arc::new(Semaphore::new(limits::LIVE_BYTES_BUFFERED_MAX));
    let sink = Sink { sender, room, last: Arc::clone(&last) };
    let draining = app.draining();
    let checking = Arc::clone(app);
    app.spawn("ingress stream", async move {
        let _place = place;
        let left = sink.sender.clone();
        tokio::select! {
            biased;
            () = left.closed() => {}
            () = draining.cancelled() => sink.end(Event::end(
                "this server is stopping: connect again, and go on after the last id",
            )),
            () = tokio::time::sleep(limits::LIVE_TIME_MAX) => sink.end(Event::end(
                "this stream is old: connect again, and go on after the last id",
            )),
            () = pump(&checking, &sink, &recheck, events) => {}
        }
    });
    let chunks = stream::unfold((receiver, Some(last)), |(mut receiver, last)| async move {
        if let Some((bytes, permit)) = receiver.recv().await {
            drop(permit);
            return Some((Ok::<_, std::convert::Infallible>(bytes), (receiver, last)));
        }
        let event = last?.get().cloned()?;
        Some((Ok(Bytes::from(event.text())), (receiver, None)))
    });
    let mut response = Response::new(Body::from_stream(chunks));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    // A proxy that compresses or collects an answer would hold the events back.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// Sends events and signs of life until the events end, the reader is cut off or its credentials end.
/// A sign of life comes before events that are ready: a busy stream is checked, too.
async fn pump(app: &App, sink: &Sink, recheck: &Recheck, mut events: Events) {
    let mut beats = interval(app.config.heartbeat);
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beats.reset();
    let mut sent = sink.send(format!("retry: {RETRY_MS}\n: open\n\n")).await;
    while sent.is_ok() {
        let event = tokio::select! {
            biased;
            _ = beats.tick() => {
                if let Err(problem) = recheck.caller(app).await {
                    return sink.end(Event::end(problem.detail()));
                }
                sent = sink.send(": alive\n\n".to_owned()).await;
                continue;
            }
            event = events.next() => event,
        };
        match event {
            Some(Ok(event)) => sent = sink.send(event.text()).await,
            Some(Err(last)) => return sink.end(last),
            None => return,
        }
    }
    let seconds = limits::LIVE_SLOW_TIME_MAX.as_secs();
    sink.end(Event {
        id: None,
        name: "cut".to_owned(),
        data: json!({"reason": format!(
            "these events were not read for {seconds} s: connect again, and go on after the last id"
        )}),
    });
}

impl Sink {
    async fn send(&self, text: String) -> Result<(), Cut> {
        let bytes = Bytes::from(text);
        let bytes_max = limits::LIVE_BYTES_BUFFERED_MAX;
        let permits = u32::try_from(bytes.len().min(bytes_max)).unwrap_or(u32::MAX);
        let sending = async {
            let permit = Arc::clone(&self.room).acquire_many_owned(permits).await.ok();
            self.sender.send((bytes, permit)).await.map_err(|_left| Cut)
        };
        match tokio::time::timeout(limits::LIVE_SLOW_TIME_MAX, sending).await {
            Ok(sent) => sent,
            Err(_) => Err(Cut),
        }
    }

    /// Ends the stream with this event, after those that wait.
    fn end(&self, last: Event) {
        self.last.get_or_init(|| last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_lines_that_end_with_an_empty_one() {
        let event = Event { id: Some(7), name: "finished".to_owned(), data: json!({"a": "x\ny"}) };
        assert_eq!(event.text(), "id: 7\nevent: finished\ndata: {\"a\":\"x\\ny\"}\n\n");
        let smuggled = Event { id: None, name: "a\ndata: b".to_owned(), data: Value::Null };
        assert_eq!(smuggled.text(), "event: a data: b\ndata: null\n\n");
    }
}
