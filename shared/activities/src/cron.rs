//! Cron: starts workflows at the times of a cron expression, or waits for the next of them.

use croner::parser::{CronParser, Seconds, Year};
use engine::{
    Activity, Cause, Decision, Descriptor, Failure, Kind, Next, Plan, Planning, Resumed, Step, Type,
};
use model::{Recurrence, Timestamp};
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
            .input("timeZone", Type::String, "An IANA name such as Europe/Berlin; UTC if none.")
            .outcomes(&["Done"]);
        with_misfire(descriptor)
    }

    fn plan(&self, node: &mut Planning<'_>) -> Plan {
        let missing = || Some("there is no cron expression: write one".to_owned());
        let flaw = match node.literal("cronExpression").and_then(Value::as_str) {
            Some(expression) if expression.trim().is_empty() => missing(),
            Some(expression) => parse(expression).err(),
            None if node.has("cronExpression") => None,
            None => missing(),
        };
        if let Some(message) = flaw {
            node.problem("cronExpression", message);
        }
        let zone_name = node.literal("timeZone").and_then(Value::as_str);
        if let Err(message) = zone(zone_name) {
            node.problem("timeZone", message);
        }
        None
    }

    fn start(&self, step: &mut Step<'_, '_>) -> Decision {
        let expression = step.required("cronExpression")?;
        let zone = step.text("timeZone")?;
        let next = next_occurrence(&expression, zone.as_deref(), step.now());
        let due = next.map_err(|error| Failure::input("cronExpression", error))?;
        let Some(due) = due else {
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
        next_occurrence(&expression, zone.as_deref(), step.now())
            .map_err(|error| Failure::input("cronExpression", error))?;
        let misfire = misfire(step)?;
        Ok(vec![Cause::Schedule { recurrence: Recurrence::Cron { expression, zone }, misfire }])
    }
}

/// The first time of a cron expression after an instant; none when there is none left.
///
/// 5 or 6 fields, the first of 6 is seconds; a day must match both the day of the month and the
/// day of the week, as in Elsa. Daylight saving is honoured in the zone; UTC when none is given.
///
/// # Errors
/// Says what is wrong with the expression or the zone.
pub fn next_occurrence(
    expression: &str,
    zone_name: Option<&str>,
    after: Timestamp,
) -> Result<Option<Timestamp>, String> {
    let cron = parse(expression)?;
    let zone = zone(zone_name)?;
    let after = jiff::Timestamp::from_millisecond(after.as_millis())
        .map_err(|error| format!("{after} is out of range: {error}"))?;
    let next = cron.find_next_occurrence(&after.to_zoned(zone), false).ok();
    Ok(next.map(|next| Timestamp::from_millis(next.timestamp().as_millisecond())))
}

fn parse(expression: &str) -> Result<croner::Cron, String> {
    let parser = CronParser::builder()
        .seconds(Seconds::Optional)
        .year(Year::Disallowed)
        .dom_and_dow(true)
        .sloppy_ranges(true)
        .build();
    parser.parse(expression).map_err(|error| {
        format!("{expression:?} is not a cron expression of 5 or 6 fields: {error}")
    })
}

fn zone(name: Option<&str>) -> Result<jiff::tz::TimeZone, String> {
    match name {
        None => Ok(jiff::tz::TimeZone::UTC),
        Some(name) => jiff::tz::TimeZone::get(name)
            .map_err(|error| format!("{name:?} is not an IANA time zone: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use model::Misfire;

    use super::*;
    use crate::tests::{causes, player, problems};

    #[test]
    fn the_next_time_honours_fields_and_zones() {
        let check = |expression: &str, zone: Option<&str>, after: &str, expected: &str| {
            let after = Timestamp::parse(after).unwrap();
            let next = next_occurrence(expression, zone, after).unwrap().unwrap();
            assert_eq!(next, Timestamp::parse(expected).unwrap(), "{expression}");
        };
        check("0 0 * * * *", None, "2026-01-01T10:30:00Z", "2026-01-01T11:00:00Z");
        check("*/5 * * * *", None, "2026-01-01T10:30:00Z", "2026-01-01T10:35:00Z");
        check("0/20 * * * * *", None, "2026-01-01T10:30:05Z", "2026-01-01T10:30:20Z");
        check("0 8 * * MON-FRI", None, "2026-01-02T09:00:00Z", "2026-01-05T08:00:00Z");
        check("0 0 13 * FRI", None, "2026-01-01T00:00:00Z", "2026-02-13T00:00:00Z");
        let berlin = Some("Europe/Berlin");
        check("0 8 * * *", berlin, "2026-01-01T08:00:00Z", "2026-01-02T07:00:00Z");
        check("30 2 * * *", berlin, "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z");
        check("0 8 * * *", berlin, "2026-07-01T08:00:00Z", "2026-07-02T06:00:00Z");
    }

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
            let found = problems(json!({"type": "Cron", "id": "c",
                "cronExpression": expression, "timeZone": zone}));
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].contains(part), "{found:?}");
        };
        check("BadCronExpression", "UTC", "\"BadCronExpression\" is not a cron expression");
        check("0 0 0 1 1 1 2026", "UTC", "5 or 6 fields");
        check("0 8 * * *", "Mars/Olympus", "\"Mars/Olympus\" is not an IANA time zone");
        check("", "UTC", "there is no cron expression");
    }
}
