//! Recurring and one-time starts of published definitions.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    ActivityId, Calendar, DefinitionId, InvalidCalendar, ScheduleId, Timestamp, VersionId,
};

/// The shortest interval.
const INTERVAL_MIN: Duration = Duration::from_secs(1);

/// When a schedule fires.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Recurrence {
    /// `Elsa.Timer`: every interval, counted from the publication.
    Every {
        /// At least one second.
        interval: Duration,
    },
    /// `Elsa.Cron`: 5 or 6 fields.
    Cron {
        /// The expression, as written.
        expression: String,
        /// IANA zone name; UTC when none is given.
        zone: Option<String>,
    },
    /// `Elsa.StartAt`: once.
    Once {
        /// At this instant.
        at: Timestamp,
    },
}

impl Recurrence {
    /// The first nominal time after `after`; none when there is none. A recurrence with an interval
    /// ([`Self::Every`]) counts from `nominal`.
    ///
    /// # Errors
    /// [`InvalidCalendar`] says what is wrong with the expression or the zone.
    pub fn next_after(
        &self,
        nominal: Timestamp,
        after: Timestamp,
    ) -> Result<Option<Timestamp>, InvalidCalendar> {
        match self {
            Self::Once { at } => Ok((*at > after).then_some(*at)),
            Self::Every { interval } => {
                let step = Self::interval_millis(*interval);
                let past = after.as_millis().saturating_sub(nominal.as_millis());
                if past < 0 {
                    return Ok(Some(nominal));
                }
                let next = (past / step + 1)
                    .checked_mul(step)
                    .and_then(|passed| nominal.as_millis().checked_add(passed));
                Ok(next.map(Timestamp::from_millis))
            }
            Self::Cron { expression, zone } => {
                let calendar = Calendar::read(expression, zone.as_deref())?;
                Ok(calendar.next(after))
            }
        }
    }

    /// The milliseconds of an interval, which is at least one second.
    #[must_use]
    pub fn interval_millis(interval: Duration) -> i64 {
        i64::try_from(interval.max(INTERVAL_MIN).as_millis()).unwrap_or(i64::MAX)
    }
}

/// The handling of occurrences that passed while no timer ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Misfire {
    /// One start for all missed occurrences.
    #[default]
    FireOnce,
    /// One start for each missed occurrence, up to a number.
    FireAll {
        /// The newest occurrences, at most this many.
        max: u32,
    },
    /// No start; the next occurrence is the next one in the future.
    Skip,
}

/// One schedule of a published definition version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Schedule {
    /// Derived from definition and activity.
    pub id: ScheduleId,
    /// The definition that it starts.
    pub definition_id: DefinitionId,
    /// The version that declared it.
    pub version_id: VersionId,
    /// The trigger activity.
    pub activity_id: ActivityId,
    /// When it fires.
    pub recurrence: Recurrence,
    /// The handling of missed occurrences.
    pub misfire: Misfire,
    /// The next time to fire; `None` when it fires no more.
    pub next_at: Option<Timestamp>,
    /// The number of fired occurrences; it advances by compare-and-swap.
    pub occurrence: i64,
    /// Its shard; each timer replica owns some shards.
    pub shard: i32,
}
