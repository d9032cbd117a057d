//! Checks every burst when it is written, and reports violations of invariants at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use executor::Record;
use model::{CommandId, InstanceId, SubStatus, What};
use store::Expected;
use store::memory::Written;

/// The number of complaints that are kept.
const COMPLAINTS_MAX: usize = 20;

#[derive(Default)]
pub(crate) struct Witness(Mutex<Seen>);

#[derive(Default)]
struct Seen {
    applied: BTreeMap<InstanceId, BTreeSet<CommandId>>,
    numbers: BTreeMap<(InstanceId, String), u64>,
    complaints: Vec<String>,
}

impl Witness {
    pub(crate) fn see(&self, written: &Written<'_>) {
        self.0.lock().unwrap().see(written);
    }

    /// Records an answer to a client that was false.
    pub(crate) fn complain(&self, complaint: String) {
        self.0.lock().unwrap().complain(complaint);
    }

    pub(crate) fn complaints(&self) -> Vec<String> {
        self.0.lock().unwrap().complaints.clone()
    }
}

impl Seen {
    fn complain(&mut self, complaint: String) {
        if self.complaints.len() < COMPLAINTS_MAX {
            self.complaints.push(complaint);
        }
    }

    fn see(&mut self, written: &Written<'_>) {
        let instance = &written.burst.instance;
        let id = &instance.id;
        let record = match Record::decode(&instance.state) {
            Ok(record) => record,
            Err(error) => return self.complain(format!("{id}: the state is unreadable: {error}")),
        };
        self.check_writer(written);
        self.check_applied(id, &record);
        self.check_numbers(id, &record);
        self.check_timers(written);
        if instance.status == SubStatus::Suspended
            && record.state.bookmarks.is_empty()
            && record.state.calls.is_empty()
        {
            self.complain(format!("{id} waits for nothing"));
        }
    }

    /// One writer: each burst continues the last one.
    fn check_writer(&mut self, written: &Written<'_>) {
        let (burst, before) = (written.burst, written.before);
        let there = before.map(|before| before.version);
        let is_expected = match burst.expected {
            Expected::Absent => there.is_none(),
            Expected::Unstarted => there.is_none_or(|version| version == 0),
            Expected::Version(version) => there == Some(version),
        };
        if !is_expected {
            let expected = burst.expected;
            self.complain(format!(
                "{}: a burst on version {expected:?} is written over {there:?}",
                burst.instance.id
            ));
        }
        let is_over = before.is_some_and(|before| before.status.is_final());
        let is_altered = burst.journal.first().is_some_and(|entry| entry.what == What::Altered);
        // A number of a sender may be used up after the end; that has no other effect. An operator
        // may alter an instance that an incident has ended.
        if is_over && !burst.journal.is_empty() && !is_altered {
            self.complain(format!("{}: a burst after the end", burst.instance.id));
        }
    }

    /// No command is applied twice.
    fn check_applied(&mut self, id: &InstanceId, record: &Record) {
        let Some(last) = record.applied.back() else { return };
        if !self.applied.entry(id.clone()).or_default().insert(last.clone()) {
            self.complain(format!("{id}: {last} is applied twice"));
        }
    }

    /// Per-sender order: no number is left out or repeated.
    fn check_numbers(&mut self, id: &InstanceId, record: &Record) {
        for sequence in &record.sequences {
            let key = (id.clone(), sequence.sender.clone());
            let before = self.numbers.insert(key, sequence.number).unwrap_or_default();
            if sequence.number != before && sequence.number != before + 1 {
                let number = sequence.number;
                self.complain(format!("{id}: number {number} is applied after {before}"));
            }
        }
    }

    /// No timer is burned before its time, by the database's clock.
    fn check_timers(&mut self, written: &Written<'_>) {
        if written.burst.instance.status == SubStatus::Cancelled {
            return;
        }
        let id = &written.burst.instance.id;
        for due_at in written.burned.iter().filter_map(|burned| burned.bookmark.due_at) {
            if due_at > written.now {
                self.complain(format!("{id}: a timer of {due_at} fired at {}", written.now));
            }
        }
    }
}
