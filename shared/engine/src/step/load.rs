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

    /// As [`Step::whole`], where no evaluation is in progress.
    ///
    /// # Errors
    /// The reason why a value cannot be had. Where the turn was not given it, too: it is run again with it.
    pub(crate) fn entire(&self, value: Value) -> Result<Value, String> {
        let value = self.whole(value);
        match self.why_unreadable() {
            Some(reason) => Err(reason),
            None if self.draft.wanted.borrow().is_empty() => Ok(value),
            None => Err("the value is not loaded yet".to_owned()),
        }
    }

    /// The value as a script sees it that names the contents of files: large files have theirs. Where one
    /// cannot be had, the evaluation in progress fails with the reason, unless the script also looks at
    /// the `payload` of a file, and so sees which have no content.
    pub(super) fn seen(&self, value: Value) -> Value {
        let mut named = Vec::new();
        file::payloads(&value, &mut named);
        if named.is_empty() {
            return value;
        }
        let mut contents = BTreeMap::new();
        for hash in named {
            match self.content_of(&hash) {
                Some(Ok(content)) => drop(contents.insert(hash, content.base64())),
                Some(Err(reason)) if !self.reading.looks_at_payloads() => self.cannot_read(
                    format!("the content of the file in {hash} cannot be had: {reason}"),
                ),
                Some(Err(_)) | None => {}
            }
        }
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

/// Whether a script names the contents of files: without this word it does not read the member that has
/// them.
pub(super) fn names_content(source: &str) -> bool {
    source.split(|c: char| !is_word_char(c)).any(|word| word == "content")
}

/// Whether a script reads the member `payload` of something that may be a file: not of a scope, where it
/// is a name that people gave, and with no member of its own, since that of a file is a text.
pub(super) fn names_payload(source: &str) -> bool {
    const MEMBER: &str = ".payload";
    const SCOPES: [&str; 4] = ["variables", "Variables", "Input", "args"];
    source.match_indices(MEMBER).any(|(at, _)| {
        let (before, rest) = source.split_at(at);
        let before = before.trim_end_matches('?');
        let after = rest.strip_prefix(MEMBER).unwrap_or_default();
        let goes_on = after.starts_with(is_word_char)
            || ["?.", ".", "["].iter().any(|more| after.trim_start().starts_with(more));
        !goes_on && !SCOPES.iter().any(|scope| before.ends_with(scope))
    })
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_names_the_content_as_a_word() {
        for names in
            ["getInput('Doc').content", "f['content']", "({content}) => content", "f?.content??1"]
        {
            assert!(names_content(names), "{names}");
        }
        for other in ["f.contentType", "variables.Content", "my_content", "f.contents", ""] {
            assert!(!names_content(other), "{other}");
        }
    }

    #[test]
    fn a_script_looks_at_the_payload_of_a_file() {
        for looks in ["f.content ?? f.payload", "f?.payload ? 1 : 2", "[f.payload]", "f.payload"] {
            assert!(names_payload(looks), "{looks}");
        }
        for other in [
            "variables.payload.content",
            "variables.payload",
            "variables?.payload",
            "args.payload",
            "event.payload.content",
            "event.payload?.content",
            "event.payload['content']",
            "f.payloads",
            "getInput('payload').content",
            "f.content",
        ] {
            assert!(!names_payload(other), "{other}");
        }
    }
}
