//! What is not done in the whole cluster, counted by the node that is asked: each node answers the
//! same.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};
use store::Census;
use tokio::time::Instant;

use crate::present::shape;
use crate::problem::ProblemBody;
use crate::{App, Problem};

/// A timer that was due this long ago is overdue.
const OVERDUE: Duration = Duration::from_secs(10);
/// Each figure is counted up to this number.
const COUNTED_MAX: u64 = 1_000_000;
/// How long an answer is given again, and how many times the duration of its counting it is at least:
/// however many people look, a node counts for a small part of the time.
const KEPT: Duration = Duration::from_secs(5);
const KEPT_SHARE: u32 = 20;

/// How many instances, timers, schedules and messages of the whole cluster are not done: the same at
/// each node. Each figure is counted up to 1000000. An answer may be 5 seconds old, and 20 times as
/// old as its counting took: `countedAt` is the time of its counting.
#[utoipa::path(get, path = "/cluster/counts", tag = "cluster",
    responses((status = 200, body = shape::cluster::ClusterCounts),
        (status = 503, body = ProblemBody)))]
pub(super) async fn counts(State(app): State<Arc<App>>) -> Result<Json<Value>, Problem> {
    let mut kept = app.counts.lock().await;
    if let Some((until, answer)) = &*kept
        && Instant::now() < *until
    {
        return Ok(Json(answer.clone()));
    }
    let began = Instant::now();
    let answer = counted(&app).await?;
    let until = Instant::now() + KEPT.max(began.elapsed() * KEPT_SHARE);
    *kept = Some((until, answer.clone()));
    Ok(Json(answer))
}

async fn counted(app: &App) -> Result<Value, Problem> {
    let at = app.cx.store.clock().await?;
    let Census {
        pending,
        executing,
        suspended,
        timers,
        timers_overdue,
        schedules,
        outbox,
        commands,
    } = app.cx.store.census(at.before(OVERDUE), COUNTED_MAX).await?;
    let figures = [pending, executing, suspended, timers, schedules, outbox, commands];
    Ok(json!({
        "countedAt": at,
        "pending": pending,
        "executing": executing,
        "suspended": suspended,
        "timers": timers,
        "timersOverdue": timers_overdue,
        "schedules": schedules,
        "outbox": outbox,
        "commands": commands,
        "isCutShort": figures.iter().any(|figure| *figure >= COUNTED_MAX),
    }))
}
