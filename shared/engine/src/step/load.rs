//! Large files: their contents rest in payloads, and a decision asks for those that it needs.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::{PayloadHash, file};
use serde_json::Value;

use super::Step;
use crate::decision::Failure;

impl Step<'_, '_> {
    /// The value of this input, in which large files have their content.
    ///
    /// # Errors
    /// [`Failure`] when a content cannot be had. Where the turn was not given one, too: it is run again
    /// with it.
    pub fn loaded(&self, input: &str, value: Value) -> Result<Value, Failure> {
        let mut named = Vec::new();
        file::payloads(&value, &mut named);
        if named.is_empty() {
            return Ok(value);
        }
        let mut contents = BTreeMap::new();
        for hash in named {
            match self.content_of(&hash) {
                Some(Ok(content)) => drop(contents.insert(hash, content)),
                Some(Err(reason)) => return Err(Failure::input(input, reason)),
                None => {}
            }
        }
        if !self.draft.wanted.borrow().is_empty() {
            return Err(Failure::input(input, "the content is not loaded yet"));
        }
        Ok(file::filled(value, &contents))
    }

    /// The value as a script sees it that names the contents of files: large files have theirs, where
    /// it can be had.
    pub(super) fn seen(&self, value: Value) -> Value {
        let mut named = Vec::new();
        file::payloads(&value, &mut named);
        if named.is_empty() {
            return value;
        }
        let content = |hash: PayloadHash| Some((hash.clone(), self.content_of(&hash)?.ok()?));
        let contents: BTreeMap<_, _> = named.into_iter().filter_map(content).collect();
        file::filled(value, &contents)
    }

    /// The value of such a script: a file that it passes on is large again.
    pub(super) fn unseen(&self, value: Value) -> Value {
        let contents = self.draft.env.contents.there();
        if contents.is_empty() { value } else { file::emptied(value, &contents) }
    }

    /// The content of a payload, or the reason why there is none; nothing where the turn was not given
    /// it, and has to be run again.
    fn content_of(&self, hash: &PayloadHash) -> Option<Result<Arc<str>, String>> {
        let content = self.draft.env.contents.of(hash).cloned();
        if content.is_none() {
            self.draft.wanted.borrow_mut().insert(hash.clone());
        }
        content
    }
}
