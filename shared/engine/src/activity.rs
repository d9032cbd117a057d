//! What an activity is: a description, and functions that decide. It never does anything itself;
//! what it wants done it asks of the [`Step`].

use std::any::Any;

use model::{Map, Misfire, Recurrence, Stimulus};
use serde_json::Value;

use crate::{Descriptor, NodeRef, Planning, Step};

/// What an activity prepares once per definition, such as a flowchart's graph.
pub type Plan = Option<Box<dyn Any + Send + Sync>>;

/// What an activity decides, or why it cannot.
pub type Decision = Result<Next, Failure>;

/// One type of activity.
pub trait Activity: Send + Sync {
    /// What it says about itself; asked once.
    fn descriptor(&self) -> Descriptor;

    /// Looks at the definition before anything runs: reports problems, prepares what `start`
    /// needs. Children are already compiled.
    fn plan(&self, _node: &mut Planning<'_>) -> Plan {
        None
    }

    /// Begins an execution.
    ///
    /// # Errors
    /// [`Failure`] becomes an incident.
    fn start(&self, step: &mut Step<'_, '_>) -> Decision;

    /// Goes on because something it waited for has happened, or because it is the trigger that
    /// started the instance.
    ///
    /// # Errors
    /// [`Failure`] becomes an incident.
    fn resume(&self, _step: &mut Step<'_, '_>, _resumed: Resumed) -> Decision {
        Ok(Next::done())
    }

    /// Goes on because a child it scheduled is over.
    ///
    /// # Errors
    /// [`Failure`] becomes an incident.
    fn child_completed(&self, _step: &mut Step<'_, '_>, _child: Child) -> Decision {
        Ok(Next::done())
    }

    /// What starts a workflow at this activity; empty for those that cannot.
    ///
    /// # Errors
    /// [`Failure`] becomes a problem of the definition.
    fn triggers(&self, _step: &mut Step<'_, '_>) -> Result<Vec<Cause>, Failure> {
        Ok(Vec::new())
    }
}

/// What comes after a decision.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// It is over, with these outcomes.
    Complete(Vec<String>),
    /// It waits: for children it scheduled, or at bookmarks it made.
    Wait,
    /// It is over, and so is the nearest loop around it.
    Break,
    /// It is over, and so is the workflow, with these outcomes.
    CompleteWorkflow(Vec<String>),
    /// The instance is finished at once, whatever else was going on.
    Finish,
}

impl Next {
    /// Over, with the outcome `Done`.
    #[must_use]
    pub fn done() -> Self {
        Self::outcome("Done")
    }

    /// Over, with one outcome.
    #[must_use]
    pub fn outcome(name: &str) -> Self {
        Self::Complete(vec![name.to_owned()])
    }
}

/// Why an activity failed: what its incident says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// A short, stable code.
    pub code: String,
    /// Such as `HTTP` or `General`.
    pub category: String,
    /// Such as `System` or `Business`.
    pub kind: String,
    /// What happened, for a person.
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

/// Something that a waiting activity is told.
#[derive(Clone, Debug, PartialEq)]
pub struct Resumed {
    /// What the bookmark waited for; none for the trigger that started the instance.
    pub stimulus: Option<String>,
    /// What arrived, by name.
    pub input: Map,
}

/// A child that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct Child {
    /// Which; none for a port that holds nothing.
    pub node: Option<NodeRef>,
    /// What it was scheduled with.
    pub tag: Option<Value>,
    /// How it ended.
    pub outcomes: Vec<String>,
}

/// What starts a workflow.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// Something that happens.
    Stimulus {
        /// What it is found by.
        stimulus: Stimulus,
        /// What it waits for, readable, with whatever the edge must know.
        payload: Value,
    },
    /// Time.
    Schedule {
        /// When.
        recurrence: Recurrence,
        /// What about missed occurrences.
        misfire: Misfire,
    },
}
