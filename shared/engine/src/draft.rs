//! A turn in progress: the state, the effects and the journal of its result.

mod end;

use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};

use model::large::weight;
use model::{Bookmark, Entry, PayloadHash, Recorded, SubStatus, What, execution_id, limits};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::decision::Child;
use crate::journal::Journal;
use crate::keeping::cut as cut_to;
use crate::outline::{Declared, Outline};
use crate::recorder::Recorder;
use crate::state::{Execution, State, Work};
use crate::{Effect, Env, Languages};

/// The approximate size of a journal entry in bytes, without its message.
const ENTRY_BYTES: usize = 200;

/// The input of a turn in progress, and its result so far.
pub(crate) struct Draft<'a> {
    pub(crate) outline: &'a Outline,
    pub(crate) languages: &'a Languages,
    pub(crate) env: &'a Env,
    pub(crate) state: State,
    pub(crate) effects: Vec<Effect>,
    pub(crate) journal: Journal,
    /// The values for the journal.
    pub(crate) recorder: Recorder,
    /// The turn continues an earlier one that used up its budget.
    pub(crate) is_continued: bool,
    /// An incident had ended the instance, and in this turn it runs again.
    pub(crate) is_revived: bool,
    /// Activity executions so far.
    pub(crate) steps: usize,
    /// Approximate number of bytes written so far.
    pub(crate) bytes: usize,
    /// The bytes of the journal among them.
    pub(crate) journal_bytes: usize,
    /// Children that are over, whose owners have not been informed yet.
    pub(crate) ended: VecDeque<Ended>,
    /// Set when a container scheduled more than an instance may hold.
    pub(crate) is_overfull: bool,
    /// The bookmark that the activity in progress was resumed at, until it waits there again.
    pub(crate) resumed: Option<Bookmark>,
    /// Payloads that the turn needs and was not given.
    pub(crate) wanted: RefCell<BTreeSet<PayloadHash>>,
    ids: u64,
    draws: u64,
}

/// A child that is over.
pub(crate) struct Ended {
    pub(crate) owner: u64,
    pub(crate) child: Child,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(
        outline: &'a Outline,
        languages: &'a Languages,
        env: &'a Env,
        mut state: State,
    ) -> Self {
        let recorder = Recorder::of(&mut state);
        Self {
            outline,
            languages,
            env,
            state,
            effects: Vec::new(),
            journal: Journal::default(),
            recorder,
            is_continued: false,
            is_revived: false,
            steps: 0,
            bytes: 0,
            journal_bytes: 0,
            ended: VecDeque::new(),
            is_overfull: false,
            resumed: None,
            wanted: RefCell::default(),
            ids: 0,
            draws: 0,
        }
    }

    /// An id, different on every call, and the same in a replay.
    pub(crate) fn id(&mut self) -> String {
        self.ids += 1;
        let parts =
            [self.state.instance_id.as_str(), &self.state.turns.to_string(), &self.ids.to_string()];
        model::derived(&parts)
    }

    /// 256 bits, different on every call, and the same in a replay.
    pub(crate) fn random(&mut self) -> [u8; 32] {
        self.draws += 1;
        let mut hasher = Sha256::new();
        hasher.update(self.env.seed);
        hasher.update(self.state.instance_id.as_str().as_bytes());
        hasher.update(self.state.turns.to_be_bytes());
        hasher.update(self.draws.to_be_bytes());
        hasher.finalize().into()
    }

    /// A random number from 0 to 1, the same in a replay.
    pub(crate) fn chance(&mut self) -> f64 {
        let [first, second, ..] = self.random();
        f64::from(u16::from_be_bytes([first, second])) / f64::from(u16::MAX)
    }

    /// Schedules work behind all that is there.
    pub(crate) fn schedule(&mut self, work: Work) {
        self.is_overfull |= self.state.work.len() >= limits::SCHEDULED_MAX;
        if !self.is_overfull {
            self.state.work.push_back(work);
        }
    }

    /// Counts the bytes of a value that the turn writes.
    pub(crate) fn spend(&mut self, value: &Value) {
        self.bytes = self.bytes.saturating_add(weight(value));
    }

    /// Counts bytes that are no values.
    pub(crate) fn spend_bytes(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Writes an entry about an execution into the journal.
    pub(crate) fn write(
        &mut self,
        number: u64,
        what: What,
        message: Option<String>,
        payload: Option<Value>,
    ) {
        let Some(execution) = self.state.executions.get(&number) else { return };
        let (node_ref, node) = self.outline.keyed(&execution.node);
        let message = message.map(cut);
        let (said, with) = (message.as_ref(), payload.as_ref());
        if self.journal.folds(self.is_continued, node_ref, what, said, with) {
            return;
        }
        let bytes = ENTRY_BYTES + message.as_ref().map_or(0, String::len);
        self.bytes += bytes;
        self.journal_bytes += bytes;
        self.state.journal_sequence += 1;
        let is_ambiguous = node.key != node.id.as_str();
        let node_id = is_ambiguous.then(|| node.path.clone());
        // What is known when an activity of the root begins is what a restart from it takes over.
        let is_of_root = |owner: u64| {
            self.state.executions.get(&owner).is_some_and(|owner| owner.owner.is_none())
        };
        let variables = match what {
            What::Started if execution.owner.is_some_and(is_of_root) => {
                self.recorder.take_changes(&self.state)
            }
            _ => Vec::new(),
        };
        let recorded = (node_id.is_some() || !variables.is_empty())
            .then(|| Box::new(Recorded { node_id, variables, ..Recorded::default() }));
        self.journal.push(
            number,
            Entry {
                sequence: self.state.journal_sequence,
                timestamp: self.env.now,
                activity_id: Some(node.id.clone()),
                activity_instance_id: Some(execution.id.clone()),
                activity_type: Some(node.type_name().to_owned()),
                activity_name: node.name.clone(),
                what,
                message,
                payload,
                node: None,
                owner: self.owner_of(execution),
                recorded,
            },
        );
    }

    /// The number of the execution around one; 0 for the workflow, none if its id does not tell its
    /// number, as ids of earlier versions do not.
    fn owner_of(&self, execution: &Execution) -> Option<u64> {
        let number = execution.owner.unwrap_or_default();
        let owner = self.state.executions.get(&number);
        let is_numbered = |owner: &Execution| owner.id.contains(':');
        owner.is_none_or(is_numbered).then_some(number)
    }

    /// Notes for the journal that a variable has another value. Values of hidden ones are never kept, those of
    /// credentials masked.
    pub(crate) fn note_change(&mut self, owner: u64, declared: &Declared) {
        if !declared.is_hidden {
            self.recorder.changed(owner, &declared.id, declared.is_masked);
        }
    }

    /// The lines of the turn, with the values that they keep.
    pub(crate) fn told(&mut self) -> Vec<Entry> {
        if self.recorder.has_changes() && self.journal.is_empty() {
            self.write_whole(What::Workflow, self.state.status.to_string(), None);
        }
        let (mut entries, numbers) = std::mem::take(&mut self.journal).into_entries();
        std::mem::take(&mut self.recorder).write(&mut entries, &numbers, &mut self.state);
        entries
    }

    /// Sets the status of the instance, and writes it into the journal.
    pub(crate) fn announce(&mut self, status: SubStatus, payload: Option<Value>) {
        self.state.status = status;
        self.write_whole(What::Workflow, status.to_string(), payload);
    }

    /// Writes an entry about the instance as a whole into the journal.
    pub(crate) fn write_whole(&mut self, what: What, message: String, payload: Option<Value>) {
        self.state.journal_sequence += 1;
        self.journal.push(
            0,
            Entry {
                sequence: self.state.journal_sequence,
                timestamp: self.env.now,
                activity_id: None,
                activity_instance_id: None,
                activity_type: None,
                activity_name: None,
                what,
                message: Some(cut(message)),
                payload,
                node: None,
                owner: None,
                recorded: None,
            },
        );
    }

    /// The id of the execution with this number.
    pub(crate) fn execution_id(&self, number: u64) -> String {
        execution_id(&self.state.instance_id, number)
    }
}

/// A message, cut to the length that the journal keeps.
fn cut(message: String) -> String {
    if message.len() <= limits::JOURNAL_MESSAGE_BYTES_MAX {
        return message;
    }
    cut_to(&message, limits::JOURNAL_MESSAGE_BYTES_MAX)
}
