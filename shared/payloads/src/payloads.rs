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
        self.replace(&hash).await?;
        let is_own = self.store.complete_payload(id, &hash, size, self.clock.now()).await?;
        Ok((Kept { hash, size }, is_own))
    }

    /// Makes room for bytes that are written, where those of their name rest outside of the database and
    /// cannot be read: their place is not named, or parts are missing or changed. A place that does not
    /// answer now counts as good. What is in the database is lost with its row, and is not read here.
    async fn replace(&self, hash: &PayloadHash) -> Result<(), Error> {
        let Some(known) = self.store.payload(hash).await? else { return Ok(()) };
        let (id, Some(place)) = (known.id.clone(), known.place.clone()) else { return Ok(()) };
        match self.check(known).await {
            Ok(()) | Err(Error::Place(..)) => Ok(()),
            Err(error @ (Error::Unplaced(..) | Error::Damaged(_))) => {
                tracing::warn!(%error, place, "the bytes of a payload are kept again");
                Ok(self.store.unname_payload(&id, hash).await?)
            }
            Err(error) => Err(error),
        }
    }

    /// Reads a payload to its end.
    async fn check(&self, found: store::Payload) -> Result<(), Error> {
        let mut reading = self.begin(found)?;
        while let Some((_, rest)) = reading.next().await? {
            reading = rest;
        }
        Ok(())
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

    /// The parts of a payload, and its size in bytes. The first part is read before this returns; the last
    /// part comes once all bytes are found to be those of the name, and an error comes in its place
    /// otherwise.
    ///
    /// # Errors
    /// [`Error::Absent`], [`Error::Unplaced`] and [`Error::Store`]; [`Error::Damaged`] and
    /// [`Error::Place`] where the first part cannot be had.
    pub async fn open(&self, hash: &PayloadHash) -> Result<(u64, Parts), Error> {
        let reading = self.reading(hash).await?;
        let size = reading.left;
        let Some((first, rest)) = reading.next().await? else {
            return Ok((size, stream::empty().boxed()));
        };
        let rest = stream::try_unfold(rest, Reading::next);
        Ok((size, stream::iter([Ok(first)]).chain(rest).boxed()))
    }

    /// The part of this number, 0 on, of a payload. Whoever reads several checks that their bytes are
    /// those of the name; a part that is the whole payload is checked here.
    ///
    /// # Errors
    /// As [`Payloads::open`], and [`Error::Damaged`] and [`Error::Place`].
    pub async fn part(&self, hash: &PayloadHash, number: u32) -> Result<Part, Error> {
        const FULL: u64 = limits::PAYLOAD_CHUNK_BYTES as u64;
        let Reading { from, id, left: size, .. } = self.reading(hash).await?;
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

    /// The beginning of the payload of this name.
    async fn reading(&self, hash: &PayloadHash) -> Result<Reading, Error> {
        let found = self.store.payload(hash).await?;
        self.begin(found.ok_or_else(|| Error::Absent(hash.clone()))?)
    }

    /// The beginning of a payload.
    fn begin(&self, found: store::Payload) -> Result<Reading, Error> {
        let store::Payload { id, hash, size, place, .. } = found;
        let from = match place {
            None => From::Database(Arc::clone(&self.store)),
            Some(place) => match self.shelves.find(&place) {
                Some(shelf) => From::Outside(place, Arc::clone(shelf)),
                None => return Err(Error::Unplaced(format!("the payload {hash}"), place)),
            },
        };
        let hasher = PayloadHasher::default();
        Ok(Reading { from, id, hash, left: size, number: 0, hasher })
    }

    /// The whole payload, if it has at most `bytes_max` bytes.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn read(&self, hash: &PayloadHash, bytes_max: u64) -> Result<Vec<u8>, Error> {
        let mut reading = self.reading(hash).await?;
        if reading.left > bytes_max {
            return Err(Error::TooLargeToLoad(bytes_max));
        }
        let mut whole = Vec::with_capacity(usize::try_from(reading.left).unwrap_or_default());
        while let Some((part, rest)) = reading.next().await? {
            whole.extend_from_slice(&part);
            reading = rest;
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
pub(crate) mod tests;
