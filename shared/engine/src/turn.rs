//! What a turn gives back.

use model::Entry;

use crate::{Effect, State};

/// The result of one pure step of the engine.
#[derive(Clone, Debug)]
#[must_use]
pub struct Turn {
    /// What is committed.
    pub state: State,
    /// What is committed as intent, then done, in this order.
    pub effects: Vec<Effect>,
    /// What happened.
    pub journal: Vec<Entry>,
    /// How the turn ended.
    pub rest: Rest,
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// The instance is over: `State::status` says how.
    Finished,
    /// It waits at its bookmarks; `State::calls` are among them, to be carried out.
    Suspended,
    /// It has more to do than one turn may: give it `Input::Continue`.
    OutOfBudget,
}
