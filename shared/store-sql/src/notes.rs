//! Rows that reads could not decode, kept until a sweep moves them to the dead letters.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use model::limits::UNREADABLE_ROWS_MAX;
use store::{Table, Unreadable};

/// The rows that reads could not decode, by table and id.
#[derive(Debug, Default)]
pub(crate) struct Notes(Mutex<BTreeMap<(Table, String), Unreadable>>);

impl Notes {
    pub(crate) fn note(&self, row: Unreadable) {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (row.table, row.id.clone());
        if notes.len() >= UNREADABLE_ROWS_MAX || notes.contains_key(&key) {
            return;
        }
        tracing::error!(
            table = row.table.name(),
            id = row.id,
            reason = row.reason,
            "a row cannot be read; it is passed over"
        );
        notes.insert(key, row);
    }

    /// Takes all notes.
    pub(crate) fn take(&self) -> Vec<Unreadable> {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *notes).into_values().collect()
    }
}
