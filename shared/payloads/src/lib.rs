//! Large contents beside the instances: written from a stream, read as one, a part in memory at a
//! time. [`store::Payloads`] keeps the parts; here are the limit, the name of the whole, and the check
//! of what is read.

use std::error::Error as StdError;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt as _};
use model::{Chance, Clock, PayloadHash, PayloadHasher, limits};
use store::Store;

/// Keeps and reads payloads. Clones share the database.
#[derive(Clone)]
pub struct Payloads {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    chance: Arc<dyn Chance>,
    bytes_max: u64,
}

/// A payload that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Its name.
    pub hash: PayloadHash,
    /// Its bytes.
    pub size: u64,
}

/// The reason why a payload is not kept or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It has more bytes than a payload may have.
    #[error("it has more than the {0} bytes that a payload may have")]
    TooLarge(u64),
    /// There is none of this name.
    #[error(
        "there is no payload {0}: it was never kept here, or it was removed because no instance used it"
    )]
    Absent(PayloadHash),
    /// What rests is not what was written.
    #[error("the payload {0} is damaged: its bytes are not those of its name")]
    Damaged(PayloadHash),
    /// The source of its bytes has failed.
    #[error("{0}")]
    Source(#[source] Box<dyn StdError + Send + Sync>),
    /// The database has failed.
    #[error(transparent)]
    Store(#[from] store::Error),
}

/// The parts of a payload, or of anything else that comes in parts.
pub type Parts = BoxStream<'static, Result<Bytes, Error>>;

impl Payloads {
    /// Payloads of at most `bytes_max` bytes in this database.
    #[must_use]
    pub fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        chance: Arc<dyn Chance>,
        bytes_max: u64,
    ) -> Self {
        Self { store, clock, chance, bytes_max }
    }

    /// The largest payload, in bytes.
    #[must_use]
    pub fn bytes_max(&self) -> u64 {
        self.bytes_max
    }

    /// Keeps what the stream gives.
    ///
    /// # Errors
    /// [`Error`]. What was written until then is removed by a sweep.
    pub async fn keep<E>(&self, source: impl Stream<Item = Result<Bytes, E>>) -> Result<Kept, Error>
    where
        E: Into<Box<dyn StdError + Send + Sync>>,
    {
        let mut source = std::pin::pin!(source);
        let id = self.chance.new_id();
        self.store.begin_payload(&id, self.clock.now()).await?;
        let mut hasher = PayloadHasher::default();
        let mut part = BytesMut::new();
        let (mut size, mut number) = (0, 0);
        while let Some(bytes) = source.next().await {
            let bytes = bytes.map_err(|error| Error::Source(error.into()))?;
            size += bytes.len() as u64;
            if size > self.bytes_max {
                return Err(Error::TooLarge(self.bytes_max));
            }
            hasher.update(&bytes);
            part.extend_from_slice(&bytes);
            while part.len() >= limits::PAYLOAD_CHUNK_BYTES {
                let full = part.split_to(limits::PAYLOAD_CHUNK_BYTES);
                self.store.write_payload(&id, number, full.to_vec()).await?;
                number += 1;
            }
        }
        if !part.is_empty() {
            self.store.write_payload(&id, number, part.to_vec()).await?;
        }
        let hash = hasher.finish();
        self.store.complete_payload(&id, &hash, size, self.clock.now()).await?;
        Ok(Kept { hash, size })
    }

    /// Keeps these bytes.
    ///
    /// # Errors
    /// As [`Payloads::keep`].
    pub async fn keep_bytes(&self, bytes: Vec<u8>) -> Result<Kept, Error> {
        self.keep(stream::iter([Ok::<_, Error>(Bytes::from(bytes))])).await
    }

    /// The size of a payload in bytes.
    ///
    /// # Errors
    /// [`Error::Absent`] and [`Error::Store`].
    pub async fn size(&self, hash: &PayloadHash) -> Result<u64, Error> {
        let found = self.store.payload(hash).await?;
        found.map(|found| found.size).ok_or_else(|| Error::Absent(hash.clone()))
    }

    /// The parts of a payload, and its size in bytes. The last part comes once all bytes are found to
    /// be those of the name; an error comes in its place otherwise.
    ///
    /// # Errors
    /// [`Error::Absent`] and [`Error::Store`].
    pub async fn open(&self, hash: &PayloadHash) -> Result<(u64, Parts), Error> {
        let found = self.store.payload(hash).await?;
        let found = found.ok_or_else(|| Error::Absent(hash.clone()))?;
        let reading = Reading {
            store: Arc::clone(&self.store),
            id: found.id,
            hash: hash.clone(),
            left: found.size,
            number: 0,
            hasher: PayloadHasher::default(),
        };
        Ok((found.size, stream::try_unfold(reading, Reading::next).boxed()))
    }

    /// The whole payload, if it has at most `bytes_max` bytes.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn read(&self, hash: &PayloadHash, bytes_max: u64) -> Result<Vec<u8>, Error> {
        let (size, mut parts) = self.open(hash).await?;
        if size > bytes_max {
            return Err(Error::TooLarge(bytes_max));
        }
        let mut whole = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        while let Some(part) = parts.next().await {
            whole.extend_from_slice(&part?);
        }
        Ok(whole)
    }
}

/// A payload that is being read.
struct Reading {
    store: Arc<dyn Store>,
    id: String,
    hash: PayloadHash,
    /// Bytes that are still to come.
    left: u64,
    number: u32,
    hasher: PayloadHasher,
}

impl Reading {
    async fn next(mut self) -> Result<Option<(Bytes, Self)>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        let part = self.store.payload_part(&self.id, self.number).await?;
        let Some(part) = part else { return Err(Error::Damaged(self.hash)) };
        self.hasher.update(&part);
        self.number += 1;
        let size = part.len() as u64;
        if size == 0 || size > self.left {
            return Err(Error::Damaged(self.hash));
        }
        self.left -= size;
        if self.left == 0 && self.hasher.clone().finish() != self.hash {
            return Err(Error::Damaged(self.hash));
        }
        Ok(Some((Bytes::from(part), self)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use model::Timestamp;
    use store::Payloads as _;
    use store::memory::MemoryStore;

    use super::*;

    struct Edge(AtomicU64);

    impl Clock for Edge {
        fn now(&self) -> Timestamp {
            Timestamp::from_millis(1)
        }
    }

    impl Chance for Edge {
        fn new_id(&self) -> String {
            self.0.fetch_add(1, Ordering::Relaxed).to_string()
        }

        fn seed(&self) -> [u8; 32] {
            [0; 32]
        }
    }

    fn payloads(bytes_max: u64) -> (MemoryStore, Payloads) {
        let store = MemoryStore::new(Arc::new(|| Timestamp::from_millis(1)));
        let edge = Arc::new(Edge(AtomicU64::new(0)));
        let of = Arc::new(store.clone());
        (store, Payloads::new(of, Arc::clone(&edge) as _, edge, bytes_max))
    }

    #[tokio::test]
    async fn what_is_kept_is_read_in_parts() {
        let (_, payloads) = payloads(limits::PAYLOAD_BYTES_MAX);
        for size in [0, 1, limits::PAYLOAD_CHUNK_BYTES, 3 * limits::PAYLOAD_CHUNK_BYTES + 7] {
            let bytes: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
            let pieces =
                bytes.chunks(1_000).map(|piece| Ok::<_, Error>(Bytes::copy_from_slice(piece)));
            let kept = payloads.keep(stream::iter(pieces.collect::<Vec<_>>())).await.unwrap();
            assert_eq!(kept, Kept { hash: PayloadHash::of(&bytes), size: size as u64 });
            assert_eq!(payloads.size(&kept.hash).await.unwrap(), size as u64);
            assert_eq!(payloads.read(&kept.hash, u64::MAX).await.unwrap(), bytes);
            let (_, parts) = payloads.open(&kept.hash).await.unwrap();
            let parts: Vec<_> = parts.collect().await;
            assert_eq!(parts.len(), size.div_ceil(limits::PAYLOAD_CHUNK_BYTES));
        }
    }

    #[tokio::test]
    async fn what_is_too_large_is_not_kept_and_not_read() {
        let (_, payloads) = payloads(10);
        let refused = payloads.keep_bytes(vec![0; 11]).await.unwrap_err();
        assert!(matches!(refused, Error::TooLarge(10)), "{refused}");
        let kept = payloads.keep_bytes(vec![0; 10]).await.unwrap();
        assert!(matches!(payloads.read(&kept.hash, 9).await, Err(Error::TooLarge(9))));
        let absent = PayloadHash::of(b"?");
        assert!(matches!(payloads.read(&absent, 9).await, Err(Error::Absent(_))));
        let broken = stream::iter([Ok(Bytes::from_static(b"a")), Err("broken off")]);
        assert!(matches!(payloads.keep(broken).await, Err(Error::Source(_))));
    }

    #[tokio::test]
    async fn damaged_bytes_are_noticed() {
        let (store, payloads) = payloads(10);
        let now = Timestamp::from_millis(1);
        let hash = PayloadHash::of(b"abc");
        for (id, parts) in [("other", vec![&b"abd"[..]]), ("short", vec![&b"ab"[..]])] {
            let store = store.clone();
            store.begin_payload(id, now).await.unwrap();
            for (number, part) in (0..).zip(parts) {
                store.write_payload(id, number, part.to_vec()).await.unwrap();
            }
            store.complete_payload(id, &hash, 3, now).await.unwrap();
            assert!(matches!(payloads.read(&hash, 9).await, Err(Error::Damaged(_))), "{id}");
            store.clear_payloads(Timestamp::from_millis(9), now, 9).await.unwrap();
        }
    }
}
