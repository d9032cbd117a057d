//! Bugs on purpose. A simulation that does not find them proves nothing.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bus::{
    Bucket, Bus, Delivery, Endpoint, Error, Kv, MemoryBus, Queue, Receipt, Stream, Subscription,
    Wire,
};
use model::Timestamp;
use protocol::Message;
pub(crate) use store::memory::Bug;

/// What is broken in this world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Planted {
    /// Something in the database.
    Store(Bug),
    /// Commands are acknowledged before they are applied.
    EarlyAck,
    /// A message id is no message id: what is published twice is delivered twice, and what is
    /// fired twice is a new command.
    NewIds,
}

impl Planted {
    pub(crate) const ALL: [Self; 7] = [
        Self::Store(Bug::VersionUnchecked),
        Self::Store(Bug::OutboxForgotten),
        Self::Store(Bug::CommandsForgotten),
        Self::Store(Bug::WaitingForgotten),
        Self::Store(Bug::BookmarksKept),
        Self::EarlyAck,
        Self::NewIds,
    ];
}

/// A bus of one node, with the bug.
pub(crate) struct BrokenBus {
    pub(crate) bus: MemoryBus,
    pub(crate) planted: Option<Planted>,
    pub(crate) chance: bus::Chance,
}

#[async_trait]
impl Queue for BrokenBus {
    async fn publish(&self, mut message: Message) -> Result<Receipt, Error> {
        let is_command = message.subject.starts_with(protocol::subject::COMMANDS);
        if self.planted == Some(Planted::NewIds) && is_command {
            let id = (self.chance)();
            message.headers.insert(protocol::header::MESSAGE_ID.to_owned(), id);
        }
        self.bus.publish(message).await
    }

    async fn pull(&self, max: usize, wait: Duration) -> Result<Vec<Delivery>, Error> {
        let deliveries = self.bus.pull(max, wait).await?;
        if self.planted == Some(Planted::EarlyAck) {
            for delivery in &deliveries {
                delivery.settle.ack().await?;
            }
        }
        Ok(deliveries)
    }

    async fn read(
        &self,
        stream: Stream,
        from: u64,
        max: usize,
    ) -> Result<Vec<(u64, Timestamp, Message)>, Error> {
        self.bus.read(stream, from, max).await
    }

    async fn remove(&self, stream: Stream, sequence: u64) -> Result<bool, Error> {
        self.bus.remove(stream, sequence).await
    }

    async fn backlog(&self) -> Result<u64, Error> {
        self.bus.backlog().await
    }
}

#[async_trait]
impl Wire for BrokenBus {
    async fn send(&self, message: Message) -> Result<(), Error> {
        self.bus.send(message).await
    }

    async fn subscribe(&self, subject: &str) -> Result<Subscription, Error> {
        self.bus.subscribe(subject).await
    }

    async fn request(&self, message: Message, timeout: Duration) -> Result<Message, Error> {
        self.bus.request(message, timeout).await
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
        self.bus.kv(bucket)
    }
}
