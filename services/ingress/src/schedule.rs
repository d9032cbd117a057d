//! The first time of a schedule, set when its definition is published. Later times are the timer
//! service's.

use croner::parser::{CronParser, Seconds, Year};
use jiff::tz::TimeZone;
use model::{Recurrence, Schedule, Timestamp};
use serde_json::{Value, json};

/// Sets the first time and the shard of each; what cannot be scheduled is a validation error.
pub(crate) fn begin(schedules: &mut [Schedule], now: Timestamp) -> Vec<Value> {
    let mut errors = Vec::new();
    for schedule in schedules {
        schedule.occurrence = 0;
        schedule.shard = store::shard_of(schedule.id.as_str());
        match first(&schedule.recurrence, now) {
            Ok(first) => schedule.next_at = first,
            Err(message) => {
                errors.push(json!({"message": message, "activityId": schedule.activity_id}));
            }
        }
    }
    errors
}

/// A start at a time that is past happens at once, as Elsa has it.
fn first(recurrence: &Recurrence, now: Timestamp) -> Result<Option<Timestamp>, String> {
    match recurrence {
        Recurrence::Once { at } => Ok(Some(*at)),
        Recurrence::Every { interval } => Ok(Some(now.after(*interval))),
        Recurrence::Cron { expression, zone } => cron(expression, zone.as_deref(), now),
    }
}

fn cron(expression: &str, zone: Option<&str>, now: Timestamp) -> Result<Option<Timestamp>, String> {
    let parser = CronParser::builder().seconds(Seconds::Optional).year(Year::Disallowed).build();
    let cron = parser
        .parse(expression)
        .map_err(|error| format!("{expression:?} is no cron expression: {error}"))?;
    let zone = match zone {
        None => TimeZone::UTC,
        Some(name) => TimeZone::get(name)
            .map_err(|_| format!("{name:?} is no IANA time zone such as Europe/Berlin"))?,
    };
    let now = jiff::Timestamp::from_millisecond(now.as_millis())
        .map_err(|error| format!("the time is out of range: {error}"))?;
    let next = cron.find_next_occurrence(&now.to_zoned(zone), false).ok();
    Ok(next.map(|next| Timestamp::from_millis(next.timestamp().as_millisecond())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_time_is_after_now() {
        let now = Timestamp::parse("2026-03-28T23:30:00Z").unwrap();
        let check = |expression: &str, zone: Option<&str>, expected: &str| {
            let expected = Some(Timestamp::parse(expected).unwrap());
            assert_eq!(cron(expression, zone, now), Ok(expected), "{expression} {zone:?}");
        };
        check("0 * * * *", None, "2026-03-29T00:00:00Z");
        check("*/5 * * * * *", None, "2026-03-28T23:30:05Z");
        check("30 3 * * *", Some("Europe/Berlin"), "2026-03-29T01:30:00Z");
        assert!(cron("* *", None, now).is_err());
        assert!(cron("* * * * *", Some("Nowhere"), now).is_err());
        let every = Recurrence::Every { interval: std::time::Duration::from_secs(90) };
        assert_eq!(first(&every, now), Ok(Some(now.after(std::time::Duration::from_secs(90)))));
        let past = Recurrence::Once { at: Timestamp::from_millis(5) };
        assert_eq!(first(&past, now), Ok(Some(Timestamp::from_millis(5))));
    }
}
