//! What started, finished and faulted in the last hour, in parts: the spark lines of a page.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use model::{SubStatus, Timestamp};
use serde_json::{Value, json};
use store::{InstanceFilter, TimeColumn, TimeFilter, TimeOperator};
use tokio::time::Instant;

use super::side_by_side::side_by_side;
use crate::present::shape;
use crate::{App, Problem};

/// The parts of the hour: a spark line has one point for each.
pub(super) const PARTS: usize = 12;
/// One part.
const PART: Duration = Duration::from_secs(300);
/// The same in milliseconds.
const PART_MS: i64 = 300_000;
/// The hour.
const HOUR: Duration = Duration::from_secs(3_600);
/// The instances of one part that are counted at most.
const COUNTED_MAX: u64 = 10_000;
/// How long an answer is given again: however many people look, a node counts once in this time.
const KEPT: Duration = Duration::from_secs(15);

/// How many instances started, finished and faulted in the last hour, in twelve parts of five minutes,
/// the oldest first. Each figure is counted up to 10000: `isCutShort` says that there are more. An
/// answer may be 15 seconds old: `until` is the time of its counting.
#[utoipa::path(get, path = "/workflow-instances/last-hour", tag = "instances",
    responses((status = 200, body = shape::instance::LastHour)))]
pub(super) async fn last_hour(State(app): State<Arc<App>>) -> Result<Json<Value>, Problem> {
    let mut kept = app.last_hour.lock().await;
    if let Some((counted_at, answer)) = &*kept
        && counted_at.elapsed() < KEPT
    {
        return Ok(Json(answer.clone()));
    }
    let answer = counted(&app).await?;
    *kept = Some((Instant::now(), answer.clone()));
    Ok(Json(answer))
}

async fn counted(app: &App) -> Result<Value, Problem> {
    let until = app.now();
    let since = until.before(HOUR);
    // An instance that has ended changes no more. There is an index for the state and the last change.
    let kinds = [
        (TimeColumn::CreatedAt, None),
        (TimeColumn::UpdatedAt, Some(SubStatus::Finished)),
        (TimeColumn::UpdatedAt, Some(SubStatus::Faulted)),
    ];
    let mut filters = Vec::with_capacity(kinds.len() * PARTS);
    for (column, status) in kinds {
        let mut from = since;
        for _ in 0..PARTS {
            let to = from.after(PART);
            filters.push(part(column, status, (from, to)));
            from = to;
        }
    }
    let work = filters
        .into_iter()
        .map(|filter| async move { app.cx.store.count(&filter, COUNTED_MAX).await });
    let counts = side_by_side(work).await;
    let counts = counts.into_iter().collect::<Result<Vec<u64>, store::Error>>()?;
    let mut series = counts.chunks(PARTS);
    Ok(json!({
        "since": since,
        "until": until,
        "partSeconds": PART.as_secs(),
        "started": series.next(),
        "finished": series.next(),
        "faulted": series.next(),
        "isCutShort": counts.iter().any(|count| *count >= COUNTED_MAX),
    }))
}

/// The instances of one part, of this state if one is given.
fn part(
    column: TimeColumn,
    status: Option<SubStatus>,
    (from, to): (Timestamp, Timestamp),
) -> InstanceFilter {
    let time = |operator, at| TimeFilter { column, operator, at };
    InstanceFilter {
        sub_statuses: status.into_iter().collect(),
        times: vec![time(TimeOperator::GreaterThanOrEqual, from), time(TimeOperator::LessThan, to)],
        ..InstanceFilter::default()
    }
}

/// The part of the hour before `until` in which a time is; none for a time before that hour. A time
/// after it, by a clock that is ahead, is in the last part.
pub(super) fn part_of(at: Timestamp, until: Timestamp) -> Option<usize> {
    let since = until.before(HOUR);
    let part = at.as_millis().saturating_sub(since.as_millis()).div_euclid(PART_MS);
    usize::try_from(part).ok().map(|part| part.min(PARTS - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_the_part_of_the_hour_in_which_they_are() {
        let until = Timestamp::from_millis(10 * 3_600_000);
        let of =
            |before_ms: i64| part_of(Timestamp::from_millis(until.as_millis() - before_ms), until);
        assert_eq!([of(0), of(1), of(300_000)], [Some(11), Some(11), Some(11)]);
        assert_eq!([of(300_001), of(3_600_000)], [Some(10), Some(0)]);
        assert_eq!([of(3_600_001), of(-5_000)], [None, Some(11)]);
        assert_eq!(Duration::from_millis(PART_MS.unsigned_abs()) * 12, HOUR);
        assert_eq!(PART * 12, HOUR);
    }
}
