//! Large files and large values: their contents rest in payloads, and a decision asks for those that it
//! needs.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::{PayloadHash, file, large};
use serde_json::Value;

use super::Step;
use crate::contents::Content;
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
                Some(Ok(content)) => drop(contents.insert(hash, content.base64())),
                Some(Err(reason)) => return Err(Failure::input(input, reason)),
                None => {}
            }
        }
        if !self.draft.wanted.borrow().is_empty() {
            return Err(Failure::input(input, "the content is not loaded yet"));
        }
        Ok(file::filled(value, &contents))
    }

    /// The value itself where objects stand for large ones, anywhere in it. Where one cannot be had, the
    /// evaluation in progress fails with the reason; where the turn was not given it, the turn is run
    /// again.
    pub(crate) fn whole(&self, value: Value) -> Value {
        let mut named = Vec::new();
        large::payloads(&value, &mut named);
        if named.is_empty() {
            return value;
        }
        large::filled(value, &|hash: &PayloadHash| match self
            .content_of(hash)?
            .and_then(|one| one.value())
        {
            Ok(whole) => Some(whole),
            Err(reason) => {
                self.cannot_read(format!("the value in {hash} cannot be had: {reason}"));
                None
            }
        })
    }

    /// The value as a script sees it that names the contents of files: large files have theirs, where
    /// it can be had.
    pub(super) fn seen(&self, value: Value) -> Value {
        let mut named = Vec::new();
        file::payloads(&value, &mut named);
        if named.is_empty() {
            return value;
        }
        let content =
            |hash: PayloadHash| Some((hash.clone(), self.content_of(&hash)?.ok()?.base64()));
        let contents: BTreeMap<_, _> = named.into_iter().filter_map(content).collect();
        file::filled(value, &contents)
    }

    /// The value of such a script: a file that it passes on is large again.
    pub(super) fn unseen(&self, value: Value) -> Value {
        let contents = self.draft.env.contents.of_files();
        if contents.is_empty() { value } else { file::emptied(value, &contents) }
    }

    /// The content of a payload, or the reason why there is none; nothing where the turn was not given
    /// it, and has to be run again.
    fn content_of(&self, hash: &PayloadHash) -> Option<Result<Arc<Content>, String>> {
        let content = self.draft.env.contents.of(hash).cloned();
        if content.is_none() {
            self.draft.wanted.borrow_mut().insert(hash.clone());
        }
        content
    }
}
