//! Panics and restarts of the tasks of this process. A long-lived task is entered at its start, a
//! short one at its first panic; there is one row for each name.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

static TABLE: Mutex<BTreeMap<&'static str, Row>> = Mutex::new(BTreeMap::new());

#[derive(Clone, Copy, Debug, Default)]
struct Row {
    panics: u64,
    restarts: u64,
    down: usize,
}

/// The figures of all tasks of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure {
    /// The name of the task.
    pub task: &'static str,
    /// The number of panics.
    pub panics: u64,
    /// The number of runs that began after a panic.
    pub restarts: u64,
}

/// The figures of every task, by name.
#[must_use]
pub fn figures() -> Vec<Figure> {
    let figure = |(task, row): (&&'static str, &Row)| Figure {
        task,
        panics: row.panics,
        restarts: row.restarts,
    };
    table().iter().map(figure).collect()
}

/// The tasks that panicked and wait for their next run.
#[must_use]
pub fn down() -> Vec<&'static str> {
    table().iter().filter(|(_, row)| row.down > 0).map(|(task, _)| *task).collect()
}

pub(crate) fn started(task: &'static str) {
    table().entry(task).or_default();
}

pub(crate) fn panicked(task: &'static str) {
    table().entry(task).or_default().panics += 1;
}

pub(crate) fn restarted(task: &'static str) {
    table().entry(task).or_default().restarts += 1;
}

/// While this value lives, its task is down.
pub(crate) struct Down(&'static str);

impl Down {
    pub(crate) fn begin(task: &'static str) -> Self {
        table().entry(task).or_default().down += 1;
        Self(task)
    }
}

impl Drop for Down {
    fn drop(&mut self) {
        if let Some(row) = table().get_mut(self.0) {
            row.down = row.down.saturating_sub(1);
        }
    }
}

fn table() -> MutexGuard<'static, BTreeMap<&'static str, Row>> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}
