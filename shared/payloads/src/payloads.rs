//! Payloads: kept from a stream, read as one.

use std::collections::BTreeMap;
use std::error::Error as StdError;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt as _};
use model::{Chance, Clock, Large, Map, PayloadHash, PayloadHasher, large, limits};
use serde_json::Value;
use store::{Nameless, Store};

use crate::place::Shelf;
use crate::{Error, Shelves};

/// Keeps and reads payloads. Clones share the database.
#[derive(Clone)]
pub struct Payloads {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    chance: Arc<dyn Chance>,
    bytes_max: u64,
    above: usize,
    shelves: Shelves,
}

/// A payload that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Its name.
    pub hash: PayloadHash,
    /// Its bytes.
    pub size: u64,
}

/// One part of a payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its bytes; none if the payload has fewer parts.
    pub bytes: Option<Bytes>,
    /// The bytes of the whole payload.
    pub size: u64,
    /// The number of all parts: 1 for a payload without bytes, whose part has none either.
    pub parts: u64,
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
        let above = limits::PAYLOAD_ABOVE_BYTES;
        Self { store, clock, chance, bytes_max, above, shelves: Shelves::default() }
    }

    /// The same, where contents of more than so many bytes rest in payloads.
    #[must_use]
    pub fn above(self, bytes: usize) -> Self {
        Self { above: bytes, ..self }
    }

    /// The same, whose parts rest in the first of these places; payloads are read from each of them, and
    /// from the database.
    #[must_use]
    pub fn resting(self, shelves: Shelves) -> Self {
        Self { shelves, ..self }
    }

    /// The largest payload, in bytes.
    #[must_use]
    pub fn bytes_max(&self) -> u64 {
        self.bytes_max
    }

    /// Files, bodies and values of more than so many bytes rest in payloads; smaller ones are where they
    /// are used.
    #[must_use]
    pub fn inline_max(&self) -> usize {
        self.above
    }

    /// The largest value that rests in a payload, in bytes of JSON: a larger one could not be loaded again.
    #[must_use]
    pub fn value_max(&self) -> u64 {
        self.bytes_max.min(limits::PAYLOADS_LOADED_BYTES_MAX)
    }

    /// Keeps values that were taken out of a state or of a command, before that is stored.
    ///
    /// # Errors
    /// As [`Payloads::keep`].
    pub async fn keep_large(&self, taken: Vec<Large>) -> Result<(), Error> {
        for large in taken {
            let kept = self.keep_bytes(large.json).await?;
            debug_assert_eq!(kept.hash, large.hash, "a payload is named for its bytes");
        }
        Ok(())
    }

    /// The values with what rests in payloads in its place, for somebody who waits for them. None where
    /// nothing does, where they would have more than `bytes_max` bytes, and where one cannot be had.
    pub async fn whole(&self, values: &Map, bytes_max: u64) -> Option<Map> {
        let mut named = Vec::new();
        values.values().for_each(|value| large::payloads(value, &mut named));
        if named.is_empty() {
            return None;
        }
        let bytes: usize = values.values().map(large::weight).sum();
        let mut left = bytes_max.saturating_sub(bytes as u64);
        let mut loaded = BTreeMap::new();
        for hash in named {
            let read = self.read(&hash, left).await.map_err(|error| error.to_string());
            match read.and_then(|bytes| Ok((bytes.len() as u64, large::read(&bytes)?))) {
                Ok((bytes, whole)) => {
                    left -= bytes;
                    loaded.insert(hash, whole);
                }
                Err(reason) => {
                    tracing::debug!(reason, %hash, "a large value is left where it rests");
                    return None;
                }
            }
        }
        let whole = |value: &Value| large::filled(value.clone(), &|hash| loaded.get(hash).cloned());
        Some(values.iter().map(|(name, value)| (name.clone(), whole(value))).collect())
    }

    /// Keeps what the stream gives.
    ///
    /// # Errors
    /// [`Error`]. What was written until then is removed, here or by a sweep.
    pub async fn keep<E>(&self, source: impl Stream<Item = Result<Bytes, E>>) -> Result<Kept, Error>
    where
        E: Into<Box<dyn StdError + Send + Sync>>,
    {
        let id = self.chance.new_id();
        let outside = self.shelves.first();
        let place = outside.map(|(place, _)| place);
        self.store.begin_payload(&id, place, self.clock.now()).await?;
        let kept = self.write(&id, source).await;
        // After a failure of the database the payload may be complete all the same.
        let is_garbage = match &kept {
            Ok((_, is_own)) => !is_own,
            Err(error) => matches!(error, Error::TooLarge(_) | Error::Source(_)),
        };
        if let Some(place) = place.filter(|_| is_garbage) {
            // If this fails, or is never reached, a sweep does it.
            let nameless = Nameless { id, place: place.to_owned() };
            if let Err(error) = self.shelves.remove(&*self.store, &nameless).await {
                tracing::debug!(%error, "the parts of a payload that is not kept are left to the sweep");
            }
        }
        kept.map(|(kept, _)| kept)
    }

    /// Writes and completes a payload; also returns whether its name means these parts.
    async fn write<E>(
        &self,
        id: &str,
        source: impl Stream<Item = Result<Bytes, E>>,
    ) -> Result<(Kept, bool), Error>
    where
        E: Into<Box<dyn StdError + Send + Sync>>,
    {
        let mut source = std::pin::pin!(source);
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
                self.write_part(id, number, full.freeze()).await?;
                number += 1;
            }
        }
        if !part.is_empty() {
            self.write_part(id, number, part.freeze()).await?;
        }
        let hash = hasher.finish();
        let is_own = self.store.complete_payload(id, &hash, size, self.clock.now()).await?;
        Ok((Kept { hash, size }, is_own))
    }

    async fn write_part(&self, id: &str, number: u32, bytes: Bytes) -> Result<(), Error> {
        match self.shelves.first() {
            None => Ok(self.store.write_payload(id, number, bytes.to_vec()).await?),
            Some((place, shelf)) => {
                let written = shelf.write(id, number, bytes).await;
                written.map_err(|reason| Error::Place(place.to_owned(), reason))
            }
        }
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
    /// [`Error::Absent`], [`Error::Unplaced`] and [`Error::Store`].
    pub async fn open(&self, hash: &PayloadHash) -> Result<(u64, Parts), Error> {
        let (from, id, size) = self.find(hash).await?;
        let reading = Reading {
            from,
            id,
            hash: hash.clone(),
            left: size,
            number: 0,
            hasher: PayloadHasher::default(),
        };
        Ok((size, stream::try_unfold(reading, Reading::next).boxed()))
    }

    /// The part of this number, 0 on, of a payload. Whoever reads several checks that their bytes are
    /// those of the name; a part that is the whole payload is checked here.
    ///
    /// # Errors
    /// As [`Payloads::open`], and [`Error::Damaged`] and [`Error::Place`].
    pub async fn part(&self, hash: &PayloadHash, number: u32) -> Result<Part, Error> {
        const FULL: u64 = limits::PAYLOAD_CHUNK_BYTES as u64;
        let (from, id, size) = self.find(hash).await?;
        let parts = size.div_ceil(FULL).max(1);
        if u64::from(number) >= parts {
            return Ok(Part { bytes: None, size, parts });
        }
        let bytes = match size {
            0 => Bytes::new(),
            _ => from.part(&id, number).await?.unwrap_or_default(),
        };
        let expected = FULL.min(size - u64::from(number) * FULL);
        let is_good = parts > 1 || PayloadHash::of(&bytes) == *hash;
        if bytes.len() as u64 != expected || !is_good {
            return Err(Error::Damaged(hash.clone()));
        }
        Ok(Part { bytes: Some(bytes), size, parts })
    }

    /// Where the parts of a payload are, their id, and their bytes.
    async fn find(&self, hash: &PayloadHash) -> Result<(From, String, u64), Error> {
        let found = self.store.payload(hash).await?;
        let found = found.ok_or_else(|| Error::Absent(hash.clone()))?;
        let from = match found.place {
            None => From::Database(Arc::clone(&self.store)),
            Some(place) => match self.shelves.find(&place) {
                Some(shelf) => From::Outside(place, Arc::clone(shelf)),
                None => return Err(Error::Unplaced(format!("the payload {hash}"), place)),
            },
        };
        Ok((from, found.id, found.size))
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

/// Where the parts of a payload are.
enum From {
    Database(Arc<dyn Store>),
    Outside(String, Arc<dyn Shelf>),
}

impl From {
    async fn part(&self, id: &str, number: u32) -> Result<Option<Bytes>, Error> {
        match self {
            Self::Database(store) => Ok(store.payload_part(id, number).await?.map(Bytes::from)),
            Self::Outside(place, shelf) => {
                let read = shelf.read(id, number).await;
                read.map_err(|reason| Error::Place(place.clone(), reason))
            }
        }
    }
}

/// A payload that is being read.
struct Reading {
    from: From,
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
        let part = self.from.part(&self.id, self.number).await?;
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
        Ok(Some((part, self)))
    }
}

#[cfg(test)]
pub(crate) mod tests {
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

    pub(crate) fn payloads(bytes_max: u64) -> (MemoryStore, Payloads) {
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
    async fn one_part_is_read_by_its_number() {
        const FULL: usize = limits::PAYLOAD_CHUNK_BYTES;
        let (_, payloads) = payloads(limits::PAYLOAD_BYTES_MAX);
        for (size, parts) in [(0, 1), (1, 1), (FULL, 1), (FULL + 1, 2), (3 * FULL, 3)] {
            let bytes: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
            let hash = payloads.keep_bytes(bytes.clone()).await.unwrap().hash;
            let mut whole = Vec::new();
            for number in 0..parts {
                let part = payloads.part(&hash, number).await.unwrap();
                assert_eq!((part.size, part.parts), (size as u64, u64::from(parts)));
                whole.extend_from_slice(&part.bytes.unwrap());
            }
            assert_eq!(whole, bytes);
            for number in [parts, u32::MAX] {
                let part = payloads.part(&hash, number).await.unwrap();
                assert_eq!((part.bytes, part.parts), (None, u64::from(parts)), "part {number}");
            }
        }
        let absent = payloads.part(&PayloadHash::of(b"?"), 0).await;
        assert!(matches!(absent, Err(Error::Absent(_))), "{absent:?}");
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
    async fn values_are_whole_where_there_is_room() {
        let (_, payloads) = payloads(limits::PAYLOAD_BYTES_MAX);
        let json = format!("\"{}\"", "x".repeat(1_000));
        let kept = payloads.keep_bytes(json.into_bytes()).await.unwrap();
        let stand_in = large::stand_in(&kept.hash, kept.size);
        let values = Map::from_iter([("a".to_owned(), stand_in), ("b".to_owned(), 1.into())]);
        let whole = payloads.whole(&values, 2_000).await.unwrap();
        assert_eq!((whole["a"].as_str().map(str::len), &whole["b"]), (Some(1_000), &1.into()));
        assert_eq!(payloads.whole(&whole, 2_000).await, None, "it is whole");
        assert_eq!(payloads.whole(&values, 1_000).await, None, "no room");
        let twice = Map::from_iter([("a".to_owned(), vec![values["a"].clone(); 2].into())]);
        assert_eq!(payloads.whole(&twice, 2_000).await, None, "no room for both");
        assert_eq!(payloads.whole(&twice, 3_000).await.unwrap()["a"][1], whole["a"]);
        let gone = large::stand_in(&PayloadHash::of(b"?"), 1);
        let gone = Map::from_iter([("a".to_owned(), gone)]);
        assert_eq!(payloads.whole(&gone, 2_000).await, None, "it is gone");
    }

    #[tokio::test]
    async fn damaged_bytes_are_noticed() {
        let (store, payloads) = payloads(10);
        let now = Timestamp::from_millis(1);
        let hash = PayloadHash::of(b"abc");
        for (id, parts) in [("other", vec![&b"abd"[..]]), ("short", vec![&b"ab"[..]])] {
            let store = store.clone();
            store.begin_payload(id, None, now).await.unwrap();
            for (number, part) in (0..).zip(parts) {
                store.write_payload(id, number, part.to_vec()).await.unwrap();
            }
            store.complete_payload(id, &hash, 3, now).await.unwrap();
            assert!(matches!(payloads.read(&hash, 9).await, Err(Error::Damaged(_))), "{id}");
            assert!(matches!(payloads.part(&hash, 0).await, Err(Error::Damaged(_))), "{id}");
            store.clear_payloads(Timestamp::from_millis(9), now, 9).await.unwrap();
        }
    }
}
