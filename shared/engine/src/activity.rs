//! The trait of activity types: a description, and functions that decide. An activity has no effect
//! of its own: it asks its [`Step`] for everything that it wants done.

use crate::{Cause, Child, Decision, Descriptor, Failure, Next, Plan, Planning, Resumed, Step};

/// One type of activity.
pub trait Activity: Send + Sync {
    /// The description of the type. Called once.
    fn descriptor(&self) -> Descriptor;

    /// Examines the definition before anything runs: reports problems, and prepares data for
    /// `start`. Children are already compiled.
    fn plan(&self, _node: &mut Planning<'_>) -> Plan {
        None
    }

    /// Begins an execution.
    ///
    /// # Errors
    /// [`Failure`] becomes an incident.
    fn start(&self, step: &mut Step<'_, '_>) -> Decision;

    /// Goes on because a bookmark was resumed, or because the activity is the trigger that started the
    /// instance.
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

    /// The causes that start a workflow at this activity; empty if the activity cannot start one.
    ///
    /// # Errors
    /// [`Failure`] becomes a problem of the definition.
    fn triggers(&self, _step: &mut Step<'_, '_>) -> Result<Vec<Cause>, Failure> {
        Ok(Vec::new())
    }
}
