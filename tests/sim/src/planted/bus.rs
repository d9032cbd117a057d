//! A bus of one node, with the bug.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bus::{
    Attempt, Bucket, Bus, Delivery, Endpoint, Entry, Error, Handed, Kv, MemoryBus, Nonces, Outside,
    Put, Queue, Receipt, Revision, Settle, Span, Stream, Subscription, TaskAnswer, Tasks, Watch,
    Wire,
};
use bytes::Bytes;
use futures::StreamExt as _;
use model::Timestamp;
use protocol::{CachePosition, ContentType, Message, decode_body, encode_body, header, subject};

use super::Planted;
use super::outside::{BrokenOutside, Numbers, Wrong};

/// A bus of one node, with the bug.
pub(crate) struct BrokenBus {
    bus: MemoryBus,
    planted: Option<Planted>,
    nonces: Nonces,
    published: AtomicU64,
    numbers: Numbers,
}

impl BrokenBus {
    pub(crate) fn new(bus: MemoryBus, planted: Option<Planted>, nonces: Nonces) -> Self {
        Self { bus, planted, nonces, published: AtomicU64::new(0), numbers: Numbers::default() }
    }

    fn has(&self, planted: Planted) -> bool {
        self.planted == Some(planted)
    }

    /// The position that the pointer itself shows, whether or not the node has applied it.
    async fn as_written(&self, position: CachePosition) -> Result<CachePosition, Error> {
        let key = subject::token(position.definition_id.as_str());
        let entry = self.bus.kv(Bucket::Definitions).get(&key).await?;
        let Some(Entry { value: Some(value), revision }) = entry else { return Ok(position) };
        let written: serde_json::Value = serde_json::from_slice(&value).unwrap();
        let version_id = written["versionId"].as_str().map(Into::into);
        Ok(CachePosition { revision, version_id, ..position })
    }
}

/// An answer that never arrives.
struct Unheard(Box<dyn Settle>);

#[async_trait]
impl Settle for Unheard {
    async fn ack(&self) -> Result<(), Error> {
        Ok(())
    }

    async fn retry(&self, delay: Duration) -> Result<(), Error> {
        self.0.retry(delay).await
    }

    async fn progress(&self) -> Result<(), Error> {
        self.0.progress().await
    }
}

#[async_trait]
impl Queue for BrokenBus {
    async fn publish(&self, mut message: Message) -> Result<Receipt, Error> {
        let is_command = message.subject.starts_with(subject::COMMANDS);
        if self.has(Planted::NewIds) && is_command {
            let id = (self.nonces)();
            message.headers.insert(header::MESSAGE_ID.to_owned(), id);
        }
        if self.has(Planted::PublishUnkept) {
            let count = self.published.fetch_add(1, Ordering::Relaxed);
            if count % 8 == 7 {
                return Ok(Receipt { sequence: count, duplicate: false });
            }
        }
        self.bus.publish(message).await
    }

    async fn pull(&self, max: usize, wait: Duration) -> Result<Vec<Delivery>, Error> {
        let mut deliveries = self.bus.pull(max, wait).await?;
        if self.has(Planted::EarlyAck) {
            for delivery in &deliveries {
                delivery.settle.ack().await?;
            }
        }
        if self.has(Planted::RedeliveryForgotten) {
            deliveries.retain(|delivery| delivery.attempt == 1);
        }
        if self.has(Planted::AlteredTwice) {
            let alterations =
                deliveries.iter_mut().filter(|found| found.message.subject.contains(".alter."));
            for delivery in alterations {
                let id = (self.nonces)();
                delivery.message.headers.insert(header::COMMAND_ID.to_owned(), id);
            }
        }
        if self.has(Planted::OrderStripped) {
            for delivery in &mut deliveries {
                delivery.message.headers.remove(header::SEQUENCE);
            }
        }
        if self.has(Planted::AckForgotten) {
            let unheard = |mut delivery: Delivery| {
                delivery.settle = Box::new(Unheard(delivery.settle));
                delivery
            };
            deliveries = deliveries.into_iter().map(unheard).collect();
        }
        Ok(deliveries)
    }

    async fn provide(&self, task_type: &str, version: u32) -> Result<(), Error> {
        self.bus.provide(task_type, version).await
    }

    async fn task_pools(&self) -> Result<Vec<bus::Pool>, Error> {
        self.bus.task_pools().await
    }

    async fn read(
        &self,
        stream: Stream,
        from: u64,
        max: usize,
    ) -> Result<Vec<(u64, Timestamp, Message)>, Error> {
        self.bus.read(stream, from, max).await
    }

    async fn select(
        &self,
        stream: Stream,
        filter: &str,
        from: u64,
        max: usize,
    ) -> Result<Vec<(u64, Timestamp, Message)>, Error> {
        self.bus.select(stream, filter, from, max).await
    }

    async fn figures(&self) -> Result<bus::Figures, Error> {
        self.bus.figures().await
    }

    async fn span(&self, stream: Stream) -> Result<Span, Error> {
        let span = self.bus.span(stream).await?;
        let age = match self.planted {
            Some(Planted::LossUnseen) => None,
            Some(Planted::TasksAnewUnseen) => self.bus.span(Stream::Commands).await?.age,
            _ => span.age,
        };
        Ok(Span { age, ..span })
    }

    async fn fill(&self, stream: Stream, subject: &str) -> Result<bus::Fill, Error> {
        self.bus.fill(stream, subject).await
    }

    async fn remove(&self, stream: Stream, sequence: u64) -> Result<bool, Error> {
        self.bus.remove(stream, sequence).await
    }

    async fn backlog(&self) -> Result<u64, Error> {
        self.bus.backlog().await
    }
}

#[async_trait]
impl Tasks for BrokenBus {
    async fn take_tasks(
        &self,
        kinds: &[(String, u32)],
        max: usize,
        wait: Duration,
    ) -> Result<Vec<Handed>, Error> {
        self.bus.take_tasks(kinds, max, wait).await
    }

    async fn answer_task(&self, address: &str, answer: TaskAnswer) -> Result<(), Error> {
        if self.has(Planted::EarlierTaskAcked) && answer == TaskAnswer::Done {
            let sequence = address.rsplit('/').nth(1).unwrap().parse().unwrap();
            return self.bus.remove(Stream::Tasks, sequence).await.map(drop);
        }
        self.bus.answer_task(address, answer).await
    }
}

#[async_trait]
impl Wire for BrokenBus {
    async fn send(&self, mut message: Message) -> Result<(), Error> {
        let is_position = message.subject.starts_with(subject::CACHE_APPLIED);
        if self.has(Planted::BarrierEarly) && is_position {
            let position: Result<CachePosition, _> =
                decode_body(ContentType::Json, &message.payload);
            if let Ok(position) = position {
                let early = self.as_written(position).await?;
                message.payload = encode_body(ContentType::Json, &early).unwrap();
            }
        }
        self.bus.send(message).await
    }

    async fn subscribe(&self, subject: &str) -> Result<Subscription, Error> {
        self.bus.subscribe(subject).await
    }

    async fn subscribe_if_allowed(&self, subject: &str) -> Result<Attempt, Error> {
        self.bus.subscribe_if_allowed(subject).await
    }

    async fn request(&self, message: Message, timeout: Duration) -> Result<Message, Error> {
        self.bus.request(message, timeout).await
    }

    async fn ask_all(&self, message: Message) -> Result<Subscription, Error> {
        self.bus.ask_all(message).await
    }

    fn inbox(&self) -> String {
        self.bus.inbox()
    }

    async fn serve(
        &self,
        name: &str,
        version: &str,
        description: &str,
        endpoints: Vec<Endpoint>,
    ) -> Result<Subscription, Error> {
        self.bus.serve(name, version, description, endpoints).await
    }
}

impl Bus for BrokenBus {
    fn kv(&self, bucket: Bucket) -> Arc<dyn Kv> {
        let kv = self.bus.kv(bucket);
        match self.planted {
            Some(Planted::PresenceUnrenewed) if bucket == Bucket::Nodes => {
                Arc::new(BrokenKv { kv, renews: false, shown_after: Duration::ZERO })
            }
            Some(Planted::BarrierEarly) if bucket == Bucket::Definitions => {
                Arc::new(BrokenKv { kv, renews: true, shown_after: APPLIED_AFTER })
            }
            _ => kv,
        }
    }

    fn outside(&self) -> Arc<dyn Outside> {
        let outside = self.bus.outside();
        let wrong = match self.planted {
            Some(Planted::MessageSettledEarly) => Wrong::SettledEarly,
            Some(Planted::NumberTakenForMessage) => Wrong::NumberTaken(Arc::clone(&self.numbers)),
            _ => return outside,
        };
        Arc::new(BrokenOutside(outside, wrong))
    }
}

/// The delay between the confirmation of a pointer and its use by the node.
const APPLIED_AFTER: Duration = Duration::from_millis(500);

/// A bucket of one node, with the bug.
struct BrokenKv {
    kv: Arc<dyn Kv>,
    /// If false, keys of executors are written only once.
    renews: bool,
    /// The delay of the watch.
    shown_after: Duration,
}

#[async_trait]
impl Kv for BrokenKv {
    async fn put_if(
        &self,
        key: &str,
        value: Bytes,
        expected: Revision,
        ttl: Option<Duration>,
        nonce: &str,
    ) -> Result<Put, Error> {
        if !self.renews && expected > 0 && key.contains("executor") {
            return Ok(Put::Won(expected));
        }
        self.kv.put_if(key, value, expected, ttl, nonce).await
    }

    async fn purge_if(&self, key: &str, expected: Revision, nonce: &str) -> Result<Put, Error> {
        self.kv.purge_if(key, expected, nonce).await
    }

    async fn get(&self, key: &str) -> Result<Option<Entry>, Error> {
        self.kv.get(key).await
    }

    async fn removed_at(&self, key: &str) -> Result<Option<Timestamp>, Error> {
        self.kv.removed_at(key).await
    }

    async fn revision(&self) -> Result<Revision, Error> {
        self.kv.revision().await
    }

    async fn entries(&self) -> Result<Vec<(String, Entry)>, Error> {
        self.kv.entries().await
    }

    async fn watch(&self) -> Result<Watch, Error> {
        let (changes, late) = (self.kv.watch().await?, self.shown_after);
        Ok(Box::pin(changes.then(move |change| async move {
            tokio::time::sleep(late).await;
            change
        })))
    }
}
