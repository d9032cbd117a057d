//! Secrets in an evaluation: scripts see values, and what leaves a script that has seen one is sealed.
//! What a script says when it fails is kept only if it has seen nothing that is hidden.

use std::cell::{Cell, RefCell};

use model::Map;
use serde_json::Value;

use super::Step;
use super::load::{names_content, names_payload};
use crate::decision::Failure;
use crate::{Flaw, is_sealed};

/// What the evaluation in progress has read.
#[derive(Default)]
pub(crate) struct Reading {
    /// Sealed texts are opened for it.
    opens: Cell<bool>,
    /// It names the contents of files.
    reads_contents: Cell<bool>,
    /// It names the payloads of files, too: it sees which of them have no content.
    looks_at_payloads: Cell<bool>,
    values: RefCell<Vec<String>>,
    /// Values that the decision had read before and that the journal must not keep.
    hidden_before: u32,
    /// The reason why something that it has read could not be had: a sealed text, or a large value.
    unreadable: RefCell<Option<String>>,
}

impl Reading {
    /// The evaluation in progress looks at the payloads of files, and goes on without a content.
    pub(super) fn looks_at_payloads(&self) -> bool {
        self.looks_at_payloads.get()
    }
}

impl Step<'_, '_> {
    /// Begins the evaluation of a text; `opens` is for languages that compute with what they read.
    pub(crate) fn begin_reading(&mut self, source: &str, opens: bool) {
        self.reading = Reading {
            opens: Cell::new(opens),
            reads_contents: Cell::new(names_content(source)),
            looks_at_payloads: Cell::new(names_payload(source)),
            hidden_before: self.hidden_reads.get(),
            ..Reading::default()
        };
    }

    /// Ends the evaluation: its value is sealed if it has read a secret, and its error says nothing
    /// if it has read one or a hidden variable.
    pub(crate) fn end_reading(&mut self, end: Result<Value, Flaw>) -> Result<Value, Flaw> {
        let end = match self.reading.reads_contents.get() {
            true => end.map(|value| self.unseen(value)),
            false => end,
        };
        let has_read = self.has_read_secret();
        if let Some(reason) = self.why_unreadable() {
            self.reading = Reading::default();
            return Err(silent(reason));
        }
        let end = match end {
            Ok(value) if has_read => self.sealed(value).map_err(silent),
            Err(flaw) if self.hidden_reads.get() > self.reading.hidden_before => {
                let reason = "the script failed after it had read a secret or a variable of the \
                              memory driver, so that its message is not kept";
                Err(Flaw { message: reason.to_owned(), ..flaw })
            }
            end => end,
        };
        self.reading = Reading::default();
        end
    }

    /// The evaluation in progress has read a secret.
    pub(crate) fn has_read_secret(&self) -> bool {
        !self.reading.values.borrow().is_empty()
    }

    /// The text contains a value that the evaluation in progress has read.
    pub(crate) fn reveals(&self, text: &str) -> bool {
        let values = self.reading.values.borrow();
        values.iter().any(|value| !value.is_empty() && text.contains(value.as_str()))
    }

    /// True if the text contains no secret; otherwise the evaluation fails.
    pub(crate) fn may_show(&mut self, what: &str, text: Option<&str>) -> bool {
        let is_secret = text.is_some_and(|text| self.reveals(text));
        if is_secret {
            let message = format!("{what} would show a secret: it is kept in clear");
            self.flaw.get_or_insert(Failure::new("InvalidValue", message));
        }
        !is_secret
    }

    /// The value of a secret, for the script in progress.
    pub(crate) fn read_secret(&self, name: &str) -> Result<String, String> {
        if self.number == 0 {
            return Err("a trigger cannot read secrets: read them in the workflow".to_owned());
        }
        let value = self.draft.env.installation.secrets.read(name)?;
        self.read_hidden();
        self.reading.values.borrow_mut().push(value.clone());
        Ok(value)
    }

    /// A secret in its sealed form.
    pub(crate) fn seal_secret(&mut self, name: &str) -> Result<String, String> {
        if self.number == 0 {
            return Err("a trigger cannot read secrets: read them in the workflow".to_owned());
        }
        let value = self.draft.env.installation.secrets.read(name)?;
        self.read_hidden();
        self.seal_text(&value)
    }

    /// What is being read cannot be had, for this reason.
    pub(crate) fn cannot_read(&self, reason: String) {
        self.reading.unreadable.borrow_mut().get_or_insert(reason);
    }

    /// The reason why something that was read cannot be had. It is told once.
    pub(crate) fn why_unreadable(&self) -> Option<String> {
        self.reading.unreadable.take()
    }

    /// The value as the script in progress sees it.
    pub(crate) fn opened(&self, value: Value) -> Value {
        let value = self.whole(value);
        let value = if self.reading.reads_contents.get() { self.seen(value) } else { value };
        if !self.reading.opens.get() {
            return value;
        }
        let secrets = &self.draft.env.installation.secrets;
        if let Some(reason) = secrets.locked() {
            if is_sealed(&value) {
                self.cannot_read(reason);
            }
            return value;
        }
        let owner = self.draft.state.instance_id.as_str();
        let mut found = Vec::new();
        let value = secrets.opened(value, owner, &mut found);
        if !found.is_empty() {
            self.read_hidden();
            self.reading.values.borrow_mut().append(&mut found);
        }
        value
    }

    /// The value with all its texts sealed.
    pub(crate) fn sealed(&mut self, value: Value) -> Result<Value, String> {
        match value {
            Value::String(text) if text.is_empty() => Ok(Value::String(text)),
            Value::String(text) => self.seal_text(&text).map(Value::String),
            Value::Array(items) => {
                let items = items.into_iter().map(|item| self.sealed(item));
                items.collect::<Result<_, _>>().map(Value::Array)
            }
            Value::Object(map) => {
                let mut sealed = Map::new();
                for (name, value) in map {
                    if self.reveals(&name) {
                        return Err("the name of a member contains a secret: use it in a value \
                                    alone"
                            .to_owned());
                    }
                    let value = self.sealed(value)?;
                    sealed.insert(name, value);
                }
                Ok(Value::Object(sealed))
            }
            Value::Number(number) if self.reveals(&number.to_string()) => {
                Err("a number is a secret: leave it as text".to_owned())
            }
            plain => Ok(plain),
        }
    }

    fn seal_text(&mut self, text: &str) -> Result<String, String> {
        let random = self.draft.random();
        let owner = self.draft.state.instance_id.as_str();
        self.draft.env.installation.secrets.seal(text, owner, random)
    }
}

fn silent(message: String) -> Flaw {
    Flaw { message, line: None, column: None }
}
