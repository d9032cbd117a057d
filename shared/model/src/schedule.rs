//! Recurring and one-time starts of published definitions.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{ActivityId, DefinitionId, ScheduleId, Timestamp, VersionId};

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

/// What happens to occurrences that were missed while no timer ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Misfire {
    /// One start for all that were missed.
    #[default]
    FireOnce,
    /// One start each, at most this many.
    FireAll {
        /// The newest this many.
        max: u32,
    },
    /// None; the next occurrence is the next in the future.
    Skip,
}

/// One schedule of a published definition version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Schedule {
    /// Derived from definition and activity.
    pub id: ScheduleId,
    /// What it starts.
    pub definition_id: DefinitionId,
    /// The version that declared it.
    pub version_id: VersionId,
    /// The trigger activity.
    pub activity_id: ActivityId,
    /// When.
    pub recurrence: Recurrence,
    /// What about missed ones.
    pub misfire: Misfire,
    /// The next nominal time; none when it is over.
    pub next_at: Option<Timestamp>,
    /// Counts the fired occurrences; advanced by compare-and-swap.
    pub occurrence: i64,
    /// Which timer replica looks after it.
    pub shard: i32,
}
