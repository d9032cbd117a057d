//! A burst between load and commit: the instance as the tenure knows it, and the changes of the
//! burst. Nothing here waits or writes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::{Effect, Program, State};
use model::{
    ActivityId, Bookmark, BookmarkId, CommandId, Entry, Incident, Instance, PayloadHash, SearchKey,
    SubStatus, Timestamp, What,
};
use protocol::{Body, Refusal};
use store::Expected;

use crate::record::{Order, Record};
use crate::work::Work;

/// An instance as the tenure knows it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// The row; none if none is stored.
    pub(crate) row: Option<Instance>,
    /// The id of the accepted start, while the instance is pending.
    pub(crate) accepted: Option<CommandId>,
    pub(crate) record: Record,
    /// The payloads that the stored state names.
    pub(crate) payloads: BTreeSet<PayloadHash>,
    /// The size of the stored state.
    pub(crate) state_bytes: usize,
    pub(crate) read_at: ReadAt,
}

/// When the instance was read, and so how far the knowledge about it can be trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ReadAt {
    /// It was read or written under the lease.
    #[default]
    UnderLease,
    /// It was read while the lease was being acquired. A turn may use it, because the commit checks
    /// the version; a refusal may not.
    BeforeLease,
    /// It was not read: the burst assumes that the instance has not run.
    Never,
}

impl Known {
    /// An instance that was not read.
    pub(crate) fn unseen() -> Self {
        Self { read_at: ReadAt::Never, ..Self::default() }
    }

    /// The version of the row; 0 before the first commit.
    pub(crate) fn version(&self) -> i64 {
        self.row.as_ref().map_or(0, |row| row.version)
    }

    /// The instance has not run yet.
    pub(crate) fn is_pending(&self) -> bool {
        self.row.as_ref().is_none_or(|row| row.status == SubStatus::Pending)
    }

    /// The instance is over, or waits for something outside.
    pub(crate) fn rests(&self) -> bool {
        !self.is_pending() && !self.record.has_turn_to_go_on() && self.record.state.calls.is_empty()
    }
}

/// The reason why a burst commits nothing.
#[derive(Debug)]
pub(crate) enum Unchanged {
    /// The command was applied before: its sender may still need an answer.
    Applied,
    /// There was nothing to do.
    Nothing,
    /// The command changes nothing, for this reason.
    Refused(Refusal, String),
}

/// The changes of a burst to an instance. None of them is committed yet.
pub(crate) struct Ran {
    pub(crate) before: Before,
    pub(crate) record: Record,
    pub(crate) effects: Vec<Effect>,
    pub(crate) journal: Vec<Entry>,
    /// The searchable values after the burst; none if it changes none.
    pub(crate) values: Option<BTreeMap<String, SearchKey>>,
    /// The version that has run; none if the engine has not.
    pub(crate) program: Option<Arc<Program>>,
    pub(crate) work: Work,
    /// The instance itself changed, and not only the data remembered beside it.
    pub(crate) has_moved: bool,
    pub(crate) now: Timestamp,
}

/// The instance before the burst, the base of the difference.
pub(crate) struct Before {
    /// The row; none if the burst creates the instance.
    pub(crate) row: Option<Instance>,
    /// The bookmarks that are in the database, each with the node id of its activity.
    pub(crate) open: BTreeMap<BookmarkId, String>,
    /// The payloads that the stored state names.
    pub(crate) payloads: BTreeSet<PayloadHash>,
    /// The size of the stored state.
    pub(crate) state_bytes: usize,
    /// The condition on the row for the commit.
    pub(crate) expected: Expected,
}

/// The code of an instance that ends before it began: its definition is not there or does not
/// compile.
pub(crate) const NOT_RUNNABLE: &str = "DefinitionNotRunnable";

/// The reason why an instance ends without the engine.
pub(crate) struct Ending {
    status: SubStatus,
    /// (code, message)
    incident: Option<(&'static str, String)>,
}

impl Ending {
    pub(crate) fn cancelled() -> Self {
        Self { status: SubStatus::Cancelled, incident: None }
    }

    pub(crate) fn not_allowed(reason: String) -> Self {
        Self { status: SubStatus::Cancelled, incident: Some(("NotAllowed", reason)) }
    }

    pub(crate) fn not_runnable(reason: String) -> Self {
        Self { status: SubStatus::Faulted, incident: Some((NOT_RUNNABLE, reason)) }
    }

    pub(crate) fn invalid_input(reason: String) -> Self {
        Self { status: SubStatus::Faulted, incident: Some(("InvalidInput", reason)) }
    }

    pub(crate) fn broken(bug: String) -> Self {
        Self { status: SubStatus::Faulted, incident: Some(("EngineBug", bug)) }
    }

    pub(crate) fn not_storable(reason: String) -> Self {
        Self { status: SubStatus::Faulted, incident: Some(("NotStorable", reason)) }
    }

    pub(crate) fn too_large(reason: String) -> Self {
        Self { status: SubStatus::Faulted, incident: Some(("TooLarge", reason)) }
    }
}

impl Unchanged {
    /// A resume that is kept until the instance has a bookmark for it.
    pub(crate) fn kept() -> Self {
        let reason = "the instance has not come to a bookmark for it yet: it is kept";
        Self::Refused(Refusal::Waiting, reason.to_owned())
    }
}

impl Ran {
    /// The tenure has more to do for the instance after the commit.
    pub(crate) fn goes_on(&self) -> bool {
        let state = &self.record.state;
        !state.status.is_final() && (self.record.has_turn_to_go_on() || !state.calls.is_empty())
    }

    /// The burst has brought the instance to this status: it had another one before, or it has ended a
    /// second time, as one that is retried and fails again.
    pub(crate) fn has_changed_to(&self, status: SubStatus) -> bool {
        let was = self.before.row.as_ref().map(|row| row.status);
        let is_end = |entry: &Entry| entry.what == What::Workflow;
        // The line about an end is the last one.
        was != Some(status) || (status.is_final() && self.journal.iter().rev().any(is_end))
    }

    /// A burst that only uses up a number in the order of a sender.
    pub(crate) fn noted(now: Timestamp, before: Known, work: &Work) -> Self {
        let (before, mut record) = split(before);
        remember(&mut record, work);
        let work = work.clone();
        Self {
            before,
            record,
            effects: Vec::new(),
            journal: Vec::new(),
            values: None,
            program: None,
            work,
            has_moved: false,
            now,
        }
    }

    /// An instance that ends without the engine.
    pub(crate) fn ended(now: Timestamp, before: Known, work: &Work, end: Ending) -> Self {
        let is_pending = before.is_pending();
        let (before, mut record) = split(before);
        remember(&mut record, work);
        record.unfinished = false;
        let state = &mut record.state;
        if let Some(Body::Start(start)) = work.body()
            && is_pending
        {
            state.parent = start.parent.clone();
            state.correlation_id = start.correlation_id.clone();
            state.name = start.name.clone();
            state.input = start.input.clone();
        } else if let Some(row) = before.row.as_ref().filter(|_| is_pending) {
            state.parent = row.parent.clone();
            state.correlation_id = row.correlation_id.clone();
            state.name = row.name.clone();
        }
        let journal = halt(state, end, now);
        Self {
            before,
            record,
            effects: Vec::new(),
            journal,
            values: None,
            program: None,
            work: work.clone(),
            has_moved: true,
            now,
        }
    }
}

/// Splits the known instance into the state before the burst and the record that the burst changes.
pub(crate) fn split(known: Known) -> (Before, Record) {
    let place = |open: &Bookmark| (open.id.clone(), open.activity_node_id.clone());
    let open = known.record.open().map(place).collect();
    let expected = match &known.row {
        Some(row) => Expected::Version(row.version),
        None if known.read_at == ReadAt::Never => Expected::Unstarted,
        None => Expected::Absent,
    };
    let Known { row, payloads, state_bytes, record, .. } = known;
    (Before { row, open, payloads, state_bytes, expected }, record)
}

/// Ends a state as the engine does.
fn halt(state: &mut State, end: Ending, now: Timestamp) -> Vec<Entry> {
    state.status = end.status;
    state.bookmarks.clear();
    state.calls.clear();
    let message = end.incident.as_ref().map(|(_, message)| message.clone());
    if let Some((code, message)) = end.incident {
        state.incident_count += 1;
        state.incidents.push(Incident {
            activity_id: ActivityId::default(),
            activity_node_id: String::new(),
            activity_type: "Workflow".to_owned(),
            code: code.to_owned(),
            message,
            timestamp: now,
            activity_instance_id: None,
        });
        if state.incidents.len() > model::limits::INCIDENTS_MAX {
            state.incidents.remove(0);
        }
    }
    state.journal_sequence += 1;
    vec![Entry {
        sequence: state.journal_sequence,
        timestamp: now,
        activity_id: None,
        activity_instance_id: None,
        activity_type: None,
        activity_name: None,
        what: What::Workflow,
        message: Some(end.status.to_string()),
        payload: message.map(|message| serde_json::json!({ "message": message })),
        node: None,
        owner: None,
        recorded: None,
    }]
}

/// Records the ids by which a redelivery is recognised.
pub(crate) fn remember(record: &mut Record, work: &Work) {
    if let Some(sequence) = &work.sequence
        && record.order(sequence) == Order::Next
    {
        record.advance(sequence);
    }
    record.remember(&work.id);
}
