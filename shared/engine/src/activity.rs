//! The trait of activity types: a description, and functions that decide. An activity has no effect
//! of its own: it asks its [`Step`] for everything that it wants done.

use crate::{
    Cause, Child, Decision, Descriptor, Failure, Moving, Next, NodeRef, Plan, Planning, Resumed,
    Step,
};

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

    /// An activity somewhere inside it ends a loop, and no loop is around it.
    fn broken(&self, _step: &mut Step<'_, '_>) {}

    /// The causes that start a workflow at this activity; empty if the activity cannot start one.
    ///
    /// # Errors
    /// [`Failure`] becomes a problem of the definition.
    fn triggers(&self, _step: &mut Step<'_, '_>) -> Result<Vec<Cause>, Failure> {
        Ok(Vec::new())
    }

    /// Runs a child because an operator asks for it. By default a container runs its children only
    /// as it decides itself.
    ///
    /// # Errors
    /// [`Failure`] says why this child cannot run now.
    fn jump(&self, step: &mut Step<'_, '_>, _child: NodeRef) -> Result<(), Failure> {
        let message = format!(
            "{} runs its activities as it decides itself: schedule it as a whole, or an activity of \
             a Flowchart, Sequence or Parallel",
            step.type_name()
        );
        Err(Failure::new("CannotSchedule", message))
    }

    /// Carries over what an execution remembers to another version of the definition. By default
    /// that is possible while the children are the same, in the same order.
    ///
    /// # Errors
    /// The reason why it is not possible.
    fn migrate(&self, moving: &mut Moving<'_>) -> Result<(), String> {
        moving.needs_same_children()
    }
}
