//! What workflows use of NATS, in memory: subjects, streams, and buckets and object stores that exist
//! once they are written.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{FutureExt as _, StreamExt as _};
use protocol::Message;
use tokio::time::Instant;

use super::MemoryBus;
use super::fault::Operation;
use super::streams::{Given, Streams};
use crate::{
    Content, Error, KeyValue, Object, Outside, OutsideError, Place, PlaceFigures, Put, Revision,
    Stored, Taken, Wire as _,
};

/// Keys and objects.
#[derive(Default)]
pub(super) struct State {
    /// The values by bucket and key, each with the nonce of its write.
    keys: BTreeMap<(String, String), (Option<Bytes>, Revision, String)>,
    /// The newest revision of all buckets.
    revision: Revision,
    objects: BTreeMap<(String, String), Content>,
    /// Objects whose bytes are not those that were written.
    damaged: BTreeSet<(String, String)>,
    pub(super) streams: Streams,
}

impl State {
    /// Damages an object, until it is written again.
    pub(super) fn damage(&mut self, store: &str, name: &str) {
        self.damaged.insert((store.to_owned(), name.to_owned()));
    }
}

#[async_trait]
impl Outside for MemoryBus {
    async fn tell(&self, message: Message) -> Result<(), OutsideError> {
        self.send(message).await.map_err(refused)
    }

    async fn ask(&self, message: Message, timeout: Duration) -> Result<Message, OutsideError> {
        let subject = message.subject.clone();
        self.request(message, timeout).await.map_err(|error| match error {
            Error::Unavailable(text) if text.ends_with(&subject) => {
                OutsideError::NoResponders(text)
            }
            other => refused(other),
        })
    }

    async fn store(&self, message: Message, _timeout: Duration) -> Result<Stored, OutsideError> {
        let now = self.now();
        let stored = self.open().map_err(refused)?.outside.streams.store(&message, now);
        self.shared.arrived.notify_waiters();
        let Some((stream, sequence)) = stored else {
            let subject = &message.subject;
            return Err(OutsideError::NoResponders(format!("no stream has the subject {subject}")));
        };
        Ok(Stored { stream, sequence })
    }

    async fn key(&self, bucket: &str, key: &str) -> Result<Option<KeyValue>, OutsideError> {
        let state = self.open().map_err(refused)?;
        let found = state.outside.keys.get(&(bucket.to_owned(), key.to_owned()));
        Ok(found.and_then(|(value, revision, _)| {
            Some(KeyValue { value: value.clone()?, revision: *revision })
        }))
    }

    async fn set_key(
        &self,
        bucket: &str,
        key: &str,
        value: Option<Bytes>,
        expected: Option<Revision>,
        nonce: &str,
    ) -> Result<Put, OutsideError> {
        let mut state = self.open().map_err(refused)?;
        let place = (bucket.to_owned(), key.to_owned());
        let now = state.outside.keys.get(&place);
        if let Some((_, revision, own)) = now
            && own == nonce
        {
            return Ok(Put::Won(*revision));
        }
        let at = now.map_or(0, |(_, revision, _)| *revision);
        if expected.is_some_and(|expected| expected != at) {
            return Ok(Put::Lost(Some(at)));
        }
        state.outside.revision += 1;
        let revision = state.outside.revision;
        state.outside.keys.insert(place, (value, revision, nonce.to_owned()));
        Ok(Put::Won(revision))
    }

    async fn object(
        &self,
        store: &str,
        name: &str,
        bytes_max: usize,
    ) -> Result<Option<Content>, OutsideError> {
        let state = self.open().map_err(refused)?;
        match state.outside.objects.get(&(store.to_owned(), name.to_owned())) {
            Some(content) if content.bytes.len() > bytes_max => {
                Err(OutsideError::Refused(format!("the object has more than {bytes_max} bytes")))
            }
            found => Ok(found.cloned()),
        }
    }

    async fn open_object(&self, store: &str, name: &str) -> Result<Option<Object>, OutsideError> {
        let state = self.open().map_err(refused)?;
        let place = (store.to_owned(), name.to_owned());
        let found = state.outside.objects.get(&place).cloned();
        let what = format!("object {name} in the object store {store}");
        let wrong = OutsideError::Unavailable(format!("{what}: wrong digest"));
        let end = state.outside.damaged.contains(&place).then_some(Err(wrong));
        Ok(found.map(|Content { bytes, content_type }| Object {
            size: bytes.len() as u64,
            content_type,
            parts: futures::stream::iter([Ok(bytes)].into_iter().chain(end)).boxed(),
        }))
    }

    async fn set_object(
        &self,
        store: &str,
        name: &str,
        content: Content,
    ) -> Result<(), OutsideError> {
        let mut state = self.open().map_err(refused)?;
        let place = (store.to_owned(), name.to_owned());
        state.outside.damaged.remove(&place);
        state.outside.objects.insert(place, content);
        Ok(())
    }

    async fn remove_object(&self, store: &str, name: &str) -> Result<(), OutsideError> {
        let mut state = self.open().map_err(refused)?;
        state.outside.objects.remove(&(store.to_owned(), name.to_owned()));
        Ok(())
    }

    async fn listen(
        &self,
        subject: &str,
        group: &str,
    ) -> Result<BoxStream<'static, Message>, OutsideError> {
        let mut state = self.open().map_err(refused)?;
        let group = Some(format!("{group}/{subject}"));
        let messages = state.wire.subscribe(&self.node, subject, group);
        Ok(messages.map(|incoming| incoming.message).boxed())
    }

    async fn follow(
        &self,
        place: &Place,
    ) -> Result<BoxStream<'static, Result<Taken, OutsideError>>, OutsideError> {
        let now = self.now();
        let mut state = self.open().map_err(refused)?;
        // The place begins now, and not when the first message is asked for.
        let found = state.outside.streams.touch(place, now);
        drop(state);
        if !found.ok_or_else(|| absent(&place.stream))? {
            let (name, stream) = (&place.name, &place.stream);
            let text = format!("the consumer {name} of the stream {stream} is gone");
            return Err(OutsideError::Unavailable(text));
        }
        let (bus, place) = (self.clone(), place.clone());
        let messages = futures::stream::unfold((bus, place), |(bus, place)| async {
            let taken = bus.next_of(&place).await;
            Some((taken, (bus, place)))
        });
        Ok(messages.boxed())
    }

    async fn place_figures(
        &self,
        stream: &str,
        name: &str,
    ) -> Result<Option<PlaceFigures>, OutsideError> {
        let state = self.open().map_err(refused)?;
        state.outside.streams.figures(stream, name).ok_or_else(|| absent(stream))
    }
}

impl MemoryBus {
    async fn next_of(&self, place: &Place) -> Result<Taken, OutsideError> {
        loop {
            let arrived = self.shared.arrived.notified();
            tokio::pin!(arrived);
            arrived.as_mut().enable();
            let (now, at) = (Instant::now(), self.now());
            let next = self.open().map_err(refused)?.outside.streams.next(place, now, at);
            match next {
                None => return Err(absent(&place.stream)),
                Some(Ok(Given { message, sequence, stored_nanos })) => {
                    let (bus, place) = (self.clone(), place.clone());
                    let settle = async move { bus.settle(place, sequence, stored_nanos).await };
                    return Ok(Taken { message, sequence, stored_nanos, settle: settle.boxed() });
                }
                Some(Err(Some(again_at))) => tokio::select! {
                    () = arrived => {}
                    () = tokio::time::sleep_until(again_at) => {}
                },
                Some(Err(None)) => arrived.await,
            }
        }
    }
}

impl MemoryBus {
    /// Settles a message, as far as faults let it. What is lost on the way comes again.
    async fn settle(&self, place: Place, sequence: u64, stored_nanos: i128) {
        let Ok(verdict) = self.judge(Operation::Ack { sequence }).await else { return };
        if !verdict.lost {
            self.when(verdict.late, move |bus| {
                bus.state().outside.streams.settle(&place, sequence, stored_nanos);
                bus.shared.arrived.notify_waiters();
            });
        }
    }
}

fn absent(stream: &str) -> OutsideError {
    OutsideError::Absent(format!("the stream {stream} does not exist"))
}

fn refused(error: Error) -> OutsideError {
    let text = error.to_string();
    match error {
        Error::TooLarge(_) => OutsideError::Refused(text),
        Error::Unknown(_) => OutsideError::Late(text),
        _ => OutsideError::Unavailable(text),
    }
}
