//! Break: ends the nearest loop.

use engine::{Activity, Decision, Descriptor, Next, Step};

/// `Elsa.Break`
pub(crate) struct BreakLoop;

impl Activity for BreakLoop {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new(
            "Elsa.Break",
            "Looping",
            "Ends the nearest loop; without one, what is around it: Sequences and Forks.",
        )
        .terminal()
    }

    fn start(&self, _step: &mut Step<'_, '_>) -> Decision {
        Ok(Next::Break)
    }
}

/// Remembers that a container is to end after the activity that runs.
pub(crate) fn break_off(step: &mut Step<'_, '_>) {
    if let Some(memory) = step.memory() {
        *memory = true.into();
    }
}

/// Whether a container is to end after the activity that runs.
pub(crate) fn is_broken_off(step: &mut Step<'_, '_>) -> bool {
    step.memory().is_some_and(|memory| *memory == true)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::tests::check_lines;

    #[test]
    fn without_a_loop_it_ends_the_sequences_around_it() {
        let line = |text: &str| json!({"type": "WriteLine", "text": text});
        let sequence = |children: &[Value]| json!({"type": "Sequence", "activities": children});
        let stop = || json!({"type": "Break"});
        let inner = sequence(&[line("one"), stop(), line("never")]);
        check_lines(sequence(&[inner, line("never")]), &["one"]);
        let choice = json!({"type": "If", "condition": true, "then": stop()});
        check_lines(sequence(&[choice, line("never")]), &[]);
        // The other branches of a fork are cancelled.
        let waits = json!({"type": "Event", "eventName": "Never"});
        let fork = json!({"type": "Fork", "joinMode": "WaitAll", "branches": [waits, stop()]});
        check_lines(sequence(&[fork, line("never")]), &[]);
        // What stands between them ends as it does otherwise.
        let side_by_side = json!({"type": "Parallel", "activities": [stop(), line("beside")]});
        check_lines(sequence(&[side_by_side, line("never")]), &["beside"]);
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
