//! Sets the first time of a schedule when its definition is published. The timer service sets the
//! later times.

use model::{Calendar, Recurrence, Schedule, Timestamp};
use serde_json::{Value, json};

/// Sets the first time and the shard of each schedule. A schedule without a first time is a
/// validation error.
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

/// The first time from now on. A start at a time in the past happens at once, as in Elsa.
fn first(recurrence: &Recurrence, now: Timestamp) -> Result<Option<Timestamp>, String> {
    match recurrence {
        Recurrence::Once { at } => Ok(Some(*at)),
        Recurrence::Every { interval } => Ok(Some(now.after(*interval))),
        Recurrence::Cron { expression, zone } => {
            let calendar = Calendar::read(expression, zone.as_deref());
            let first = calendar.map_err(|flaw| flaw.to_string())?.next(now);
            match first {
                Some(first) => Ok(Some(first)),
                None => Err(format!("{expression:?} never occurs: use a date that exists")),
            }
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
        let never = Recurrence::Cron { expression: "0 0 30 2 *".into(), zone: None };
        assert_eq!(
            first(&never, now),
            Err("\"0 0 30 2 *\" never occurs: use a date that exists".to_owned())
        );
    }
}
