//! Start: the preferred first activity of a flowchart.

use engine::{Activity, Decision, Descriptor, Next, Step};

/// `Elsa.Start`
pub(crate) struct Start;

impl Activity for Start {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("Elsa.Start", "Flow", "A flowchart's preferred first activity.")
            .start()
            .outcomes(&["Done"])
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
    fn a_flowchart_starts_there_wherever_it_stands() {
        check_lines(
            json!({"type": "Flowchart", "activities": [
                {"type": "WriteLine", "id": "a", "text": "a"},
                {"type": "WriteLine", "id": "b", "text": "b"},
                {"type": "Start", "id": "s"}
            ], "connections": [{"source": "s", "target": "b"}]}),
            &["b"],
        );
    }
}
