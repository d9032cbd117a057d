//! The buckets of the twin as one node uses them.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt as _;
use model::Timestamp;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::{MemoryBus, Operation, Shared, bucket};
use crate::lock::lock;
use crate::{Bucket, Entry, Error, Kv, Put, Revision, Watch};

pub(super) struct MemoryKv {
    bus: MemoryBus,
    bucket: Bucket,
}

impl MemoryKv {
    pub(super) fn new(bus: &MemoryBus, bucket: Bucket) -> Self {
        Self { bus: bus.clone(), bucket }
    }

    fn with<T>(&self, work: impl FnOnce(&mut bucket::State) -> T) -> Result<T, Error> {
        let mut state = self.bus.open()?;
        let bucket = state.buckets.entry(self.bucket).or_default();
        bucket.expire(Instant::now());
        Ok(work(bucket))
    }

    /// Writes a value, or a tombstone.
    fn write(
        &self,
        key: &str,
        value: Option<(Bytes, Option<Duration>)>,
        expected: Revision,
        nonce: &str,
    ) -> Result<Put, Error> {
        let now = Instant::now();
        let (value, ttl) = match value {
            Some((value, ttl)) => (Some(value), ttl),
            None => (None, self.bucket.tombstone_ttl()),
        };
        let until = ttl.map(|ttl| now + ttl);
        let put = self.with(|bucket| bucket.write(key, value, expected, until, nonce, now))?;
        if until.is_some() {
            self.see_to_expiry()?;
        }
        Ok(put)
    }

    /// Writes it later, after the caller has stopped waiting.
    fn write_late(
        &self,
        late: Duration,
        key: &str,
        value: Option<(Bytes, Option<Duration>)>,
        expected: Revision,
        nonce: &str,
    ) {
        let own = Self::new(&self.bus, self.bucket);
        let (key, nonce) = (key.to_owned(), nonce.to_owned());
        #[expect(
            clippy::disallowed_methods,
            reason = "a fault that a test asked for, in the twin"
        )]
        tokio::spawn(async move {
            tokio::time::sleep(late).await;
            drop(own.write(&key, value, expected, &nonce));
        });
    }

    /// Starts the task that expires keys, one for the whole bus, and wakes it.
    fn see_to_expiry(&self) -> Result<(), Error> {
        let is_first = !std::mem::replace(&mut self.bus.open()?.expirer, true);
        if is_first {
            let expiring = Arc::clone(&self.bus.shared.expiring);
            #[expect(
                clippy::disallowed_methods,
                reason = "the twin of a server, not a task of the product"
            )]
            tokio::spawn(expire(Arc::downgrade(&self.bus.shared), expiring));
        } else {
            self.bus.shared.expiring.notify_one();
        }
        Ok(())
    }
}

/// Expires keys when their time comes, for as long as the bus lives.
async fn expire(shared: std::sync::Weak<Shared>, expiring: Arc<Notify>) {
    loop {
        let next = {
            let Some(shared) = shared.upgrade() else { return };
            let mut state = lock(&shared.state);
            if state.closed {
                return;
            }
            let now = Instant::now();
            state.buckets.values_mut().filter_map(|bucket| bucket.expire(now)).min()
        };
        let looked = expiring.notified();
        match next {
            Some(next) => {
                // A key is due, or a new expiry was set: look again in both cases.
                drop(tokio::time::timeout_at(next, looked).await);
            }
            None => looked.await,
        }
    }
}

#[async_trait]
impl Kv for MemoryKv {
    async fn put_if(
        &self,
        key: &str,
        value: Bytes,
        expected: Revision,
        ttl: Option<Duration>,
        nonce: &str,
    ) -> Result<Put, Error> {
        let bucket = self.bucket;
        let verdict = self.bus.judge(Operation::PutIf { bucket, key }).await?;
        if verdict.refused {
            return Ok(Put::Lost(None));
        }
        if let Some(late) = verdict.late {
            self.write_late(late, key, Some((value, ttl)), expected, nonce);
            return Err(Error::Unknown("injected fault: the call is still in progress".to_owned()));
        }
        verdict.answer(self.write(key, Some((value, ttl)), expected, nonce)?)
    }

    async fn purge_if(&self, key: &str, expected: Revision, nonce: &str) -> Result<Put, Error> {
        let bucket = self.bucket;
        let verdict = self.bus.judge(Operation::PurgeIf { bucket, key }).await?;
        if verdict.refused {
            return Ok(Put::Lost(None));
        }
        if let Some(late) = verdict.late {
            self.write_late(late, key, None, expected, nonce);
            return Err(Error::Unknown("injected fault: the call is still in progress".to_owned()));
        }
        verdict.answer(self.write(key, None, expected, nonce)?)
    }

    async fn get(&self, key: &str) -> Result<Option<Entry>, Error> {
        let bucket = self.bucket;
        let verdict = self.bus.judge(Operation::Get { bucket, key }).await?;
        verdict.answer(self.with(|bucket| bucket.get(key, verdict.stale))?)
    }

    async fn removed_at(&self, key: &str) -> Result<Option<Timestamp>, Error> {
        let bucket = self.bucket;
        let verdict = self.bus.judge(Operation::Get { bucket, key }).await?;
        let removed = self.with(|bucket| bucket.removed(key))?;
        let now = self.bus.now();
        verdict.answer(removed.map(|at| now.before(at.elapsed())))
    }

    async fn revision(&self) -> Result<Revision, Error> {
        let bucket = self.bucket;
        let verdict = self.bus.judge(Operation::Entries { bucket }).await?;
        verdict.answer(self.with(|bucket| bucket.revision())?)
    }

    async fn entries(&self) -> Result<Vec<(String, Entry)>, Error> {
        let bucket = self.bucket;
        let verdict = self.bus.judge(Operation::Entries { bucket }).await?;
        verdict.answer(self.with(|bucket| bucket.entries())?)
    }

    async fn watch(&self) -> Result<Watch, Error> {
        let bucket = self.bucket;
        self.bus.judge(Operation::Watch { bucket }).await?;
        let (node, faults) = (Arc::clone(&self.bus.node), Arc::clone(&self.bus.shared.faults));
        let changes = self.with(|bucket| bucket.watch(&node))?;
        Ok(Box::pin(changes.then(move |change| {
            let lag = faults.lag(&node, bucket);
            async move {
                if !lag.is_zero() {
                    tokio::time::sleep(lag).await;
                }
                change
            }
        })))
    }
}
