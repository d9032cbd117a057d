//! Parts as objects of a JetStream object store.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bus::{Outside, OutsideError};
use bytes::Bytes;
use model::limits;
use protocol::subject::PAYLOAD_PARTS_STORE as STORE;

use super::{Shelf, name};

/// How long NATS may take for one part.
const PART_TIME_MAX: Duration = Duration::from_secs(30);

pub(super) struct Bucket(Arc<dyn Outside>);

impl Bucket {
    pub(super) fn new(outside: Arc<dyn Outside>) -> Self {
        Self(outside)
    }

    async fn has(&self, id: &str, number: u32) -> Result<bool, String> {
        let found = within(self.0.open_object(STORE, &name(id, number))).await?;
        Ok(found.is_some())
    }

    /// The number of parts of an id: they are written in order and removed from the end, so that the
    /// first one that is missing is known after a few questions.
    async fn count(&self, id: &str) -> Result<u32, String> {
        let (mut there, mut step) = (0, 1_u32);
        while self.has(id, there + step - 1).await? {
            there += step;
            step = step.saturating_mul(2);
        }
        while step > 1 {
            step /= 2;
            if self.has(id, there + step - 1).await? {
                there += step;
            }
        }
        Ok(there)
    }
}

#[async_trait]
impl Shelf for Bucket {
    async fn write(&self, id: &str, number: u32, bytes: Bytes) -> Result<(), String> {
        within(self.0.set_object(STORE, &name(id, number), bytes.into())).await
    }

    async fn read(&self, id: &str, number: u32) -> Result<Option<Bytes>, String> {
        let max = limits::PAYLOAD_CHUNK_BYTES;
        let found = within(self.0.object(STORE, &name(id, number), max)).await?;
        Ok(found.map(|content| content.bytes))
    }

    async fn remove(&self, id: &str) -> Result<(), String> {
        for number in (0..self.count(id).await?).rev() {
            within(self.0.remove_object(STORE, &name(id, number))).await?;
        }
        Ok(())
    }
}

async fn within<T>(asked: impl Future<Output = Result<T, OutsideError>>) -> Result<T, String> {
    let answered = tokio::time::timeout(PART_TIME_MAX, asked).await;
    match answered {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(OutsideError::Absent(text))) => Err(format!("{text}: run `staunch provision`")),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("NATS did not answer within {} s", PART_TIME_MAX.as_secs())),
    }
}
