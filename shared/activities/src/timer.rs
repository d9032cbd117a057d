//! Timer: starts workflows at an interval, or waits for one interval.

use std::time::Duration;

use engine::{Activity, Cause, Decision, Descriptor, Failure, Kind, Next, Resumed, Step, Type};
use model::Recurrence;
use serde_json::json;

use crate::misfire::{misfire, with_misfire};

/// `Elsa.Timer`
pub(crate) struct Timer;

/// The shortest interval between starts.
const INTERVAL_MIN: Duration = Duration::from_secs(1);

impl Activity for Timer {
    fn descriptor(&self) -> Descriptor {
        let what = "Starts workflows at every interval, or waits for one interval.";
        let descriptor = Descriptor::new("Elsa.Timer", "Scheduling", what)
            .kind(Kind::Trigger)
            .input("interval", Type::TimeSpan, "The interval.")
            .default("00:01:00")
            .outcomes(&["Done"]);
        with_misfire(descriptor)
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let interval = step.span("interval")?.unwrap_or_default();
        if interval.is_zero() {
            return Ok(Next::done());
        }
        let due = step.now().after(interval);
        step.wait_until(due, json!({"ResumeAt": due}))?;
        Ok(Next::Wait)
    }

    fn resume(&self, _step: &mut Step<'_, '_>, _resumed: Resumed) -> Decision {
        Ok(Next::done())
    }

    fn triggers(&self, step: &mut Step<'_, '_>) -> Result<Vec<Cause>, Failure> {
        let interval = step.span("interval")?.unwrap_or_default();
        if interval < INTERVAL_MIN {
            let message = "a workflow cannot start more often than every second";
            return Err(Failure::input("interval", message));
        }
        let misfire = misfire(step)?;
        Ok(vec![Cause::Schedule { recurrence: Recurrence::Every { interval }, misfire }])
    }
}

#[cfg(test)]
mod tests {
    use model::{Misfire, SubStatus};

    use super::*;
    use crate::tests::{causes, player, trigger_problems};

    #[test]
    fn in_a_flow_it_is_one_delay() {
        let mut player = player(json!({"type": "Timer", "interval": "00:00:10"}));
        player.start(json!({}));
        assert!(player.fire_timer());
        assert_eq!(player.status(), SubStatus::Finished);
    }

    #[test]
    fn as_a_trigger_it_is_a_schedule_and_completes_at_once() {
        let document = json!({"type": "Sequence", "activities": [
            {"type": "Timer", "id": "t", "canStartWorkflow": true, "interval": "00:00:10",
                "misfire": "FireAll", "misfireMax": 3},
            {"type": "WriteLine", "text": "tick"}
        ]});
        let schedule = causes(document.clone()).schedules.remove(0);
        assert_eq!(schedule.recurrence, Recurrence::Every { interval: Duration::from_secs(10) });
        assert_eq!(schedule.misfire, Misfire::FireAll { max: 3 });
        let mut player = player(document);
        player.start_at(Some("t"), json!({}));
        assert_eq!(player.lines(), ["tick"]);
    }

    #[test]
    fn too_short_an_interval_cannot_be_a_trigger() {
        let problems = trigger_problems(json!({"type": "Timer", "id": "t",
            "canStartWorkflow": true, "interval": "00:00:00.5"}));
        assert_eq!(
            problems,
            ["activity t: interval: a workflow cannot start more often than every second"]
        );
    }
}
