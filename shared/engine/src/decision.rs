//! The arguments and the decisions of an activity: values that refer to nodes, never to the turn in
//! progress.

use model::{Map, Misfire, Recurrence, Stimulus};
use serde_json::Value;

use crate::NodeRef;

/// The decision of an activity, or the failure that prevented it.
pub type Decision = Result<Next, Failure>;

/// The state of an execution after a decision.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// The execution is over, with these outcomes.
    Complete(Vec<String>),
    /// The execution waits for children that it scheduled, or at bookmarks that it made.
    Wait,
    /// The execution is over, and so is the nearest loop around it.
    Break,
    /// The execution is over, and so is the workflow, with these outcomes.
    CompleteWorkflow(Vec<String>),
    /// The instance is finished at once; everything else in it is dropped.
    Finish,
}

impl Next {
    /// The execution is over, with the outcome `Done`.
    #[must_use]
    pub fn done() -> Self {
        Self::outcome("Done")
    }

    /// The execution is over, with one outcome.
    #[must_use]
    pub fn outcome(name: &str) -> Self {
        Self::Complete(vec![name.to_owned()])
    }
}

/// The failure of an activity, as its incident shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// A short, stable code.
    pub code: String,
    /// Such as `HTTP` or `General`.
    pub category: String,
    /// Such as `System` or `Business`.
    pub kind: String,
    /// An explanation for people.
    pub message: String,
}

impl Failure {
    /// A failure with this code.
    #[must_use]
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            category: "General".to_owned(),
            kind: "System".to_owned(),
            message: message.into(),
        }
    }

    /// In this category.
    #[must_use]
    pub fn in_category(mut self, category: &str) -> Self {
        category.clone_into(&mut self.category);
        self
    }

    /// An input has a value that the activity cannot use.
    #[must_use]
    pub fn input(property: &str, message: impl std::fmt::Display) -> Self {
        Self::new("InvalidInput", format!("{property}: {message}"))
    }
}

/// The input of an activity that goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct Resumed {
    /// The name of the stimulus; none for the trigger that started the instance.
    pub stimulus: Option<String>,
    /// The values that arrived, by name.
    pub input: Map,
}

/// A child that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct Child {
    /// The node; none for an empty port.
    pub node: Option<NodeRef>,
    /// The tag that it was scheduled with.
    pub tag: Option<Value>,
    /// Its outcomes.
    pub outcomes: Vec<String>,
}

/// A cause that starts a workflow.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// A stimulus.
    Stimulus {
        /// The stimulus, by whose hash the trigger is found.
        stimulus: Stimulus,
        /// The stimulus in readable form, with the settings that ingress needs.
        payload: Value,
    },
    /// A time.
    Schedule {
        /// The times.
        recurrence: Recurrence,
        /// The handling of missed occurrences.
        misfire: Misfire,
    },
}
