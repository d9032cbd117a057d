//! What a turn is given, beside the program and the state.

use model::{ActivityId, BookmarkId, CommandId, InstanceId, Map, Parent, Timestamp};

/// Why the instance moves.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// The first turn.
    Start(Start),
    /// What a bookmark waited for has happened.
    Resume(Resume),
    /// Ends the instance; its reason goes to the journal.
    Cancel {
        /// Why, for a person.
        reason: Option<String>,
    },
    /// Goes on after `Rest::OutOfBudget`.
    Continue,
}

/// The first turn of an instance.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// The instance's id, from which every id made inside derives.
    pub instance_id: InstanceId,
    /// The trigger activity that received the stimulus; none for a plain start.
    pub trigger: Option<ActivityId>,
    /// Workflow input by name.
    pub input: Map,
    /// Groups instances that belong together.
    pub correlation_id: Option<String>,
    /// The instance's name.
    pub name: Option<String>,
    /// Who started it as a child.
    pub parent: Option<Parent>,
    /// An HTTP client waits for what `WriteHttpResponse` says.
    pub responds: bool,
}

/// A bookmark is resumed.
#[derive(Clone, Debug, PartialEq)]
pub struct Resume {
    /// Which one. Unknown ones change nothing.
    pub bookmark_id: BookmarkId,
    /// What arrived, by name.
    pub input: Map,
    /// An HTTP client waits for what `WriteHttpResponse` says.
    pub responds: bool,
}

/// Time and chance, as values: the same ones give the same turn.
#[derive(Clone, Debug)]
pub struct Env {
    /// The time of the whole turn.
    pub now: Timestamp,
    /// 256 random bits, drawn once per burst: where `newGuid()` and URL tokens come from.
    pub seed: [u8; 32],
    /// The command that caused the turn; ids derive from it where a retry must repeat them.
    pub command_id: CommandId,
    /// Where this installation is reached, such as `http://127.0.0.1:5001`, without a slash at
    /// the end: what absolute URLs begin with.
    pub base_url: String,
}
