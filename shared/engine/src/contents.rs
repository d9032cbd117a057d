//! The contents of payloads that a turn reads. A turn does no I/O: where it needs one that it was not
//! given, it says so, what it did is thrown away, and it is run again with that content.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::PayloadHash;

/// Contents of payloads in base64, or the reason why there is none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contents(BTreeMap<PayloadHash, Result<Arc<str>, String>>);

impl Contents {
    /// Adds a content, or the reason why there is none.
    pub fn add(&mut self, hash: PayloadHash, content: Result<Arc<str>, String>) {
        self.0.insert(hash, content);
    }

    /// The contents that are there.
    pub(crate) fn there(&self) -> BTreeMap<PayloadHash, Arc<str>> {
        let there = |(hash, content): (&PayloadHash, &Result<Arc<str>, String>)| {
            Some((hash.clone(), Arc::clone(content.as_ref().ok()?)))
        };
        self.0.iter().filter_map(there).collect()
    }

    /// What is known about a payload; none where the turn was not given it.
    pub(crate) fn of(&self, hash: &PayloadHash) -> Option<&Result<Arc<str>, String>> {
        self.0.get(hash)
    }
}
