//! What the activities of a definition did lately. Executions are computed from journals, so the
//! instances that changed last are read, up to a number and a time; the answer says when there are
//! more.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use model::{InstanceId, Timestamp};
use serde_json::{Value, json};
use store::{InstanceFilter, InstanceOrder, Page, TimeColumn, TimeFilter, TimeOperator};
use tokio::time::Instant;

use super::definitions::definition_id;
use super::side_by_side::side_by_side;
use crate::body::Params;
use crate::executions::{ExecutionSummary, Executions, FAULTED};
use crate::present::shape;
use crate::problem::ProblemBody;
use crate::{App, Problem, publication, record};

/// Instances that one answer reads at most.
const READ_MAX: u64 = 500;
/// Instances that are read between two looks at the time.
const BATCH: usize = 50;
/// The longest time of reading.
const TIME_MAX: Duration = Duration::from_secs(5);
/// The longest time that figures are about, in minutes, and the one without a wish.
const MINUTES: (u64, u64) = (24 * 60, 60);
/// The parts of the time for which starts are counted: a spark line has one point for each.
const PARTS: i64 = 60;

/// What one activity did.
#[derive(Default)]
struct Figures {
    activity_type: String,
    node_id: String,
    started: u64,
    completed: u64,
    faulted: u64,
    running: u64,
    /// Milliseconds of those that have completed.
    durations: Vec<i64>,
    parts: Vec<u64>,
}

/// The activities of a definition in the last hour: how often each ran, failed and runs now, and how
/// long it took. Only the 500 instances that changed last are read, for at most five seconds:
/// `isCutShort` says that there are more.
#[utoipa::path(get, path = "/workflow-definitions/{definitionId}/figures", tag = "definitions",
    params(("definitionId" = String, Path), ("minutes" = Option<u64>, Query, minimum = 1, maximum = 1440)),
    responses((status = 200, body = shape::definition::ActivityFigures),
        (status = 400, body = ProblemBody), (status = 404, body = ProblemBody)))]
pub(super) async fn of_definition(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    params.only(&["minutes"])?;
    let minutes = params.read("minutes")?.unwrap_or(MINUTES.1);
    if !(1..=MINUTES.0).contains(&minutes) {
        return Err(Problem::bad_request(format!("minutes is {minutes}: use 1 to {}", MINUTES.0)));
    }
    let id = definition_id(&id)?;
    publication::latest(&app, &id).await?;
    let now = app.now();
    let since = now.before(Duration::from_secs(minutes * 60));
    let at = TimeFilter {
        column: TimeColumn::UpdatedAt,
        operator: TimeOperator::GreaterThanOrEqual,
        at: since,
    };
    let filter = InstanceFilter {
        definition_ids: vec![id.clone()],
        times: vec![at],
        order: Some(InstanceOrder { by: Some(TimeColumn::UpdatedAt), ascending: false }),
        ..InstanceFilter::default()
    };
    let until = Instant::now() + TIME_MAX;
    let found = app.cx.store.list(&filter, Page::new(0, READ_MAX)).await?;
    let (mut read, mut is_cut) = (0_usize, false);
    let mut figures = BTreeMap::new();
    for batch in found.items.chunks(BATCH) {
        if Instant::now() >= until {
            break;
        }
        let ids: Vec<_> = batch.iter().map(|instance| instance.id.clone()).collect();
        let work = ids.into_iter().map(|id| executions(&app, id));
        for executions in side_by_side(work).await {
            let Some(executions) = executions? else { continue };
            is_cut |= executions.is_cut;
            // The first record is that of the workflow itself.
            for execution in executions.all().iter().skip(1) {
                add(&mut figures, &execution.summary, (since, now));
            }
        }
        read += batch.len();
    }
    let items: Vec<_> = figures.into_iter().map(|(id, figures)| present(&id, figures)).collect();
    Ok(Json(json!({
        "definitionId": id,
        "since": since,
        "until": now,
        "items": items,
        "instancesRead": read,
        "instancesChanged": found.total,
        "isCutShort": is_cut || found.total > read as u64,
    })))
}

/// The executions of an instance; none if it is gone or cannot be read.
async fn executions(app: &App, id: InstanceId) -> Result<Option<Executions>, Problem> {
    let read = async {
        match record::find(app, &id).await? {
            Some(seen) => Executions::of(app, &seen).await.map(Some),
            None => Ok(None),
        }
    };
    match read.await {
        Err(problem) if problem.status() == StatusCode::INTERNAL_SERVER_ERROR => Ok(None),
        read => read,
    }
}

fn add(
    all: &mut BTreeMap<String, Figures>,
    execution: &ExecutionSummary,
    (since, until): (Timestamp, Timestamp),
) {
    let began = execution.started_at();
    let is_over = execution.completed_at.is_some();
    if execution.completed_at.is_some_and(|at| at < since) {
        return;
    }
    let figures = all.entry(execution.activity_node_id.clone()).or_insert_with(|| Figures {
        activity_type: execution.activity_type.clone(),
        node_id: execution.activity_id.clone(),
        parts: vec![0; usize::try_from(PARTS).unwrap_or_default()],
        ..Figures::default()
    });
    figures.running += u64::from(!is_over);
    match execution.status {
        FAULTED => figures.faulted += 1,
        "Completed" => {
            figures.completed += 1;
            let took = execution.completed_at.map(|at| at.as_millis() - began.as_millis());
            figures.durations.extend(took);
        }
        _ => {}
    }
    if began < since {
        return;
    }
    figures.started += 1;
    let whole = (until.as_millis() - since.as_millis()).max(1);
    let part = (began.as_millis() - since.as_millis()) * PARTS / whole;
    let part = usize::try_from(part.clamp(0, PARTS - 1)).unwrap_or_default();
    if let Some(part) = figures.parts.get_mut(part) {
        *part += 1;
    }
}

fn present(path: &str, mut figures: Figures) -> Value {
    figures.durations.sort_unstable();
    json!({
        "activityId": figures.node_id,
        "activityNodeId": path,
        "activityType": figures.activity_type,
        "started": figures.started,
        "completed": figures.completed,
        "faulted": figures.faulted,
        "running": figures.running,
        "p50Ms": percentile(&figures.durations, 50),
        "p95Ms": percentile(&figures.durations, 95),
        "startedParts": figures.parts,
    })
}

/// The smallest of the sorted values that is not below this percentage of them.
fn percentile(sorted: &[i64], percent: usize) -> Option<i64> {
    let place = (sorted.len() * percent).div_ceil(100).max(1) - 1;
    sorted.get(place).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_one_of_the_values() {
        assert_eq!(percentile(&[], 50), None);
        assert_eq!(percentile(&[7], 95), Some(7));
        let values: Vec<i64> = (1..=100).collect();
        assert_eq!((percentile(&values, 50), percentile(&values, 95)), (Some(50), Some(95)));
        assert_eq!(percentile(&[1, 2], 50), Some(1));
    }
}
