//! The demo: which executor works, and a request that kills it. Everywhere else there is nothing to
//! kill: see [`crate::demo`].

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use model::{SubStatus, Timestamp};
use serde_json::{Value, json};
use store::{InstanceFilter, TimeColumn, TimeFilter, TimeOperator};

use crate::auth::caller::Caller;
use crate::demo::{Demo, DemoExecutor, Kill, Standing, Unkilled};
use crate::present::shape;
use crate::problem::ProblemBody;
use crate::{App, Problem};

/// The instances of one figure that are counted at most.
const COUNTED_MAX: u64 = 100_000;

/// Whether this is `staunch demo`; there, which executor works, and what became of the instances since
/// one was killed over HTTP. Each figure is counted up to 100000.
#[utoipa::path(get, path = "/demo", tag = "runtime",
    responses((status = 200, body = shape::demo::DemoShown)))]
pub(super) async fn show(State(app): State<Arc<App>>) -> Result<Json<Value>, Problem> {
    match &app.config.demo {
        Some(demo) => shown(&app, demo).await,
        None => {
            Ok(Json(json!({"isDemo": false, "state": null, "executor": null, "lastKill": null})))
        }
    }
}

/// Kills the executor of `staunch demo`, as a crash would; another one starts in its place a moment
/// later. One at a time. No other cluster has an executor that can be killed this way.
#[utoipa::path(post, path = "/demo/executors/kill", tag = "runtime",
    responses((status = 200, body = shape::demo::DemoShown, description = "It is dead: `lastKill` says which it was"),
        (status = 404, body = ProblemBody, description = "This is no demo"),
        (status = 409, body = ProblemBody, description = "The demo still shows its own steps, or an executor is being replaced"),
        (status = 503, body = ProblemBody, description = "The demo does not answer")))]
pub(super) async fn kill(
    State(app): State<Arc<App>>,
    caller: Caller,
) -> Result<Json<Value>, Problem> {
    let Some(demo) = &app.config.demo else {
        return Err(Problem::not_found(
            "this is no demo: only `staunch demo` has an executor that can be killed over HTTP",
        ));
    };
    let killed = demo.kill().await.map_err(refused)?;
    let at = app.now();
    app.audit(&caller, "demo.kill-executor", &killed.node, json!({"processId": killed.pid})).await;
    let instances = count(&app, vec![created(TimeOperator::LessThan, at)], None).await?;
    demo.keep(Kill { at, killed, instances });
    shown(&app, demo).await
}

fn refused(why: Unkilled) -> Problem {
    match why {
        Unkilled::Showing => Problem::conflict(
            "demo-in-progress",
            "the demo still shows its own steps, and kills executors by itself: try again when its \
             terminal says `Try next`",
        ),
        Unkilled::Busy => Problem::conflict(
            "executor-being-replaced",
            "an executor was just killed, and another one starts in its place: try again in a moment",
        ),
        Unkilled::Silent => Problem::unavailable(
            "the demo does not answer: see whether its terminal says that it stops, and try again",
        ),
    }
}

async fn shown(app: &App, demo: &Demo) -> Result<Json<Value>, Problem> {
    let (state, executor) = match demo.standing() {
        Standing::Showing => ("Showing", None),
        Standing::Running(executor) => ("Running", Some(executor)),
        Standing::Replacing => ("Replacing", None),
    };
    let last = match demo.last() {
        Some(kill) => Some(since(app, &kill).await?),
        None => None,
    };
    Ok(Json(json!({
        "isDemo": true,
        "state": state,
        "executor": executor.as_ref().map(written),
        "lastKill": last,
    })))
}

/// What became of the instances since an executor was killed.
async fn since(app: &App, kill: &Kill) -> Result<Value, Problem> {
    let before = || created(TimeOperator::LessThan, kill.at);
    let after = |column| at_or_after(column, kill.at);
    let kept = count(app, vec![before()], None).await?;
    let moved_on = count(app, vec![before(), after(TimeColumn::UpdatedAt)], None).await?;
    let started = count(app, vec![after(TimeColumn::CreatedAt)], None).await?;
    let finished = Some(SubStatus::Finished);
    let finished = count(app, vec![after(TimeColumn::FinishedAt)], finished).await?;
    Ok(json!({
        "at": kill.at,
        "killed": written(&kill.killed),
        "instancesBefore": kill.instances,
        "instancesKept": kept,
        "instancesMovedOn": moved_on,
        "startedSince": started,
        "finishedSince": finished,
    }))
}

async fn count(
    app: &App,
    times: Vec<TimeFilter>,
    status: Option<SubStatus>,
) -> Result<u64, Problem> {
    let sub_statuses = status.into_iter().collect();
    let filter = InstanceFilter { times, sub_statuses, ..InstanceFilter::default() };
    Ok(app.cx.store.count(&filter, COUNTED_MAX).await?)
}

fn created(operator: TimeOperator, at: Timestamp) -> TimeFilter {
    TimeFilter { column: TimeColumn::CreatedAt, operator, at }
}

fn at_or_after(column: TimeColumn, at: Timestamp) -> TimeFilter {
    TimeFilter { column, operator: TimeOperator::GreaterThanOrEqual, at }
}

fn written(executor: &DemoExecutor) -> Value {
    json!({"node": executor.node, "processId": executor.pid})
}
