//! The times at which a schedule fires: its nominal times, and the missed ones that it makes up
//! for.
//!
//! Pure: the time is an argument. The next time is computed from a nominal time, not from the last
//! firing, so nothing drifts. It is always after now, so a timer that was down does not fire its
//! past twice.

use std::time::Duration;

use model::{Calendar, InvalidCalendar, Misfire, Recurrence, Timestamp};

/// The largest number of missed occurrences that are counted, and that are made up for at once.
pub const MISSED_MAX: u32 = 1_000;

/// The actions of a due schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The nominal times to start for, oldest first.
    pub fire: Vec<Timestamp>,
    /// The number of occurrences that are skipped, counted up to [`MISSED_MAX`].
    pub missed: u32,
    /// The next nominal time, after now; none when it is over.
    pub next_at: Option<Timestamp>,
}

/// The actions at `now` of a schedule whose next nominal time `next_at` has come. Occurrences that
/// are older than `grace` when a newer one is due as well, or under [`Misfire::Skip`], are missed.
///
/// # Errors
/// [`InvalidCalendar`] says what is wrong with the expression or the zone.
pub fn plan(
    recurrence: &Recurrence,
    misfire: Misfire,
    next_at: Timestamp,
    now: Timestamp,
    grace: Duration,
) -> Result<Plan, InvalidCalendar> {
    if next_at > now {
        return Ok(Plan { next_at: Some(next_at), ..Plan::default() });
    }
    let wanted = match misfire {
        Misfire::FireOnce | Misfire::Skip => 1,
        Misfire::FireAll { max } => max.clamp(1, MISSED_MAX),
    };
    let due = newest_due(recurrence, next_at, now)?;
    let found = u32::try_from(due.len()).unwrap_or(MISSED_MAX);
    let mut fire: Vec<_> = due.into_iter().take(wanted as usize).collect();
    if misfire == Misfire::Skip {
        fire.retain(|nominal| now.since(*nominal) <= grace);
    }
    fire.reverse();
    let fired = u32::try_from(fire.len()).unwrap_or(MISSED_MAX);
    let next_at = match recurrence {
        Recurrence::Once { .. } => None,
        recurring => recurring.next_after(next_at, now)?,
    };
    Ok(Plan { fire, missed: found.saturating_sub(fired), next_at })
}

/// The nominal times from `next_at` to `now`, newest first, at most [`MISSED_MAX`]. `next_at` is
/// one of them, even if the expression does not contain it.
fn newest_due(
    recurrence: &Recurrence,
    next_at: Timestamp,
    now: Timestamp,
) -> Result<Vec<Timestamp>, InvalidCalendar> {
    let max = MISSED_MAX as usize;
    match recurrence {
        Recurrence::Once { .. } => Ok(vec![next_at]),
        Recurrence::Every { interval } => {
            let step = Recurrence::interval_millis(*interval);
            let last = (now.as_millis() - next_at.as_millis()) / step;
            let nominal = |index| Timestamp::from_millis(next_at.as_millis() + index * step);
            Ok((0..=last).rev().take(max).map(nominal).collect())
        }
        Recurrence::Cron { expression, zone } => {
            let calendar = Calendar::read(expression, zone.as_deref())?;
            let mut due: Vec<_> = calendar
                .backwards(now)
                .take_while(|nominal| *nominal > next_at)
                .take(max)
                .collect();
            if due.len() < max {
                due.push(next_at);
            }
            Ok(due)
        }
    }
}

#[cfg(test)]
mod tests;
