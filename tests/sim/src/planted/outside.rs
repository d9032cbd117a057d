//! What workflows use of NATS, with the bug.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bus::{
    Content, KeyValue, Object, Outside, OutsideError, Place, PlaceFigures, Put, Revision, Stored,
    Taken,
};
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{FutureExt as _, StreamExt as _};
use protocol::Message;

/// When the first message of each number was stored.
pub(super) type Numbers = Arc<Mutex<BTreeMap<u64, i128>>>;

/// What is wrong with the messages of the streams of others.
#[derive(Clone)]
pub(super) enum Wrong {
    /// Each is settled before it is handed over.
    SettledEarly,
    /// Each is taken for the first one of its number.
    NumberTaken(Numbers),
}

/// The streams of others, with the bug.
pub(super) struct BrokenOutside(pub(super) Arc<dyn Outside>, pub(super) Wrong);

impl Wrong {
    async fn apply(self, mut taken: Taken) -> Taken {
        match self {
            Self::SettledEarly => {
                taken.settle.await;
                taken.settle = async {}.boxed();
            }
            Self::NumberTaken(numbers) => {
                let mut numbers = numbers.lock().unwrap();
                taken.stored_nanos = *numbers.entry(taken.sequence).or_insert(taken.stored_nanos);
            }
        }
        taken
    }
}

#[async_trait]
impl Outside for BrokenOutside {
    async fn follow(
        &self,
        place: &Place,
    ) -> Result<BoxStream<'static, Result<Taken, OutsideError>>, OutsideError> {
        let taken = self.0.follow(place).await?;
        let wrong = self.1.clone();
        let broken = move |taken: Result<Taken, OutsideError>| {
            let wrong = wrong.clone();
            async move { Ok(wrong.apply(taken?).await) }
        };
        Ok(taken.then(broken).boxed())
    }

    async fn tell(&self, message: Message) -> Result<(), OutsideError> {
        self.0.tell(message).await
    }

    async fn ask(&self, message: Message, timeout: Duration) -> Result<Message, OutsideError> {
        self.0.ask(message, timeout).await
    }

    async fn store(&self, message: Message, timeout: Duration) -> Result<Stored, OutsideError> {
        self.0.store(message, timeout).await
    }

    async fn key(&self, bucket: &str, key: &str) -> Result<Option<KeyValue>, OutsideError> {
        self.0.key(bucket, key).await
    }

    async fn set_key(
        &self,
        bucket: &str,
        key: &str,
        value: Option<Bytes>,
        expected: Option<Revision>,
        nonce: &str,
    ) -> Result<Put, OutsideError> {
        self.0.set_key(bucket, key, value, expected, nonce).await
    }

    async fn object(
        &self,
        store: &str,
        name: &str,
        bytes_max: usize,
    ) -> Result<Option<Content>, OutsideError> {
        self.0.object(store, name, bytes_max).await
    }

    async fn open_object(&self, store: &str, name: &str) -> Result<Option<Object>, OutsideError> {
        self.0.open_object(store, name).await
    }

    async fn set_object(
        &self,
        store: &str,
        name: &str,
        content: Content,
    ) -> Result<(), OutsideError> {
        self.0.set_object(store, name, content).await
    }

    async fn remove_object(&self, store: &str, name: &str) -> Result<(), OutsideError> {
        self.0.remove_object(store, name).await
    }

    async fn listen(
        &self,
        subject: &str,
        group: &str,
    ) -> Result<BoxStream<'static, Message>, OutsideError> {
        self.0.listen(subject, group).await
    }

    async fn place_figures(
        &self,
        stream: &str,
        name: &str,
    ) -> Result<Option<PlaceFigures>, OutsideError> {
        self.0.place_figures(stream, name).await
    }
}
