//! How the bytes of an object are read, also while others remove it or write it anew.
//!
//! The client's reader waits for every part that the object is said to have. The parts of an object that is
//! removed are purged: they never come. So the store is asked about the object when a part is late.

use std::time::Duration;

use async_nats::jetstream::object_store::{InfoErrorKind, Object, ObjectStore};
use bus::OutsideError;
use bytes::{Bytes, BytesMut};
use tokio::io::AsyncReadExt as _;

/// Bytes of one read of an object.
const PART_BYTES: usize = 256 * 1024;
/// A part of an object that does not come within this time does not come.
const PART_TIME_MAX: Duration = Duration::from_secs(30);
/// The store is asked whether it still has the object when a part does not come within this time.
const LOOK_AFTER: Duration = Duration::from_secs(2);

/// An object that is being read.
pub(crate) struct Reading {
    object: Object,
    entry: Entry,
    what: String,
    /// Bytes that are still to come.
    left: u64,
}

/// Why an object is not read to its end.
pub(crate) enum Cut {
    /// It was removed, or another one was written in its place.
    Gone,
    /// It cannot be read.
    Failed(OutsideError),
}

impl Reading {
    /// An object of the store, called `what` in errors.
    pub(crate) fn new(object: Object, store: ObjectStore, what: String) -> Self {
        let info = object.info();
        let left = info.size as u64;
        let entry = Entry { store, name: info.name.clone(), nuid: info.nuid.clone() };
        Self { object, entry, what, left }
    }

    /// The object's next bytes; none at its end.
    pub(crate) async fn part(&mut self) -> Result<Option<Bytes>, Cut> {
        let mut part = BytesMut::with_capacity(PART_BYTES);
        let read = match self.read(&mut part).await {
            Ok(read) => read,
            Err(error) => return Err(self.entry.cut(error).await),
        };
        match self.left.checked_sub(read as u64) {
            Some(0) if read == 0 => Ok(None),
            Some(left) if read > 0 => {
                self.left = left;
                Ok(Some(part.freeze()))
            }
            _ => {
                let text = format!("{} has not the size that it says", self.what);
                Err(self.entry.cut(OutsideError::Unavailable(text)).await)
            }
        }
    }

    /// All bytes of the object.
    pub(crate) async fn whole(mut self) -> Result<Bytes, Cut> {
        let mut whole = BytesMut::new();
        while let Some(part) = self.part().await? {
            whole.extend_from_slice(&part);
        }
        Ok(whole.freeze())
    }

    async fn read(&mut self, part: &mut BytesMut) -> Result<usize, OutsideError> {
        let mut waited = Duration::ZERO;
        while waited < PART_TIME_MAX {
            let read = tokio::time::timeout(LOOK_AFTER, self.object.read_buf(part)).await;
            if let Ok(read) = read {
                let what = &self.what;
                return read.map_err(|error| OutsideError::Unavailable(format!("{what}: {error}")));
            }
            if self.entry.is_gone().await {
                break;
            }
            waited += LOOK_AFTER;
        }
        Err(OutsideError::Late(format!("{}: a part of it does not come", self.what)))
    }
}

/// What the store says about an object.
struct Entry {
    store: ObjectStore,
    name: String,
    /// The id of its parts.
    nuid: String,
}

impl Entry {
    async fn cut(&self, error: OutsideError) -> Cut {
        if self.is_gone().await { Cut::Gone } else { Cut::Failed(error) }
    }

    /// Whether the store says that it has another object of this name, or none.
    async fn is_gone(&self) -> bool {
        match self.store.info(&self.name).await {
            Ok(now) => now.deleted || now.nuid != self.nuid,
            Err(error) => error.kind() == InfoErrorKind::NotFound,
        }
    }
}
