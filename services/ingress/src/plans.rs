//! Works off plans that alter many instances, in the background: finds the instances, and sends each
//! of them its command. One ingress at a time works on a plan.
//!
//! Nothing here needs to be remembered: a plan goes on from its rows after a crash, on any ingress.
//! The id of each command derives from the plan and the instance, so a repeat changes nothing.

use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt as _, stream};
use model::{CommandId, InstanceId, Timestamp, derived};
use protocol::ReplyWhen;
use serde_json::json;
use store::{
    AlterationPlan, InstanceOrder, JobStatus, Page, PlanStatus, TimeColumn, TimeFilter,
    TimeOperator,
};
use tokio_util::sync::CancellationToken;

use crate::auth::caller::Caller;
use crate::operate::{self, Altered};
use crate::pipeline::identify::Asking;
use crate::pipeline::reply::Patience;
use crate::routes::activity_filter::Searched;
use crate::routes::plans::PlanFilter;
use crate::trace::Trace;
use crate::{App, Problem};

/// The pause between two looks for plans of other nodes, which may have died.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// The pause when the jobs of a plan cannot be done now.
const STUCK_PAUSE: Duration = Duration::from_secs(1);
/// How long a node holds a plan. A round takes less.
const HOLD: Duration = Duration::from_secs(30);
/// Instances that one round finds.
const FOUND_MAX: u64 = 500;
/// Instances whose journals one round reads.
const SEARCHED_MAX: u64 = 64;
/// Jobs that one round does.
const JOBS_MAX: u64 = 64;
/// Jobs that are done at the same time.
const AT_ONCE: usize = 16;
/// The longest wait for the outcome of one job; after that, a later round looks again.
const JOB_WAIT: Duration = Duration::from_secs(5);

/// Begins to work on plans, until the ingress ends.
pub(crate) fn begin(app: &Arc<App>) {
    let (weak, stop) = (Arc::downgrade(app), app.ends());
    let working = tasks::supervised("ingress plans", stop.clone(), move || {
        let (app, stop) = (weak.upgrade(), stop.clone());
        async move {
            if let Some(app) = app {
                serve(app, stop).await;
            }
        }
    });
    let stop = app.ends();
    app.spawn("ingress plans", async move {
        stop.run_until_cancelled(working).await;
    });
}

/// The result of one round of work.
#[derive(Debug, PartialEq)]
enum Round {
    /// There may be more to do.
    Worked,
    /// What is left cannot be done now.
    Stuck,
    /// There is no plan to work on.
    Nothing,
}

/// The jobs that this pass through a plan has been at.
type Place = Option<(String, InstanceId)>;

/// Works on plans until `stop`.
async fn serve(app: Arc<App>, stop: CancellationToken) {
    let owner = app.fresh_id();
    let mut place: Place = None;
    let mut has_ended_some = false;
    while !stop.is_cancelled() {
        let pause = match round(&app, &owner, &mut place, &mut has_ended_some).await {
            Ok(Round::Worked) => continue,
            Ok(Round::Stuck) => STUCK_PAUSE,
            Ok(Round::Nothing) => LOOK_EVERY,
            Err(problem) => {
                tracing::warn!(reason = problem.detail(), "the work on plans is tried again");
                LOOK_EVERY
            }
        };
        tokio::select! {
            () = stop.cancelled() => return,
            () = app.plans.woken() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

async fn round(
    app: &Arc<App>,
    owner: &str,
    place: &mut Place,
    has_ended_some: &mut bool,
) -> Result<Round, Problem> {
    let now = app.now();
    let Some(plan) = app.cx.store.claim_plan(owner, now, now.after(HOLD)).await? else {
        return Ok(Round::Nothing);
    };
    if plan.status != PlanStatus::Running {
        find(app, &plan).await?;
        return Ok(Round::Worked);
    }
    let after = place.as_ref().filter(|(id, _)| *id == plan.id).map(|(_, at)| at.clone());
    let begun = app.cx.store.begin_jobs(&plan.id, after.as_ref(), JOBS_MAX, now).await?;
    let Some(last) = begun.last().cloned() else {
        if after.is_none() {
            app.cx.store.end_plan(&plan.id, PlanStatus::Completed, app.now()).await?;
            tracing::info!(plan = plan.id, "a plan is completed");
            return Ok(Round::Worked);
        }
        // The end of a pass; jobs without an end are looked at again.
        *place = None;
        return Ok(if std::mem::take(has_ended_some) { Round::Worked } else { Round::Stuck });
    };
    let jobs = stream::iter(begun).map(|id| job(app, &plan, id));
    let ended: Vec<_> = jobs.buffer_unordered(AT_ONCE).collect().await;
    for ended in ended {
        *has_ended_some |= ended?;
    }
    *place = Some((plan.id.clone(), last));
    Ok(Round::Worked)
}

/// Finds some of the instances of a plan, oldest first, and makes their jobs.
async fn find(app: &App, plan: &AlterationPlan) -> Result<(), Problem> {
    let filter = serde_json::from_value::<PlanFilter>(plan.filter.clone());
    let selection = match filter {
        Ok(filter) => filter.selection(app).await,
        Err(error) => Err(Problem::bad_request(error.to_string())),
    };
    let selection = match selection {
        Ok(selection) => selection,
        Err(problem) if !problem.status().is_client_error() => return Err(problem),
        Err(problem) => {
            let error = problem.detail();
            tracing::error!(plan = plan.id, error, "the filter of a plan cannot be read");
            app.cx.store.end_plan(&plan.id, PlanStatus::Failed, app.now()).await?;
            return Ok(());
        }
    };
    let (from, skip) = plan.cursor.as_deref().and_then(read).unwrap_or_default();
    let Some(selection) = selection else {
        return added(app, plan, &[], PlanStatus::Running, None).await;
    };
    let mut filter = selection.instances.clone();
    let time = |operator, at| TimeFilter { column: TimeColumn::CreatedAt, operator, at };
    filter.times.push(time(TimeOperator::GreaterThanOrEqual, from));
    filter.times.push(time(TimeOperator::LessThanOrEqual, plan.created_at));
    filter.order = Some(InstanceOrder { by: Some(TimeColumn::CreatedAt), ascending: true });
    let count = if selection.reads_journals() { SEARCHED_MAX } else { FOUND_MAX };
    let found = app.cx.store.list(&filter, Page::new(skip, count)).await?.items;
    let ids: Vec<InstanceId> = found.iter().map(|instance| instance.id.clone()).collect();
    let Searched { selected, unknown } = selection.search(app, ids).await?;
    refuse(app, plan, unknown).await?;
    match found.last() {
        Some(last) if found.len() as u64 == count => {
            let next = match last.created_at == from {
                true => (from, skip + count),
                false => (last.created_at, 0),
            };
            added(app, plan, &selected, PlanStatus::Generating, Some(written(next))).await
        }
        _ => added(app, plan, &selected, PlanStatus::Running, None).await,
    }
}

/// Makes failed jobs of instances of which it is not known whether the filter selects them. The plan
/// stays where it is: after a crash, the same instances are found again.
async fn refuse(
    app: &App,
    plan: &AlterationPlan,
    unknown: Vec<(InstanceId, String)>,
) -> Result<(), Problem> {
    if unknown.is_empty() {
        return Ok(());
    }
    let ids: Vec<InstanceId> = unknown.iter().map(|(id, _)| id.clone()).collect();
    added(app, plan, &ids, PlanStatus::Generating, plan.cursor.clone()).await?;
    for (id, reason) in unknown {
        let store = &app.cx.store;
        store.end_job(&plan.id, &id, JobStatus::Failed, Some(reason), app.now()).await?;
    }
    Ok(())
}

async fn added(
    app: &App,
    plan: &AlterationPlan,
    ids: &[InstanceId],
    next: PlanStatus,
    cursor: Option<String>,
) -> Result<(), Problem> {
    Ok(app.cx.store.add_jobs(&plan.id, ids, next, cursor, app.now()).await?)
}

/// A cursor: the time from which on instances are not found yet, and how many of them are.
fn written((from, skip): (Timestamp, u64)) -> String {
    format!("{}:{skip}", from.as_millis())
}

fn read(cursor: &str) -> Option<(Timestamp, u64)> {
    let (from, skip) = cursor.split_once(':')?;
    Some((Timestamp::from_millis(from.parse().ok()?), skip.parse().ok()?))
}

/// Does one job; false if a later round has to look at it again.
async fn job(app: &Arc<App>, plan: &AlterationPlan, id: InstanceId) -> Result<bool, Problem> {
    let asking = Asking {
        id: CommandId::new(derived(&["alteration", &plan.id, id.as_str()])),
        is_keyed: true,
        caller: Caller::of_plan(&plan.submitted_by),
        trace: Trace::fresh(app),
    };
    let patience = Patience::Until(ReplyWhen::Committed, JOB_WAIT);
    let altered = operate::alter(app, &asking, &id, plan.alterations.clone(), patience).await;
    let end = altered.as_ref().ok().map(Altered::end);
    let (status, message) = match altered {
        Ok(Altered::Applied(_)) => (JobStatus::Completed, None),
        Ok(Altered::Refused(_, reason)) => (JobStatus::Failed, Some(reason)),
        Ok(Altered::Accepted) => return Ok(false),
        Err(problem) if problem.status().is_client_error() => {
            (JobStatus::Failed, Some(problem.detail().to_owned()))
        }
        Err(problem) => {
            let reason = problem.detail();
            tracing::debug!(plan = plan.id, instance = %id, reason, "a job is tried again");
            return Ok(false);
        }
    };
    app.cx.store.end_job(&plan.id, &id, status, message, app.now()).await?;
    if let Some((outcome, refusal)) = end {
        let details = json!({ "planId": plan.id });
        let note = app.note(&asking.caller, "instance.alter", id.as_str(), details);
        note.ends(outcome, refusal).await;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        let place = (Timestamp::from_millis(1_700_000_000_123), 500);
        assert_eq!(read(&written(place)), Some(place));
        assert_eq!(read("x"), None);
    }
}
