//! The first time of a schedule, set when its definition is published. Later times are the timer
//! service's.

use model::{Calendar, Recurrence, Schedule, Timestamp};
use serde_json::{Value, json};

/// Sets the first time and the shard of each; what cannot be scheduled is a validation error.
pub(crate) fn begin(schedules: &mut [Schedule], now: Timestamp) -> Vec<Value> {
    let mut errors = Vec::new();
    for schedule in schedules {
        schedule.occurrence = 0;
        schedule.shard = store::shard_of(schedule.id.as_str());
        match first(&schedule.recurrence, now) {
            Ok(first) => schedule.next_at = first,
            Err(message) => errors.push(json!({
                "message": message, "activityId": schedule.activity_id, "property": "cronExpression"
            })),
        }
    }
    errors
}

/// A start at a time that is past happens at once, as Elsa has it.
fn first(recurrence: &Recurrence, now: Timestamp) -> Result<Option<Timestamp>, String> {
    match recurrence {
        Recurrence::Once { at } => Ok(Some(*at)),
        Recurrence::Every { interval } => Ok(Some(now.after(*interval))),
        Recurrence::Cron { expression, zone } => {
            let calendar = Calendar::read(expression, zone.as_deref());
            calendar.map(|calendar| calendar.next(now)).map_err(|flaw| flaw.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_first_time_follows_from_now() {
        let now = Timestamp::parse("2026-03-28T23:30:00Z").unwrap();
        let every = Recurrence::Every { interval: Duration::from_secs(90) };
        assert_eq!(first(&every, now), Ok(Some(now.after(Duration::from_secs(90)))));
        let past = Recurrence::Once { at: Timestamp::from_millis(5) };
        assert_eq!(first(&past, now), Ok(Some(Timestamp::from_millis(5))));
        let hourly = Recurrence::Cron { expression: "0 * * * *".into(), zone: None };
        assert_eq!(first(&hourly, now), Ok(Some(now.after(Duration::from_secs(1_800)))));
        let bad = Recurrence::Cron { expression: "* *".into(), zone: None };
        assert!(first(&bad, now).is_err());
    }
}
