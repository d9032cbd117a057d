//! due -> claim -> publish -> settle: the path of a timer or schedule that is due.
//!
//! [`replica`](crate::replica) decides what is due and runs this path; each step has its own file.

mod claim;
pub(crate) mod due;
mod publish;
mod settle;

use std::time::Duration;

use chassis::Point;
use model::{Schedule, Timestamp};
use store::DueTimer;
use tokio::time::Instant;
use tracing::Instrument as _;

use crate::memory::Try;
use crate::schedule::{self, Fired};
use crate::{Context, Error};
use claim::Won;

/// The result of firing a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// This replica has published the command.
    Fired,
    /// It was fired before.
    FiredBefore,
    /// Another replica fires it.
    Elsewhere,
}

/// Fires a timer that is due at `now`, a time of the database's clock. A timer that was fired and
/// is still open is fired again without a claim.
///
/// # Errors
/// When the bus fails; the claim is given back.
pub(crate) async fn fire_timer(
    cx: &Context,
    due: &DueTimer,
    now: Timestamp,
    tried: Try,
) -> Result<Ending, bus::Error> {
    let began = Instant::now();
    let claimed = match tried {
        Try::Again => None,
        Try::First | Try::TooSoon => match claim::claim(cx, due).await? {
            Won::Ours(claimed) => Some(claimed),
            Won::Before => return Ok(Ending::FiredBefore),
            Won::Elsewhere => return Ok(Ending::Elsewhere),
        },
    };
    cx.trail.at(Point::Claimed).await;
    let span = tracing::debug_span!(
        target: "spans", "timer", otel.kind = "producer", instance = %due.instance_id
    );
    if let Err(error) = publish::publish(cx, due).instrument(span).await {
        settle::give_back(cx, claimed, &error).await;
        return Err(error);
    }
    cx.trail.at(Point::Fired).await;
    let lateness = now.after(began.elapsed()).since(due.due_at);
    settle::done(cx, due, claimed, lateness).await;
    Ok(Ending::Fired)
}

/// Fires the occurrences of a schedule that are due at `now`, a time of the database's clock.
///
/// # Errors
/// When the database or the bus fails, or the schedule's definition cannot be read.
pub(crate) async fn fire_schedule(
    cx: &Context,
    schedule: Schedule,
    now: Timestamp,
) -> Result<Fired, Error> {
    let began = Instant::now();
    let span = tracing::debug_span!(
        target: "spans", "schedule", otel.kind = "producer", schedule = %schedule.id
    );
    let fired = schedule::fire(cx, schedule, now).instrument(span).await?;
    if let Fired::Done { schedule, started, .. } = &fired {
        for nominal in started {
            let lateness = now.after(began.elapsed()).since(*nominal);
            cx.metrics.fired("schedule", lateness);
            tracing::info!(schedule = %schedule.id, definition = %schedule.definition_id,
                lateness_ms = whole_ms(lateness), "schedule fired");
        }
    }
    Ok(fired)
}

fn whole_ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
