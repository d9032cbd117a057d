//! The schedules of published definitions: their times, pauses, and starts between their times.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::Response;
use model::{Misfire, Recurrence, ScheduleId, Timestamp, limits};
use protocol::ReplyWhen;
use serde::Deserialize;
use serde_json::{Value, json};
use store::{ScheduleFilter, SchedulePause, ScheduleStatus};
use utoipa::ToSchema;

use super::definitions::definition_id;
use super::start::begun;
use crate::auth::caller::Caller;
use crate::body::{Body, Params, Prefer};
use crate::paging::Part;
use crate::pipeline::identify::Asking;
use crate::pipeline::reply::Patience;
use crate::pipeline::validate::Beginning;
use crate::present::{InstanceStatus, Paged, shape};
use crate::problem::ProblemBody;
use crate::{App, Problem, bounds};

/// The next times of a schedule that an answer has at most.
const UPCOMING_MAX: usize = 100;

/// How a schedule goes on.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ScheduleResumption {
    /// Times that passed during the pause count as missed, and the schedule's policy for those decides
    /// what starts. Without it, nothing starts for them.
    catch_up: bool,
}

/// Lists the schedules of published definitions: those that fire next first. One that is paused keeps
/// its place.
#[utoipa::path(get, path = "/schedules", tag = "schedules",
    params(("definitionId" = Option<String>, Query), ("isPaused" = Option<bool>, Query),
        ("upcoming" = Option<u64>, Query, maximum = 100), ("page" = Option<u64>, Query),
        ("pageSize" = Option<u64>, Query)),
    responses((status = 200, body = Paged<shape::schedule::ScheduleShown>),
        (status = 400, body = ProblemBody)))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    let part = Part::of_list(&params, &["definitionId", "isPaused", "upcoming"])?;
    let of = params.one("definitionId").filter(|id| !id.is_empty());
    let filter = ScheduleFilter {
        definition_id: of.map(definition_id).transpose()?,
        is_paused: params.flag("isPaused")?,
    };
    let (page, upcoming) = (part.page()?, upcoming(&params)?);
    let listed = app.cx.store.schedule_page(&filter, page).await?;
    let items: Vec<_> = listed.items.iter().map(|status| present(status, upcoming)).collect();
    Ok(Json(json!({"items": items, "totalCount": listed.total})))
}

/// A schedule of a published definition.
#[utoipa::path(get, path = "/schedules/{scheduleId}", tag = "schedules",
    params(("scheduleId" = String, Path), ("upcoming" = Option<u64>, Query, maximum = 100)),
    responses((status = 200, body = shape::schedule::ScheduleShown),
        (status = 404, body = ProblemBody)))]
pub(super) async fn get(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    let upcoming = upcoming(&params)?;
    Ok(Json(present(&one(&app, &id).await?, upcoming)))
}

/// Pauses a schedule: from the answer on, it starts nothing. The pause belongs to the definition and
/// the activity: it holds after a restart, and for versions that are published later. It ends when
/// someone resumes the schedule or deletes the definition.
#[utoipa::path(post, path = "/schedules/{scheduleId}/pause", tag = "schedules",
    params(("scheduleId" = String, Path)),
    responses((status = 200, body = shape::schedule::ScheduleShown),
        (status = 404, body = ProblemBody)))]
pub(super) async fn pause(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    caller: Caller,
) -> Result<Json<Value>, Problem> {
    let status = one(&app, &id).await?;
    let pause = SchedulePause { since: app.cx.store.clock().await?, by: caller.who.clone() };
    if app.cx.store.pause_schedule(&status.schedule.id, &pause).await? {
        app.audit(&caller, "schedule.pause", &id, about(&status)).await;
    }
    Ok(Json(present(&one(&app, &id).await?, 0)))
}

/// Ends the pause of a schedule. It goes on with its next regular time: nothing starts for the times
/// of the pause, unless `catchUp` asks for that. A single time that passed during the pause starts at
/// once.
#[utoipa::path(post, path = "/schedules/{scheduleId}/resume", tag = "schedules",
    params(("scheduleId" = String, Path)), request_body = ScheduleResumption,
    responses((status = 200, body = shape::schedule::ScheduleShown),
        (status = 404, body = ProblemBody), (status = 503, body = ProblemBody)))]
pub(super) async fn resume(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    caller: Caller,
    Body(request): Body<ScheduleResumption>,
) -> Result<Json<Value>, Problem> {
    for _ in 0..limits::EDIT_TRIES_MAX {
        let status = one(&app, &id).await?;
        if status.pause.is_none() {
            return Ok(Json(present(&status, 0)));
        }
        let schedule = &status.schedule;
        let now = app.cx.store.clock().await?;
        let next_at = match (&schedule.recurrence, schedule.next_at) {
            (Recurrence::Once { .. }, next_at) | (_, next_at @ None) => next_at,
            (_, next_at) if request.catch_up => next_at,
            (_, Some(next_at)) if next_at > now => Some(next_at),
            (recurrence, Some(next_at)) => next_after(recurrence, next_at, now)?,
        };
        if app.cx.store.resume_schedule(schedule, next_at).await? {
            let mut details = about(&status);
            details["catchUp"] = json!(request.catch_up);
            app.audit(&caller, "schedule.resume", &id, details).await;
        }
    }
    Err(Problem::overloaded(format!(
        "schedule {id} was changed by others in each of {} tries: try again in a moment",
        limits::EDIT_TRIES_MAX
    )))
}

/// Starts an instance as the schedule would, now and once. Its regular times stay as they are; a
/// schedule that is paused stays paused.
#[utoipa::path(post, path = "/schedules/{scheduleId}/trigger", tag = "schedules",
    params(("scheduleId" = String, Path)),
    responses((status = 200, body = InstanceStatus),
        (status = 202, body = InstanceStatus, description = "Accepted: see `Location`"),
        (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(super) async fn trigger(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    prefer: Prefer,
    asking: Asking,
) -> Result<Response, Problem> {
    let status = one(&app, &id).await?;
    let schedule = &status.schedule;
    let beginning = Beginning {
        definition_id: schedule.definition_id.clone(),
        version_id: Some(schedule.version_id.clone()),
        trigger_activity_id: Some(schedule.activity_id.clone()),
        ..Beginning::default()
    };
    let patience = match prefer.respond_async {
        true => Patience::None,
        false => Patience::Until(ReplyWhen::Committed, prefer.within(app.config.answer_time_max)),
    };
    let note = app.note(&asking.caller, "schedule.trigger", &id, about(&status));
    begun(&app, &asking, beginning, patience, Some(note)).await
}

async fn one(app: &App, id: &str) -> Result<ScheduleStatus, Problem> {
    bounds::name("the id of the schedule", id)?;
    let found = app.cx.store.schedule(&ScheduleId::new(id)).await?;
    found.ok_or_else(|| {
        Problem::not_found(format!(
            "there is no schedule {id:?} of a published definition: list them at /schedules"
        ))
    })
}

fn upcoming(params: &Params) -> Result<usize, Problem> {
    match params.read::<usize>("upcoming")?.unwrap_or(0) {
        count if count <= UPCOMING_MAX => Ok(count),
        count => Err(Problem::bad_request(format!(
            "upcoming is {count}: ask for at most {UPCOMING_MAX} next times"
        ))),
    }
}

fn next_after(
    recurrence: &Recurrence,
    nominal: Timestamp,
    after: Timestamp,
) -> Result<Option<Timestamp>, Problem> {
    recurrence.next_after(nominal, after).map_err(|invalid| {
        Problem::conflict("unfit", format!("{invalid}: publish the definition anew"))
    })
}

fn about(status: &ScheduleStatus) -> Value {
    let schedule = &status.schedule;
    json!({"definitionId": schedule.definition_id, "activityId": schedule.activity_id})
}

/// A schedule, and as many of its next times as are asked for. One that is paused has none.
fn present(status: &ScheduleStatus, upcoming: usize) -> Value {
    let ScheduleStatus { schedule, pause, last_at, missed } = status;
    let (kind, expression, zone) = match &schedule.recurrence {
        Recurrence::Every { interval } => ("Timer", iso(interval.as_secs()), None),
        Recurrence::Cron { expression, zone } => ("Cron", expression.clone(), zone.as_deref()),
        Recurrence::Once { at } => ("StartAt", at.to_string(), None),
    };
    let (policy, catch_up_max) = match schedule.misfire {
        Misfire::FireOnce => ("FireOnce", None),
        Misfire::FireAll { max } => ("FireAll", Some(max)),
        Misfire::Skip => ("Skip", None),
    };
    let next_at = schedule.next_at.filter(|_| pause.is_none());
    let recurrence = &schedule.recurrence;
    let later = |at: &Timestamp| recurrence.next_after(*at, *at).ok().flatten();
    let next: Vec<_> = std::iter::successors(next_at, later).take(upcoming).collect();
    json!({
        "id": schedule.id,
        "definitionId": schedule.definition_id,
        "definitionVersionId": schedule.version_id,
        "activityId": schedule.activity_id,
        "kind": kind,
        "expression": expression,
        "timeZone": zone,
        "misfirePolicy": policy,
        "catchUpMax": catch_up_max,
        "nextAt": next_at,
        "upcoming": next,
        "lastAt": last_at,
        "missed": missed,
        "isPaused": pause.is_some(),
        "pausedAt": pause.as_ref().map(|pause| pause.since),
        "pausedBy": pause.as_ref().map(|pause| &pause.by),
    })
}

/// An interval of whole seconds as ISO 8601 writes it: `PT1H30M`.
fn iso(seconds: u64) -> String {
    let parts = [(seconds / 3_600, "H"), (seconds / 60 % 60, "M"), (seconds % 60, "S")];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let text: String = parts.map(|(count, unit)| format!("{count}{unit}")).collect();
    if text.is_empty() { "PT0S".to_owned() } else { format!("PT{text}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_written_as_iso_has_it() {
        for (seconds, text) in [(0, "PT0S"), (5, "PT5S"), (5_400, "PT1H30M"), (90_061, "PT25H1M1S")]
        {
            assert_eq!(iso(seconds), text);
        }
    }
}
