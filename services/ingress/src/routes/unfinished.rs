//! What runs now: the instances that have not ended, by definition.

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};
use store::Unfinished;
use tokio::time::Instant;

use crate::body::Params;
use crate::present::shape;
use crate::problem::ProblemBody;
use crate::{App, Problem};

/// The definitions of one answer.
const DEFINITIONS_MAX: usize = 20;
/// Of each state, the instances that changed last are counted, up to this number: each is a row that
/// is read, for its definition.
const COUNTED_MAX: u64 = 5_000;
/// How long an answer is given again, and how many times the duration of its counting it is at least:
/// however many people look, a node counts for a small part of the time.
const KEPT: Duration = Duration::from_secs(5);
const KEPT_SHARE: u32 = 20;

/// The 20 definitions with the most instances that have not ended. Of each state, the 5000 instances
/// that changed last are counted: `isCutShort` says that there may be more. An answer may be 5 seconds
/// old, and 20 times as old as its counting took: `countedAt` is the time of its counting.
#[utoipa::path(get, path = "/workflow-instances/counts/by-definition", tag = "instances",
    responses((status = 200, body = shape::instance::UnfinishedInstances),
        (status = 400, body = ProblemBody)))]
pub(super) async fn by_definition(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    params.only(&[])?;
    let mut kept = app.unfinished.lock().await;
    if let Some((until, answer)) = &*kept
        && Instant::now() < *until
    {
        return Ok(Json(answer.clone()));
    }
    let began = Instant::now();
    let found = app.cx.store.unfinished_by_definition(COUNTED_MAX).await?;
    let answer = answer(&app, found);
    let until = Instant::now() + KEPT.max(began.elapsed() * KEPT_SHARE);
    *kept = Some((until, answer.clone()));
    Ok(Json(answer))
}

fn answer(app: &App, mut found: Vec<Unfinished>) -> Value {
    let states: [fn(&Unfinished) -> u64; 3] =
        [|one| one.pending, |one| one.executing, |one| one.suspended];
    let is_cut_short = states.iter().any(|of| found.iter().map(of).sum::<u64>() >= COUNTED_MAX);
    // Of the same number, in the order of the ids.
    found.sort_by_key(|one| Reverse(one.sum()));
    let items: Vec<_> = found
        .iter()
        .take(DEFINITIONS_MAX)
        .map(|one| {
            json!({
                "definitionId": one.definition_id,
                "pending": one.pending,
                "executing": one.executing,
                "suspended": one.suspended,
                "count": one.sum(),
            })
        })
        .collect();
    json!({
        "countedAt": app.now(),
        "items": items,
        "totalCount": found.len(),
        "countedMax": COUNTED_MAX,
        "isCutShort": is_cut_short,
    })
}
