//! The contents of payloads that a turn reads. A turn does no I/O: where it needs one that it was not
//! given, it says so, what it did is thrown away, and it is run again with that content.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::{PayloadHash, large};
use serde_json::Value;

/// Contents of payloads, or the reasons why there are none.
#[derive(Clone, Debug, Default)]
pub struct Contents(BTreeMap<PayloadHash, Found>);

/// A content, or the reason why there is none.
type Found = Result<Arc<Content>, String>;

/// The bytes of a payload, in the forms that something has asked for.
#[derive(Debug)]
pub(crate) struct Content {
    bytes: Vec<u8>,
    base64: OnceLock<Arc<str>>,
    value: OnceLock<Result<Value, String>>,
}

impl Contents {
    /// Adds the bytes of a payload, or the reason why there are none.
    pub fn add(&mut self, hash: PayloadHash, bytes: Result<Vec<u8>, String>) {
        let content =
            |bytes| Arc::new(Content { bytes, base64: OnceLock::new(), value: OnceLock::new() });
        self.0.insert(hash, bytes.map(content));
    }

    /// The contents of files that were asked for in base64.
    pub(crate) fn of_files(&self) -> BTreeMap<PayloadHash, Arc<str>> {
        let asked = self.0.iter().filter_map(|(hash, found)| {
            Some((hash.clone(), Arc::clone(found.as_deref().ok()?.base64.get()?)))
        });
        asked.collect()
    }

    /// What is known about a payload; none where the turn was not given it.
    pub(crate) fn of(&self, hash: &PayloadHash) -> Option<&Found> {
        self.0.get(hash)
    }
}

impl Content {
    /// The content of a file.
    pub(crate) fn base64(&self) -> Arc<str> {
        Arc::clone(self.base64.get_or_init(|| STANDARD.encode(&self.bytes).into()))
    }

    /// The value that rests in the payload.
    ///
    /// # Errors
    /// The reason why it is none.
    pub(crate) fn value(&self) -> Result<Value, String> {
        self.value.get_or_init(|| large::read(&self.bytes)).clone()
    }
}
