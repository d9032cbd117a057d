//! The result of a turn.

use std::collections::BTreeSet;

use model::{Entry, PayloadHash, limits};

use crate::{Effect, State};

/// The result of one pure step of the engine.
#[derive(Clone, Debug)]
#[must_use]
pub struct Turn {
    /// The state to commit.
    pub state: State,
    /// The effects to commit as intent and then to carry out, in this order.
    pub effects: Vec<Effect>,
    /// The journal entries, in order.
    pub journal: Vec<Entry>,
    /// How the turn ended.
    pub rest: Rest,
    /// Activity executions in it.
    pub steps: usize,
    /// The approximate number of bytes that it wrote.
    pub bytes: usize,
    /// The payloads that it needs and was not given. If there are any, its result counts for nothing:
    /// run it again with their contents.
    pub wanted: BTreeSet<PayloadHash>,
}

impl Turn {
    /// A turn that changes nothing.
    pub(crate) fn of_nothing(state: State, rest: Rest) -> Self {
        Self {
            state,
            effects: Vec::new(),
            journal: Vec::new(),
            rest,
            steps: 0,
            bytes: 0,
            wanted: BTreeSet::new(),
        }
    }
}

/// The limits of one turn, and of an instance that does not wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Activity executions in one turn.
    pub steps: usize,
    /// Bytes that one turn writes: journal, variables, outputs, effects.
    pub bytes: usize,
    /// Activity executions of the instance without a wait. More of them end it with an incident.
    pub steps_without_wait: u64,
    /// Bytes of one input or output in the journal; longer ones are cut.
    pub value_bytes: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            steps: limits::STEPS_PER_TURN_MAX,
            bytes: limits::BYTES_PER_TURN_MAX,
            steps_without_wait: limits::STEPS_WITHOUT_WAIT_MAX,
            value_bytes: limits::JOURNAL_VALUE_BYTES_MAX,
        }
    }
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// The instance is over: `State::status` says how.
    Finished,
    /// It waits at its bookmarks, among them those of `State::calls`, which have to be carried out.
    Suspended,
    /// It has used up the limits of one turn: give it `Input::Continue`.
    OutOfBudget,
}
