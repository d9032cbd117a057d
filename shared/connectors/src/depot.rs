//! Large files of calls: their bytes come from payloads, and go there.

use std::collections::BTreeMap;
use std::error::Error as StdError;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures::{Stream, StreamExt as _, stream};
use model::{PayloadHash, file, limits};
use payloads::{Error, Parts, Payloads};
use serde_json::{Value, json};

/// The payloads, where this process has a database for them.
#[derive(Clone, Default)]
pub(crate) struct Depot(Option<Payloads>);

/// What was read at first of a content that may be large, and what follows.
pub(crate) enum Content<S> {
    /// All of it.
    Small(Vec<u8>),
    /// More than rests in the state of an instance: the beginning, and the rest.
    Large(Vec<u8>, S),
}

impl Depot {
    pub(crate) fn new(payloads: Option<Payloads>) -> Self {
        Self(payloads)
    }

    /// Large files rest in payloads here.
    pub(crate) fn keeps(&self) -> bool {
        self.0.is_some()
    }

    /// Files of more than so many bytes rest in payloads.
    pub(crate) fn inline_max(&self) -> usize {
        self.0.as_ref().map_or(limits::PAYLOAD_ABOVE_BYTES, Payloads::inline_max)
    }

    /// The largest file, in bytes.
    pub(crate) fn bytes_max(&self) -> u64 {
        match &self.0 {
            Some(payloads) => payloads.bytes_max(),
            None => limits::FILE_BYTES_MAX as u64,
        }
    }

    /// A file with these bytes: a large one rests in a payload.
    pub(crate) async fn file(
        &self,
        name: &str,
        content_type: &str,
        bytes: Vec<u8>,
    ) -> Result<Value, Error> {
        let rest = stream::empty::<Result<Bytes, Error>>();
        let content = match bytes.len() > self.inline_max() && self.keeps() {
            true => Content::Large(bytes, rest),
            false => Content::Small(bytes),
        };
        self.file_of(name, content_type, content).await
    }

    /// A file with this content.
    pub(crate) async fn file_of<E>(
        &self,
        name: &str,
        content_type: &str,
        content: Content<impl Stream<Item = Result<Bytes, E>>>,
    ) -> Result<Value, Error>
    where
        E: Into<Box<dyn StdError + Send + Sync>>,
    {
        match content {
            Content::Small(bytes) => Ok(json!({
                "fileName": name,
                "contentType": content_type,
                "size": bytes.len(),
                "content": STANDARD.encode(bytes),
            })),
            Content::Large(begin, rest) => {
                let begin = stream::iter([Ok(Bytes::from(begin))]);
                let kept = self.payloads()?.keep(begin.chain(rest)).await?;
                Ok(file::large(name, content_type, kept.size, &kept.hash))
            }
        }
    }

    /// The parts of a payload, and its size in bytes.
    pub(crate) async fn open(&self, hash: &PayloadHash) -> Result<(u64, Parts), Error> {
        self.payloads()?.open(hash).await
    }

    /// The whole payload, if it has at most `bytes_max` bytes.
    pub(crate) async fn read(&self, hash: &PayloadHash, bytes_max: u64) -> Result<Vec<u8>, Error> {
        self.payloads()?.read(hash, bytes_max).await
    }

    /// The value, in which large files have their content; nothing if there are none in it.
    pub(crate) async fn filled(&self, value: &Value) -> Result<Option<Value>, Error> {
        let mut named = Vec::new();
        file::payloads(value, &mut named);
        if named.is_empty() {
            return Ok(None);
        }
        let mut contents = BTreeMap::new();
        let mut left = limits::PAYLOADS_LOADED_BYTES_MAX;
        for hash in named {
            if contents.contains_key(&hash) {
                continue;
            }
            let bytes = self.read(&hash, left).await?;
            left = left.saturating_sub(bytes.len() as u64);
            contents.insert(hash, STANDARD.encode(bytes));
        }
        Ok(Some(file::filled(value.clone(), &contents)))
    }

    fn payloads(&self) -> Result<&Payloads, Error> {
        let none = || Error::Source("there are no payloads here".into());
        self.0.as_ref().ok_or_else(none)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Arc;

    use chassis::{SystemChance, SystemClock};
    use model::Timestamp;
    use store::memory::MemoryStore;

    use super::*;

    /// Payloads in memory.
    pub(crate) fn depot() -> Depot {
        let store = MemoryStore::new(Arc::new(|| Timestamp::from_millis(1)));
        let max = limits::PAYLOAD_BYTES_MAX;
        let (clock, chance) = (Arc::new(SystemClock), Arc::new(SystemChance));
        Depot::new(Some(Payloads::new(Arc::new(store), clock, chance, max)))
    }

    #[tokio::test]
    async fn small_files_stay_and_large_ones_rest() {
        let depot = depot();
        let small = depot.file("a", "x/y", b"hi".to_vec()).await.unwrap();
        assert_eq!(small["content"], "aGk=");
        let bytes = vec![7; limits::PAYLOAD_ABOVE_BYTES + 1];
        let large = depot.file("b", "x/y", bytes.clone()).await.unwrap();
        let hash = PayloadHash::of(&bytes);
        assert_eq!(large, file::large("b", "x/y", bytes.len() as u64, &hash));
        let filled = depot.filled(&json!([large, small])).await.unwrap().unwrap();
        assert_eq!(filled[0]["content"], STANDARD.encode(&bytes));
        assert_eq!(depot.filled(&small).await.unwrap(), None);
        let absent = file::large("c", "x/y", 1, &PayloadHash::of(b"?"));
        assert!(matches!(depot.filled(&absent).await, Err(Error::Absent(_))));
        assert!(Depot::default().filled(&absent).await.is_err());
    }
}
