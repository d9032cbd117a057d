//! Cron: starts workflows at the times of a cron expression, or waits for the next of them.

use engine::{
    Activity, Cause, Decision, Descriptor, Failure, Kind, Next, Plan, Planning, Resumed, Step, Type,
};
use model::{Calendar, InvalidCalendar, Recurrence};
use serde_json::{Value, json};

use crate::misfire::{misfire, with_misfire};

/// `Elsa.Cron`
pub(crate) struct Cron;

impl Activity for Cron {
    fn descriptor(&self) -> Descriptor {
        let what = "Starts workflows at the times of a cron expression, or waits for the next.";
        let descriptor = Descriptor::new("Elsa.Cron", "Scheduling", what)
            .kind(Kind::Trigger)
            .input("cronExpression", Type::String, "5 or 6 fields; the first of 6 is seconds.")
            .required()
            .input("timeZone", Type::String, "An IANA name such as Europe/Berlin; UTC if none.")
            .outcomes(&["Done"]);
        with_misfire(descriptor)
    }

    fn plan(&self, node: &mut Planning<'_>) -> Plan {
        let written = node.literal("cronExpression").and_then(Value::as_str).map(str::to_owned);
        let flaw = match written.as_deref() {
            Some(expression) if !expression.trim().is_empty() => {
                match Calendar::read(expression, None) {
                    Ok(calendar) => {
                        if !calendar.occurs() {
                            let message =
                                format!("{expression:?} never occurs: use a date that exists");
                            node.oversight("cronExpression", message);
                        }
                        None
                    }
                    Err(flaw) => Some(flaw.to_string()),
                }
            }
            _ => None,
        };
        if let Some(message) = flaw {
            node.problem("cronExpression", message);
        }
        let zone_name = node.literal("timeZone").and_then(Value::as_str);
        if let Err(flaw @ InvalidCalendar::Zone { .. }) = Calendar::read("* * * * *", zone_name) {
            node.problem("timeZone", flaw.to_string());
        }
        None
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let expression = step.required("cronExpression")?;
        let zone = step.text("timeZone")?;
        let calendar = Calendar::read(&expression, zone.as_deref())
            .map_err(|flaw| Failure::input("cronExpression", flaw))?;
        let Some(due) = calendar.next(step.now()) else {
            let message = format!("{expression:?} has no next time");
            return Err(Failure::input("cronExpression", message));
        };
        step.wait_until(due, json!({"ExecuteAt": due, "CronExpression": expression}))?;
        Ok(Next::Wait)
    }

    fn resume(&self, _step: &mut Step<'_, '_>, _resumed: Resumed) -> Decision {
        Ok(Next::done())
    }

    fn triggers(&self, step: &mut Step<'_, '_>) -> Result<Vec<Cause>, Failure> {
        let expression = step.required("cronExpression")?;
        let zone = step.text("timeZone")?;
        Calendar::read(&expression, zone.as_deref())
            .map_err(|flaw| Failure::input("cronExpression", flaw))?;
        let misfire = misfire(step)?;
        Ok(vec![Cause::Schedule { recurrence: Recurrence::Cron { expression, zone }, misfire }])
    }
}

#[cfg(test)]
mod tests {
    use model::{Misfire, Timestamp};

    use super::*;
    use crate::tests::{causes, oversights, player};

    #[test]
    fn it_waits_for_the_next_time() {
        let mut player = player(json!({"type": "Cron", "cronExpression": "0 0 * * * *"}));
        player.start(json!({}));
        let bookmark = player.state().bookmarks.values().next().unwrap().clone();
        assert_eq!(bookmark.name, "Elsa.Cron");
        assert_eq!(bookmark.due_at, Some(Timestamp::parse("2026-01-01T01:00:00Z").unwrap()));
        player.play_timers();
        assert_eq!(player.status(), model::SubStatus::Finished);
    }

    #[test]
    fn as_a_trigger_it_is_a_schedule() {
        let causes = causes(json!({"type": "Cron", "canStartWorkflow": true,
            "cronExpression": "0 8 * * *", "timeZone": "Europe/Berlin", "misfire": "Skip"}));
        assert_eq!(causes.schedules[0].misfire, Misfire::Skip);
        let expected = Recurrence::Cron {
            expression: "0 8 * * *".to_owned(),
            zone: Some("Europe/Berlin".to_owned()),
        };
        assert_eq!(causes.schedules[0].recurrence, expected);
    }

    #[test]
    fn mistakes_are_problems() {
        let check = |expression: &str, zone: &str, part: &str| {
            let found = oversights(json!({"type": "Cron", "id": "c",
                "cronExpression": expression, "timeZone": zone}));
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].contains(part), "{found:?}");
        };
        check("BadCronExpression", "UTC", "\"BadCronExpression\" is not a cron expression");
        check("0 0 0 1 1 1 2026", "UTC", "5 or 6 fields");
        check("0 8 * * *", "Mars/Olympus", "timeZone: there is no time zone Mars/Olympus: write");
        check("", "UTC", "cronExpression: there is no value: give one");
    }
}
