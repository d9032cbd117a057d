//! One instance in an archive.

use model::{Bookmark, Entry, Instance};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Error;

/// The format of exported instances.
const FORMAT: u32 = 1;

/// One instance, in the form that `staunch instance import` reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    /// The version of this form.
    pub staunch_instance: u32,
    /// The row, without its state.
    pub instance: Instance,
    /// Its state: what the executor keeps about it.
    pub record: Value,
    /// Open bookmarks; an ended instance has none.
    pub bookmarks: Vec<Bookmark>,
    /// Its journal.
    pub journal: Vec<Entry>,
}

impl Line {
    /// The line of an instance, with its journal.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when its state cannot be read.
    pub fn new(instance: Instance, journal: Vec<Entry>) -> Result<Self, Error> {
        let unreadable = |error: rmp_serde::decode::Error| {
            Error::Corrupt(format!("the state of instance {}", instance.id), error.to_string())
        };
        let record = match instance.state.as_slice() {
            [] => Value::Null,
            state => rmp_serde::from_slice(state).map_err(unreadable)?,
        };
        Ok(Self {
            staunch_instance: FORMAT,
            record,
            bookmarks: Vec::new(),
            journal,
            instance: Instance { state: Vec::new(), ..instance },
        })
    }

    /// Bytes of the line before it is compressed.
    #[must_use]
    pub fn bytes(&self) -> usize {
        struct Counter(usize);
        impl std::io::Write for Counter {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                self.0 += bytes.len();
                Ok(bytes.len())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let mut counter = Counter(0);
        // A line that cannot be written is refused when it is packed.
        match serde_json::to_writer(&mut counter, self) {
            Ok(()) | Err(_) => counter.0,
        }
    }
}
