//! FlowNode: runs the activity in it, as a node of a flowchart.

use engine::{Activity, Decision, Descriptor, PortKind, Step};

use crate::parallel::end_with_last;

/// `Elsa.FlowNode`
pub(crate) struct FlowNode;

impl Activity for FlowNode {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("Elsa.FlowNode", "Flow", "Runs the activity in it.")
            .port("body", PortKind::Embedded)
            .outcomes(&["Done"])
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        if let Some(body) = step.child("body") {
            step.schedule(Some(body), None);
        }
        Ok(end_with_last(step))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::tests::check_lines;

    #[test]
    fn it_ends_with_its_body() {
        check_lines(
            json!({"type": "Flowchart", "activities": [
                {"type": "FlowNode", "id": "n", "body": {"type": "WriteLine", "text": "in"}},
                {"type": "FlowNode", "id": "empty"},
                {"type": "WriteLine", "id": "w", "text": "after"}],
                "connections": [{"source": {"activity": "n", "port": "Done"},
                        "target": {"activity": "empty"}},
                    {"source": {"activity": "empty", "port": "Done"},
                        "target": {"activity": "w"}}]}),
            &["in", "after"],
        );
    }
}
