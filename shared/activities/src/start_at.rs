//! StartAt: starts a workflow once at an instant, or waits for it.

use engine::{Activity, Cause, Decision, Descriptor, Failure, Kind, Next, Resumed, Step, Type};
use model::{Misfire, Recurrence, Timestamp};
use serde_json::json;

/// `Elsa.StartAt`
pub(crate) struct StartAt;

impl Activity for StartAt {
    fn descriptor(&self) -> Descriptor {
        let what = "Starts a workflow once at an instant, or waits for it.";
        Descriptor::new("Elsa.StartAt", "Scheduling", what)
            .called("Start At")
            .kind(Kind::Trigger)
            .input("dateTime", Type::DateTime, "The instant.")
            .required()
            .outcomes(&["Done"])
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let at = instant(step)?;
        if at <= step.now() {
            return Ok(Next::done());
        }
        step.wait_until(at, json!({"ExecuteAt": at}))?;
        Ok(Next::Wait)
    }

    fn resume(&self, _step: &mut Step<'_, '_>, _resumed: Resumed) -> Decision {
        Ok(Next::done())
    }

    fn triggers(&self, step: &mut Step<'_, '_>) -> Result<Vec<Cause>, Failure> {
        let recurrence = Recurrence::Once { at: instant(step)? };
        Ok(vec![Cause::Schedule { recurrence, misfire: Misfire::FireOnce }])
    }
}

fn instant(step: &mut Step<'_, '_>) -> Result<Timestamp, Failure> {
    step.time("dateTime")?
        .ok_or_else(|| Failure::input("dateTime", "there is no instant: give one"))
}

#[cfg(test)]
mod tests {
    use model::SubStatus;

    use super::*;
    use crate::tests::{causes, player, trigger_problems};

    #[test]
    fn it_waits_for_the_future_only() {
        let check = |at: &str, status: SubStatus| {
            let mut player = player(json!({"type": "StartAt", "dateTime": at}));
            player.start(json!({}));
            assert_eq!(player.status(), status, "{at}");
        };
        check("2025-12-31T23:59:59Z", SubStatus::Finished);
        check("2026-01-01T00:00:01Z", SubStatus::Suspended);
    }

    #[test]
    fn as_a_trigger_it_fires_once() {
        let at = "2026-06-01T00:00:00Z";
        let causes = causes(json!({"type": "StartAt", "canStartWorkflow": true, "dateTime": at}));
        let expected = Recurrence::Once { at: Timestamp::parse(at).unwrap() };
        assert_eq!(causes.schedules[0].recurrence, expected);
        let problems =
            trigger_problems(json!({"type": "StartAt", "id": "s", "canStartWorkflow": true}));
        assert_eq!(problems, ["activity s: dateTime: there is no instant: give one"]);
    }
}
