//! The arguments of a turn, beside the program and the state.

use std::sync::Arc;

use model::{ActivityId, Alteration, BookmarkId, InstanceId, Map, Parent};

use crate::Program;

/// The reason for a turn.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// The first turn.
    Start(Box<Start>),
    /// A bookmark is resumed.
    Resume(Resume),
    /// Ends the instance; its reason goes to the journal.
    Cancel {
        /// The reason, for people.
        reason: Option<String>,
    },
    /// Goes on after `Rest::OutOfBudget`.
    Continue,
    /// An operator changes the instance: all of it, or nothing when one alteration does not fit.
    Alter(Alter),
}

/// The changes of an operator.
#[derive(Clone, Debug, PartialEq)]
pub struct Alter {
    /// The changes, in order.
    pub alterations: Vec<Alteration>,
    /// The program that the instance has run until now, if one of the changes migrates it to the
    /// program of the turn.
    pub from: Option<Arc<Program>>,
}

/// The first turn of an instance.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// The instance's id, from which every id made inside derives.
    pub instance_id: InstanceId,
    /// The trigger activity that received the stimulus; none for a plain start.
    pub trigger: Option<ActivityId>,
    /// What it takes over from the instance that it repeats.
    pub restart: Option<Restart>,
    /// Workflow input by name.
    pub input: Map,
    /// Properties of the instance, such as `Flowchart:ExecutionMode`.
    pub properties: Map,
    /// Groups instances that belong together.
    pub correlation_id: Option<String>,
    /// The instance's name.
    pub name: Option<String>,
    /// The instance that started it as a child.
    pub parent: Option<Parent>,
    /// An HTTP client waits for the response of `WriteHttpResponse`.
    pub responds: bool,
}

/// What an instance takes over from the one that it repeats.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Restart {
    /// The activity to begin at; at the start when there is none.
    pub activity: Option<ActivityId>,
    /// The values of workflow variables, by id or name.
    pub variables: Map,
}

/// A bookmark is resumed.
#[derive(Clone, Debug, PartialEq)]
pub struct Resume {
    /// The bookmark. An unknown one changes nothing.
    pub bookmark_id: BookmarkId,
    /// The input of the resume, by name.
    pub input: Map,
    /// An HTTP client waits for the response of `WriteHttpResponse`.
    pub responds: bool,
}
