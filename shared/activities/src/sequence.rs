//! Sequence: runs activities one after the other.

use engine::{
    Activity, Child, Decision, Descriptor, Failure, Moving, Next, NodeRef, Plan, Planning,
    PortKind, Step,
};
use serde_json::Value;

use crate::break_loop::{break_off, is_broken_off};

/// `Elsa.Sequence`
pub(crate) struct Sequence;

impl Activity for Sequence {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("Elsa.Sequence", "Workflows", "Runs activities one after the other.")
            .port("activities", PortKind::List)
    }

    fn plan(&self, node: &mut Planning<'_>) -> Plan {
        let children = node.children("activities");
        if let Some(first) = children.first() {
            node.begins_with(*first);
        }
        let end = children.iter().position(|child| node.descriptor(*child).is_terminal);
        for child in children.iter().skip(end.map_or(children.len(), |end| end + 1)) {
            node.unreachable(*child, "an activity before it ends the sequence; remove one of them");
        }
        None
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        Ok(go_on(step, 0))
    }

    fn child_completed(&self, step: &mut Step<'_, '_>, child: Child) -> Decision {
        let is_last = child.node.is_some_and(|node| step.is_terminal(node));
        if is_last || is_broken_off(step) {
            return Ok(Next::done());
        }
        let at = child.tag.as_ref().and_then(Value::as_u64).unwrap_or_default();
        Ok(go_on(step, at + 1))
    }

    /// Ends after the activity that runs.
    fn broken(&self, step: &mut Step<'_, '_>) {
        break_off(step);
    }

    /// Leaves the activity that runs, and goes on from the other one.
    fn jump(&self, step: &mut Step<'_, '_>, child: NodeRef) -> Result<(), Failure> {
        let at = step.children("activities").iter().position(|other| *other == child);
        step.cancel_children();
        go_on(step, at.unwrap_or_default() as u64);
        Ok(())
    }

    /// The tag of a child is its position.
    fn migrate(&self, moving: &mut Moving<'_>) -> Result<(), String> {
        let (before, after) = moving.children("activities");
        for tag in 0..moving.tags.len() {
            let at = moving.tags[tag].as_u64().and_then(|at| usize::try_from(at).ok());
            let was = at.and_then(|at| before.get(at)).copied();
            let is = |was| {
                let place = moving.place(was)?;
                after.iter().position(|other| *other == place)
            };
            let at = was.and_then(is).ok_or("its current activity is not a part of it there")?;
            *moving.tags[tag] = at.into();
        }
        Ok(())
    }
}

/// Schedules the child at this position, or ends after the last.
fn go_on(step: &mut Step<'_, '_>, at: u64) -> Next {
    let position = usize::try_from(at).unwrap_or(usize::MAX);
    match step.children("activities").get(position).copied() {
        Some(child) => {
            step.schedule(Some(child), Some(at.into()));
            Next::Wait
        }
        None => Next::done(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::tests::check_lines;

    #[test]
    fn children_run_in_order_until_a_terminal_one() {
        check_lines(json!({"type": "Sequence"}), &[]);
        check_lines(
            json!({"type": "Sequence", "activities": [
                {"type": "WriteLine", "text": "a"},
                {"type": "Sequence", "activities": [{"type": "WriteLine", "text": "b"}]},
                {"type": "WriteLine", "text": "c"}
            ]}),
            &["a", "b", "c"],
        );
        check_lines(
            json!({"type": "Sequence", "activities": [
                {"type": "WriteLine", "text": "a"},
                {"type": "Sequence", "activities": [
                    {"type": "End"}, {"type": "WriteLine", "text": "never"}
                ]},
                {"type": "WriteLine", "text": "b"}
            ]}),
            &["a", "b"],
        );
    }
}
