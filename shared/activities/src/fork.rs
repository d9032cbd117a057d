//! Fork: runs branches at the same time, and joins all of them or the first.

use engine::{Activity, Child, Decision, Descriptor, Next, PortKind, Step, Type};

use crate::break_loop::{break_off, is_broken_off};
use crate::parallel::end_with_last;

/// `Elsa.Fork`
pub(crate) struct Fork;

impl Activity for Fork {
    fn descriptor(&self) -> Descriptor {
        let what = "Runs branches side by side; ends with the last or with the first of them.";
        Descriptor::new("Elsa.Fork", "Control Flow", what)
            .input(
                "joinMode",
                Type::Enum(&["WaitAll", "WaitAny"]),
                "Wait for all branches, or for the first.",
            )
            .raw()
            .default("WaitAll")
            .port("branches", PortKind::List)
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        for &branch in step.children("branches") {
            step.schedule(Some(branch), None);
        }
        Ok(end_with_last(step))
    }

    fn child_completed(&self, step: &mut Step<'_, '_>, _child: Child) -> Decision {
        if is_broken_off(step) || step.value("joinMode")? == "WaitAny" {
            return Ok(Next::done());
        }
        Ok(end_with_last(step))
    }

    /// Ends after the activity that runs, whatever its mode.
    fn broken(&self, step: &mut Step<'_, '_>) {
        break_off(step);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::tests::{check_lines, player};

    #[test]
    fn the_join_mode_says_when_it_ends() {
        let delayed = json!({"type": "Sequence", "activities": [
            {"type": "Delay", "timeSpan": "00:00:05"}, {"type": "WriteLine", "text": "slow"}
        ]});
        let fork = |mode: &str| {
            json!({"type": "Sequence", "activities": [
                {"type": "Fork", "joinMode": mode, "branches": [
                    delayed, {"type": "WriteLine", "text": "fast"}
                ]},
                {"type": "WriteLine", "text": "end"}
            ]})
        };
        check_lines(fork("WaitAny"), &["fast", "end"]);
        let mut player = player(fork("WaitAll"));
        player.start(json!({})).play_timers();
        assert_eq!(player.lines(), ["fast", "slow", "end"]);
    }
}
