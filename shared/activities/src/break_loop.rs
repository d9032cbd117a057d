//! Break: ends the nearest loop.

use engine::{Activity, Decision, Descriptor, Next, Step};

/// `Elsa.Break`
pub(crate) struct BreakLoop;

impl Activity for BreakLoop {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("Elsa.Break", "Looping", "Ends the nearest loop.").terminal()
    }

    fn start(&self, _step: &mut Step<'_, '_>) -> Decision {
        Ok(Next::Break)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::tests::check_lines;

    #[test]
    fn without_a_loop_it_ends_its_container() {
        check_lines(
            json!({"type": "Sequence", "activities": [
                {"type": "Sequence", "activities": [
                    {"type": "Break"}, {"type": "WriteLine", "text": "never"}
                ]},
                {"type": "WriteLine", "text": "after"}
            ]}),
            &["after"],
        );
    }

    #[test]
    fn open_work_in_the_loop_is_cancelled() {
        check_lines(
            json!({"type": "Sequence", "activities": [
                {"type": "While", "condition": true, "body": {"type": "Parallel", "activities": [
                    {"type": "Event", "eventName": "Never"},
                    {"type": "Break"},
                    {"type": "WriteLine", "text": "scheduled, not run"}
                ]}},
                {"type": "WriteLine", "text": "after"}
            ]}),
            &["after"],
        );
    }
}
