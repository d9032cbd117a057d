//! End: ends the enclosing flowchart or sequence.

use engine::{Activity, Decision, Descriptor, Next, Step};

/// `Elsa.End`
pub(crate) struct End;

impl Activity for End {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("Elsa.End", "Flow", "Ends the enclosing flowchart or sequence.").terminal()
    }

    fn start(&self, _step: &mut Step<'_, '_>) -> Decision {
        Ok(Next::done())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::tests::check_lines;

    #[test]
    fn only_the_enclosing_flowchart_ends() {
        check_lines(
            json!({"type": "Sequence", "activities": [
                {"type": "Flowchart", "activities": [
                    {"type": "Start", "id": "s"},
                    {"type": "End", "id": "e"},
                    {"type": "Event", "id": "w", "eventName": "Never"}
                ], "connections": [
                    {"source": "s", "target": "w"}, {"source": "s", "target": "e"}
                ]},
                {"type": "WriteLine", "text": "after"}
            ]}),
            &["after"],
        );
    }
}
