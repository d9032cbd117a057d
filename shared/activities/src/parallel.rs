//! Parallel: schedules all its activities and waits for all of them.

use engine::{
    Activity, Child, Decision, Descriptor, Failure, Moving, Next, NodeRef, PortKind, Step,
};

/// `Elsa.Parallel`
pub(crate) struct Parallel;

impl Activity for Parallel {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("Elsa.Parallel", "Workflows", "Runs activities side by side.")
            .port("activities", PortKind::List)
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        for &child in step.children("activities") {
            step.schedule(Some(child), None);
        }
        Ok(end_with_last(step))
    }

    fn child_completed(&self, step: &mut Step<'_, '_>, _child: Child) -> Decision {
        Ok(end_with_last(step))
    }

    fn jump(&self, step: &mut Step<'_, '_>, child: NodeRef) -> Result<(), Failure> {
        step.schedule(Some(child), None);
        Ok(())
    }

    fn migrate(&self, _moving: &mut Moving<'_>) -> Result<(), String> {
        Ok(())
    }
}

/// Waits while children are open.
pub(crate) fn end_with_last(step: &Step<'_, '_>) -> Next {
    if step.has_open_children() { Next::Wait } else { Next::done() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::tests::check_lines;

    #[test]
    fn branches_take_turns() {
        let branch = |name: &str| {
            json!({"type": "Sequence", "activities": [
                {"type": "WriteLine", "text": format!("{name}1")},
                {"type": "WriteLine", "text": format!("{name}2")}
            ]})
        };
        check_lines(
            json!({"type": "Parallel", "activities": [branch("a"), branch("b")]}),
            &["a1", "b1", "a2", "b2"],
        );
        check_lines(json!({"type": "Parallel", "activities": []}), &[]);
    }
}
