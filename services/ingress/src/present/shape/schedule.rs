//! Schedules of published definitions.

use utoipa::ToSchema;

/// A schedule of a published definition.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScheduleShown {
    id: String,
    definition_id: String,
    definition_version_id: String,
    /// The trigger that it belongs to.
    activity_id: String,
    /// `Timer`, `Cron` or `StartAt`.
    kind: String,
    /// The interval in ISO 8601, the cron expression, or the time.
    expression: String,
    /// Of a cron expression; UTC without it.
    time_zone: Option<String>,
    /// What is done for missed times: `FireOnce`, `FireAll` or `Skip`.
    misfire_policy: String,
    /// The most starts that `FireAll` makes up for.
    catch_up_max: Option<u32>,
    /// Null if it is paused, or fires no more.
    next_at: Option<String>,
    /// As many of the next times as are asked for.
    upcoming: Vec<String>,
    /// The newest regular time for which something was started.
    last_at: Option<String>,
    /// The number of regular times that passed and started nothing, without those of pauses.
    missed: u64,
    is_paused: bool,
    paused_at: Option<String>,
    paused_by: Option<String>,
}
