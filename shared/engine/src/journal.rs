//! The journal of one turn. After the first entries, an entry that repeats an earlier one of the turn
//! is counted and not written, so that a loop does not fill the journal.

use std::collections::BTreeMap;

use model::{Entry, What, limits};
use serde_json::{Map, Value};

use crate::outline::NodeRef;

/// The member of an entry's payload that counts the entries that were folded into it.
const REPEATED: &str = "repeated";

/// The entries of one turn.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    entries: Vec<Entry>,
    /// The number of the execution of each entry; 0 for one about the instance as a whole.
    numbers: Vec<u64>,
    /// The position of the newest entry for each node and event, which later entries may repeat.
    newest: BTreeMap<(NodeRef, u8), usize>,
    /// The number of repeats, by the position of the entry.
    repeats: BTreeMap<usize, u64>,
}

impl Journal {
    /// Folds an entry into an earlier one of this turn, if it repeats it. Entries about waiting are
    /// never folded: each belongs to a bookmark.
    pub(crate) fn folds(
        &mut self,
        is_continued: bool,
        node: NodeRef,
        what: What,
        message: Option<&String>,
        payload: Option<&Value>,
    ) -> bool {
        let whole = if is_continued {
            limits::JOURNAL_ENTRIES_WHOLE_CONTINUED_MAX
        } else {
            limits::JOURNAL_ENTRIES_WHOLE_MAX
        };
        if self.entries.len() < whole {
            return false;
        }
        let key = match what {
            What::Started => 0,
            What::Completed => 1,
            What::Canceled => 2,
            What::Faulted => 3,
            What::Line => 4,
            What::Resumed | What::Suspended | What::Retrying | What::Workflow | What::Altered => {
                return false;
            }
        };
        let newest = self.newest.get(&(node, key));
        let found = newest.and_then(|at| self.entries.get(*at).map(|entry| (*at, entry)));
        match found {
            Some((at, entry))
                if entry.message.as_ref() == message && entry.payload.as_ref() == payload =>
            {
                *self.repeats.entry(at).or_default() += 1;
                true
            }
            _ => {
                self.newest.insert((node, key), self.entries.len());
                false
            }
        }
    }

    pub(crate) fn push(&mut self, number: u64, entry: Entry) {
        self.entries.push(entry);
        self.numbers.push(number);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries, and the number of the execution of each. Those with repeats have their number in
    /// the payload.
    pub(crate) fn into_entries(self) -> (Vec<Entry>, Vec<u64>) {
        let Self { mut entries, numbers, repeats, .. } = self;
        for (at, count) in repeats {
            let Some(entry) = entries.get_mut(at) else { continue };
            let payload = entry.payload.get_or_insert_with(|| Value::Object(Map::new()));
            if let Some(payload) = payload.as_object_mut() {
                payload.insert(REPEATED.to_owned(), count.into());
            }
        }
        (entries, numbers)
    }
}
